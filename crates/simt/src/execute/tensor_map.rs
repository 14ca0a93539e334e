//! Tensor maps in memory.

use warpmem_ptx::Space;

use super::memory::read_lane;
use super::{Context, Outcome, Trap};
use crate::recorder::WarpRecorder;
use crate::tensor::WORDS;
use crate::warp::Warp;

/// A map is aligned to this (CUDA Driver API, `cuTensorMapEncodeTiled`).
const MAP_ALIGN: u64 = 64;
const WORD: u64 = 8;

/// The words of the map at an address.
pub(super) fn read_map<W: WarpRecorder>(
    warp: &Warp<W>,
    ctx: &mut Context<'_>,
    name: &str,
    lane: usize,
    (space, address): (Space, u64),
) -> Result<[u64; WORDS], Trap> {
    check_place(name, lane, address)?;
    let mut words = [0; WORDS];
    for (at, word) in (0..).step_by(WORD as usize).zip(&mut words) {
        *word = read_lane(warp, ctx, space, lane, address.wrapping_add(at), WORD)?;
    }
    Ok(words)
}

fn check_place(name: &str, lane: usize, address: u64) -> Outcome {
    match address.is_multiple_of(MAP_ALIGN) {
        true => Ok(()),
        false => {
            let reason = format!(
                "`{name}` with a map at {address:#x}, which is not a multiple of {MAP_ALIGN}"
            );
            Err(Trap::new(lane, reason))
        }
    }
}
