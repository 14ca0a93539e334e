//! Loads of two kinds, of one sector and of many, by warps of two roles or mixed in every warp.
//! Ordering requests by their number of siblings helps only if roles differ.
//!
//! ```cuda
//! struct alignas(32) Sector { float first; };
//! struct Plan { unsigned loads, heavy; };
//!
//! __global__ void role_mix(const Sector *table, const Plan *plan, float *out, int most) {
//!     int thread = blockIdx.x * blockDim.x + threadIdx.x, group = threadIdx.x % 32 * SECTORS / 32;
//!     Plan warp = plan[thread / 32];
//!     unsigned due = 0, number = thread / 32 * most * 32;
//!     float sum = 0;
//!     for (unsigned k = 0; k < warp.loads; k++) {
//!         due += warp.heavy;
//!         if (due >= warp.loads) {
//!             due -= warp.loads;
//!             sum += table[random(number + group)].first;
//!             for (int i = 1; i < HEAVY_COMPUTE; i++) sum += sum;
//!         } else {
//!             sum += table[random(number)].first;
//!             for (int i = 1; i < COMPUTE; i++) sum += sum;
//!         }
//!         number += 32;
//!     }
//!     out[thread] = sum;
//! }
//! ```

use super::computed::{Computed, check_power_of_two, is_chosen};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "role-mix",
    summary: "single-sector and multi-sector loads, by warps of two roles or mixed in every warp",
    source: "the regimes of Warped-MC (ICPP 2023) and CaLRS 2015: warps that wait for few requests next to warps that wait for many",
    parameters: &[&[
        Parameter::count("ctas", 32, (1, 1 << 12), "CTAs", "CTAs"),
        Parameter::count("warps", 8, (1, 32), "warps", "Warps per CTA"),
        Parameter::decimal(
            "heavy",
            50,
            (0, 100),
            "of the warps",
            "Fraction of warps with multi-sector loads, the last of each CTA",
        ),
        Parameter::choice::<Mixture>(
            "mixture",
            "roles",
            "Warps that issue heavy loads: those with the role, or all warps",
        ),
        Parameter::count("sectors", 32, (1, 32), "sectors", "Sectors per heavy load"),
        Parameter::count("loads", 96, (1, 1 << 12), "loads", "Loads per light warp"),
        Parameter::count("heavy-loads", 12, (1, 1 << 12), "loads", "Loads per heavy warp"),
        Parameter::count(
            "compute",
            4,
            (1, 256),
            "instructions",
            "Compute instructions after a light load",
        ),
        Parameter::count(
            "heavy-compute",
            4,
            (1, 256),
            "instructions",
            "Compute instructions after a heavy load",
        ),
        Parameter::count(
            "footprint",
            1 << 28,
            (1 << 9, 1 << 32),
            "bytes",
            "Footprint of the random loads, a power of two",
        ),
    ]],
    run: |gpu, arguments, random| {
        let footprint = arguments.count("footprint");
        check_power_of_two("footprint", footprint)?;
        let shape = Shape {
            ctas: arguments.count32("ctas"),
            warps: arguments.count32("warps"),
            heavy: arguments.hundredths("heavy"),
            mixture: arguments.choice("mixture"),
            sectors: arguments.count32("sectors"),
            light: Load { count: arguments.count32("loads"), compute: arguments.count("compute") },
            wide: Load {
                count: arguments.count32("heavy-loads"),
                compute: arguments.count("heavy-compute"),
            },
            table: (footprint / SECTOR) as u32,
        };
        role_mix(gpu, &shape, random)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mixture {
    Roles,
    Every,
}

impl Choice for Mixture {
    const NAMES: &'static [(&'static str, Mixture)] =
        &[("roles", Mixture::Roles), ("every", Mixture::Every)];
}

const SECTOR: u64 = 32;

#[derive(Clone, Copy)]
struct Load {
    count: u32,
    /// Compute instructions after the load.
    compute: u64,
}

#[derive(Clone, Copy)]
struct Shape {
    ctas: u32,
    warps: u32,
    heavy: u64,
    mixture: Mixture,
    sectors: u32,
    light: Load,
    wide: Load,
    /// Sectors of the table.
    table: u32,
}

impl Shape {
    /// Returns the loads of each warp, and its number of heavy ones.
    fn plan(&self) -> Vec<[u32; 2]> {
        let of_share = |count: u32, share: u64| (u64::from(count) * share).div_ceil(100) as u32;
        let light = of_share(self.light.count, 100 - self.heavy);
        let wide = of_share(self.wide.count, self.heavy);
        let of_warp = |is_heavy| match (self.mixture, is_heavy) {
            (Mixture::Every, _) => [light + wide, wide],
            (Mixture::Roles, false) => [self.light.count, 0],
            (Mixture::Roles, true) => [self.wide.count; 2],
        };
        let of_cta = |cta| {
            let drawn = cta * self.warps..(cta + 1) * self.warps;
            let heavy = drawn.filter(|&warp| is_chosen(warp, self.heavy)).count() as u32;
            (0..self.warps).map(move |warp| of_warp(warp + heavy >= self.warps))
        };
        (0..self.ctas).flat_map(of_cta).collect()
    }
}

