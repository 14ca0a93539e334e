mod estimates;
mod parts;
mod plans;

use super::{Census, KernelPart, Measures, Part};
use warpmem_support::random::Random;

/// Builds kernels of `ctas` CTAs.
fn part(ctas: &[u32]) -> Part {
    let kernel = |(kernel, &ctas)| KernelPart { kernel, ctas: (0..ctas).collect(), cluster: 1 };
    Part { kernels: ctas.iter().enumerate().map(kernel).collect() }
}

/// Sizes of the CTAs of a synthetic population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// Similar sizes: sums of ten even numbers.
    Alike,
    /// A few CTAs hold most, and late ones more than early ones.
    Skewed,
}

fn census(ctas: &[u32], sizes: Sizes) -> Census {
    let mut random = Random::new(11);
    let mut cta = |number: u32| {
        let records = match sizes {
            Sizes::Alike => 1000 + (0..10).map(|_| random.below(100)).sum::<u64>(),
            Sizes::Skewed => 100_000 / (1 + random.below(2000)) + u64::from(number),
        };
        let loads = records / 2;
        Measures {
            records,
            warp_instructions: 4 * records + random.below(50),
            lines: loads * (1 + random.below(8)),
            bytes: loads * 128,
            loads,
            load_lines: loads + random.below(1 + records / 4),
        }
    };
    Census { kernels: ctas.iter().map(|&ctas| (0..ctas).map(&mut cta).collect()).collect() }
}
