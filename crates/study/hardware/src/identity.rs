//! Maps a device to its preset, and lists the keys in which a machine differs from a device.

use warpmem_capture::Device;

use crate::device::DeviceInfo;

/// Presets by a part of the device's name; the first match wins.
const PRESETS: &[(&str, &str)] = &[
    ("A100", "a100"),
    ("H100", "h100"),
    ("H200", "h200"),
    ("B200", "b200"),
    ("L40S", "l40s"),
    ("RTX 4090", "rtx4090"),
    ("V100", "v100"),
    ("GV100", "v100"),
    ("RTX 2060 SUPER", "rtx2060s"),
    ("RTX 3070", "rtx3070"),
];

/// Returns the preset of a device, by its name. A longer name ("RTX 4090 D", "RTX 3070 Ti") is a different
/// chip.
pub fn preset_of(device: &str) -> Option<&'static str> {
    let fits = |part: &str| {
        let Some(at) = device.find(part) else { return false };
        let (before, after) = (&device[..at], &device[at + part.len()..]);
        let begins = before.is_empty() || before.ends_with([' ', '-']);
        let ends = after.is_empty() || after.starts_with('-') || !is_other_chip(after);
        begins && ends
    };
    PRESETS.iter().find(|(part, _)| fits(part)).map(|&(_, preset)| preset)
}

/// Returns whether the text after a chip's name makes it a different chip.
fn is_other_chip(after: &str) -> bool {
    let word = after.split_whitespace().next().unwrap_or_default();
    !after.starts_with(' ') || matches!(word, "Ti" | "D" | "SUPER" | "NVL" | "Laptop" | "Mobile")
}

/// A property in which a machine differs from a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Machine keys that set the property.
    pub keys: &'static str,
    pub device: String,
    pub machine: String,
}

/// Lists the properties in which a machine, described as a device, differs from the measured one. The SM
/// clock is not compared: it varies from run to run.
pub fn differences(device: &DeviceInfo, machine: &Device) -> Vec<Difference> {
    /// Tolerance for values that presets round, such as L2 sets to a power of two.
    const ROUNDED: f64 = 0.05;
    let mut differences = Vec::new();
    let mut compare = |keys, one: f64, other: f64, tolerance: f64, unit: &str| {
        // A driver reports 0 for an unknown value.
        if one > 0.0 && (one - other).abs() > tolerance * one {
            let [device, machine] = [one, other].map(|value| format!("{value:.0}{unit}"));
            differences.push(Difference { keys, device, machine });
        }
    };
    compare("sm.count", device.sms.into(), machine.sms.into(), 0.0, "");
    let [one, other] = [device.l2_bytes as f64, f64::from(machine.l2_bytes)];
    let l2 = "l2.cache.size_bytes, l2.slices_per_channel, dram.channels";
    compare(l2, one / 1024.0, other / 1024.0, ROUNDED, " KiB");
    let peak = |khz: u32, bits: u32| 2.0 * f64::from(khz) * f64::from(bits) / 8.0 / 1e6;
    let bus = "dram.channels, dram.bus_bytes, clocks.dram_mhz";
    let ours = peak(machine.memory_clock_khz, machine.bus_bits);
    compare(bus, device.peak_bytes_per_second() / 1e9, ours, ROUNDED, " GB/s");
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_map_to_their_presets() {
        for (device, preset) in [
            ("NVIDIA A100-SXM4-40GB", "a100"),
            ("NVIDIA A100 80GB PCIe", "a100"),
            ("NVIDIA H100 80GB HBM3", "h100"),
            ("NVIDIA H200", "h200"),
            ("NVIDIA B200", "b200"),
            ("NVIDIA L40S", "l40s"),
            ("NVIDIA GeForce RTX 4090", "rtx4090"),
            ("Tesla V100-SXM2-16GB", "v100"),
            ("Quadro GV100", "v100"),
            ("NVIDIA GeForce RTX 2060 SUPER", "rtx2060s"),
            ("NVIDIA GeForce RTX 3070", "rtx3070"),
        ] {
            assert_eq!(preset_of(device), Some(preset), "{device}");
        }
        for device in [
            "NVIDIA GH200 480GB",
            "NVIDIA GB200",
            "NVIDIA L40",
            "NVIDIA GeForce RTX 4090 D",
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "NVIDIA GeForce RTX 3070 Ti",
            "NVIDIA GeForce RTX 2060",
            "NVIDIA RTX A1000",
            "NVIDIA H100 NVL",
            "warpmem",
        ] {
            assert_eq!(preset_of(device), None, "{device}");
        }
    }

    fn machine(sms: u32, l2_bytes: u32, memory_clock_khz: u32) -> Device {
        Device {
            name: "ours".into(),
            capability: (8, 0),
            sms,
            clock_khz: 1,
            memory_clock_khz,
            bus_bits: 5120,
            l2_bytes,
            registers: 0,
            shared_bytes: 0,
            threads: 0,
            ctas: 0,
        }
    }

    #[test]
    fn differences_name_the_keys_of_the_machine() {
        let device = DeviceInfo {
            name: "NVIDIA A100-SXM4-40GB".into(),
            compute_capability: [8, 0],
            sms: 108,
            threads_per_sm: 2048,
            clock_khz: 1_410_000,
            memory_clock_khz: 1_215_000,
            bus_bits: 5120,
            l2_bytes: 40 << 20,
            memory_bytes: 40 << 30,
            driver_version: 13_000,
        };
        let keys = |machine| -> Vec<&str> {
            differences(&device, &machine).iter().map(|difference| difference.keys).collect()
        };
        assert!(keys(machine(108, 40 << 20, 1_215_000)).is_empty());
        assert!(keys(machine(108, 41 << 20, 1_200_000)).is_empty(), "rounded");
        assert_eq!(keys(machine(80, 40 << 20, 1_215_000)), ["sm.count"]);
        let silent = DeviceInfo { memory_clock_khz: 0, ..device.clone() };
        assert!(differences(&silent, &machine(108, 40 << 20, 9)).is_empty(), "no peak is known");
        assert_eq!(keys(machine(108, 6 << 20, 1_593_000)).len(), 2);
        let difference = &differences(&device, &machine(107, 40 << 20, 1_215_000))[0];
        assert_eq!([&difference.device, &difference.machine], ["108", "107"]);
    }
}
