//! Sampling of long runs (`run.error_permille`): of many launches that are alike, and of the many CTAs
//! of a launch, some are simulated and stand for the others in the counts of the run.
//!
//! The numbers of draws follow from the variance of the cycles drawn so far, so that the 95 % interval
//! of the cycles of the run is as narrow as asked. The dispatcher asks which launch and which CTAs come
//! next, and reports the cycles that they took.

mod allocation;
mod draws;
mod groups;
mod parts;

use allocation::{Stratum, most_items};
use draws::{Draws, Run};
use groups::{are_equal, groups};
pub(crate) use parts::{Part, Parts, Work};
use serde::Serialize;
use warpmem_machine::Machine;
use warpmem_support::statistics::Variance;
use warpmem_trace::Kernel;

/// Seed of the draws; constant, so that policies are compared on the same launches and CTAs.
const SEED: u64 = 1;
/// Fewest launches that are drawn from a group, if all take the same cycles.
const LEAST_RUNS: u32 = 2;
/// Spread of the cycles of alike launches, relative, that is assumed until launches have been drawn: of
/// those whose instructions and accesses are equal in number, and of others.
const SPREAD_OF_EQUAL: f64 = 0.01;
const SPREAD_OF_ALIKE: f64 = 0.04;
/// Standard errors in half of a 95 % interval.
const HALF_INTERVAL: f64 = 2.0;

/// The sampling of a run.
pub(crate) struct Sampling {
    /// Half of the 95 % interval of the cycles of the run that is asked, relative.
    error: f64,
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
    /// Warp instructions of the first: the cost of a draw.
    instructions: f64,
    others: Draws,
    run: Option<Run>,
}

