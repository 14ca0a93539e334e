//! `fr-fcfs`: row hits before others, then the oldest.

use super::{BankView, Scheduler};
use crate::machine::Dram;
use crate::registry::{Entry, ParamInfo, PolicyInfo};
use serde::Deserialize;

const INFO: PolicyInfo = PolicyInfo {
    name: "fr-fcfs",
    summary: "row hits first, then the oldest",
    source: "Rixner et al., ISCA 2000",
    params: &[
        ParamInfo {
            name: "row_hit_cap",
            default: "0",
            unit: "requests",
            range: "0 = off, or from 1",
            summary: "row hits of a bank in a row that may pass an older request to another row",
        },
        ParamInfo {
            name: "page",
            default: "open",
            unit: "-",
            range: "open | closed",
            summary: "closed: precharge a row that no queued request goes to",
        },
        ParamInfo {
            name: "starvation_limit",
            default: "0",
            unit: "DRAM cycles",
            range: "0 = off, or from 1",
            summary: "a bank's oldest request that has waited this long goes before row hits",
        },
    ],
};

pub const ENTRY: Entry<dyn Scheduler, Dram> = Entry {
    info: INFO,
    build: |dram, params| {
        let options = params.parse(&INFO)?;
        Ok(Box::new(FrFcfs { options, passed: vec![0; dram.banks as usize] }))
    },
};

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    row_hit_cap: u32,
    page: Page,
    starvation_limit: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Page {
    #[default]
    Open,
    Closed,
}

struct FrFcfs {
    options: Options,
    /// Per bank: row hits served in a row that passed an older request to another row.
    passed: Vec<u32>,
}

impl FrFcfs {
    fn oldest_is_due(&self, bank: &BankView) -> bool {
        let Options { row_hit_cap, starvation_limit, .. } = self.options;
        let capped = row_hit_cap > 0 && self.passed[bank.bank as usize] >= row_hit_cap;
        let waited = || bank.now - bank.requests[0].arrived;
        capped || (starvation_limit > 0 && waited() >= starvation_limit)
    }
}

impl Scheduler for FrFcfs {
    fn pick(&mut self, bank: &BankView) -> Option<usize> {
        if self.oldest_is_due(bank) { Some(0) } else { Some(bank.fr_fcfs()) }
    }

    fn on_service(&mut self, bank: &BankView, index: usize) {
        // Only a row hit passes, and what it passes goes to other rows.
        let passed = &mut self.passed[bank.bank as usize];
        *passed = if index > 0 { *passed + 1 } else { 0 };
    }

    fn close_idle_row_at(&self, last_use: u64) -> Option<u64> {
        (self.options.page == Page::Closed).then_some(last_use)
    }
}
