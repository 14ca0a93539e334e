//! Sampling within a launch.
//!
//! ```text
//!  CTAs      │ head │   │ warm │ drawn │    │ warm │ drawn │    │ warm │ tail │
//!            └──────┘ … └──────┴───────┘ …  └──────┴───────┘ …  └──────┴──────┘
//!  stands for    1    0     0      run    0     0      run    0     0      1
//! ```
//!
//! The head is simulated until the launch settles; the tail, with the end of all CTAs, too. Between
//! them are units of equal numbers of CTAs, of which some are drawn. A unit takes as long as refresh,
//! write drains and the bursts in which CTAs start need to average out.
//!
//! The machine never drains between parts: when the last CTA of a part has started, the next CTA to
//! start is the first of the next part. The unit before a drawn one fills L1, first-level TLBs and
//! queues, and counts for nothing. A part lasts from the start of its first CTA to that of the next
//! part; what is issued meanwhile is not just its own, so cycles are extrapolated by instructions: a
//! ratio estimate (Cochran, *Sampling Techniques*, 1977, 6.1).

use super::draws::{Draws, Run};
use std::ops::Range;
use warpmem_sim::Times;
use warpmem_support::statistics::Variance;

/// Least length of a unit, core cycles.
const UNIT_CYCLES: u64 = 1 << 14;
/// Fewest units between head and tail that are sampled.
const LEAST_UNITS: u32 = 16;
/// Fewest drawn units, if all are alike.
const LEAST_RUNS: u32 = 4;
/// Spread of the cycles of units, relative, that is assumed until units have been drawn.
const ASSUMED_SPREAD: f64 = 0.01;
/// Units of the head that are compared with those before them, and the change of their rate, relative,
/// below which the launch has settled.
const SETTLING: usize = 2;
const SETTLED: f64 = 0.03;

/// A part of a launch that is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub ctas: Range<u32>,
    /// Units that it represents; none if it stands for itself alone, 0 if it only fills the caches.
    pub weight: Option<u32>,
}

/// Core cycles, and warp instructions issued in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub cycles: u64,
    pub instructions: u64,
}

impl Work {
    /// Returns the work from an earlier time to this one.
    pub fn since(self, before: Work) -> Work {
        Work {
            cycles: self.cycles - before.cycles,
            instructions: self.instructions - before.instructions,
        }
    }

    fn add(&mut self, work: Work, times: u32) {
        self.cycles += work.cycles * u64::from(times);
        self.instructions += work.instructions * u64::from(times);
    }
}

/// The simulated parts of a launch, one after the other.
pub(crate) struct Parts {
    /// All CTAs and warp instructions of the launch, and CTAs that the machine holds.
    ctas: u32,
    instructions: u64,
    wave: u32,
    /// Bound on the variance of its cycles, relative to their square, and seed of the draws.
    bound: f64,
    seed: u64,
    part: Part,
    stage: Stage,
    /// Work of the parts that stand for themselves, and of those drawn, weighted.
    own: Work,
    drawn: Work,
}

enum Stage {
    /// Simulates the first wave, then the second, whose cycles determine the unit.
    Waves,
    /// Simulates units until their rates, instructions per cycle, change no more.
    Head {
        unit: u32,
        rates: Vec<f64>,
    },
    Body(Body),
    Tail,
}

/// The units between head and tail.
struct Body {
    /// Its first CTA, CTAs of a unit, and number of units.
    first: u32,
    unit: u32,
    units: u32,
    /// Bound on the variance of the cycles of all units, relative to their square.
    bound: f64,
    /// Units before this one have been simulated or skipped.
    passed: u32,
    draws: Draws,
    /// The run of the next drawn unit.
    run: Option<Run>,
}

impl Parts {
    /// Returns none if the launch has too few waves of `wave` CTAs to leave some out.
    pub fn new(ctas: u32, instructions: u64, wave: u32, bound: f64, seed: u64) -> Option<Parts> {
        Parts::may_leave_out(ctas, wave).then(|| Parts {
            ctas,
            instructions,
            wave,
            bound,
            seed,
            part: Part { ctas: 0..wave, weight: None },
            stage: Stage::Waves,
            own: Work::default(),
            drawn: Work::default(),
        })
    }

    /// Whether a launch has enough waves to leave some out.
    pub fn may_leave_out(ctas: u32, wave: u32) -> bool {
        wave > 0 && ctas / wave > LEAST_UNITS + 2 * SETTLING as u32
    }

