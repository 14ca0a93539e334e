//! R-MAT graphs as in Graph500.

use crate::stop;
use warpmem_support::random::Random;

/// Generates `edges` entries of a recursive matrix. Vertices are numbered at random, as in
/// Graph500, which scatters the hubs.
pub fn rmat(nodes: u32, edges: u64, random: &mut Random) -> Vec<(u32, u32)> {
    let mut label: Vec<u32> = (0..nodes).collect();
    random.shuffle_watched(&mut label, stop::check);
    let edge = |_| {
        let (from, to) = rmat_pair(nodes, random);
        (label[from as usize], label[to as usize])
    };
    (0..edges).map(edge).collect()
}

/// Draws one entry of a recursive matrix (Chakrabarti, Zhan and Faloutsos 2004) with the
/// probabilities of Graph500: 0.57, 0.19, 0.19, 0.05. The matrix side is the smallest power of two
/// that holds `n`; entries beyond `n` are redrawn.
pub fn rmat_pair(n: u32, random: &mut Random) -> (u32, u32) {
    const TOP_LEFT: u64 = 57;
    const TOP_RIGHT: u64 = TOP_LEFT + 19;
    const BOTTOM_LEFT: u64 = TOP_RIGHT + 19;
    let levels = u32::BITS - (n - 1).leading_zeros();
    stop::check();
    loop {
        let (mut row, mut column) = (0u32, 0u32);
        for _ in 0..levels {
            let (down, right) = match random.below(100) {
                x if x < TOP_LEFT => (0, 0),
                x if x < TOP_RIGHT => (0, 1),
                x if x < BOTTOM_LEFT => (1, 0),
                _ => (1, 1),
            };
            row = row << 1 | down;
            column = column << 1 | right;
        }
        if row < n && column < n {
            return (row, column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quadrants_have_the_probabilities_of_graph500() {
        let mut random = Random::new(5);
        let mut quadrants = [0u32; 4];
        for _ in 0..100_000 {
            let (row, column) = rmat_pair(2, &mut random);
            quadrants[(row * 2 + column) as usize] += 1;
        }
        for (count, percent) in quadrants.iter().zip([57, 19, 19, 5]) {
            assert!(count.abs_diff(percent * 1000) < 600, "{quadrants:?}");
        }
    }

    #[test]
    fn any_number_of_vertices_is_reached() {
        let mut random = Random::new(5);
        assert!((0..2000).map(|_| rmat_pair(5, &mut random)).all(|(r, c)| r < 5 && c < 5));
        assert_eq!(rmat_pair(1, &mut random), (0, 0));
    }
}
