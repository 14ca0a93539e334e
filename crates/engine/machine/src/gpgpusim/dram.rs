//! Slice queues, DRAM channels and the address map.

use super::super::MachineError;
use super::mapping::{Mapping, Setting};

/// Options whose number is the value of a key: option, default of the simulator, key.
const NUMBERS: [(&str, &str, &str); 5] = [
    ("-gpgpu_n_sub_partition_per_mchannel", "1", "l2.slices_per_channel"),
    ("-dram_latency", "30", "l2.to_dram_latency"),
    ("-gpgpu_n_mem", "8", "dram.channels"),
    ("-gpgpu_dram_burst_length", "4", "dram.burst_length"),
    ("-dram_data_command_freq_ratio", "2", "dram.transfers_per_clock"),
];

/// DRAM times: name in the simulator, keys.
const TIMES: [(&str, &[&str]); 12] = [
    ("CCD", &["dram.timing.tccds"]),
    ("RRD", &["dram.timing.trrds", "dram.timing.trrdl"]),
    ("RCD", &["dram.timing.trcd"]),
    ("RAS", &["dram.timing.tras"]),
    ("RP", &["dram.timing.trp"]),
    ("RC", &["dram.timing.trc"]),
    ("CL", &["dram.timing.tcl"]),
    ("WL", &["dram.timing.twl"]),
    ("CDLR", &["dram.timing.twtrs", "dram.timing.twtrl"]),
    ("WR", &["dram.timing.twr"]),
    ("CCDL", &["dram.timing.tccdl"]),
    ("RTPL", &["dram.timing.trtp"]),
];

/// Names of the numbers of a timing option without names, in order.
const IN_ORDER: [&str; 14] = [
    "nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL",
    "RTPL",
];

/// Entries of a queue that is unbounded in the simulator.
const UNBOUNDED: u32 = 32768;

pub(super) fn map(mapping: &mut Mapping) -> Result<(), MachineError> {
    for (option, default, key) in NUMBERS {
        mapping.whole(option, default, key)?;
    }
    let dual = mapping.take_or("-dram_dual_bus_interface", "0");
    mapping.set("dram.dual_command_bus", dual.flag()?, &dual);
    let banks = mapping.take_or("-dram_bnk_indexing_policy", "0");
    mapping.set("dram.address.bank_hash", hash(&banks)?, &banks);
    bus(mapping)?;
    slice_queues(mapping)?;
    queues(mapping)?;
    timing(mapping)?;
    address(mapping)
}

/// The chips of a channel share its bus side by side.
fn bus(mapping: &mut Mapping) -> Result<(), MachineError> {
    let chips = mapping.whole("-gpgpu_n_mem_per_ctrlr", "1", "dram.devices")?;
    let width = mapping.take_or("-gpgpu_dram_buswidth", "4");
    let bytes = width.number()?.checked_mul(chips);
    mapping.set("dram.bus_bytes", bytes.ok_or_else(|| width.wrong("a bus in bytes"))?, &width);
    Ok(())
}

/// Network to L2, L2 to DRAM, DRAM to L2, L2 to network.
fn slice_queues(mapping: &mut Mapping) -> Result<(), MachineError> {
    let setting = mapping.take_or("-gpgpu_dram_partition_queues", "8:8:8:8");
    let [arrivals, to_dram, _, replies] = setting.numbers(':')?;
    mapping.set("l2.queue", arrivals, &setting);
    mapping.set("l2.to_dram_queue", to_dram, &setting);
    mapping.set("l2.reply_queue", replies, &setting);
    Ok(())
}

/// Maps the scheduler, its queues, and the credits of a channel towards its slices.
fn queues(mapping: &mut Mapping) -> Result<(), MachineError> {
    let scheduler = mapping.take_or("-gpgpu_dram_scheduler", "1");
    let entries = mapping.take_or("-gpgpu_frfcfs_dram_sched_queue_size", "0");
    let returns = mapping.take_or("-gpgpu_dram_return_queue_size", "0");
    let (queue, finished) = (entries.number()?, returns.number()?);
    let bounded = |entries| if entries == 0 { UNBOUNDED } else { entries };
    mapping.set("dram.return_queue", bounded(finished), &returns);
    match scheduler.text() {
        "0" => {
            // The simulator's FIFO holds two requests and passes them to busy banks.
            mapping.set("policy.dram_scheduler", "fcfs(banks=overlap)", &scheduler);
            mapping.set("dram.read_queue", 2, &scheduler);
        }
        "1" => {
            let policy = "fr-fcfs(banks=stepping,picks_per_cycle=1)";
            mapping.set("policy.dram_scheduler", policy, &scheduler);
            mapping.set("dram.read_queue", bounded(queue), &entries);
        }
        _ => return Err(scheduler.wrong("0 (FIFO) or 1 (FR-FCFS)")),
    }
    let credits = if queue == 0 || finished == 0 { 0 } else { queue.saturating_add(finished) - 1 };
    mapping.set("l2.to_dram_credits", credits, &entries);
    write_queue(mapping)
}

/// Size, high and low watermark of a separate write queue.
fn write_queue(mapping: &mut Mapping) -> Result<(), MachineError> {
    let enable = mapping.take_or("-dram_seperate_write_queue_enable", "0");
    let sizes = mapping.take_or("-dram_write_queue_size", "32:28:16");
    if enable.flag()? {
        let [size, high, low] = sizes.numbers(':')?;
        mapping.set("dram.write_queue", size, &sizes);
        mapping.set("dram.write_high_watermark", high, &sizes);
        mapping.set("dram.write_low_watermark", low, &sizes);
    }
    Ok(())
}

