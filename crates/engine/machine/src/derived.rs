//! Quantities derived from the configuration.

use super::{L1, LaunchKind, Machine, MachineError};
use warpmem_dram::prefetch::PrefetchContext;
use warpmem_dram::scheduler::SchedulerContext;
use warpmem_network::NetworkSpec;
use warpmem_sim::{AddressMap, Gpcs, PeerSlices};

impl Machine {
    /// Returns the number of L2 slices of all channels.
    pub fn slices(&self) -> u32 {
        self.dram.channels * self.l2.slices_per_channel
    }

    /// Returns the peer slices, if slices keep copies of remote lines.
    pub fn peer_slices(&self) -> Option<PeerSlices> {
        (self.l2.copies && self.l2.enabled)
            .then(|| PeerSlices::new(self.dram.channels, self.l2.slices_per_channel))
    }

    /// Returns the GPC of each SM, if the machine supports clusters.
    pub fn gpcs(&self) -> Option<Gpcs> {
        let (sms, gpcs) = (self.sm.count, self.cluster.gpcs);
        (gpcs > 0).then(|| Gpcs::new(sms, gpcs.min(Gpcs::most(sms))))
    }

    /// Returns the address map of DRAM.
    ///
    /// # Errors
    /// [`MachineError::Invalid`] if the address map, the channels or the slices are not valid.
    pub fn address_map(&self) -> Result<AddressMap, MachineError> {
        Ok(self.dram.address_map(self.l2.slices_per_channel)?)
    }

    /// Returns the core cycles from the end of a kernel to the start of the next.
    pub fn cycles_between_kernels(&self) -> u64 {
        let ns = match self.run.launch {
            LaunchKind::Graph => self.launch.graph_ns,
            LaunchKind::Stream => self.launch.stream_ns,
            LaunchKind::None | LaunchKind::Profiled => 0,
        };
        let cycles = (u64::from(ns) * u64::from(self.clocks.core_mhz)).div_ceil(1000);
        u64::from(self.run.launch_latency) + cycles
    }

    /// Returns the core cycles from the start of a kernel to its first CTA.
    pub fn cycles_before_first_cta(&self) -> u64 {
        let is_profiled = self.run.launch == LaunchKind::Profiled;
        if is_profiled { u64::from(self.launch.profiled_cycles) } else { 0 }
    }

    /// Returns the peak bandwidth of all DRAM data buses, in bytes per second.
    pub fn peak_bytes_per_second(&self) -> u64 {
        self.dram.peak_bytes_per_second(self.clocks.dram_mhz)
    }

    /// Returns the network configuration, with the properties of the machine that networks depend on.
    pub fn network_spec(&self) -> NetworkSpec {
        let l1 = &self.l1.cache;
        let sector_bytes = self.l2.cache.sector_bytes;
        let writes_back = self.l1.enabled && l1.write.has_dirty_lines();
        NetworkSpec {
            network: self.network.clone(),
            topology: self.policy.topology.clone(),
            arbiter: self.policy.arbiter.clone(),
            sms: self.sm.count,
            slices: self.slices(),
            channels: self.dram.channels,
            banks: self.dram.banks,
            sector_bytes,
            largest_request_bytes: if writes_back { l1.line_bytes } else { sector_bytes },
        }
    }

    /// Returns the properties of the machine that DRAM schedulers may use.
    pub fn scheduler_context(&self) -> SchedulerContext {
        let (sources, warps) = (self.sm.count, self.sm.max_warps);
        SchedulerContext { dram: self.dram.clone(), sources, warps: sources * warps }
    }

    /// Returns the properties of the machine that prefetchers may use.
    pub fn prefetch_context(&self) -> PrefetchContext {
        PrefetchContext {
            l2_enabled: self.l2.enabled,
            l2_line_bytes: self.l2.cache.line_bytes,
            row_bytes: self.dram.row_bytes,
        }
    }
}

impl L1 {
    /// Returns the size of L1 while the resident CTAs use `shared_bytes` of shared memory: the unified
    /// store less the smallest shared-memory option that suffices. L1 keeps its sets and loses ways.
    pub fn bytes_beside(&self, shared_bytes: u32) -> u32 {
        let options = self.shared_options_bytes.iter().copied();
        match options.clone().filter(|&o| o >= shared_bytes).min().or(options.max()) {
            Some(option) => self.unified_bytes - option,
            None => self.cache.size_bytes,
        }
    }
}
