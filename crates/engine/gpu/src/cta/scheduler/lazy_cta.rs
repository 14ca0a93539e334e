//! Lazy CTA scheduling: the share of the best CTA in all instructions of an SM gives the number of
//! CTAs that the SM needs.

use super::{CtaEntry, CtaScheduler, DispatchView, KernelStart, Turns};
use crate::sm::CtaEnd;
use warpmem_params::{Counter, PolicyInfo};
use warpmem_sim::{CoreCycle, SmId};

const INFO: PolicyInfo = PolicyInfo {
    name: "lazy-cta",
    summary: "as many CTAs per SM as fit until the first completes, then the number derived from the share of issues of its busiest CTA",
    source: "lazy CTA scheduling (LCS) of Lee et al., HPCA 2014",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |machine, _| {
        let sms = machine.sm.count as usize;
        let (turns, kernels) = (Turns::default(), Vec::new());
        Ok(Box::new(LazyCta { sms, turns, kernels, decisions: 0, limits: 0 }))
    },
};

/// The state of a kernel on one SM.
#[derive(Clone, Default)]
struct Share {
    /// CTAs of the kernel on the SM.
    resident: u32,
    /// When the first of them ended.
    first_end: Option<CoreCycle>,
    /// Warp instructions that all of them had issued then, and the one that had issued most.
    issued: u64,
    most: u64,
}

impl Share {
    fn limit(&self) -> Option<u32> {
        self.first_end.map(|_| self.issued.div_ceil(self.most) as u32)
    }

    /// Adds what a CTA had issued.
    fn add(&mut self, issued: u64) {
        self.issued += issued;
        self.most = self.most.max(issued);
    }

    /// A CTA has ended: the first, or one of those that ended in the same cycle, counts.
    fn end(&mut self, end: &CtaEnd, issued: &dyn Fn() -> Vec<u64>) {
        match self.first_end {
            // A CTA without instructions gives no share.
            None if end.issued.warp > 0 => {
                self.first_end = Some(end.cycle);
                self.add(end.issued.warp);
                issued().into_iter().for_each(|issued| self.add(issued));
            }
            Some(cycle) if cycle == end.cycle => self.add(end.issued.warp),
            _ => {}
        }
    }
}

struct Kernel {
    kernel: u32,
    sms: Vec<Share>,
}

struct LazyCta {
    sms: usize,
    turns: Turns,
    /// Those that run.
    kernels: Vec<Kernel>,
    /// Limits set for kernels that are over, and their sum.
    decisions: u64,
    limits: u64,
}

impl LazyCta {
    fn shares(&mut self, kernel: u32) -> &mut Vec<Share> {
        let running = self.kernels.iter_mut().find(|running| running.kernel == kernel);
        &mut running.expect("the kernel runs").sms
    }
}

impl CtaScheduler for LazyCta {
    fn pick(&mut self, view: &DispatchView) -> Option<SmId> {
        let running = self.kernels.iter_mut().find(|running| running.kernel == view.kernel);
        let shares = &mut running.expect("the kernel runs").sms;
        let wants = |sm: SmId| {
            let share = &shares[sm.index()];
            share.limit().is_none_or(|limit| share.resident < limit)
        };
        self.turns.take(view.sms(), |sm| view.may_start(sm) && wants(sm))
    }

    fn cta_started(&mut self, kernel: u32, sm: SmId) {
        self.shares(kernel)[sm.index()].resident += 1;
    }

    fn kernel_started(&mut self, kernel: &KernelStart) {
        let sms = vec![Share::default(); self.sms];
        self.kernels.push(Kernel { kernel: kernel.kernel, sms });
    }

    fn cta_ended(&mut self, end: &CtaEnd, issued: &dyn Fn() -> Vec<u64>) {
        let share = &mut self.shares(end.kernel)[end.sm.index()];
        share.resident -= 1;
        share.end(end, issued);
    }

    fn kernel_ended(&mut self, kernel: u32) {
        let limits: Vec<u64> =
            self.shares(kernel).iter().filter_map(Share::limit).map(u64::from).collect();
        self.decisions += limits.len() as u64;
        self.limits += limits.iter().sum::<u64>();
        self.kernels.retain(|running| running.kernel != kernel);
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter { name: "cta_limit_decisions", value: self.decisions },
            Counter { name: "cta_limit_sum", value: self.limits },
        ]
    }
}