/// `nbk=16:CCD=1:…`, or the numbers alone.
fn timing(mapping: &mut Mapping) -> Result<(), MachineError> {
    let Some(setting) = mapping.take("-gpgpu_dram_timing_opt") else { return Ok(()) };
    let expected = "DRAM times in command cycles, as in nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:\
        RC=40:CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2";
    let (mut rcd, mut wl) = (None, None);
    for (index, part) in setting.text().split(':').enumerate() {
        let (name, number) = match part.split_once('=') {
            Some((name, number)) => (name.trim(), number),
            None => (*IN_ORDER.get(index).ok_or_else(|| setting.wrong(expected))?, part),
        };
        let number: u32 = setting.part(number, expected)?;
        match name {
            "nbk" => mapping.set("dram.banks", number, &setting),
            "nbkgrp" => mapping.set("dram.bank_groups", number, &setting),
            _ => {
                let time = TIMES.iter().find(|(known, _)| *known == name);
                let (_, keys) = time.ok_or_else(|| setting.wrong(expected))?;
                keys.iter().for_each(|key| mapping.set(key, number, &setting));
            }
        }
        match name {
            "RCD" => rcd = Some(number),
            "WL" => wl = Some(number),
            _ => {}
        }
    }
    // In the simulator ACT to WR is RCD - (WL + 1).
    if let (Some(rcd), Some(wl)) = (rcd, wl) {
        mapping.set("dram.timing.trcdw", rcd.saturating_sub(wl + 1).max(1), &setting);
    }
    Ok(())
}

/// Maps the address map, the row size, and the hash of channels and slices.
fn address(mapping: &mut Mapping) -> Result<(), MachineError> {
    let channels = mapping.number_of("dram.channels");
    let slices = mapping.number_of("l2.slices_per_channel");
    let mut channel_bit = 0;
    match mapping.take("-gpgpu_mem_addr_mapping") {
        Some(map) => channel_bit = address_map(mapping, &map, channels)?,
        None => {
            let map = mapping.take_or("-gpgpu_mem_addr_mapping", "its mask");
            mapping.leave(&map, "give the map; until then it is the preset's");
        }
    }
    let indexing = mapping.take_or("-gpgpu_memory_partition_indexing", "0");
    let hash = partition_hash(mapping, &indexing)?;
    mapping.set("dram.address.partition_hash", hash, &indexing);
    let above = channel_bit + ceil_log2(channels) + ceil_log2(slices);
    let bits = match (indexing.text(), ipoly_bits(channels, slices)) {
        ("2", Some(bits)) if channel_bit > 0 => vec![above, above + bits - 1],
        _ => Vec::new(),
    };
    mapping.set("dram.address.partition_hash_bits", bits, &indexing);
    if hash == "ipoly" && !channels.is_power_of_two() {
        mapping.leave(&indexing, "the hash rotates channels whose number is no power of two");
    }
    Ok(())
}

/// The hash of channels and slices: none, XOR, polynomial, page address entropy, random or custom.
fn partition_hash(mapping: &mut Mapping, setting: &Setting) -> Result<&'static str, MachineError> {
    match setting.text() {
        "3" | "4" | "5" => {
            mapping.leave(setting, "no such hash; the polynomial one takes its place");
            Ok("ipoly")
        }
        "0" | "1" | "2" => hash(setting),
        _ => Err(setting.wrong("0 (none), 1 (XOR), 2 (polynomial), 3, 4 or 5")),
    }
}

/// Address bits above channel and slice that enter the polynomial of the simulator, from the
/// coefficients of its table for this number of slices.
fn ipoly_bits(channels: u32, slices_per_channel: u32) -> Option<u32> {
    match (channels.is_power_of_two(), channels.saturating_mul(slices_per_channel)) {
        (true, 16) => Some(13),
        (true, 32) => Some(15),
        (true, 64) => Some(19),
        _ => None,
    }
}

/// Maps the address map in the simulator's notation, which a machine accepts. Returns the lowest
/// channel bit; 0 if letters place the channel.
fn address_map(
    mapping: &mut Mapping,
    setting: &Setting,
    channels: u32,
) -> Result<u32, MachineError> {
    let expected = "dramid@<bit>;<mask of 64 letters>";
    let (bit, mask) = match setting.text().split_once(';') {
        Some((bit, mask)) => (bit.trim_start().strip_prefix("dramid@"), mask),
        None => (None, setting.text()),
    };
    let in_row = mask.chars().filter(|letter| matches!(letter, 'C' | 'S')).count();
    let row = u32::try_from(in_row).ok().and_then(|bits| 1u32.checked_shl(bits));
    mapping.set("dram.row_bytes", row.ok_or_else(|| setting.wrong(expected))?, setting);
    let Some(bit) = bit else {
        mapping.set("dram.address.map", mask, setting);
        return Ok(0);
    };
    let bit: u32 = setting.part(bit, expected)?;
    if channels.is_power_of_two() {
        mapping.set("dram.address.map", setting.text(), setting);
    } else {
        let interleave = 1u32.checked_shl(bit).ok_or_else(|| setting.wrong(expected))?;
        mapping.set("dram.address.map", mask, setting);
        mapping.set("dram.address.interleave_bytes", interleave, setting);
    }
    Ok(bit)
}

fn hash(setting: &Setting) -> Result<&'static str, MachineError> {
    match setting.text() {
        "0" => Ok("linear"),
        "1" => Ok("xor"),
        "2" => Ok("ipoly"),
        _ => {
            Err(setting.wrong("0 (none), 1 (XOR) or 2 (polynomial); other hashes are not modelled"))
        }
    }
}

fn ceil_log2(number: u32) -> u32 {
    number.next_power_of_two().ilog2()
}
