//! Sampling of long runs (`run.error_permille`): of many launches that are alike, and of the many CTAs
//! of a launch, some are simulated and stand for the others in the counts of the run.
//!
//! The numbers of draws follow from the variance of the cycles drawn so far, so that the 95 % interval
//! of the cycles of the run is as narrow as asked. The dispatcher asks which launch and which CTAs come
//! next, and reports the cycles that they took.

mod draws;
mod groups;
mod parts;

use draws::{Draws, Run, Variance};
use groups::groups;
pub(crate) use parts::{Part, Parts, Work};
use serde::Serialize;
use warpmem_machine::Machine;
use warpmem_support::statistics::student;
use warpmem_trace::Kernel;

/// Seed of the draws; constant, so that policies are compared on the same launches and CTAs.
const SEED: u64 = 1;
/// Standard errors in half of a 95 % interval.
const HALF_INTERVAL: f64 = 2.0;

/// The sampling of a run.
pub(crate) struct Sampling {
    /// Bound on the relative variance of the cycles of the run.
    bound: f64,
    groups: Vec<Group>,
    /// Warp instructions of all launches.
    instructions: u64,
    launches: Vec<Launch>,
    /// Variances of the cycles of the drawn launches, weighted; none if one is unknown.
    within: Option<Vec<Variance>>,
}

struct Launch {
    /// Warp instructions, CTAs, and CTAs that the machine holds.
    instructions: u64,
    ctas: u32,
    wave: u32,
    /// Its group, and its number in the group; none without CTAs.
    place: Option<(usize, u32)>,
}

/// Launches that are alike. The first finds other caches than the rest, and stands for itself.
struct Group {
    first: u32,
    others: Draws,
    run: Option<Run>,
}

/// The error of the sampled cycles of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CyclesError {
    /// Standard error, core cycles.
    pub standard: f64,
    /// Half of the 95 % confidence interval, core cycles.
    pub half_interval: f64,
}

impl Sampling {
    /// Returns none if the machine simulates everything. `waves`: CTAs of each launch that the machine
    /// holds.
    pub fn new(
        machine: &Machine,
        kernels: &[Kernel],
        waves: impl Iterator<Item = u32>,
    ) -> Option<Sampling> {
        let error = f64::from(machine.run.error_permille) / 1000.0;
        if error == 0.0 {
            return None;
        }
        let launch = |(kernel, wave): (&Kernel, u32)| Launch {
            instructions: kernel.warp_instructions,
            ctas: kernel.ctas,
            wave,
            place: None,
        };
        let simulated = kernels.iter().skip(machine.run.fast_forward as usize);
        let mut sampling = Sampling {
            bound: (error / HALF_INTERVAL).powi(2),
            groups: Vec::new(),
            instructions: simulated.map(|kernel| kernel.warp_instructions).sum(),
            launches: kernels.iter().zip(waves).map(launch).collect(),
            within: Some(Vec::new()),
        };
        let first = machine.run.fast_forward;
        groups(kernels, first).iter().for_each(|launches| sampling.add_group(launches));
        Some(sampling)
    }

    fn add_group(&mut self, launches: &[u32]) {
        let mut instructions = 0;
        for (&launch, number) in launches.iter().zip(0..) {
            let launch = &mut self.launches[launch as usize];
            launch.place = Some((self.groups.len(), number));
            instructions += launch.instructions;
        }
        let first = &self.launches[launches[0] as usize];
        let stages = if Parts::may_leave_out(first.ctas, first.wave) { 2.0 } else { 1.0 };
        let bound = self.bound_of(instructions as f64) / stages;
        let others = Draws::new(launches.len() as u32 - 1, bound, seed(launches[0]));
        self.groups.push(Group { first: launches[0], others, run: None });
    }

    /// Returns the number of launches for which `launch` stands, itself included; none if it is not
    /// simulated. Called for each launch in order, when those before it have ended.
    pub fn choose(&mut self, launch: u32) -> Option<u32> {
        let Some((group, place)) = self.launches[launch as usize].place else { return Some(1) };
        let group = &mut self.groups[group];
        let Some(number) = place.checked_sub(1) else { return Some(1) };
        if group.run.as_ref().is_none_or(|run| run.items.end == number) {
            group.run = group.others.next_run();
        }
        group.run.as_ref().filter(|run| run.drawn == number).map(Run::length)
    }

    /// Returns the first launch that is like `launch`.
    pub fn like(&self, launch: u32) -> u32 {
        self.launches[launch as usize].place.map_or(launch, |(group, _)| self.groups[group].first)
    }

    /// Returns the parts of a launch that stands for `stands_for` launches; none if it is simulated
    /// whole.
    pub fn parts(&self, launch: u32, stands_for: u32) -> Option<Parts> {
        let Launch { instructions, ctas, wave, place } = self.launches[launch as usize];
        let is_alone = place.is_some_and(|(group, _)| self.groups[group].others.items() == 0);
        let stages = if is_alone { 1.0 } else { 2.0 };
        let bound = self.bound_of(instructions as f64 * f64::from(stands_for)) / stages;
        Parts::new(ctas, instructions, wave, bound, seed(launch))
    }

