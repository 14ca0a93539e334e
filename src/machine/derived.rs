//! Quantities that follow from the configuration.

use super::{Cache, Clocks, Dram, L1, Machine};

impl Machine {
    /// LLC slices of all channels.
    pub fn slices(&self) -> u32 {
        self.dram.channels * self.llc.slices_per_channel
    }
}

impl Cache {
    pub fn lines(&self) -> u32 {
        self.size_bytes / self.line_bytes
    }

    /// Lines per set, with full associativity resolved.
    pub fn associativity(&self) -> u32 {
        if self.ways == 0 { self.lines() } else { self.ways }
    }

    pub fn sets(&self) -> u32 {
        self.lines() / self.associativity()
    }
}

impl L1 {
    /// Bytes of L1 while the resident CTAs of a kernel use `shared_bytes` of shared memory in all: what the
    /// smallest option that holds them leaves of the unified store. The number of sets stays, the ways shrink.
    pub fn bytes_beside(&self, shared_bytes: u32) -> u32 {
        let options = self.shared_options_bytes.iter().copied();
        match options.clone().filter(|&o| o >= shared_bytes).min().or(options.max()) {
            Some(option) => self.unified_bytes - option,
            None => self.cache.size_bytes,
        }
    }
}

impl Dram {
    /// Banks of one stack of one pseudo channel.
    pub fn banks_per_stack(&self) -> u32 {
        self.banks / (self.pseudo_channels * self.stacks)
    }

    /// Bytes moved by one column command.
    pub fn burst_bytes(&self) -> u32 {
        self.bus_bytes * self.burst_length
    }

    /// Command clock cycles for which one column command holds the data bus.
    pub fn burst_cycles(&self) -> u32 {
        self.burst_length / self.transfers_per_clock
    }

    /// Bytes that the data buses of one channel move in a command clock cycle.
    pub fn bytes_per_cycle(&self) -> u32 {
        self.pseudo_channels * self.bus_bytes * self.transfers_per_clock
    }

    /// Bytes per second of all data buses together.
    pub fn peak_bytes_per_second(&self, clocks: &Clocks) -> u64 {
        u64::from(self.channels * self.bytes_per_cycle()) * u64::from(clocks.dram_mhz) * 1_000_000
    }
}
