//! How many CTAs an SM holds.

use warpmem_machine::{Machine, Sm};
use warpmem_trace::KernelInfo;

/// Registers that a thread can have; a larger number in a trace's header is not believed.
const MAX_REGISTERS: u32 = 255;

/// A CTA that no SM can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "kernel `{kernel}`: a CTA needs {needed} {what}, an SM has {available} (`{key}`); no SM can hold it"
)]
pub struct ResidencyError {
    pub kernel: String,
    pub what: &'static str,
    pub needed: u64,
    pub available: u64,
    pub key: &'static str,
}

/// A cluster that no GPC can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    #[error(
        "kernel `{kernel}` runs in clusters of {ctas} CTAs, and machine `{machine}` has none \
         (`cluster.gpcs` = 0); a preset that has them is `h100`"
    )]
    NoClusters { kernel: String, ctas: u32, machine: String },
    #[error(
        "kernel `{kernel}`: a cluster has {ctas} CTAs, the largest GPC has room for {room} \
         (`cluster.gpcs` = {gpcs}); no GPC can hold it"
    )]
    TooLarge { kernel: String, ctas: u32, room: u64, gpcs: u32 },
}

/// Refuses a kernel whose clusters no GPC can hold, where an empty SM holds `per_sm` of its CTAs.
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

/// The resources of an SM that a CTA takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtaNeeds {
    pub threads: u32,
    pub warps: u32,
    pub registers: u32,
    pub shared_bytes: u32,
}

impl CtaNeeds {
    /// The resources that a CTA of `kernel` takes, if an empty SM has them.
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

    /// CTAs that an empty SM holds.
    pub fn per_sm(&self, sm: &Sm) -> u32 {
        SmRoom::of(sm).ctas(self)
    }
}

/// The free resources of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmRoom {
    ctas: u32,
    threads: u32,
    warps: u32,
    registers: u32,
    shared_bytes: u32,
}

impl SmRoom {
    /// An empty SM.
    pub fn of(sm: &Sm) -> SmRoom {
        SmRoom {
            ctas: sm.max_ctas,
            threads: sm.max_threads,
            warps: sm.max_warps,
            registers: sm.registers,
            shared_bytes: sm.shared_bytes,
        }
    }

    /// Whether there is room for so many CTAs.
    pub fn holds(&self, needs: &CtaNeeds, ctas: u32) -> bool {
        let holds = |left: u32, needed: u32| u64::from(left) >= u64::from(needed) * u64::from(ctas);
        holds(self.ctas, 1)
            && holds(self.threads, needs.threads)
            && holds(self.warps, needs.warps)
            && holds(self.registers, needs.registers)
            && holds(self.shared_bytes, needs.shared_bytes)
    }

    /// CTAs that there is room for.
    pub fn ctas(mut self, needs: &CtaNeeds) -> u32 {
        let mut count = 0;
        while self.holds(needs, 1) {
            self.take(needs);
            count += 1;
        }
        count
    }

    /// A CTA comes.
    pub fn take(&mut self, needs: &CtaNeeds) {
        self.ctas -= 1;
        self.threads -= needs.threads;
        self.warps -= needs.warps;
        self.registers -= needs.registers;
        self.shared_bytes -= needs.shared_bytes;
    }

    /// A CTA goes.
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
        let sm = warpmem_machine::load("v100", &[]).unwrap().sm;
        CtaNeeds::of(&kernel(block, registers, shared), &sm).unwrap().per_sm(&sm)
    }

    #[test]
    fn each_resource_limits_residency() {
        assert_eq!(per_sm(32, 8, 0), 32, "CTA slots");
        assert_eq!(per_sm(1024, 8, 0), 2, "threads");
        assert_eq!(per_sm(33, 0, 0), 32, "a partial warp takes a whole one");
        assert_eq!(per_sm(256, 64, 0), 4, "registers");
        assert_eq!(per_sm(32, 8, 40 << 10), 2, "shared memory");
    }

    #[test]
    fn nonsense_register_counts_are_not_believed() {
        assert_eq!(per_sm(256, 21955, 0), 8);
    }

    #[test]
    fn a_cta_that_fits_nowhere_names_what_is_short() {
        let sm = warpmem_machine::load("v100", &[]).unwrap().sm;
        let error = CtaNeeds::of(&kernel(32, 8, 1 << 20), &sm).unwrap_err();
        assert_eq!(error.key, "sm.shared_bytes");
        assert!(error.to_string().contains("1048576 bytes of shared memory"), "{error}");
    }
}