    /// Returns the current part.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// Ends the current part, which is not the last, after this work, and begins the next.
    pub fn next(&mut self, work: Work) {
        self.end_part(work);
        let end = self.part.ctas.end;
        match &mut self.stage {
            Stage::Waves if self.part.ctas.start == 0 => self.simulate(end, self.wave),
            Stage::Waves => {
                let unit =
                    self.wave * UNIT_CYCLES.div_ceil(work.cycles.max(1)).clamp(1, 1 << 12) as u32;
                self.stage = Stage::Head { unit, rates: Vec::new() };
                self.simulate(end, unit);
            }
            Stage::Head { unit, rates } => {
                rates.push(work.instructions as f64 / work.cycles.max(1) as f64);
                let (unit, settled) = (*unit, is_settled(rates));
                if settled { self.begin_body(end, unit) } else { self.simulate(end, unit) }
            }
            Stage::Body(_) => self.continue_body(work),
            Stage::Tail => unreachable!("the tail is the last part"),
        }
    }

    /// Ends the last part after this work; returns the cycles of the launch.
    pub fn end(&mut self, work: Work) -> u64 {
        self.end_part(work);
        self.own.cycles + self.scale().of(self.drawn.cycles)
    }

    /// Returns the weight of the counts of the drawn parts, in addition to their own, once all parts
    /// have ended: the instructions outside the parts that stand for themselves, over those of the drawn
    /// parts.
    pub fn scale(&self) -> Times {
        let between = self.instructions.saturating_sub(self.own.instructions);
        Times::ratio(between, self.drawn.instructions)
    }

    /// Returns the variance of the cycles of the launch; none if it is unknown.
    pub fn variance(&self) -> Option<Variance> {
        match &self.stage {
            Stage::Body(body) => body.draws.variance_of_total(),
            _ => Some(Variance::NONE),
        }
    }

    /// Whether all CTAs are simulated.
    pub fn are_all(&self) -> bool {
        !matches!(self.stage, Stage::Body(_))
    }

    fn end_part(&mut self, work: Work) {
        match self.part.weight {
            None => self.own.add(work, 1),
            Some(weight) => self.drawn.add(work, weight),
        }
    }

    /// Begins a part of the next `ctas` CTAs that stand for themselves, or of all that are left if the
    /// next part would be shorter.
    fn simulate(&mut self, start: u32, ctas: u32) {
        let left = self.ctas - start;
        let is_last = left < 2 * ctas;
        if is_last {
            self.stage = Stage::Tail;
        }
        let end = if is_last { self.ctas } else { start + ctas };
        self.part = Part { ctas: start..end, weight: None };
    }

    fn begin_body(&mut self, first: u32, unit: u32) {
        let units = ((self.ctas - first) / unit).saturating_sub(1);
        if units < LEAST_UNITS {
            return self.simulate(first, self.ctas - first);
        }
        let draws = Draws::new(units, LEAST_RUNS, ASSUMED_SPREAD, self.seed);
        let mut body = Body { first, unit, units, bound: self.bound, passed: 0, draws, run: None };
        self.part = body.following(self.ctas);
        self.stage = Stage::Body(body);
    }

    fn continue_body(&mut self, work: Work) {
        let Stage::Body(body) = &mut self.stage else { return };
        let per_unit = self.instructions as f64 / f64::from(self.ctas) * f64::from(body.unit);
        if self.part.weight.is_some_and(|weight| weight > 0) {
            let cycles = work.cycles as f64 * per_unit / work.instructions.max(1) as f64;
            body.draws.add(cycles);
            body.run = None;
        }
        self.part = body.following(self.ctas);
    }
}

/// Whether the last rates do not differ from those before.
fn is_settled(rates: &[f64]) -> bool {
    let Some(before) = rates.len().checked_sub(2 * SETTLING) else { return false };
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let (before, last) = rates[before..].split_at(SETTLING);
    (mean(last) - mean(before)).abs() <= SETTLED * mean(last)
}

impl Body {
    /// Returns the next part: the next drawn unit or the tail, or the unit before it if that has been
    /// skipped. `ctas`: CTAs of the launch.
    fn following(&mut self, ctas: u32) -> Part {
        if self.run.is_none() {
            let most = self.bound * f64::from(self.units) / self.draws.relative_variance().value;
            self.run = self.draws.next_run(most);
        }
        let target = self.run.as_ref().map_or(self.units, |run| run.drawn);
        if target > self.passed {
            self.passed = target;
            return Part { ctas: self.unit_at(target - 1), weight: Some(0) };
        }
        self.passed = target + 1;
        let own = self.unit_at(target);
        match &self.run {
            Some(run) => Part { ctas: own, weight: Some(run.length()) },
            None => Part { ctas: own.start..ctas, weight: None },
        }
    }