    /// Records the cycles of a simulated launch up to the start of the next. `parts`: its parts, if it
    /// was not simulated whole.
    pub fn end(&mut self, launch: u32, stands_for: u32, cycles: u64, parts: Option<&Parts>) {
        if let Some((group, place)) = self.launches[launch as usize].place
            && place > 0
        {
            self.groups[group].others.add(cycles as f64, stands_for);
        }
        let Some(parts) = parts else { return };
        let own = parts.variance();
        let own = own.map(|own| Variance { value: own.value * f64::from(stands_for), ..own });
        match (&mut self.within, own) {
            (Some(within), Some(own)) => within.push(own),
            _ => self.within = None,
        }
    }

    /// Returns the bound on the relative variance of a part of the run with this many warp instructions:
    /// if every part keeps its own, the run keeps `bound`.
    fn bound_of(&self, instructions: f64) -> f64 {
        self.bound * self.instructions as f64 / instructions.max(1.0)
    }

    /// Returns the error of the cycles of the run: that of a stratified sample in two stages (Cochran,
    /// *Sampling Techniques*, 1977, 11.24), with Satterthwaite's degrees of freedom. None if a stratum
    /// has a single draw.
    pub fn error(&self) -> Option<CyclesError> {
        let between: Option<Vec<Variance>> =
            self.groups.iter().map(|group| group.others.variance_of_total()).collect();
        let variances = [between?, self.within.clone()?].concat();
        let value: f64 = variances.iter().map(|variance| variance.value).sum();
        if value == 0.0 {
            return Some(CyclesError { standard: 0.0, half_interval: 0.0 });
        }
        let squares = variances.iter().filter(|variance| variance.value > 0.0);
        let squares: f64 = squares.map(|variance| variance.value.powi(2) / variance.freedom).sum();
        let freedom = value * value / squares;
        let standard = value.sqrt();
        Some(CyclesError { standard, half_interval: student(freedom.max(1.0)) * standard })
    }
}

fn seed(launch: u32) -> u64 {
    u64::from(launch) << 32 | SEED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::OpClass;

    /// Samples `launches` alike launches whose cycles are `cycles`; returns the launches that each
    /// simulated one represents, and the error.
    fn sample(launches: usize, cycles: impl Fn(u32) -> u64) -> (Vec<u32>, CyclesError) {
        let cta = vec![vec![compute(OpClass::Integer, &[])]];
        let kernel = TestKernel { name: Some("k".to_owned()), ..TestKernel::new(vec![cta]) };
        let trace = trace(&vec![kernel; launches]);
        let machine = machine(&["run.error_permille=10"]);
        let waves = std::iter::repeat(8);
        let mut sampling = Sampling::new(&machine, trace.kernels(), waves).unwrap();
        let mut represented = Vec::new();
        for launch in 0..launches as u32 {
            assert_eq!(sampling.like(launch), 0);
            if let Some(stands_for) = sampling.choose(launch) {
                assert!(sampling.parts(launch, stands_for).is_none(), "it has a single CTA");
                sampling.end(launch, stands_for, cycles(launch), None);
                represented.push(stands_for);
            }
        }
        (represented, sampling.error().unwrap())
    }

    #[test]
    fn drawn_launches_stand_for_all_and_the_first_for_itself() {
        for launches in [1, 2, 9, 40, 200] {
            let (represented, error) =
                sample(launches, |launch| if launch == 0 { 900 } else { 100 });
            assert_eq!((represented[0], represented.iter().sum()), (1, launches as u32));
            assert_eq!(error, CyclesError { standard: 0.0, half_interval: 0.0 });
        }
    }

    /// Values of 100 and 140 in turn have the variance 800; a draw for n launches adds n (n - 1) times
    /// that.
    #[test]
    fn the_error_is_that_of_the_drawn_launches() {
        let turn = std::cell::Cell::new(0);
        let (represented, error) = sample(60, |launch| {
            turn.set(turn.get() + u64::from(launch > 0));
            100 + 40 * (turn.get() % 2)
        });
        let weight: u32 = represented[1..].iter().map(|n| n * (n - 1)).sum();
        assert!(weight > 0);
        assert!((error.standard.powi(2) - 800.0 * f64::from(weight)).abs() < 1e-6);
        assert!(error.half_interval > 1.96 * error.standard);
    }

    #[test]
    fn machines_without_an_error_simulate_everything() {
        let trace = trace(&[TestKernel::new(vec![])]);
        assert!(Sampling::new(&machine(&[]), trace.kernels(), std::iter::once(1)).is_none());
    }
}
