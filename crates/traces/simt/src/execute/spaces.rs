//! Address spaces of accesses.

use warpmem_ptx::Space;

use crate::image::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::lanes::{Lanes, lanes_of, mask_of};
use crate::peers::rank_of;
use crate::program::{Source, Step};
use crate::warp::Warp;

/// Executes `cvta`: a generic address lies in the window of its space.
pub(super) fn convert_address(
    warp: &mut Warp,
    step: &Step,
    mask: u32,
    space: Space,
    to_space: bool,
) {
    let start = window(space).map_or(0, |window| window.start);
    let converted = warp.wide(step.sources[0]).map(|address| match to_space {
        true => address.wrapping_sub(start),
        false => address.wrapping_add(start),
    });
    warp.set_wide(step.dests[0], &converted, mask);
}

/// Returns the window of a space in generic addresses.
fn window(space: Space) -> Option<std::ops::Range<u64>> {
    match space {
        Space::Shared | Space::Cluster => Some(SHARED_WINDOW),
        Space::Local => Some(LOCAL_WINDOW),
        Space::Param => Some(PARAM_WINDOW),
        _ => None,
    }
}

/// Returns the space of a generic address. Shared memory may belong to another CTA.
fn space_of(address: u64) -> Space {
    let spaces = [Space::Shared, Space::Local, Space::Param];
    let inside = |space: &Space| window(*space).is_some_and(|window| window.contains(&address));
    spaces.into_iter().find(inside).unwrap_or(Space::Global)
}

/// Executes `isspacep`.
pub(super) fn is_space(warp: &mut Warp, step: &Step, mask: u32, space: Space) {
    let addresses = warp.wide(step.sources[0]);
    let own = u64::from(warp.place.rank);
    let is = |lane: usize| match (space_of(addresses[lane]), space) {
        (Space::Shared, Space::Shared) => rank_of(addresses[lane] - SHARED_WINDOW.start) == own,
        (Space::Shared, Space::Cluster) => true,
        (found, asked) => found == asked,
    };
    warp.set_predicate(step.dests[0], mask_of(is), mask);
}

/// Returns the space of a generic address, and the address in it.
pub(super) fn generic_address(address: u64) -> (Space, u64) {
    let space = space_of(address);
    (space, address - window(space).map_or(0, |window| window.start))
}

/// Lanes of an instruction whose addresses are in one space.
pub(super) struct Group {
    pub space: Space,
    pub lanes: u32,
    /// Addresses in that space.
    pub addresses: Lanes<u64>,
}

/// Returns the addresses of the lanes. An offset to a 32-bit register is added in 32 bits.
pub(super) fn addresses(warp: &Warp, source: Source, offset: i64) -> Lanes<u64> {
    let bits = match source {
        Source::Narrow(_) => u64::from(u32::MAX),
        _ => u64::MAX,
    };
    warp.wide(source).map(|address| address.wrapping_add_signed(offset) & bits)
}

/// Splits the lanes of `mask` by space: one group unless the addresses are generic. Inlined to avoid copying
/// the addresses.
#[inline(always)]
pub(super) fn groups(
    warp: &Warp,
    source: Source,
    offset: i64,
    space: Space,
    mask: u32,
) -> impl Iterator<Item = Group> + use<> {
    groups_at(warp.place.rank.into(), addresses(warp, source, offset), space, mask)
}

/// Splits the given addresses as [`groups`] does, for lanes of the CTA with this rank.
#[inline(always)]
pub(super) fn groups_at(
    own: u64,
    addresses: Lanes<u64>,
    space: Space,
    mask: u32,
) -> impl Iterator<Item = Group> {
    let space = match space {
        Space::Cluster => shared_or_cluster(own, mask, &addresses, 0),
        space => space,
    };
    let mut rest = mask;
    let mut first = true;
    std::iter::from_fn(
        #[inline(always)]
        move || {
            // An instruction without active lanes is recorded too.
            if rest == 0 && !std::mem::take(&mut first) {
                return None;
            }
            first = false;
            if space != Space::Generic || rest == 0 {
                let lanes = std::mem::take(&mut rest);
                let space = if space == Space::Generic { Space::Global } else { space };
                return Some(Group { space, lanes, addresses });
            }
            let (space, lanes, start) = first_space(own, rest, &addresses);
            rest &= !lanes;
            Some(Group {
                space,
                lanes,
                addresses: addresses.map(|address| address.wrapping_sub(start)),
            })
        },
    )
}

/// Returns the space of the first lane's generic address, the lanes with such addresses, and the start of the
/// space.
#[inline(never)]
fn first_space(own: u64, lanes: u32, addresses: &Lanes<u64>) -> (Space, u32, u64) {
    let space = space_of(addresses[lanes.trailing_zeros() as usize]);
    let same = lanes_of(lanes).filter(|&lane| space_of(addresses[lane]) == space);
    let lanes = same.fold(0, |mask, lane| mask | 1 << lane);
    let start = window(space).map_or(0, |window| window.start);
    let space = match space {
        Space::Shared => shared_or_cluster(own, lanes, addresses, start),
        space => space,
    };
    (space, lanes, start)
}

/// Returns the space of shared-memory addresses relative to `start`: the CTA's own if no lane addresses
/// another CTA, since hardware then stays within the SM.
#[inline(never)]
fn shared_or_cluster(own: u64, lanes: u32, addresses: &Lanes<u64>, start: u64) -> Space {
    match lanes_of(lanes).all(|lane| rank_of(addresses[lane].wrapping_sub(start)) == own) {
        true => Space::Shared,
        false => Space::Cluster,
    }
}
