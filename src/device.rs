//! The GPU that a captured program sees on a machine.

use warpmem_capture::Device;
use warpmem_machine::Machine;

/// Describes the device of `machine`, with a compute capability such as `(7, 5)`.
pub fn device_of(machine: &Machine, capability: (u32, u32)) -> Device {
    let Machine { sm, dram, clocks, l2, .. } = machine;
    Device {
        name: format!("warpmem {}", machine.name),
        capability,
        sms: sm.count,
        clock_khz: clocks.core_mhz * 1000,
        memory_clock_khz: clocks.dram_mhz * 1000 * dram.transfers_per_clock / 2,
        bus_bits: dram.channels * dram.pseudo_channels * dram.bus_bytes * 8,
        l2_bytes: if l2.enabled { machine.slices() * l2.cache.size_bytes } else { 0 },
        registers: sm.registers,
        shared_bytes: sm.shared_bytes,
        threads: sm.max_threads,
        ctas: sm.max_ctas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_machine::{load, preset_names};

    #[test]
    fn the_device_has_the_peak_of_the_machine() {
        for name in preset_names() {
            let machine = load(name, &[]).unwrap();
            let Device { memory_clock_khz, bus_bits, .. } = device_of(&machine, (7, 5));
            let bytes = 2 * u64::from(memory_clock_khz) * 1000 * u64::from(bus_bits) / 8;
            let peak = machine.peak_bytes_per_second();
            assert!(bytes.abs_diff(peak) * 1000 < peak, "{name}: {bytes}, not {peak}");
        }
    }
}
