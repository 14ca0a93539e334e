//! A run over time: warps, loads, queues, bank states and DRAM commands as Chrome trace events for
//! Perfetto.
//!
//! A [`Timeline`] receives the events of a run and keeps those in its window, up to a maximum
//! number. If there are more, the window ends earlier, so that everything before its end is
//! complete. [`Timeline::write`] sorts and writes them.

mod json;
mod lanes;
mod open_rows;
mod queues;
#[cfg(test)]
mod tests;
mod window;

use open_rows::OpenRows;
use queues::{Queue, Queues};
use std::io::{self, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use warpmem_dram::{Command, CommandSink, Dram};
use warpmem_gpu::results::{
    AccessKind, IntervalRow, LoadRow, RequestRow, RequestSample, RunSink, Wanted, WarpRow,
};
use warpmem_machine::Machine;

pub use window::{ParseWindowError, Window};

/// The selection of events of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub window: Window,
    /// Maximum number of events: slices, queue changes, and values of the machine's counters.
    pub events: NonZeroUsize,
    /// Interval of the machine's counters, core cycles.
    pub interval: NonZeroU64,
}

/// A summary of the written file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Trace events in the file, except names of tracks.
    pub events: usize,
    /// Core cycle before which the file is complete, if the maximum was exceeded. It is the start of
    /// the window, and the file is empty, if that moment alone exceeds the maximum.
    pub cut_at: Option<u64>,
}

/// A collector of the events of a run.
pub struct Timeline {
    options: Options,
    core_period: u64,
    dram_period: u64,
    /// End of the window, ticks; earlier than requested if there are too many events.
    end: u64,
    cut: bool,
    slices: Vec<Slice>,
    queues: Queues,
    open_rows: OpenRows,
    /// End of the last DRAM command, ticks: memory continues after the last CTA.
    last_command_end: u64,
    points: Vec<Point>,
    dram: Dram,
    core_mhz: u64,
    dram_mhz: u64,
}

/// An event with a duration, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slice {
    begin: u64,
    end: u64,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Warp(WarpRow),
    Load(LoadRow),
    /// Load of a page walk from the slices.
    Walk {
        address: u64,
        offchip: bool,
    },
    OpenRow {
        channel: u16,
        bank: u16,
        row: u32,
    },
    Command {
        channel: u16,
        command: Command,
    },
}

/// Counters of the whole machine over an interval.
#[derive(Clone, Copy, Debug)]
struct Point {
    begin: u64,
    cycles: u64,
    thread_instructions: u64,
    /// Longer than the core cycles in the last interval, as memory continues after the last CTA.
    dram_cycles: u64,
    dram_bytes: u64,
    resident_warps: u64,
    requests_in_flight: u64,
}

impl Timeline {
    /// Creates a timeline of a run on `machine`.
    pub fn new(machine: &Machine, options: Options) -> Timeline {
        let periods = machine.clocks.periods();
        let end = options.window.end().map_or(u64::MAX, |cycle| cycle.saturating_mul(periods.core));
        Timeline {
            options,
            core_period: periods.core,
            dram_period: periods.dram,
            end,
            cut: false,
            slices: Vec::new(),
            queues: Queues::default(),
            open_rows: OpenRows::default(),
            last_command_end: 0,
            points: Vec::new(),
            dram: machine.dram.clone(),
            core_mhz: machine.clocks.core_mhz.into(),
            dram_mhz: machine.clocks.dram_mhz.into(),
        }
    }

