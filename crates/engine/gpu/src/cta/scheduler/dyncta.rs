//! DYNCTA: fewer CTAs while an SM waits for memory, more while it is idle.

use super::{CtaEntry, CtaScheduler, DispatchView, KernelStart, RoundRobinPointer};
use crate::sm::IdleCycles;
use warpmem_params::{Counter, PolicyInfo, choice, params};
use warpmem_sim::SmId;

const INFO: PolicyInfo = PolicyInfo {
    name: "dyncta",
    summary: "adds or removes one CTA per SM and period, according to the SM's idle cycles and memory stall cycles",
    source: "Kayiran et al., PACT 2013",
    params: Options::params,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |machine, params| {
        let options: Options = params.read();
        let Options { t_mem_low: low, t_mem_high: high, .. } = options;
        INFO.require(low <= high, "t_mem_high", high, format!("at least `t_mem_low` = {low}"))?;
        Ok(Box::new(Dyncta {
            options,
            pointer: RoundRobinPointer::default(),
            most: 1,
            sms: vec![Level::default(); machine.sm.count as usize],
            counts: Counts::default(),
        }))
    },
};

params! {
    #[derive(Clone, Copy)]
    struct Options {
        /// period of the decisions
        period: u64 = 2048, in 1.., unit "core cycles";
        /// idle cycles per period above which the limit of the SM rises by one CTA
        t_idle: u64 = 16, in 0.., unit "core cycles";
        /// memory stall cycles per period below which the limit of the SM rises by one CTA
        t_mem_low: u64 = 128, in 0.., unit "core cycles";
        /// memory stall cycles per period above which the limit of the SM falls by one CTA; at
        /// least `t_mem_low`
        t_mem_high: u64 = 384, in 0.., unit "core cycles";
        /// definition of an idle cycle: no issue, and stalled neither on memory nor on a unit
        /// (`no-issue`), or no resident warp (`no-warp`)
        idle: Idle = Idle::NoIssue;
    }
}

choice! {
    /// Definition of an idle cycle.
    enum Idle {
        NoIssue = "no-issue",
        NoWarp = "no-warp",
    }
}

impl Options {
    /// Returns the limit after a period with these idle cycles.
    fn next_limit(&self, limit: u32, most: u32, spent: IdleCycles) -> u32 {
        let idle = match self.idle {
            Idle::NoIssue => spent.no_warp + spent.dependency,
            Idle::NoWarp => spent.no_warp,
        };
        if idle > self.t_idle || spent.memory < self.t_mem_low {
            most.min(limit + 1)
        } else if spent.memory > self.t_mem_high {
            (limit - 1).max(1)
        } else {
            limit
        }
    }
}

/// CTA limit of one SM.
#[derive(Clone, Copy)]
struct Level {
    /// Largest number of running CTAs.
    limit: u32,
    /// Idle cycles up to the start of this period; none before a kernel's first whole period.
    before: Option<IdleCycles>,
}

impl Default for Level {
    fn default() -> Level {
        Level { limit: 1, before: None }
    }
}

#[derive(Default)]
struct Counts {
    raised: u64,
    lowered: u64,
    decisions: u64,
    limits: u64,
}

struct Dyncta {
    options: Options,
    pointer: RoundRobinPointer,
    /// CTAs that fit in an empty SM, the maximum over running kernels.
    most: u32,
    sms: Vec<Level>,
    counts: Counts,
}

impl CtaScheduler for Dyncta {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        let wants = |sm: SmId| view.resident(sm) < self.sms[sm.index()].limit;
        self.pointer.pick(view, |sm| view.may_start(sm) && wants(sm))
    }

    fn kernel_started(&mut self, kernel: &KernelStart) {
        if !kernel.alone {
            self.most = self.most.max(kernel.per_sm);
            return;
        }
        self.most = kernel.per_sm;
        self.sms.fill(Level { limit: (self.most / 2).max(1), before: None });
    }

    fn interval(&self) -> Option<u64> {
        Some(self.options.period)
    }

    fn observe(&mut self, sm: SmId, idle: IdleCycles) {
        let level = &mut self.sms[sm.index()];
        let Some(before) = level.before.replace(idle) else { return };
        let limit = self.options.next_limit(level.limit, self.most, idle.since(before));
        self.counts.raised += u64::from(limit > level.limit);
        self.counts.lowered += u64::from(limit < level.limit);
        self.counts.decisions += 1;
        self.counts.limits += u64::from(limit);
        level.limit = limit;
    }

    fn running_limit(&self, sm: SmId) -> u32 {
        self.sms[sm.index()].limit
    }

    fn counters(&self) -> Vec<Counter> {
        let Counts { raised, lowered, decisions, limits } = self.counts;
        let counter = |name, value| Counter { name, value };
        vec![
            counter("cta_limit_decisions", decisions),
            counter("cta_limit_sum", limits),
            counter("cta_limits_raised", raised),
            counter("cta_limits_lowered", lowered),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_moves_the_limit_by_one_within_its_bounds() {
        let options = Options::default();
        let next = |limit, no_warp, memory| {
            options.next_limit(limit, 6, IdleCycles { no_warp, memory, dependency: 0 })
        };
        assert_eq!(next(3, 0, 127), 4, "few memory stalls");
        assert_eq!([next(3, 0, 128), next(3, 16, 384)], [3, 3], "between the thresholds");
        assert_eq!(next(3, 0, 385), 2, "many memory stalls");
        assert_eq!(next(3, 17, 2000), 4, "an idle SM gets more CTAs whatever its memory stalls");
        assert_eq!([next(6, 0, 0), next(6, 17, 0)], [6, 6], "limited by residency");
        assert_eq!(next(1, 0, 2048), 1, "at least one CTA runs");
    }

    #[test]
    fn dependency_stalls_are_idle_only_with_no_issue() {
        let spent = |no_warp, dependency| IdleCycles { no_warp, dependency, memory: 1000 };
        let next = |idle, spent| Options { idle, ..Options::default() }.next_limit(3, 6, spent);
        assert_eq!([spent(8, 9), spent(8, 8)].map(|spent| next(Idle::NoIssue, spent)), [4, 2]);
        assert_eq!([spent(17, 0), spent(16, 99)].map(|spent| next(Idle::NoWarp, spent)), [4, 2]);
    }
}
