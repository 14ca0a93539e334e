//! Cache-conscious wavefront scheduling: as warps lose lines in L1, fewer warps may load.

mod scores;
mod victims;

use super::gto::Gto;
use super::{Needs, ResidentCta, WarpEntry, WarpScheduler, WarpView};
use scores::Scores;
use victims::VictimTags;
use warpmem_params::{Counter, PolicyInfo, params};
use warpmem_sim::{CoreCycle, WarpSlot};

const INFO: PolicyInfo = PolicyInfo {
    name: "ccws",
    summary: "gto, but holds back the loads of warps whose lines would not fit in L1",
    source: "Rogers et al., MICRO 2012",
    params: Options::params,
};

pub(super) const ENTRY: WarpEntry = WarpEntry {
    info: INFO,
    build: |context, params| {
        let options: Options = params.read();
        Ok(Box::new(Ccws::new(&options, context.schedulers())) as _)
    },
};

/// Upper bound of the parameters; keeps every sum of scores far below 2^64.
const LARGEST: u64 = 1_000_000;

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// score of a warp without recently lost lines
        base: u64 = 100, in 1..=LARGEST, unit "points";
        /// factor K of the score of a lost line; 0 = no warp is ever held back
        throttle: u64 = 8, in 0..=LARGEST;
        /// victim tags of each warp
        victims: u64 = 16, in 1..=1024, unit "lines";
    }
}

struct Ccws {
    throttle: u64,
    gto: Gto,
    victims: VictimTags,
    scores: Scores,
    /// Instructions issued by the SM, and reads that missed a recently lost line.
    issued: u64,
    losses: u64,
    loads: u64,
    past_held: u64,
}

impl Ccws {
    fn new(options: &Options, schedulers: usize) -> Ccws {
        Ccws {
            throttle: options.throttle,
            gto: Gto::new(schedulers),
            victims: VictimTags::new(options.victims as usize),
            scores: Scores::new(options.base),
            issued: 0,
            losses: 0,
            loads: 0,
            past_held: 0,
        }
    }

    /// Returns the score of a lost line (equation 1 of the paper).
    fn score_of_a_loss(&self) -> u64 {
        let weight = u128::from(self.throttle) * u128::from(self.scores.cutoff());
        // A read belongs to an instruction already counted in `issued`.
        let score = u128::from(self.losses) * weight / u128::from(self.issued.max(1));
        u64::try_from(score).unwrap_or(u64::MAX)
    }
}