    /// Writes the collected events; `cycles` is the length of the run to the end of its last CTA.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(mut self, cycles: u64, out: &mut dyn Write) -> io::Result<Written> {
        let end_of_ctas = cycles.saturating_add(1).saturating_mul(self.core_period);
        let end_of_run = end_of_ctas.max(self.last_command_end);
        let still_open = self.open_rows.at_end(end_of_run.min(self.end));
        still_open.into_iter().for_each(|slice| self.keep(slice));
        self.shorten(self.options.events.get());
        json::write(&self, out)
    }

    /// Returns the start of the window, ticks.
    fn begin(&self) -> u64 {
        self.options.window.start().saturating_mul(self.core_period)
    }

    /// Whether the window overlaps an event from one time to another.
    fn shows(&self, from: u64, to: u64) -> bool {
        to > self.begin() && from.max(self.begin()) < self.end
    }

    fn keep(&mut self, slice: Slice) {
        if self.shows(slice.begin, slice.end) {
            self.slices.push(slice);
            self.shorten_if_crowded();
        }
    }

    fn shorten_if_crowded(&mut self) {
        let crowded = self.options.events.get().saturating_mul(2);
        let of_points = json::COUNTERS * self.points.len();
        if self.slices.len() + self.queues.changes() + of_points >= crowded {
            self.shorten(self.options.events.get());
        }
    }

    /// Ends the window at the maximum number of events, so that it is complete up to its end.
    fn shorten(&mut self, most: usize) {
        let begin = self.begin();
        let mut begins: Vec<u64> = self.slices.iter().map(|slice| slice.begin.max(begin)).collect();
        begins.extend(self.queues.times().map(|at| at.max(begin)));
        let of_points = self.points.iter().map(|point| point.begin.max(begin));
        begins.extend(of_points.flat_map(|at| [at; json::COUNTERS]));
        if begins.len() <= most {
            return;
        }
        let (_, end, _) = begins.select_nth_unstable(most);
        (self.end, self.cut) = (*end, true);
        self.slices.retain(|slice| slice.begin.max(begin) < *end);
        self.points.retain(|point| point.begin.max(begin) < *end);
        self.queues.end_at(self.end);
    }

    fn change(&mut self, queue: Queue, from: u64, to: u64) {
        if self.shows(from, to) {
            self.queues.passed(queue, from, to.min(self.end));
            self.shorten_if_crowded();
        }
    }

    fn in_cycles(&self, from: u64, to: u64) -> (u64, u64) {
        (from * self.core_period, to * self.core_period)
    }
}

impl RunSink for Timeline {
    fn wanted(&self) -> Wanted {
        Wanted {
            intervals: Some(self.options.interval),
            requests: Some(RequestSample::ALL),
            warps: true,
        }
    }

    fn load(&mut self, row: &LoadRow) {
        let (begin, end) = self.in_cycles(row.issue_cycle, row.issue_cycle + row.load_time);
        self.keep(Slice { begin, end, what: What::Load(*row) });
    }

    fn request(&mut self, row: &RequestRow) {
        if row.kind == AccessKind::Walk {
            let what = What::Walk { address: row.address, offchip: row.dram.is_some() };
            self.keep(Slice { begin: row.created, end: row.returned, what });
        }
        self.change(Queue::Slice(row.slice), row.l2_arrived, row.l2_served);
        if let Some(dram) = row.dram {
            self.change(Queue::Waiting(row.channel), dram.entered, dram.started);
            self.change(Queue::InService(row.channel), dram.started, dram.finished);
        }
    }

    fn interval(&mut self, row: &IntervalRow) {
        let (begin, end) = self.in_cycles(row.start_cycle, row.start_cycle + row.cycles);
        if !self.shows(begin, end) || row.cycles == 0 {
            return;
        }
        let (banks, channels) = (&row.counts.banks, &row.counts.channels);
        self.points.push(Point {
            begin,
            cycles: row.cycles,
            thread_instructions: row.counts.sms.thread_instructions,
            dram_cycles: channels.cycles / u64::from(self.dram.channels),
            dram_bytes: banks.bytes(self.dram.burst_bytes()),
            resident_warps: row.resident_warps,
            requests_in_flight: row.requests_in_flight,
        });
        self.shorten_if_crowded();
    }

    fn warp(&mut self, row: &WarpRow) {
        let (begin, end) = self.in_cycles(row.launch_cycle, row.end_cycle);
        self.keep(Slice { begin, end, what: What::Warp(*row) });
    }

    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        Some(self)
    }
}

impl CommandSink for Timeline {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        for &command in commands {
            let begin = command.cycle * self.dram_period;
            let end = begin + self.dram_period;
            self.last_command_end = self.last_command_end.max(end);
            if let Some(slice) = self.open_rows.follow(channel, &command, begin, end) {
                self.keep(slice);
            }
            self.keep(Slice { begin, end, what: What::Command { channel, command } });
        }
    }
}
