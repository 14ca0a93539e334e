//! Assigns overlapping slices to different lanes, each to the first free one.

/// Returns the lane of each slice from `begin` to `end`, given in order of `begin`.
pub(super) fn lanes(slices: impl Iterator<Item = (u64, u64)>) -> Vec<u32> {
    let mut free_from: Vec<u64> = Vec::new();
    slices
        .map(|(begin, end)| {
            let free = free_from.iter().position(|&from| from <= begin);
            let lane = free.unwrap_or(free_from.len());
            free_from.resize(free_from.len().max(lane + 1), 0);
            free_from[lane] = end;
            lane as u32
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn free_lanes_are_reused() {
        let slices = [(0, 10), (2, 5), (5, 8), (6, 7), (10, 11)];
        assert_eq!(lanes(slices.into_iter()), [0, 1, 1, 2, 0]);
    }

    proptest! {
        #[test]
        fn slices_of_one_lane_do_not_overlap(lengths in prop::collection::vec((0u64..20, 0u64..50), 0..60)) {
            let mut begin = 0;
            let slices: Vec<(u64, u64)> = lengths
                .iter()
                .map(|(step, length)| {
                    begin += step;
                    (begin, begin + length)
                })
                .collect();
            let lanes = lanes(slices.iter().copied());
            for (i, one) in slices.iter().enumerate() {
                for (j, other) in slices.iter().enumerate().skip(i + 1) {
                    prop_assert!(lanes[i] != lanes[j] || one.1 <= other.0);
                }
            }
        }
    }
}
