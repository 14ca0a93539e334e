//! CTA residency: the resources a CTA takes and the resources an SM has free.

use warpmem_machine::{Machine, Sm};
use warpmem_trace::KernelInfo;

/// Architectural limit of registers per thread; larger numbers in trace headers are ignored.
const MAX_REGISTERS: u32 = 255;

/// A CTA that exceeds the resources of an empty SM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel `{kernel}`: a CTA needs {needed} {what} but an SM has only {available} (`{key}`)")]
pub struct ResidencyError {
    pub kernel: String,
    pub what: &'static str,
    pub needed: u64,
    pub available: u64,
    pub key: &'static str,
}

/// A cluster that exceeds the resources of an empty GPC.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    #[error(
        "kernel `{kernel}` launches clusters of {ctas} CTAs but machine `{machine}` has no clusters \
         (`cluster.gpcs` = 0); use a preset with clusters, such as `h100`"
    )]
    NoClusters { kernel: String, ctas: u32, machine: String },
    #[error(
        "kernel `{kernel}`: a cluster has {ctas} CTAs but the largest GPC has room for only {room} \
         (`cluster.gpcs` = {gpcs})"
    )]
    TooLarge { kernel: String, ctas: u32, room: u64, gpcs: u32 },
}

/// Refuses a kernel whose clusters exceed every GPC, given `per_sm` of its CTAs in an empty SM.
pub fn check_cluster(
    info: &KernelInfo,
    per_sm: u32,
    machine: &Machine,
) -> Result<(), ClusterError> {
    let ctas = info.ctas_per_cluster();
    if ctas == 1 {
        return Ok(());
    }
    let kernel = info.name.clone();
    let Some(gpcs) = machine.gpcs() else {
        return Err(ClusterError::NoClusters { kernel, ctas, machine: machine.name.clone() });
    };
    let largest = (0..gpcs.count()).map(|gpc| gpcs.sms(gpc).len()).max().unwrap_or(0);
    let room = largest as u64 * u64::from(per_sm);
    if room >= u64::from(ctas) {
        return Ok(());
    }
    Err(ClusterError::TooLarge { kernel, ctas, room, gpcs: machine.cluster.gpcs })
}

/// Resources of an SM that a CTA takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaNeeds {
    pub threads: u32,
    pub warps: u32,
    pub registers: u32,
    pub shared_bytes: u32,
}

impl CtaNeeds {
    /// Returns the resources that a CTA of `kernel` takes; fails if an empty SM lacks them.
    pub fn of(kernel: &KernelInfo, sm: &Sm) -> Result<CtaNeeds, ResidencyError> {
        let threads = kernel.threads_per_cta().max(1);
        let warps = threads.div_ceil(32);
        let per_thread = match kernel.registers_per_thread {
            known @ 0..=MAX_REGISTERS => u64::from(known),
            _ => 0,
        };
        let registers = per_thread * warps * 32;
        let check = |what, key, needed: u64, available: u32| {
            let available = u64::from(available);
            let kernel = || kernel.name.clone();
            (needed <= available).then_some(needed as u32).ok_or_else(|| ResidencyError {
                kernel: kernel(),
                what,
                needed,
                available,
                key,
            })
        };
        Ok(CtaNeeds {
            threads: check("threads", "sm.max_threads", threads, sm.max_threads)?,
            warps: check("warps", "sm.max_warps", warps, sm.max_warps)?,
            registers: check("registers", "sm.registers", registers, sm.registers)?,
            shared_bytes: check(
                "bytes of shared memory",
                "sm.shared_bytes",
                u64::from(kernel.shared_bytes),
                sm.shared_bytes,
            )?,
        })
    }

    /// Returns the number of CTAs that fit in an empty SM.
    pub fn per_sm(&self, sm: &Sm) -> u32 {
        FreeResources::of(sm).ctas(self)
    }
}

/// Free resources of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeResources {
    ctas: u32,
    threads: u32,
    warps: u32,
    registers: u32,
    shared_bytes: u32,
}

impl FreeResources {
    /// Returns the resources of an empty SM.
    pub fn of(sm: &Sm) -> FreeResources {
        FreeResources {
            ctas: sm.max_ctas,
            threads: sm.max_threads,
            warps: sm.max_warps,
            registers: sm.registers,
            shared_bytes: sm.shared_bytes,
        }
    }

    /// Whether `ctas` CTAs fit.
    pub fn holds(&self, needs: &CtaNeeds, ctas: u32) -> bool {
        let holds = |left: u32, needed: u32| u64::from(left) >= u64::from(needed) * u64::from(ctas);
        holds(self.ctas, 1)
            && holds(self.threads, needs.threads)
            && holds(self.warps, needs.warps)
            && holds(self.registers, needs.registers)
            && holds(self.shared_bytes, needs.shared_bytes)
    }

    /// Returns the number of CTAs that fit.
    pub fn ctas(mut self, needs: &CtaNeeds) -> u32 {
        let mut count = 0;
        while self.holds(needs, 1) {
            self.take(needs);
            count += 1;
        }
        count
    }

    /// Takes the resources of a launched CTA.
    pub fn take(&mut self, needs: &CtaNeeds) {
        self.ctas -= 1;
        self.threads -= needs.threads;
        self.warps -= needs.warps;
        self.registers -= needs.registers;
        self.shared_bytes -= needs.shared_bytes;
    }

    /// Returns the resources of an ended CTA.
    pub fn give(&mut self, needs: &CtaNeeds) {
        self.ctas += 1;
        self.threads += needs.threads;
        self.warps += needs.warps;
        self.registers += needs.registers;
        self.shared_bytes += needs.shared_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(block: u32, registers: u32, shared: u32) -> KernelInfo {
        KernelInfo {
            name: "k".to_owned(),
            block: [block, 1, 1],
            registers_per_thread: registers,
            shared_bytes: shared,
            ..KernelInfo::default()
        }
    }

    fn per_sm(block: u32, registers: u32, shared: u32) -> u32 {
        let sm = warpmem_machine::load("accelsim-qv100", &[]).unwrap().sm;
        CtaNeeds::of(&kernel(block, registers, shared), &sm).unwrap().per_sm(&sm)
    }

    #[test]
    fn each_resource_limits_residency() {
        assert_eq!(per_sm(32, 8, 0), 32, "CTA slots");
        assert_eq!(per_sm(1024, 8, 0), 2, "threads");
        assert_eq!(per_sm(33, 0, 0), 32, "a partial warp counts as a whole warp");
        assert_eq!(per_sm(256, 64, 0), 4, "registers");
        assert_eq!(per_sm(32, 8, 40 << 10), 2, "shared memory");
    }

    #[test]
    fn register_counts_above_the_architectural_limit_are_ignored() {
        assert_eq!(per_sm(256, 21955, 0), 8);
    }

    #[test]
    fn a_cta_too_large_for_an_sm_names_the_exceeded_resource() {
        let sm = warpmem_machine::load("accelsim-qv100", &[]).unwrap().sm;
        let error = CtaNeeds::of(&kernel(32, 8, 1 << 20), &sm).unwrap_err();
        assert_eq!(error.key, "sm.shared_bytes");
        assert!(error.to_string().contains("1048576 bytes of shared memory"), "{error}");
    }
}
