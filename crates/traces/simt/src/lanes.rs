//! Values of the 32 lanes of a warp.

/// Lanes of a warp.
pub const WARP: usize = 32;

/// One value per lane.
pub type Lanes<T> = [T; WARP];

/// Computes the value of each lane with the widest vector instructions of the CPU; the results are the same
/// on every CPU.
#[inline(always)]
pub(crate) fn in_all_lanes<T: Copy + Default>(f: impl Fn(usize) -> T) -> Lanes<T> {
    let mut values = [T::default(); WARP];
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (lane, value) in values.iter_mut().enumerate() {
                *value = f(lane);
            }
        },
    );
    values
}

/// Iterates over the lanes of a mask, lowest first.
#[inline]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// Returns the mask of the lanes for which a condition holds.
#[inline(always)]
pub(crate) fn mask_of(condition: impl Fn(usize) -> bool) -> u32 {
    (0..WARP).fold(0, |mask, lane| mask | u32::from(condition(lane)) << lane)
}

/// Takes `new` in the lanes of a mask, keeps `old` in the others.
#[inline(always)]
pub(crate) fn merge<T: Copy>(old: &mut Lanes<T>, new: &Lanes<T>, mask: u32) {
    if mask == u32::MAX {
        *old = *new;
        return;
    }
    for lane in 0..WARP {
        if mask >> lane & 1 == 1 {
            old[lane] = new[lane];
        }
    }
}

/// Returns the first lane of each group of equal keys.
pub(crate) fn first_of_alike<K: PartialEq>(mask: u32, key: impl Fn(usize) -> K) -> u32 {
    let firsts = alike(mask, key).into_iter().map(|lanes| lanes & lanes.wrapping_neg());
    firsts.fold(0, |firsts, first| firsts | first)
}

/// Groups the lanes of a mask by equal keys.
pub(crate) fn alike<K: PartialEq>(mask: u32, key: impl Fn(usize) -> K) -> Vec<u32> {
    let mut groups = Vec::new();
    let mut rest = mask;
    while rest != 0 {
        let first = key(rest.trailing_zeros() as usize);
        let lanes = lanes_of(rest).filter(|&lane| key(lane) == first);
        let lanes = lanes.fold(0, |lanes, lane| lanes | 1 << lane);
        groups.push(lanes);
        rest &= !lanes;
    }
    groups
}