impl WarpScheduler for Ccws {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let out = view.at_barrier | view.at_end | view.paused;
        let held = candidates & view.loads & !self.scores.may_load(view.cycle, out);
        let free = candidates & !held;
        if free == 0 {
            return None;
        }
        let pick = self.gto.choose(free, view);
        self.issued += 1;
        self.loads += u64::from(pick.is_in(view.loads));
        self.past_held += u64::from(held != 0);
        Some(pick)
    }

    fn changes_at(&self, _: CoreCycle) -> CoreCycle {
        self.scores.changes_at()
    }

    fn launched(&mut self, cta: &ResidentCta) {
        cta.warps.iter().for_each(|&(slot, _)| self.scores.add(slot));
    }

    fn retired(&mut self, slot: WarpSlot) {
        self.gto.forget(slot);
        self.victims.clear(slot);
        self.scores.remove(slot);
    }

    fn needs(&self) -> Needs {
        Needs { l1_events: true, ..Needs::default() }
    }

    fn missed(&mut self, slot: WarpSlot, line: u64, cycle: CoreCycle) {
        if self.victims.take(slot, line) {
            self.losses += 1;
            self.scores.raise(slot, self.score_of_a_loss(), cycle);
        }
    }

    fn evicted(&mut self, slot: WarpSlot, line: u64) {
        self.victims.put(slot, line);
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "loads", value: self.loads },
            Counter { name: "victim_tag_hits", value: self.losses },
            Counter { name: "issues_past_held_loads", value: self.past_held },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain::{launch, pick, retire};
    use super::*;

    const ALL: u64 = 0b1111;

    /// Four warps in slots 0 to 3, oldest first, on one scheduler.
    fn four(options: Options) -> Ccws {
        let mut ccws = Ccws::new(&options, 1);
        let warps = [0, 1, 2, 3].map(|slot| (slot, 10));
        launch(&mut ccws, 0, &warps);
        ccws
    }

    /// Reports an L1 miss of the warp in `slot`.
    fn missed(ccws: &mut Ccws, slot: u16, line: u64, cycle: u64) {
        ccws.missed(WarpSlot(slot), line, CoreCycle::new(cycle));
    }

    /// Evicts a line of the warp in `slot`.
    fn evicted(ccws: &mut Ccws, slot: u16, line: u64) {
        ccws.evicted(WarpSlot(slot), line);
    }

    /// Returns the warps that may load in a cycle.
    fn may_load(ccws: &mut Ccws, cycle: u64) -> u64 {
        ccws.scores.may_load(CoreCycle::new(cycle), 0)
    }

    fn view(cycle: u64, loads: u64) -> WarpView<'static> {
        let cycle = CoreCycle::new(cycle);
        WarpView { cycle, loads, memory: ALL, ages: &[0, 1, 2, 3], ..WarpView::default() }
    }

    /// Issues `count` instructions that are not loads.
    fn issue(ccws: &mut Ccws, count: u64) {
        (0..count).for_each(|_| assert!(pick(ccws, ALL, &view(0, 0)).is_some()));
    }

    #[test]
    fn a_lost_line_scores_by_equation_1_and_holds_the_youngest_warp_back() {
        let mut ccws = four(Options::default());
        issue(&mut ccws, 32);
        // Warp 2 loses line 7 and reads it again.
        evicted(&mut ccws, 2, 7);
        missed(&mut ccws, 2, 7, 1000);
        // 1 loss / 32 issued x 8 x (4 warps x 100) = 100, at most the base: no warp is held back.
        assert_eq!(may_load(&mut ccws, 1000), ALL);
        evicted(&mut ccws, 2, 7);
        missed(&mut ccws, 2, 7, 1000);
        // 2 / 32 x 8 x 400 = 200; the sum of 500 exceeds the cutoff of 400 with the last, youngest
        // warp.
        assert_eq!(may_load(&mut ccws, 1000), 0b0111);
        // A loss of warp 3 scores 3 / 32 x 8 x 400 = 300: 300 + 200 > 400, only warp 3 may load.
        evicted(&mut ccws, 3, 9);
        missed(&mut ccws, 3, 9, 1000);
        assert_eq!(may_load(&mut ccws, 1000), 0b1000);
        assert_eq!(ccws.losses, 3);
    }

    #[test]
    fn only_a_warps_own_lost_lines_count() {
        let mut ccws = four(Options::default());
        issue(&mut ccws, 4);
        missed(&mut ccws, 0, 7, 0);
        evicted(&mut ccws, 0, 7);
        missed(&mut ccws, 1, 7, 0);
        assert_eq!((ccws.losses, may_load(&mut ccws, 0)), (0, ALL));
        missed(&mut ccws, 0, 7, 0);
        assert_eq!(ccws.losses, 1);
    }

    #[test]
    fn warps_above_the_cutoff_issue_everything_but_loads() {
        let mut ccws = four(Options::default());
        issue(&mut ccws, 16);
        evicted(&mut ccws, 3, 7);
        missed(&mut ccws, 3, 7, 100);
        // 1 / 16 x 8 x 400 = 200: warps 3, 0 and 1 may load; 2 waits until warp 3 is back at 100.
        let mut pick_at =
            |cycle, candidates, loads| pick(&mut ccws, candidates, &view(cycle, loads));
        assert_eq!(pick_at(100, 0b0100, ALL), None);
        assert_eq!(pick_at(150, 0b0100, 0b1011), Some(2), "a store");
        assert_eq!(pick_at(150, 0b1100, ALL), Some(3), "warp 3 lost its line");
        assert_eq!(pick_at(199, 0b0100, ALL), None);
        assert_eq!(ccws.changes_at(CoreCycle::new(199)), CoreCycle::new(200));
        assert_eq!(pick(&mut ccws, 0b0100, &view(200, ALL)), Some(2));
        let values = [("loads", 2), ("victim_tag_hits", 1), ("issues_past_held_loads", 1)];
        let counted: Vec<_> = ccws.counters().iter().map(|c| (c.name, c.value)).collect();
        assert_eq!(counted, values);
    }

    #[test]
    fn warps_that_may_load_issue_greedy_then_oldest() {
        let mut ccws = four(Options::default());
        let mut pick = |candidates| pick(&mut ccws, candidates, &view(0, ALL)).unwrap();
        assert_eq!([pick(0b1110), pick(0b1111), pick(0b1001)], [1, 1, 0]);
    }

    #[test]
    fn throttle_0_holds_no_warp_back() {
        let mut ccws = four(Options { throttle: 0, ..Options::default() });
        issue(&mut ccws, 1);
        evicted(&mut ccws, 3, 7);
        missed(&mut ccws, 3, 7, 0);
        assert_eq!((ccws.losses, may_load(&mut ccws, 0)), (1, ALL));
    }

    #[test]
    fn a_new_warp_in_a_slot_starts_without_victims() {
        let mut ccws = four(Options::default());
        issue(&mut ccws, 1);
        evicted(&mut ccws, 3, 7);
        retire(&mut ccws, 3);
        launch(&mut ccws, 1, &[(3, 10)]);
        missed(&mut ccws, 3, 7, 0);
        assert_eq!(ccws.losses, 0);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        let machine = warpmem_machine::load("li2015", &[]).unwrap();
        let context = super::super::SmContext::of(&machine, warpmem_sim::SmId(0));
        let build = |text: &str| super::super::WARP_SCHEDULERS.build(text, &context).map(|_| ());
        assert_eq!(build("ccws(base=1,throttle=0,victims=1024)"), Ok(()));
        let cases = [
            ("base=0", "1 to 1000000"),
            ("victims=0", "1 to 1024"),
            ("victims=1025", "1 to 1024"),
            ("throttle=1000001", "0 to 1000000"),
            ("bases=1", "did you mean `base`?"),
        ];
        for (wrong, valid) in cases {
            let message = build(&format!("ccws({wrong})")).unwrap_err().to_string();
            assert!(message.contains(valid), "{message}");
        }
    }
}
