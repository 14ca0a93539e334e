//! Helpers of the single-mechanism kernels: random numbers computed by the kernel, since loading
//! them would add memory accesses, and evenly spread selections.

use super::prelude::*;

/// A hash of each number, equal on device and host.
#[derive(Clone, Copy)]
pub struct Computed {
    salt: u32,
}

/// Odd factors with bits throughout: the golden ratio, and a factor of MurmurHash3 (Appleby 2011).
const FACTORS: [u32; 2] = [0x9e37_79b9, 0x85eb_ca6b];

impl Computed {
    pub fn new(random: &mut Random) -> Computed {
        Computed { salt: random.index(u32::MAX) }
    }

    /// Returns a number below `bound`, a power of two from 2 on, for each lane's `number`: five
    /// instructions.
    pub fn below<'w>(&self, bound: u32, number: Lanes<'w, u32>) -> Lanes<'w, u32> {
        let mixed = number.mad(FACTORS[0], self.salt);
        let mixed = (mixed ^ (mixed >> 16)) * FACTORS[1];
        mixed >> (32 - bound.ilog2())
    }

    /// Computes the same on the host.
    #[cfg(test)]
    pub fn plain(&self, bound: u32, number: u32) -> u32 {
        let mixed = number.wrapping_mul(FACTORS[0]).wrapping_add(self.salt);
        (mixed ^ (mixed >> 16)).wrapping_mul(FACTORS[1]) >> (32 - bound.ilog2())
    }
}

/// Returns whether `index` is in an evenly spread selection of `hundredths` hundredths.
pub fn is_chosen(index: u32, hundredths: u64) -> bool {
    let chosen_below = |index: u64| index * hundredths / 100;
    chosen_below(u64::from(index) + 1) > chosen_below(index.into())
}

/// Refuses a number that is not a power of two.
pub fn check_power_of_two(name: &str, value: u64) -> Result<(), WorkloadError> {
    if value.is_power_of_two() {
        return Ok(());
    }
    let message = format!("--{name} {value} is not a power of two");
    Err(WorkloadError::Inconsistent { message })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn device_and_host_compute_the_same() {
        let computed = Computed::new(&mut Random::new(4));
        let run = run(|gpu| {
            let out = gpu.zeros::<u32>(64);
            gpu.launch(&grid_of("test", 1, 64, 8), async |w| {
                let thread = w.thread_x();
                out.store(thread, computed.below(1 << 9, thread));
            })?;
            Ok(gpu.download(out))
        });
        let plain: Vec<u32> = (0..64).map(|number| computed.plain(1 << 9, number)).collect();
        assert_eq!(run.result, plain);
    }

    #[test]
    fn all_numbers_below_the_bound_are_equally_likely() {
        for (seed, step) in [(1, 1), (2, 32), (3, 40)] {
            let computed = Computed::new(&mut Random::new(seed));
            let mut counts = [0u32; 64];
            (0..6400).for_each(|i| counts[computed.plain(64, i * step) as usize] += 1);
            assert!(counts.iter().all(|n| (50..160).contains(n)), "{step}: {counts:?}");
        }
    }

    #[test]
    fn selections_are_spread_evenly() {
        let chosen = |share| (0..8).filter(|&i| is_chosen(i, share)).collect::<Vec<u32>>();
        assert_eq!(chosen(0), []);
        assert_eq!(chosen(25), [3, 7]);
        assert_eq!(chosen(50), [1, 3, 5, 7]);
        assert_eq!(chosen(100), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
