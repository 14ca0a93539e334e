//! The trace-event file: names of tracks, slices ordered by start, then counters.
//!
//! The format is Google's "Trace Event Format": `X` events have a duration, `C` events are
//! counters, `M` events name tracks. A process is an SM, a DRAM channel, the L2, the page walkers or
//! the machine; a thread is a warp, a lane of its loads or of the loads of walks, or a bank.

use super::lanes::lanes;
use super::queues::Queue;
use super::{Point, Slice, Timeline, What, Written};
use crate::metrics::ipc;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

const MACHINE: u32 = 1;
const L2: u32 = 2;
const WALKERS: u32 = 3;
const FIRST_SM: u32 = 100;
const FIRST_CHANNEL: u32 = 100_000;
/// Threads of a warp: itself, then the lanes of its loads.
const LANES: u32 = 1000;
/// Counters per point.
pub(super) const COUNTERS: usize = 4;
/// The thread of commands to a whole channel; banks follow.
const WHOLE_CHANNEL: u32 = 0;

/// A track of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Track {
    process: u32,
    thread: u32,
}

#[derive(Serialize)]
struct Event<'a> {
    name: &'a str,
    ph: &'static str,
    pid: u32,
    tid: u32,
    /// Core cycles.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    args: Value,
}

pub(super) fn write(timeline: &Timeline, out: &mut dyn Write) -> io::Result<Written> {
    let mut file = File { timeline, out, events: 0, is_first: true };
    let cut_at = timeline.cut.then(|| timeline.end / timeline.core_period);
    file.head(cut_at)?;
    let mut slices: Vec<&Slice> = timeline.slices.iter().collect();
    // Of slices with the same start the longer one encloses the other and precedes it.
    slices.sort_by_key(|slice| (slice.begin, std::cmp::Reverse(slice.end), rank(slice)));
    let tracks = tracks(&slices);
    file.names(&tracks)?;
    for (slice, track) in slices.iter().zip(&tracks) {
        file.slice(slice, *track)?;
    }
    file.queues()?;
    for point in &timeline.points {
        file.point(point)?;
    }
    write!(file.out, "\n]}}\n")?;
    Ok(Written { events: file.events, cut_at })
}

/// Orders loads of different warps with equal start and end.
fn rank(slice: &Slice) -> (u8, u32, u32, u64) {
    match slice.what {
        What::Warp(warp) => (0, warp.sm, warp.warp_slot, 0),
        What::Load(load) => (1, load.sm, load.warp_slot, load.pc),
        What::Walk { address, .. } => (2, 0, 0, address),
        What::OpenRow { channel, bank, row } => (3, channel.into(), bank.into(), row.into()),
        What::Command { channel, command } => {
            (4, channel.into(), command.bank.into(), command.kind as u64)
        }
    }
}

/// Assigns the track of each slice. Overlapping loads of a warp, and those of walks, have different
/// tracks.
fn tracks(slices: &[&Slice]) -> Vec<Track> {
    let mut loads: BTreeMap<Option<(u32, u32)>, Vec<usize>> = BTreeMap::new();
    for (index, slice) in slices.iter().enumerate() {
        match slice.what {
            What::Load(load) => {
                loads.entry(Some((load.sm, load.warp_slot))).or_default().push(index);
            }
            What::Walk { .. } => loads.entry(None).or_default().push(index),
            _ => {}
        }
    }
    let mut lane_of = vec![0; slices.len()];
    for indices in loads.values() {
        let times = indices.iter().map(|&index| (slices[index].begin, slices[index].end));
        indices.iter().zip(lanes(times)).for_each(|(&index, lane)| lane_of[index] = lane);
    }
    slices.iter().zip(lane_of).map(|(slice, lane)| track(slice, lane)).collect()
}

fn track(slice: &Slice, lane: u32) -> Track {
    let of_warp = |sm, slot, line| Track { process: FIRST_SM + sm, thread: slot * LANES + line };
    let of_channel =
        |channel, thread| Track { process: FIRST_CHANNEL + u32::from(channel), thread };
    match slice.what {
        What::Warp(warp) => of_warp(warp.sm, warp.warp_slot, 0),
        What::Load(load) => of_warp(load.sm, load.warp_slot, 1 + lane),
        What::Walk { .. } => Track { process: WALKERS, thread: lane },
        What::OpenRow { channel, bank, .. } => of_channel(channel, 1 + u32::from(bank)),
        What::Command { channel, command } if command.kind.is_to_all_banks() => {
            of_channel(channel, WHOLE_CHANNEL)
        }
        What::Command { channel, command } => of_channel(channel, 1 + u32::from(command.bank)),
    }
}

impl Track {
    fn thread_name(self) -> String {
        if self.process == WALKERS {
            return format!("loads {}", 1 + self.thread);
        }
        match (self.process < FIRST_CHANNEL, self.thread % LANES) {
            (true, 0) => format!("warp {}", self.thread / LANES),
            (true, lane) => format!("warp {} loads {lane}", self.thread / LANES),
            (false, _) if self.thread == WHOLE_CHANNEL => "all banks".to_owned(),
            (false, _) => format!("bank {}", self.thread - 1),
        }
    }
}

struct File<'a> {
    timeline: &'a Timeline,
    out: &'a mut dyn Write,
    events: usize,
    is_first: bool,
}