impl Group {
    /// Returns the group for the allocation of draws. `rate`: cycles per warp instruction, until cycles
    /// are known.
    fn stratum(&self, rate: f64) -> Stratum<'_> {
        let cycles = self.others.mean().unwrap_or(self.instructions * rate);
        Stratum::new(&self.others, cycles, self.instructions)
    }
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
            error,
            groups: Vec::new(),
            instructions: simulated.map(|kernel| kernel.warp_instructions).sum(),
            launches: kernels.iter().zip(waves).map(launch).collect(),
            within: Some(Vec::new()),
        };
        let first = machine.run.fast_forward;
        for launches in groups(kernels, first) {
            let spread =
                if are_equal(kernels, &launches) { SPREAD_OF_EQUAL } else { SPREAD_OF_ALIKE };
            sampling.add_group(&launches, spread);
        }
        Some(sampling)
    }

    /// Adds a group. `spread`: that of its cycles, relative, as it is assumed.
    fn add_group(&mut self, launches: &[u32], spread: f64) {
        for (&launch, number) in launches.iter().zip(0..) {
            self.launches[launch as usize].place = Some((self.groups.len(), number));
        }
        let first = launches[0];
        let others = Draws::new(launches.len() as u32 - 1, LEAST_RUNS, spread, seed(first));
        let instructions = self.launches[first as usize].instructions.max(1) as f64;
        self.groups.push(Group { first, instructions, others, run: None });
    }

    /// Returns the number of launches for which `launch` stands, itself included; none if it is not
    /// simulated. Called for each launch in order, when those before it have ended.
    pub fn choose(&mut self, launch: u32) -> Option<u32> {
        let Some((at, place)) = self.launches[launch as usize].place else { return Some(1) };
        let Some(number) = place.checked_sub(1) else { return Some(1) };
        if self.groups[at].run.as_ref().is_none_or(|run| run.items.end == number) {
            let most = self.most(at);
            let group = &mut self.groups[at];
            group.run = group.others.next_run(most);
        }
        self.groups[at].run.as_ref().filter(|run| run.drawn == number).map(Run::length)
    }

    /// Returns the number of launches of group `at` for which a draw may stand.
    fn most(&self, at: usize) -> f64 {
        let seen =
            self.groups.iter().filter_map(|group| Some((group.others.mean()?, group.instructions)));
        let (cycles, instructions) =
            seen.fold((0.0, 0.0), |sum, seen| (sum.0 + seen.0, sum.1 + seen.1));
        let rate = cycles / instructions;
        let drawn = self.groups.iter().filter(|group| group.others.items() > 0);
        let strata: Vec<Stratum<'_>> = drawn.map(|group| group.stratum(rate)).collect();
        let share = self.share_between();
        let half = self.error * share.sqrt() * self.instructions as f64 * rate;
        most_items(&strata, &self.groups[at].stratum(rate), half)
    }

    /// Returns the share of the variance of the cycles of the run that the draws of launches may have;
    /// those of CTAs have the rest.
    fn share_between(&self) -> f64 {
        let of_group = |group: &Group| {
            let items = f64::from(group.others.items());
            items * group.instructions / self.stages(group.first)
        };
        self.groups.iter().map(of_group).sum::<f64>() / self.instructions as f64
    }

    /// Returns the stages in which the launches of a group are sampled: the launches, and the CTAs of each.
    fn stages(&self, first: u32) -> f64 {
        let Launch { ctas, wave, .. } = self.launches[first as usize];
        if Parts::may_leave_out(ctas, wave) { 2.0 } else { 1.0 }
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
        match self.launches[launch as usize].place {
            Some((group, 0)) => self.groups[group].others.note_before(cycles as f64),
            Some((group, _)) => self.groups[group].others.add(cycles as f64),
            None => {}
        }
        let Some(parts) = parts else { return };
        let own = parts.variance();
        let own = own.map(|own| own.scaled(f64::from(stands_for)));
        match (&mut self.within, own) {
            (Some(within), Some(own)) => within.push(own),
            _ => self.within = None,
        }
    }

    /// Returns the bound on the relative variance of a part of the run with this many warp instructions:
    /// if every part keeps its own, the run keeps that of the error asked.
    fn bound_of(&self, instructions: f64) -> f64 {
        let bound = (self.error / HALF_INTERVAL).powi(2);
        bound * self.instructions as f64 / instructions.max(1.0)
    }

    /// Returns the error of the cycles of the run: that of a stratified sample in two stages (Cochran,
    /// *Sampling Techniques*, 1977, 11.24), with Satterthwaite's degrees of freedom. None if a stratum
    /// has a single draw.
    pub fn error(&self) -> Option<CyclesError> {
        let between: Option<Vec<Variance>> =
            self.groups.iter().map(|group| group.others.variance_of_total()).collect();
        let all = [between?, self.within.clone()?].concat();
        let all = Variance::sum(all.into_iter());
        Some(CyclesError { standard: all.value.sqrt(), half_interval: all.half_interval() })
    }
}

