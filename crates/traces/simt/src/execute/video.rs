//! Video instructions. Results between their steps are exact.

use warpmem_ptx::{Compare, Finish, Video, VideoMultiplyAdd, VideoOp, VideoPart, VideoVector};

use crate::lanes::{Lanes, WARP};
use crate::program::Step;
use crate::warp::Warp;

/// Executes `vadd` and similar.
pub(super) fn scalar(warp: &mut Warp, step: &Step, mask: u32, video: Video) {
    let [a, b, c] = sources(warp, step);
    let d: Lanes<u32> = std::array::from_fn(|lane| {
        let value = computed(video.f, extracted(a[lane], video.a), extracted(b[lane], video.b));
        let value = if video.saturate { clamped(value, video.d) } else { value };
        finished(video, value, c[lane])
    });
    warp.set_narrow(step.dests[0], &d, mask);
}

/// Executes `vmad`.
pub(super) fn multiply_add(warp: &mut Warp, step: &Step, mask: u32, video: VideoMultiplyAdd) {
    let VideoMultiplyAdd { negates_product, negates_c, plus_one, .. } = video;
    let signed = video.a.signed || video.b.signed || negates_product || negates_c;
    let whole = VideoPart { signed, at: 0, bits: 32 };
    let [a, b, c] = sources(warp, step);
    let d: Lanes<u32> = std::array::from_fn(|lane| {
        let product = extracted(a[lane], video.a) * extracted(b[lane], video.b);
        let product = if negates_product { -product } else { product };
        let c = extracted(c[lane], whole);
        let sum = product + if negates_c { -c } else { c } + i128::from(plus_one);
        let value = sum >> video.shift;
        (if video.saturate { clamped(value, whole) } else { value }) as u32
    });
    warp.set_narrow(step.dests[0], &d, mask);
}

/// Executes `vadd2`, `vadd4` and similar.
pub(super) fn vector(warp: &mut Warp, step: &Step, mask: u32, video: VideoVector) {
    let [a, b, c] = sources(warp, step);
    let d: Lanes<u32> = std::array::from_fn(|lane| combined(video, a[lane], b[lane], c[lane]));
    warp.set_narrow(step.dests[0], &d, mask);
}

fn combined(video: VideoVector, a: u32, b: u32, c: u32) -> u32 {
    let VideoVector { bits, signed, .. } = video;
    let pair = u64::from(b) << 32 | u64::from(a);
    let element = |number: u8, signed: bool| {
        extracted((pair >> (number * bits)) as u32, VideoPart { signed, at: 0, bits })
    };
    let elements = (0..32 / bits).filter(|at| video.mask >> at & 1 == 1);
    elements.fold(c, |d, at| {
        let (from_a, from_b) = (video.a[usize::from(at)], video.b[usize::from(at)]);
        let value = computed(video.f, element(from_a, signed[1]), element(from_b, signed[2]));
        let place = VideoPart { signed: signed[0], at: at * bits, bits };
        match (video.adds, video.saturate) {
            (true, _) => d.wrapping_add(value as u32),
            (false, true) => merged(clamped(value, place), place, d),
            (false, false) => merged(value, place, d),
        }
    })
}

/// Returns the three sources; 0 for an absent one.
fn sources(warp: &Warp, step: &Step) -> [Lanes<u32>; 3] {
    [0, 1, 2].map(|at| step.sources.get(at).map_or([0; WARP], |&source| warp.narrow(source)))
}

/// Extracts the number in a part of a register.
fn extracted(word: u32, VideoPart { signed, at, bits }: VideoPart) -> i128 {
    let spare = 32 - bits;
    let top = word >> at << spare;
    if signed { (top as i32 >> spare).into() } else { (top >> spare).into() }
}

/// Returns the value of the operation.
fn computed(f: VideoOp, a: i128, b: i128) -> i128 {
    match f {
        VideoOp::Add => a + b,
        VideoOp::Subtract => a - b,
        VideoOp::AbsoluteDifference => (a - b).abs(),
        VideoOp::Average => (a + b + i128::from(a + b >= 0)) >> 1,
        VideoOp::Min => a.min(b),
        VideoOp::Max => a.max(b),
        VideoOp::ShiftLeft { wrap } => a << shift(b, wrap),
        VideoOp::ShiftRight { wrap } => a >> shift(b, wrap),
        VideoOp::Set(compare) => i128::from(holds(compare, a, b)),
    }
}

/// Returns a shift amount, which is unsigned.
fn shift(b: i128, wrap: bool) -> i128 {
    if wrap { b & 31 } else { b.min(32) }
}

/// Returns whether a comparison holds; integers are never unordered.
fn holds(compare: Compare, a: i128, b: i128) -> bool {
    match compare {
        Compare::Equal | Compare::EqualUnordered => a == b,
        Compare::NotEqual | Compare::NotEqualUnordered => a != b,
        Compare::Less | Compare::LessUnordered => a < b,
        Compare::LessOrEqual | Compare::LessOrEqualUnordered => a <= b,
        Compare::Greater | Compare::GreaterUnordered => a > b,
        Compare::GreaterOrEqual | Compare::GreaterOrEqualUnordered => a >= b,
        Compare::Number => true,
        Compare::NotANumber => false,
    }
}

/// Clamps to the range of a part.
fn clamped(value: i128, VideoPart { signed, bits, .. }: VideoPart) -> i128 {
    let (least, most) = match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    };
    value.clamp(least, most)
}

/// Applies the second step, with the third source.
fn finished(video: Video, value: i128, c: u32) -> u32 {
    let other = extracted(c, VideoPart { signed: video.d.signed, at: 0, bits: 32 });
    let value = match video.finish {
        Finish::None => value,
        Finish::Add => value + other,
        Finish::Min => value.min(other),
        Finish::Max => value.max(other),
        Finish::Merge => return merged(value, video.d, c),
    };
    value as u32
}

/// Returns a word with one part replaced by a value.
fn merged(value: i128, VideoPart { at, bits, .. }: VideoPart, word: u32) -> u32 {
    let ones = u32::MAX >> (32 - bits) << at;
    word & !ones | (value as u32) << at & ones
}