impl File<'_> {
    fn head(&mut self, cut_at: Option<u64>) -> io::Result<()> {
        let window = self.timeline.options.window;
        let about = json!({
            "program": concat!("warpmem ", env!("CARGO_PKG_VERSION")),
            "time": "1 us of this file is one core cycle",
            "core_mhz": self.timeline.core_mhz,
            "window_start": window.start(),
            "window_end": window.end(),
            "cut_at": cut_at,
        });
        write!(self.out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{about},\"traceEvents\":[")
    }

    fn names(&mut self, tracks: &[Track]) -> io::Result<()> {
        let used: BTreeSet<Track> = tracks.iter().copied().collect();
        let processes: BTreeSet<u32> = used.iter().map(|track| track.process).collect();
        self.name("process_name", MACHINE, 0, "machine")?;
        self.name("process_name", L2, 0, "L2")?;
        for process in processes {
            let name = match process {
                WALKERS => "page walks".to_owned(),
                FIRST_CHANNEL.. => format!("channel {}", process - FIRST_CHANNEL),
                _ => format!("SM {}", process - FIRST_SM),
            };
            self.name("process_name", process, 0, &name)?;
            self.meta("process_sort_index", process, 0, &json!({ "sort_index": process }))?;
        }
        for track in used {
            self.name("thread_name", track.process, track.thread, &track.thread_name())?;
            let place = json!({ "sort_index": track.thread });
            self.meta("thread_sort_index", track.process, track.thread, &place)?;
        }
        Ok(())
    }

    fn name(&mut self, what: &str, process: u32, thread: u32, name: &str) -> io::Result<()> {
        self.meta(what, process, thread, &json!({ "name": name }))
    }

    fn meta(&mut self, name: &str, pid: u32, tid: u32, args: &Value) -> io::Result<()> {
        self.put(&Event { name, ph: "M", pid, tid, ts: 0.0, dur: None, args: args.clone() })
    }

    fn slice(&mut self, slice: &Slice, track: Track) -> io::Result<()> {
        let begin = slice.begin.max(self.timeline.begin());
        let end = slice.end.min(self.timeline.end);
        let (name, args) = described(&slice.what);
        self.events += 1;
        self.put(&Event {
            name: &name,
            ph: "X",
            pid: track.process,
            tid: track.thread,
            ts: self.cycles(begin),
            dur: Some(self.cycles(end - begin)),
            args,
        })
    }

    fn queues(&mut self) -> io::Result<()> {
        for (queue, lengths) in self.timeline.queues.lengths(self.timeline.begin()) {
            let (pid, name) = match queue {
                Queue::Slice(slice) => (L2, format!("slice {slice} queue")),
                Queue::Waiting(channel) => (FIRST_CHANNEL + channel, "waiting for DRAM".to_owned()),
                Queue::InService(channel) => (FIRST_CHANNEL + channel, "in service".to_owned()),
            };
            for (at, length) in lengths.into_iter().filter(|(at, _)| *at < self.timeline.end) {
                self.counter(&name, pid, at, json!({ "requests": length }))?;
            }
        }
        Ok(())
    }

    fn point(&mut self, point: &Point) -> io::Result<()> {
        // A point has at least one cycle.
        let ipc = ipc(point.thread_instructions, point.cycles).unwrap_or_default();
        let counters: [_; COUNTERS] = [
            ("thread IPC", "instructions / cycle", ipc),
            ("DRAM bandwidth", "GB/s", self.bandwidth(point)),
            ("resident warps", "warps", point.resident_warps as f64),
            ("requests in flight", "requests", point.requests_in_flight as f64),
        ];
        let at = point.begin.max(self.timeline.begin());
        for (name, unit, value) in counters {
            self.counter(name, MACHINE, at, json!({ unit: value }))?;
        }
        Ok(())
    }

    /// Returns GB/s, which are bytes per nanosecond.
    fn bandwidth(&self, point: &Point) -> f64 {
        // A short interval may contain no cycle of a slower DRAM clock.
        let cycles = point.dram_cycles.max(1) as f64;
        point.dram_bytes as f64 / (cycles * 1000.0 / self.timeline.dram_mhz as f64)
    }

    fn counter(&mut self, name: &str, pid: u32, at: u64, args: Value) -> io::Result<()> {
        self.events += 1;
        self.put(&Event { name, ph: "C", pid, tid: 0, ts: self.cycles(at), dur: None, args })
    }

    fn cycles(&self, ticks: u64) -> f64 {
        ticks as f64 / self.timeline.core_period as f64
    }

    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        let separator = if self.is_first { "\n" } else { ",\n" };
        self.is_first = false;
        self.out.write_all(separator.as_bytes())?;
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }
}

/// Name and details of a slice.
fn described(what: &What) -> (String, Value) {
    match what {
        What::Warp(warp) => (
            format!("CTA {} warp {}", warp.cta, warp.warp_in_cta),
            json!({ "kernel": warp.kernel, "cta": warp.cta, "warp_in_cta": warp.warp_in_cta }),
        ),
        What::Load(load) => (
            format!("load {:#x}", load.pc),
            json!({
                "load_time": load.load_time,
                "requests": load.requests,
                "offchip_requests": load.offchip_requests,
                "channels": load.channels,
                "banks": load.banks,
                "divergence": load.divergence,
                "in_mc_divergence": load.in_mc_divergence,
            }),
        ),
        What::Walk { address, offchip } => {
            (format!("load {address:#x}"), json!({ "offchip": offchip }))
        }
        What::OpenRow { row, .. } => (format!("row {row:#x}"), json!({ "row": row })),
        What::Command { command, .. } => (
            command.kind.name().to_owned(),
            json!({ "dram_cycle": command.cycle, "row": command.row, "burst": command.burst }),
        ),
    }
}
