//! Exchange between the lanes of a warp.

use warpmem_ptx::{Reduction, Shuffle, Type, Vote};

use crate::lanes::{Lanes, WARP, lanes_of, mask_of};
use crate::program::Step;
use crate::warp::Warp;

/// Returns the active lanes in the member mask. Uses the mask of the lowest active lane: all lanes that
/// execute the instruction must agree.
fn members(warp: &Warp, step: &Step, at: usize, mask: u32) -> u32 {
    let masks = step.sources.get(at).map_or([u32::MAX; WARP], |&source| warp.narrow(source));
    let named = lanes_of(mask).next().map_or(0, |lane| masks[lane]);
    named & mask
}

/// Executes `vote`.
pub(super) fn vote(warp: &mut Warp, step: &Step, mask: u32, vote: Vote) {
    let members = members(warp, step, 1, mask);
    let holds = warp.predicate_of(step.sources[0]) & members;
    let result = match vote {
        Vote::Ballot => return warp.set_narrow(step.dests[0], &[holds; WARP], mask),
        Vote::All => holds == members,
        Vote::Any => holds != 0,
        Vote::Uniform => holds == members || holds == 0,
    };
    warp.set_predicate(step.dests[0], if result { u32::MAX } else { 0 }, mask);
}

/// Executes `shfl`: the value of another lane, and whether that lane is in range.
pub(super) fn shuffle(warp: &mut Warp, step: &Step, mask: u32, shuffle: Shuffle) {
    let a = warp.narrow(step.sources[0]);
    let b = warp.narrow(step.sources[1]);
    let c = warp.narrow(step.sources[2]);
    let from: Lanes<Option<usize>> =
        std::array::from_fn(|lane| source_lane(shuffle, lane as u32, b[lane] & 31, c[lane]));
    let members = warp.narrow(step.sources[3]);
    // The ISA does not define the value of a lane outside the mask. GPUs return 0, on which the reductions of
    // the CUDA samples rely.
    let value = |lane: usize, from: usize| match (mask | members[lane]) >> from & 1 {
        1 => a[from],
        _ => 0,
    };
    let values: Lanes<u32> = std::array::from_fn(|lane| value(lane, from[lane].unwrap_or(lane)));
    warp.set_narrow(step.dests[0], &values, mask);
    if let Some(&dest) = step.dests.get(1) {
        warp.set_predicate(dest, mask_of(|lane| from[lane].is_some()), mask);
    }
}

/// Returns the lane that a lane reads, if in range; c holds the clamp and the segment mask (ISA, `shfl`).
fn source_lane(shuffle: Shuffle, lane: u32, b: u32, c: u32) -> Option<usize> {
    let (clamp, segment) = (c & 31, c >> 8 & 31);
    let max = lane & segment | clamp & !segment;
    let min = lane & segment;
    let (from, in_range) = match shuffle {
        Shuffle::Up => {
            let from = lane as i32 - b as i32;
            return (from >= max as i32).then_some(from as usize);
        }
        Shuffle::Down => (lane + b, lane + b <= max),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= max),
        Shuffle::Index => {
            let from = min | b & !segment;
            (from, from <= max)
        }
    };
    in_range.then_some(from as usize & 31)
}

/// Executes `match`: the lanes with equal values.
pub(super) fn matching(warp: &mut Warp, step: &Step, mask: u32, all: bool, ty: Type) {
    let members = members(warp, step, 1, mask);
    let values = match ty.bits() {
        64 => warp.wide(step.sources[0]),
        _ => warp.narrow(step.sources[0]).map(u64::from),
    };
    let same = |value: u64| {
        lanes_of(members)
            .filter(|&lane| values[lane] == value)
            .fold(0, |mask, lane| mask | 1 << lane)
    };
    if !all {
        let same = values.map(same);
        return warp.set_narrow(step.dests[0], &same, mask);
    }
    let alike = lanes_of(members).next().is_some_and(|first| same(values[first]) == members);
    warp.set_narrow(step.dests[0], &[if alike { members } else { 0 }; WARP], mask);
    if let Some(&dest) = step.dests.get(1) {
        warp.set_predicate(dest, if alike { u32::MAX } else { 0 }, mask);
    }
}

/// Executes `redux.sync`.
pub(super) fn reduce(warp: &mut Warp, step: &Step, mask: u32, reduction: Reduction, ty: Type) {
    let members = members(warp, step, 1, mask);
    let values = warp.narrow(step.sources[0]);
    let combine = |a: u32, b: u32| match (reduction, ty) {
        (Reduction::Add, _) => a.wrapping_add(b),
        (Reduction::And, _) => a & b,
        (Reduction::Or, _) => a | b,
        (Reduction::Xor, _) => a ^ b,
        (Reduction::Min, Type::S32) => (a as i32).min(b as i32) as u32,
        (Reduction::Max, Type::S32) => (a as i32).max(b as i32) as u32,
        (Reduction::Min, _) => a.min(b),
        (Reduction::Max, _) => a.max(b),
    };
    let result = lanes_of(members).map(|lane| values[lane]).reduce(combine).unwrap_or(0);
    warp.set_narrow(step.dests[0], &[result; WARP], mask);
}

/// Executes `elect.sync`: the lowest member, and whether the lane is that member.
pub(super) fn elect(warp: &mut Warp, step: &Step, mask: u32) {
    let members = members(warp, step, 0, mask);
    let leader = lanes_of(members).next().unwrap_or(0);
    warp.set_narrow(step.dests[0], &[leader as u32; WARP], mask);
    if let Some(&dest) = step.dests.get(1) {
        warp.set_predicate(dest, 1 << leader, mask);
    }
}
