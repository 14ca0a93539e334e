//! Consumers of the event streams of a run: tables, a command log, a timeline, or several of them.

use crate::command_log::CommandLogWriter;
use crate::store::RunRecorder;
use crate::timeline::Timeline;
use warpmem_dram::{Command, CommandSink};
use warpmem_gpu::results::{
    IntervalRow, LoadRow, RequestRow, RequestSample, RunSink, Wanted, WarpRow,
};

/// Forwards every row and command of a run to the consumers in use.
#[derive(Default)]
pub struct RunOutputs {
    pub recorder: Option<RunRecorder>,
    pub log: Option<CommandLogWriter>,
    pub timeline: Option<Timeline>,
}

impl RunOutputs {
    fn sinks(&mut self) -> impl Iterator<Item = &mut dyn RunSink> {
        let recorder = self.recorder.as_mut().map(|recorder| recorder as &mut dyn RunSink);
        let timeline = self.timeline.as_mut().map(|timeline| timeline as &mut dyn RunSink);
        recorder.into_iter().chain(timeline)
    }
}

impl RunSink for RunOutputs {
    /// A recorder consumes only the streams that it records.
    fn wanted(&self) -> Wanted {
        let recorded = self.recorder.as_ref().map(RunSink::wanted).unwrap_or_default();
        match self.timeline.as_ref().map(RunSink::wanted) {
            None => recorded,
            Some(shown) => Wanted {
                intervals: recorded.intervals.or(shown.intervals),
                requests: Some(RequestSample::ALL),
                warps: true,
            },
        }
    }

    fn load(&mut self, row: &LoadRow) {
        self.sinks().for_each(|sink| sink.load(row));
    }

    fn request(&mut self, row: &RequestRow) {
        self.sinks().for_each(|sink| sink.request(row));
    }

    fn interval(&mut self, row: &IntervalRow) {
        self.sinks().for_each(|sink| sink.interval(row));
    }

    fn warp(&mut self, row: &WarpRow) {
        self.sinks().for_each(|sink| sink.warp(row));
    }

    fn commands(&mut self) -> Option<&mut dyn CommandSink> {
        let is_taken = self.log.is_some() || self.timeline.is_some();
        is_taken.then_some(self as &mut dyn CommandSink)
    }
}

impl CommandSink for RunOutputs {
    fn commands(&mut self, channel: u16, commands: &[Command]) {
        if let Some(log) = &mut self.log {
            log.commands(channel, commands);
        }
        if let Some(timeline) = &mut self.timeline {
            CommandSink::commands(timeline, channel, commands);
        }
    }
}
