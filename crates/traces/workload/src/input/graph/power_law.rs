//! Graphs with power-law degrees: Chung and Lu, *Connected components in random graphs with given
//! expected degree sequences*, Annals of Combinatorics 6 (2002).

use crate::stop;
use warpmem_support::random::Random;

/// Generates `edges` edges with independent ends. Vertex `i` has a share proportional to (i +
/// i₀)^(-1 / (γ - 1)), so that the probability of k neighbours falls as k^-γ. The number of edges
/// fixes the mean degree; i₀ keeps the largest expected degree at the square root of the number of
/// edge ends, beyond which two hubs would share several edges. Vertices are numbered at random,
/// which scatters the hubs.
///
/// `exponent` is γ in hundredths, above 200.
pub fn power_law(nodes: u32, edges: u64, exponent: u64, random: &mut Random) -> Vec<(u32, u32)> {
    let mut label: Vec<u32> = (0..nodes).collect();
    random.shuffle_watched(&mut label, stop::check);
    let ranks = Ranks::new(nodes, 2.0 * edges as f64, exponent as f64 / 100.0);
    let mut end = || label[ranks.draw(random) as usize];
    (0..edges).map(|_| (end(), end())).collect()
}

/// Ranks 0..n with density (x + i₀)^-α, drawn by inverting ∫ (x + i₀)^-α dx. Exact arithmetic and
/// `libm` give the same ranks on every platform.
struct Ranks {
    nodes: u32,
    /// 1 - α.
    power: f64,
    /// i₀.
    shift: f64,
    /// (i₀)^(1 - α) and (n + i₀)^(1 - α).
    ends: (f64, f64),
}

impl Ranks {
    fn new(nodes: u32, edge_ends: f64, exponent: f64) -> Ranks {
        let n = f64::from(nodes);
        let power = (exponent - 2.0) / (exponent - 1.0);
        // The largest degree is that of rank 0: ends · (1 - α) · i₀^-α / n^(1 - α), for i₀ much
        // smaller than n.
        let largest = edge_ends.sqrt();
        let shift = n * libm::pow(edge_ends / n * power / largest, exponent - 1.0);
        let ends = (libm::pow(shift, power), libm::pow(n + shift, power));
        Ranks { nodes, power, shift, ends }
    }

    fn draw(&self, random: &mut Random) -> u32 {
        stop::check();
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        let share = (random.bits() >> 11) as f64 * UNIT;
        let (first, last) = self.ends;
        let rank = libm::pow(first + share * (last - first), 1.0 / self.power) - self.shift;
        // Rounding may give a negative number, whose cast is 0.
        (rank as u32).min(self.nodes - 1)
    }
}
