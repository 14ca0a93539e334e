//! DYNCTA: fewer CTAs while all wait for memory, more while the SM has too little to do.

use super::{CtaEntry, CtaScheduler, DispatchView, KernelStart, Turns};
use crate::sm::IdleCycles;
use serde::Deserialize;
use warpmem_params::{Counter, ParamInfo, PolicyInfo};

const INFO: PolicyInfo = PolicyInfo {
    name: "dyncta",
    summary: "an SM's number of CTAs follows the cycles in which it had nothing to do or waited for memory, one up or down a period",
    source: "Kayiran et al., PACT 2013",
    params: &[
        ParamInfo {
            name: "period",
            default: "2048",
            unit: "core cycles",
            range: "from 1",
            summary: "time between two decisions",
        },
        ParamInfo {
            name: "t_idle",
            default: "16",
            unit: "core cycles",
            range: "from 0",
            summary: "more idle cycles in a period: one CTA more",
        },
        ParamInfo {
            name: "t_mem_low",
            default: "128",
            unit: "core cycles",
            range: "0 to t_mem_high",
            summary: "fewer cycles of waiting for memory in a period: one CTA more",
        },
        ParamInfo {
            name: "t_mem_high",
            default: "384",
            unit: "core cycles",
            range: "from t_mem_low",
            summary: "more cycles of waiting for memory in a period: one CTA fewer",
        },
        ParamInfo {
            name: "idle",
            default: "no-issue",
            unit: "-",
            range: "no-issue | no-warp",
            summary: "idle cycles: those that wait for no memory and no unit, or only those without any warp",
        },
    ],
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |machine, params| {
        let options: Options = params.parse(&INFO)?;
        INFO.require(options.period > 0, "period is 0")?;
        INFO.require(options.t_mem_low <= options.t_mem_high, "t_mem_low is above t_mem_high")?;
        Ok(Box::new(Dyncta {
            options,
            turns: Turns::default(),
            most: 1,
            sms: vec![Level::default(); machine.sm.count as usize],
            counts: Counts::default(),
        }))
    },
};

#[derive(Clone, Copy, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    period: u64,
    t_idle: u64,
    t_mem_low: u64,
    t_mem_high: u64,
    idle: Idle,
}

/// Which cycles are idle.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Idle {
    NoIssue,
    NoWarp,
}

impl Default for Options {
    fn default() -> Options {
        Options { period: 2048, t_idle: 16, t_mem_low: 128, t_mem_high: 384, idle: Idle::NoIssue }
    }
}

impl Options {
    /// The limit after a period with these cycles.
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

/// The parallelism of one SM.
#[derive(Clone, Copy)]
struct Level {
    /// The most CTAs that may run.
    limit: u32,
    /// What it had done at the start of this period; none before the first period of a kernel.
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
    turns: Turns,
    /// CTAs that an empty SM holds, of each kernel that runs.
    most: u32,
    sms: Vec<Level>,
    counts: Counts,
}

impl CtaScheduler for Dyncta {
    fn pick(&mut self, view: &DispatchView) -> Option<usize> {
        let wants = |sm: usize| view.resident(sm) < self.sms[sm].limit;
        self.turns.take(view.sms(), |sm| view.may_start(sm) && wants(sm))
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

    fn observe(&mut self, sm: usize, idle: IdleCycles) {
        let level = &mut self.sms[sm];
        let Some(before) = level.before.replace(idle) else { return };
        let limit = self.options.next_limit(level.limit, self.most, idle.since(before));
        self.counts.raised += u64::from(limit > level.limit);
        self.counts.lowered += u64::from(limit < level.limit);
        self.counts.decisions += 1;
        self.counts.limits += u64::from(limit);
        level.limit = limit;
    }

    fn running_limit(&self, sm: usize) -> u32 {
        self.sms[sm].limit
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
        assert_eq!(next(3, 0, 127), 4, "little waiting");
        assert_eq!([next(3, 0, 128), next(3, 16, 384)], [3, 3], "between the thresholds");
        assert_eq!(next(3, 0, 385), 2, "much waiting");
        assert_eq!(next(3, 17, 2000), 4, "an idle SM gets more, however much it waits for memory");
        assert_eq!([next(6, 0, 0), next(6, 17, 0)], [6, 6], "what fits");
        assert_eq!(next(1, 0, 2048), 1, "one CTA always runs");
    }

    #[test]
    fn waiting_for_computed_values_is_idle_unless_only_having_no_warp_is() {
        let spent = |no_warp, dependency| IdleCycles { no_warp, dependency, memory: 1000 };
        let next = |idle, spent| Options { idle, ..Options::default() }.next_limit(3, 6, spent);
        assert_eq!([spent(8, 9), spent(8, 8)].map(|spent| next(Idle::NoIssue, spent)), [4, 2]);
        assert_eq!([spent(17, 0), spent(16, 99)].map(|spent| next(Idle::NoWarp, spent)), [4, 2]);
    }
}