fn role_mix(gpu: &mut Gpu, shape: &Shape, random: &mut Random) -> Result<(), WorkloadError> {
    let &Shape { ctas, warps, sectors, light, wide, table: in_table, .. } = shape;
    let table = gpu.zeros::<[f32; 8]>(in_table.into());
    let plan = shape.plan();
    let most = plan.iter().map(|[loads, _]| loads).max().copied().unwrap_or(0);
    let plan = gpu.upload(&plan);
    let out = gpu.zeros::<f32>(u64::from(ctas * warps * 32));
    let places = Computed::new(random);
    gpu.launch(&grid_of("role_mix", ctas, 32 * warps, 24), async |w| {
        let thread = w.global_x();
        let group = ((thread & 31) * sectors) >> 5;
        let warp = thread >> 5;
        let planned = plan.load(warp);
        let (loads, heavy) = (planned.part(0), planned.part(1));
        let (due, number, sum) = (w.var(0), w.var(warp * (most * 32)), w.var(0.0));
        let load = |place, compute| {
            sum.set(table.at(places.below(in_table, place)).part(0).load() + &sum);
            (1..compute).for_each(|_| sum.set(sum.get() + &sum));
        };
        w.range(0, loads, 1, |_| {
            due.set(due.get() + heavy);
            let is_heavy = due.get().ge(loads);
            let many = || {
                due.set(due.get() - loads);
                load(number.get() + group, wide.compute);
            };
            w.when_else(is_heavy, many, || load(number.get(), light.compute));
            number.set(number.get() + 32);
        });
        out.store(thread, &sum);
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use std::collections::BTreeSet;

    const SMALL: Shape = Shape {
        ctas: 3,
        warps: 4,
        heavy: 50,
        mixture: Mixture::Roles,
        sectors: 16,
        light: Load { count: 6, compute: 9 },
        wide: Load { count: 4, compute: 2 },
        table: 1 << 20,
    };

    fn run_shape(shape: &Shape) -> Run<()> {
        run(|gpu| role_mix(gpu, shape, &mut Random::new(5)))
    }

    /// Returns the sectors of each of a warp's loads from the table.
    fn sectors(run: &Run<()>, warp: usize) -> Vec<usize> {
        let executed = run.warp(warp);
        let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load).skip(1);
        let count = |addresses: &[u64]| addresses.iter().map(|a| a / 32).collect::<BTreeSet<_>>();
        loads.map(|(_, record)| count(record.active_addresses()).len()).collect()
    }

    #[test]
    fn the_last_warps_of_each_cta_are_heavy() {
        for (share, of_cta) in [(0, [0, 0, 0]), (25, [1, 1, 1]), (34, [1, 1, 2]), (100, [4, 4, 4])]
        {
            let plan = Shape { heavy: share, ..SMALL }.plan();
            for (cta, heavy) in plan.chunks(4).zip(of_cta) {
                let expected = [[6, 0]; 4].into_iter().take(4 - heavy).chain([[4, 4]; 4]);
                assert_eq!(cta, expected.take(4).collect::<Vec<_>>(), "{share}");
            }
        }
    }

    #[test]
    fn light_loads_touch_one_sector_and_heavy_loads_the_given_number() {
        let run = run_shape(&SMALL);
        assert_eq!(sectors(&run, 0), [1; 6]);
        assert_eq!(sectors(&run, 3), [16; 4]);
        let executed = run.warp(0);
        let compute = |at: usize| {
            let is_fp32 = |c: &&warpmem_trace::Compute| c.class == warpmem_trace::OpClass::Fp32;
            executed[at].0.compute.iter().filter(is_fp32).count()
        };
        let most = (0..executed.len()).map(compute).max();
        assert_eq!(most, Some(9), "a light load is followed by all its compute");
    }

    #[test]
    fn mixed_warps_share_the_loads_evenly() {
        let run = run_shape(&Shape { mixture: Mixture::Every, ..SMALL });
        for warp in 0..12 {
            assert_eq!(sectors(&run, warp), [1, 1, 16, 1, 16], "{warp}");
        }
    }

    #[test]
    fn all_loads_are_within_the_footprint() {
        let run = run_shape(&Shape { table: 16, sectors: 32, ..SMALL });
        let places: BTreeSet<u64> = (0..12)
            .flat_map(|warp| run.warp(warp))
            .filter(|(i, _)| i.kind == Kind::Load && i.width == 4)
            .flat_map(|(_, record)| record.active_addresses().to_vec())
            .collect();
        assert_eq!(places.len(), 16);
    }
}
