//! Lazy CTA scheduling: the share of the busiest CTA in the issued instructions of an SM
//! determines the number of CTAs that the SM needs.

use super::{CtaEntry, CtaScheduler, DispatchView, KernelStart, RoundRobinPointer};
use crate::sm::CtaEnd;
use warpmem_params::{Counter, PolicyInfo};
use warpmem_sim::{CoreCycle, SmId};

const INFO: PolicyInfo = PolicyInfo {
    name: "lazy-cta",
    summary: "all CTAs that fit until the first one of an SM completes, then a limit derived from the busiest CTA's share of the issued instructions",
    source: "lazy CTA scheduling (LCS) of Lee et al., HPCA 2014",
    params: Vec::new,
};

pub(super) const ENTRY: CtaEntry = CtaEntry {
    info: INFO,
    build: |machine, _| {
        let sms = machine.sm.count as usize;
        let (pointer, kernels) = (RoundRobinPointer::default(), Vec::new());
        Ok(Box::new(LazyCta { sms, pointer, kernels, decisions: 0, limits: 0 }))
    },
};

/// State of a kernel on one SM.
#[derive(Clone, Default)]
struct Share {
    /// Resident CTAs of the kernel.
    resident: u32,
    /// Cycle in which the first of them ended.
    first_end: Option<CoreCycle>,
    /// Warp instructions issued up to then by all CTAs, and by the busiest.
    issued: u64,
    most: u64,
}

impl Share {
    fn limit(&self) -> Option<u32> {
        self.first_end.map(|_| self.issued.div_ceil(self.most) as u32)
    }

    /// Adds the instructions issued by a CTA.
    fn add(&mut self, issued: u64) {
        self.issued += issued;
        self.most = self.most.max(issued);
    }

    /// Counts the end of a CTA if it is the first or ended in the same cycle as the first.
    fn end(&mut self, end: &CtaEnd, issued: &dyn Fn() -> Vec<u64>) {
        match self.first_end {
            // A CTA without instructions has no share.
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
    pointer: RoundRobinPointer,
    /// Running kernels.
    kernels: Vec<Kernel>,
    /// Limits set for finished kernels, and their sum.
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
        self.pointer.pick(view, |sm| view.may_start(sm) && wants(sm))
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