fn seed(launch: u32) -> u64 {
    u64::from(launch) << 32 | SEED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;
    use warpmem_support::random::Random;
    use warpmem_testing::{TestKernel, compute, trace};
    use warpmem_trace::{OpClass, Trace};

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
            let cycles = 800.0 + 100.0 * launches as f64;
            assert!(error.half_interval <= 0.01 * cycles, "{error:?} of {cycles}");
            assert!(launches > 2 || error.standard == 0.0, "nothing is left out");
        }
    }

    /// Values of 100 and 140 in turn have the variance 800, with 2 (k - 1)² / (3 k - 4) degrees of freedom
    /// for k values, and 1 % of the mean counts for half of one; a draw for n launches adds n (n - 1) times
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
        let count = (represented.len() - 1) as f64;
        let freedom = 2.0 * (count - 1.0).powi(2) / (3.0 * count - 4.0);
        let mean = 120.0 + if represented.len() % 2 == 0 { 20.0 / count } else { 0.0 };
        let variance = (0.5e-4 * mean * mean + freedom * 800.0) / (0.5 + freedom);
        assert!((error.standard.powi(2) - variance * f64::from(weight)).abs() < 1e-6);
        assert!(error.half_interval > 1.96 * error.standard);
    }

    /// A program of `groups` kernels that are launched in turn for `rounds` rounds.
    struct Program {
        groups: u32,
        rounds: u32,
        trace: Trace,
    }

    impl Program {
        /// `alike`: later launches have more instructions than the first.
        fn new(groups: u32, rounds: u32, alike: bool) -> Program {
            let kernel = |launch: u32| {
                let (group, round) = (launch % groups, launch / groups);
                let length = 30 + group + u32::from(alike && round > 0);
                let cta = vec![vec![compute(OpClass::Integer, &[]); length as usize]];
                TestKernel { name: Some(format!("k{group}")), ..TestKernel::new(vec![cta]) }
            };
            let launches: Vec<TestKernel> = (0..groups * rounds).map(kernel).collect();
            Program { groups, rounds, trace: trace(&launches) }
        }

        /// Samples 1 % with these cycles, of group and round. Returns the error of the cycles and half of
        /// the interval, relative, and the launches simulated.
        fn sample(&self, cycles: impl Fn(u32, u32) -> f64) -> (f64, f64, u32) {
            let machine = machine(&["run.error_permille=10"]);
            let waves = std::iter::repeat(8);
            let mut sampling = Sampling::new(&machine, self.trace.kernels(), waves).unwrap();
            let (mut truth, mut estimate, mut simulated) = (0.0, 0.0, 0);
            for launch in 0..self.groups * self.rounds {
                let own = cycles(launch % self.groups, launch / self.groups).round();
                truth += own;
                if let Some(stands_for) = sampling.choose(launch) {
                    sampling.end(launch, stands_for, own as u64, None);
                    estimate += own * f64::from(stands_for);
                    simulated += 1;
                }
            }
            let half = sampling.error().map_or(f64::INFINITY, |error| error.half_interval);
            (estimate / truth - 1.0, half / truth, simulated)
        }
    }

    /// A normal number, about.
    fn noise(seed: u64, group: u32, round: u32) -> f64 {
        let mut random = Random::numbered(seed, u64::from(group) << 32 | u64::from(round));
        (0..12).map(|_| random.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    /// Programs of one group and of ten, with equal and unequal launches, some that vary more than is
    /// assumed, the last with a group of half the time whose cycles vary by 10 %. Of 400 trials each, the
    /// intervals hold in 90 to 100 %.
    #[test]
    fn intervals_of_programs_hold_and_are_about_as_narrow_as_asked() {
        type Cycles = fn(u32, f64) -> f64;
        // Share of the launches simulated, half of the interval stated, both at most.
        let cases: [(Program, f64, f64, Cycles); 5] = [
            (Program::new(1, 40, false), 0.25, 0.0105, |_, noise| 1.0 + 0.01 * noise),
            (Program::new(1, 400, true), 0.25, 0.0105, |_, noise| 1.0 + 0.05 * noise),
            (Program::new(10, 32, false), 0.1, 0.004, |_, noise| 1.0 + 0.005 * noise),
            (Program::new(10, 32, false), 0.2, 0.018, |_, noise| 1.0 + 0.05 * noise),
            (Program::new(10, 48, true), 0.2, 0.0105, |group, noise| {
                if group == 9 { 9.0 + 0.9 * noise } else { 1.0 + 0.005 * noise }
            }),
        ];
        const TRIALS: u64 = 40;
        for (program, share, widest, cycles) in cases {
            let (mut held, mut stated, mut simulated) = (0, 0.0, 0);
            for seed in 0..TRIALS {
                let of = |group, round| 1e5 * cycles(group, noise(seed, group, round));
                let (error, half, launches) = program.sample(of);
                held += u32::from(error.abs() <= half);
                stated += half / TRIALS as f64;
                simulated += launches;
            }
            let launches = TRIALS as f64 * program.trace.kernels().len() as f64;
            let drawn = f64::from(simulated) / launches;
            assert!(held >= 33 && stated < widest && drawn < share, "{held}, {stated}, {drawn}");
        }
    }

    #[test]
    fn machines_without_an_error_simulate_everything() {
        let trace = trace(&[TestKernel::new(vec![])]);
        assert!(Sampling::new(&machine(&[]), trace.kernels(), std::iter::once(1)).is_none());
    }
}
