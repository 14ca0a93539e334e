//! Configurations and drivers.

pub use super::requests::*;
use crate::GivenTimes;
use crate::prefetch::PrefetchContext;
use crate::scheduler::{SCHEDULERS, SchedulerContext};
use crate::{
    Channel, ChannelResult, Command, CommandKind, Completion, DoneWith, Dram, DramRequest, Power,
    QueueOrganisation, Timing, checker,
};
use std::fs;
use std::path::{Path, PathBuf};
use warpmem_params::Counter;
use warpmem_sim::{Address, IndexHash};
pub use warpmem_sim::{BankId, DramCycle, RowId};

/// Iterates over every scheduler with its default parameters, and some with others.
pub fn policies() -> impl Iterator<Item = &'static str> {
    SCHEDULERS.names().chain(VARIANTS.iter().copied())
}

/// Parameters that exercise more of a rule on small queues.
const VARIANTS: &[&str] = &[
    "fr-fcfs(row_hit_cap=4)",
    "fr-fcfs(page=closed)",
    "fr-fcfs(starvation_limit=300)",
    "fr-fcfs(banks=stepping,picks_per_cycle=1)",
    "sms(p=0,bank_fifo=2,bypass=2)",
    "div-first(wat_bits=3,wet_latency=25)",
    "div-first(urgent=last,pending=served,identity=warp)",
    "warped-mc(wat_bits=3,wet_latency=25,picks_per_cycle=1)",
    "warped-mc(high=left,medium=row,pools=three,pending=served,wet_latency=5)",
    "warped-mc(medium=hit,pools=medium,identity=warp)",
    "core-criticality(threshold=dynamic,interval=100)",
    "wg-w(depth=2,write_margin=90)",
    "par-bs(marking_cap=1)",
    "atlas(threshold=150,quantum=200)",
    "tcm(quantum=300,shuffle_interval=40,cluster_threshold=0.4)",
    "tcm(quantum=300,shuffle_interval=40,shuffle=random)",
    "stfm(alpha=1,interval=500)",
    "delay(requests=100,cycles=60,first=20)",
    "mshr-s(tie=lowest-row)",
    "most-pending(tie=lowest-row)",
    "priority(by=hit-2*warp_requests)",
    "priority(by=8*(streak<4)*hit+row_requests+2*same_sm-queue_requests%3,period=7)",
    "priority(by=age-sm_requests-load_requests+merges+same_warp*bank_requests-position)",
];

/// Returns the directory of the machines' presets.
fn presets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/src/presets")
}