    fn unit_at(&self, number: u32) -> Range<u32> {
        let first = self.first + number * self.unit;
        first..first + self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Instructions of a CTA.
    const PER_CTA: u64 = 50;

    /// Returns all parts of a launch, whose CTAs issue at these instructions per cycle.
    fn parts(parts: &mut Parts, rate: impl Fn(&Part) -> f64) -> (Vec<Part>, u64) {
        let mut all = Vec::new();
        loop {
            let part = parts.part().clone();
            let instructions = PER_CTA * u64::from(part.ctas.end - part.ctas.start);
            let work = Work { cycles: (instructions as f64 / rate(&part)) as u64, instructions };
            let is_last = part.ctas.end == parts.ctas;
            all.push(part);
            if is_last {
                return (all, parts.end(work));
            }
            parts.next(work);
        }
    }

    fn of(ctas: u32, wave: u32, seed: u64) -> Option<Parts> {
        Parts::new(ctas, PER_CTA * u64::from(ctas), wave, 1e-4, seed)
    }

    fn length(part: &Part) -> u64 {
        u64::from(part.ctas.end - part.ctas.start)
    }

    #[test]
    fn short_launches_are_simulated_whole() {
        assert!(of(20 * 96, 96, 1).is_none() && of(100, 0, 1).is_none());
        // 1,000 waves of 100 cycles have too few units.
        let mut short = of(96_000, 96, 1).unwrap();
        let (all, _) = parts(&mut short, |_| 48.0);
        assert_eq!(all.iter().map(length).sum::<u64>(), 96_000);
        assert!(short.are_all() && all.iter().all(|part| part.weight.is_none()));
    }

    #[test]
    fn the_head_lasts_until_the_rate_settles_and_a_unit_before_each_drawn_one_is_simulated() {
        let mut long = of(1_000_000, 100, 3).unwrap();
        let slow = |part: &Part| 1.0 + (1.0 - f64::from(part.ctas.start) / 1e4).max(0.0);
        let (all, cycles) = parts(&mut long, slow);
        let head: Vec<&Part> = all.iter().take_while(|part| part.weight.is_none()).collect();
        assert!(head.last().unwrap().ctas.end > 8_000, "{head:?}");
        assert_eq!(all.last().unwrap().ctas.end, 1_000_000);
        for pair in all.windows(2).filter(|pair| pair[1].ctas.start > pair[0].ctas.end) {
            assert_eq!(pair[1].weight, Some(0), "a gap ends with a unit that fills the caches");
        }
        assert!(all.iter().map(length).sum::<u64>() < 150_000, "{all:?}");
        // 10,000 CTAs at rates from 2 to 1 take ln 2 of the cycles at a rate of 1.
        let expected = PER_CTA as f64 * (1e6 - 1e4 * (1.0 - std::f64::consts::LN_2));
        assert!((cycles as f64 / expected - 1.0).abs() < 2e-3, "{cycles} for {expected}");
    }

    proptest! {
        #[test]
        fn parts_ascend_and_stand_for_every_cta(
            ctas in 1u32..2_000_000, wave in 1u32..400, seed in any::<u64>(), spread in 1u64..100,
        ) {
            let Some(mut own) = of(ctas, wave, seed) else { return Ok(()) };
            let (all, _) = parts(&mut own, |part| 1.0 + (u64::from(part.ctas.start) * 7 % spread) as f64 / 1e3);
            prop_assert!(all.windows(2).all(|pair| pair[0].ctas.end <= pair[1].ctas.start));
            let stand = |part: &Part| u64::from(part.weight.unwrap_or(1)) * length(part);
            prop_assert_eq!(all.iter().map(stand).sum::<u64>(), u64::from(ctas));
        }

        /// Parts issue instructions of other parts: the ratio to all instructions counts.
        #[test]
        fn a_constant_rate_gives_the_exact_cycles(
            ctas in 100_000u32..2_000_000, wave in 1u32..400, seed in any::<u64>(), shift in 0u64..2000,
        ) {
            let Some(mut own) = of(ctas, wave, seed) else { return Ok(()) };
            let all = PER_CTA * u64::from(ctas);
            let mut issued = 0;
            let mut work = |part: &Part| {
                let more = shift * u64::from(part.ctas.start % 3);
                let instructions = (PER_CTA * length(part) + more).min(all - issued);
                issued += instructions * u64::from(part.weight.is_none());
                Work { cycles: 3 * instructions, instructions }
            };
            while own.part().ctas.end < ctas {
                let part = own.part().clone();
                own.next(work(&part));
            }
            let part = own.part().clone();
            let cycles = own.end(work(&part));
            if !own.are_all() {
                prop_assert!(cycles.abs_diff(3 * all) <= 3, "{} for {}", cycles, 3 * all);
                prop_assert!(own.variance().unwrap().value.sqrt() < 0.01 * cycles as f64);
            }
        }
    }
}