/// Returns the names of all machine presets.
pub fn preset_names() -> Vec<String> {
    let files = fs::read_dir(presets()).unwrap().map(|entry| entry.unwrap().path());
    files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

/// Returns the channels of a preset.
pub fn preset(name: &str) -> Dram {
    with_base(name)["dram"].clone().try_into().unwrap()
}

/// Reads a preset, laid over its base if it has one.
fn with_base(name: &str) -> toml::Table {
    let text = fs::read_to_string(presets().join(format!("{name}.toml"))).unwrap();
    let own: toml::Table = text.parse().unwrap();
    match own.get("base") {
        Some(base) => overlaid(with_base(base.as_str().unwrap()), own),
        None => own,
    }
}

fn overlaid(mut base: toml::Table, own: toml::Table) -> toml::Table {
    for (key, value) in own {
        let value = match (base.remove(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(own)) => overlaid(base, own).into(),
            (_, value) => value,
        };
        base.insert(key, value);
    }
    base
}

/// Returns the context of rows of 32 lines.
pub fn prefetch_context() -> PrefetchContext {
    PrefetchContext { l2_enabled: true, l2_line_bytes: 128, row_bytes: 4096 }
}

fn address(map: &str) -> Address {
    Address {
        map: map.to_owned(),
        interleave_bytes: if map.contains("channel") { 0 } else { 256 },
        partition_hash: IndexHash::Linear,
        bank_hash: IndexHash::Linear,
        partition_hash_bits: Vec::new(),
    }
}

/// Returns GDDR5 as in Li 2015: separate queues, four bank groups, two data cycles per burst.
pub fn gddr5() -> Dram {
    Dram {
        standard_folder: PathBuf::new(),
        given: GivenTimes::default(),
        standard: "gddr5".to_owned(),
        channels: 6,
        pseudo_channels: 1,
        stacks: 1,
        banks: 16,
        bank_groups: 4,
        bus_bytes: 8,
        burst_length: 8,
        transfers_per_clock: 4,
        row_bytes: 2048,
        devices: 1,
        dual_command_bus: false,
        read_queue: 64,
        write_queue: 128,
        write_high_watermark: 96,
        write_low_watermark: 80,
        write_min_drain: 0,
        queue_organisation: QueueOrganisation::Channel,
        page: "open".to_owned(),
        picks_per_cycle: 0,
        turnaround_limit: 0,
        done_with: DoneWith::LastDatum,
        return_queue: 64,
        return_latency: 0,
        timing: Timing {
            trcd: 12,
            trcdw: 9,
            tras: 28,
            trp: 12,
            trc: 40,
            tccds: 2,
            tccdl: 3,
            trrds: 6,
            trrdl: 7,
            tfaw: 32,
            tcl: 12,
            twl: 4,
            twtrs: 5,
            twtrl: 6,
            trtw_gap: 2,
            twr: 12,
            trtp: 2,
            trefi: 0,
            trfc: 0,
            ..Timing::default()
        },
        power: Power::default(),
        address: address("row:12 bank:4 column:5 burst:6"),
    }
}

/// Returns GDDR3 as in Yuan 2009: two chips, 64 B in two bursts of two cycles, one queue.
pub fn gddr3() -> Dram {
    let timing = Timing {
        trcd: 12,
        trcdw: 12,
        tras: 21,
        trp: 13,
        trc: 34,
        tccds: 2,
        tccdl: 2,
        trrds: 8,
        trrdl: 8,
        tfaw: 0,
        tcl: 9,
        twl: 1,
        twtrs: 6,
        twtrl: 6,
        trtw_gap: 2,
        twr: 11,
        trtp: 2,
        trefi: 0,
        trfc: 0,
        ..Timing::default()
    };
    Dram {
        standard: "gddr3".to_owned(),
        channels: 8,
        banks: 4,
        bank_groups: 1,
        bus_bytes: 8,
        burst_length: 4,
        transfers_per_clock: 2,
        read_queue: 32,
        write_queue: 0,
        write_high_watermark: 0,
        write_low_watermark: 0,
        timing,
        address: address("row:12 bank:2 column:6 burst:5"),
        ..gddr5()
    }
}

/// Returns HBM2 with refresh and both command buses, one queue: as V100 in the Accel-Sim reference.
pub fn hbm2() -> Dram {
    let timing = Timing {
        trcd: 12,
        trcdw: 9,
        tras: 28,
        trp: 12,
        trc: 40,
        tccds: 1,
        tccdl: 2,
        trrds: 3,
        trrdl: 4,
        tfaw: 16,
        tcl: 12,
        twl: 2,
        twtrs: 3,
        twtrl: 4,
        trtw_gap: 2,
        twr: 10,
        trtp: 3,
        trefi: 1500,
        trfc: 120,
        ..Timing::default()
    };
    Dram {
        standard: "hbm2-legacy".to_owned(),
        channels: 32,
        bus_bytes: 16,
        burst_length: 2,
        transfers_per_clock: 2,
        dual_command_bus: true,
        read_queue: 64,
        write_queue: 0,
        timing,
        address: Address {
            partition_hash: IndexHash::Ipoly,
            ..address("row:13 bank:3 column:3 bank:1 channel:5 column:3 burst:5")
        },
        ..gddr5()
    }
}

/// Returns a configuration in which no constraint hides another: tRC above tRAS + tRP, tCCD_S above
/// a burst.
pub fn sparse() -> Dram {
    let timing = Timing { trc: 47, tccds: 4, tccdl: 6, trtp: 30, tras: 33, ..gddr5().timing };
    Dram {
        read_queue: 32,
        write_queue: 32,
        write_high_watermark: 24,
        write_low_watermark: 8,
        timing,
        ..gddr5()
    }
}

pub fn machines() -> Vec<Dram> {
    let mut refreshed = gddr5();
    refreshed.timing.trefi = 900;
    refreshed.timing.trfc = 74;
    vec![gddr5(), gddr3(), hbm2(), sparse(), refreshed]
}

/// Returns further channels, with several pseudo channels and stacks, and one whose commands begin
/// at whole clocks only.
pub fn shapes() -> Vec<Dram> {
    let of = |standard: &str, pseudo_channels, stacks| {
        let standard = standard.to_owned();
        Dram { standard, pseudo_channels, stacks, banks: 32, ..gddr5() }
    };
    let stacked = [of("hbm2", 2, 1), of("hbm3", 2, 2), of("gddr5", 1, 2), of("gddr7", 4, 1)];
    machines().into_iter().chain(stacked).collect()
}

/// Returns the context of one channel and 16 SMs of 32 warps.
pub fn context(dram: &Dram) -> SchedulerContext {
    SchedulerContext { dram: Dram { channels: 1, ..dram.clone() }, sources: 16, warps: 16 * 32 }
}

pub fn channel(dram: &Dram, policy: &str) -> Channel {
    let mut channel = Channel::family(&context(dram), policy).unwrap().remove(0);
    channel.enable_log();
    channel
}

/// Runs the first of two channels that share a policy. The second holds requests that are never
/// served.
pub fn run_beside(
    dram: &Dram,
    policy: &str,
    requests: &[(u64, DramRequest)],
    elsewhere: &[DramRequest],
) -> Run {
    let context = SchedulerContext { dram: Dram { channels: 2, ..dram.clone() }, ..context(dram) };
    let mut channels = Channel::family(&context, policy).unwrap();
    elsewhere.iter().for_each(|&request| channels[1].push(DramCycle::ZERO, request));
    channels[0].enable_log();
    drive(&mut channels[0], requests, Stepping::Events, |_| u32::MAX)
}

/// Returns the cycle in which bank 1 is activated when its request and one to bank 0 arrive at 20
/// and bank 0, whose row cannot be closed before 28, is first in the round robin.
pub fn activation_beside_a_blocked_bank(policy: &str) -> u64 {
    let queue = [(0, read(0, 0, 1)), (0, read(1, 5, 1)), (20, read(2, 0, 2)), (20, read(3, 1, 1))];
    let log = run_with(&gddr5(), policy, &queue, Stepping::Events, |_| u32::MAX).log;
    log.iter().find(|command| command.bank == 1).unwrap().cycle
}

/// Returns the cycle of this number.
pub fn at(cycle: u64) -> DramCycle {
    DramCycle::new(cycle)
}

#[derive(Debug, PartialEq)]
pub struct Run {
    pub completions: Vec<Completion>,
    pub log: Vec<Command>,
    pub counts: ChannelResult,
    pub counters: Vec<Counter>,
}

impl Run {
    /// Returns the run's commands, `kind bank row@cycle`.
    pub fn commands(&self) -> Vec<String> {
        self.log.iter().map(describe).collect()
    }

    /// Returns the policy's count of this name.
    pub fn counted(&self, name: &str) -> u64 {
        let counter = self.counters.iter().find(|counter| counter.name == name);
        counter.unwrap_or_else(|| panic!("no counter {name}")).value
    }

    /// Returns the order of completion.
    pub fn order(&self) -> Vec<u32> {
        self.completions.iter().map(|done| done.id).collect()
    }
}

pub fn describe(command: &Command) -> String {
    let Command { cycle, kind, bank, row, .. } = command;
    match kind {
        CommandKind::Ref => format!("Ref @{cycle}"),
        _ => format!("{kind:?} {bank}:{row} @{cycle}"),
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum Stepping {
    Events,
    EveryCycle,
}

/// Sends requests in order, each at its cycle or as soon as the channel accepts it, until all are
/// served.
pub fn run_with(
    dram: &Dram,
    policy: &str,
    requests: &[(u64, DramRequest)],
    stepping: Stepping,
    room: impl Fn(u64) -> u32,
) -> Run {
    drive(&mut channel(dram, policy), requests, stepping, room)
}

/// Drives a channel that may be one of several, as [`run_with`].
pub fn drive(
    channel: &mut Channel,
    requests: &[(u64, DramRequest)],
    stepping: Stepping,
    room: impl Fn(u64) -> u32,
) -> Run {
    let mut completions = Vec::new();
    let mut sent = 0;
    let mut now = DramCycle::ZERO;
    while sent < requests.len() || !channel.is_empty() || channel.is_prefetching() {
        let arrival = |sent: usize| requests.get(sent).map(|&(at, _)| DramCycle::new(at));
        let waits = |channel: &Channel, sent: usize, now: DramCycle| {
            arrival(sent).is_some_and(|at| at <= now) && channel.accepts(&requests[sent].1)
        };
        while waits(channel, sent, now) {
            channel.push(now, requests[sent].1);
            sent += 1;
        }
        let next = channel.step(now, room(now.number()));
        completions.extend(channel.take_completions());
        let arrival = match arrival(sent) {
            Some(at) if at > now => at,
            Some(_) if waits(channel, sent, now) => now + 1,
            _ => DramCycle::NEVER,
        };
        let event = next.unwrap_or(DramCycle::NEVER).min(arrival);
        assert!(event > now, "the next event must be in the future");
        let ends = event == DramCycle::NEVER;
        assert!(!ends || channel.is_empty(), "stuck at {now}: {:?}", channel.pending());
        now = if stepping == Stepping::EveryCycle { now + 1 } else { event.min(now + 1_000_000) };
    }
    let end = completions.iter().map(|done| done.end).max().unwrap_or(now);
    Run {
        completions,
        log: channel.log().to_vec(),
        counts: channel.counts(end),
        counters: channel.counters(),
    }
}

/// Sends all requests as early as possible and checks the log.
pub fn run(dram: &Dram, policy: &str, requests: &[DramRequest]) -> Run {
    let requests: Vec<_> = requests.iter().map(|request| (0, *request)).collect();
    timed(dram, policy, &requests)
}

/// Sends all requests at their cycles, as [`run`].
pub fn timed(dram: &Dram, policy: &str, requests: &[(u64, DramRequest)]) -> Run {
    let run = run_with(dram, policy, requests, Stepping::Events, |_| u32::MAX);
    assert_eq!(checker::check(dram, &run.log), [], "{policy}");
    run
}

/// Sends all requests at their cycles, with event stepping only.
pub fn timed_by_events(policy: &str, requests: &[(u64, DramRequest)]) -> Run {
    run_with(&gddr5(), policy, requests, Stepping::Events, |_| u32::MAX)
}

/// Returns the order of completion of requests to [`gddr5`] that arrive together.
pub fn order(policy: &str, requests: &[DramRequest]) -> Vec<u32> {
    run(&gddr5(), policy, requests).order()
}

/// Returns the commands for requests that arrive together.
pub fn commands(dram: &Dram, policy: &str, requests: &[DramRequest]) -> Vec<String> {
    run(dram, policy, requests).commands()
}

/// Returns a policy's order of completion for requests that arrive together; FR-FCFS must have
/// another.
pub fn order_unlike_fr_fcfs(policy: &str, requests: &[DramRequest]) -> Vec<u32> {
    let order = run(&gddr5(), policy, requests).order();
    assert_ne!(order, run(&gddr5(), "fr-fcfs", requests).order(), "{policy} equals fr-fcfs");
    order
}

/// Asserts that these policies cannot be built.
pub fn assert_refused(policies: &[&str]) {
    for text in policies {
        assert!(SCHEDULERS.build(text, &context(&gddr5())).is_err(), "{text}");
    }
}
