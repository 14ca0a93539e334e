//! Channels side by side, each fed as fast as it takes requests.

use super::feed::{Arrival, Feed};
use super::{AloneError, Device, Outcome, Stream};
use crate::dram::scheduler::{Counter, Scene};
use crate::dram::{Channel, ChannelStatistics, Request};
use crate::machine::Dram;
use crate::record::Histogram;
use std::ops::ControlFlow;

/// What one channel did.
#[derive(Clone, Debug)]
pub struct ChannelOutcome {
    /// Up to the end of its last data.
    pub statistics: ChannelStatistics,
    /// Cycles from entering the channel's queue to the last datum.
    pub read_latency: Histogram,
    pub write_latency: Histogram,
    /// Of requests with a cycle of their own: how long after it the queue took them.
    pub delay: Histogram,
    /// What the scheduler counted.
    pub counters: Vec<Counter>,
}

/// Told of requests that have been served since it was told last; may end the run.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Requests served between two reports of progress.
const REPORT: u64 = 1 << 16;

/// Sends the stream to channels under this scheduler, until everything is served. Channels wait for no other's
/// requests; time is common to all, so that schedulers of several channels may exchange messages.
///
/// # Errors
/// [`AloneError`]: the stream or scheduler is impossible, a file cannot be read, or `progress` ended the run.
pub fn run(
    device: &Device,
    scheduler: &str,
    stream: &Stream,
    progress: Progress<'_>,
) -> Result<Outcome, AloneError> {
    let feeds = Feed::all(stream, device)?;
    let channels = channels(device, scheduler, stream, feeds.len())?;
    let lanes = channels.into_iter().zip(feeds).map(|(channel, feed)| Lane::new(channel, feed));
    let mut lanes = lanes.collect::<Result<Vec<Lane>, AloneError>>()?;
    let mut unreported = 0;
    while let Some(now) = lanes.iter().filter_map(|lane| lane.wake).min() {
        for (index, lane) in (0..).zip(&mut lanes) {
            if lane.wake == Some(now) {
                unreported += lane.step(now)?;
                lane.check(index, now)?;
            }
        }
        if unreported >= REPORT {
            report(&mut unreported, progress)?;
        }
    }
    report(&mut unreported, progress)?;
    Ok(Outcome {
        device: device.clone(),
        stream: stream.to_string(),
        scheduler: scheduler.to_owned(),
        channels: lanes.into_iter().map(Lane::finish).collect(),
    })
}

fn report(unreported: &mut u64, progress: Progress<'_>) -> Result<(), AloneError> {
    match progress(std::mem::take(unreported)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(AloneError::Interrupted),
    }
}

/// So many channels under one scheduler.
fn channels(
    device: &Device,
    scheduler: &str,
    stream: &Stream,
    count: usize,
) -> Result<Vec<Channel>, AloneError> {
    let scene = Scene {
        dram: Dram { channels: count as u32, ..device.dram.clone() },
        sources: stream.sources.sms,
        warps: stream.sources.warps_of_all(),
    };
    Ok(Channel::family(&scene, scheduler)?)
}

/// A channel and what is sent to it.
struct Lane {
    channel: Channel,
    feed: Feed,
    /// The next request, not yet in the channel.
    head: Option<Arrival>,
    /// The load of the last read that entered, unless it is known to be complete.
    load: Option<u32>,
    /// When something may happen next; none: never again.
    wake: Option<u64>,
    /// End of the last data.
    end: u64,
    read_latency: Histogram,
    write_latency: Histogram,
    delay: Histogram,
}

impl Lane {
    fn new(channel: Channel, mut feed: Feed) -> Result<Lane, AloneError> {
        let head = feed.next()?;
        Ok(Lane {
            channel,
            feed,
            wake: head.map(|head| head.due.unwrap_or(0)),
            head,
            load: None,
            end: 0,
            read_latency: Histogram::default(),
            write_latency: Histogram::default(),
            delay: Histogram::default(),
        })
    }

    /// Lets requests in, and the channel do what it can. How many requests were served.
    fn step(&mut self, now: u64) -> Result<u64, AloneError> {
        while let Some(arrival) = self.head.filter(|head| self.may_enter(head, now)) {
            if let Some(due) = arrival.due {
                self.delay.record(now - due);
            }
            self.channel.push(now, arrival.request);
            self.head = self.feed.next()?;
            self.follow_load(&arrival.request, now);
        }
        let next = self.channel.step(now, u32::MAX);
        let mut served = 0;
        for done in self.channel.take_completions() {
            let latency = if done.write { &mut self.write_latency } else { &mut self.read_latency };
            latency.record(done.data_end - done.arrived);
            self.end = self.end.max(done.data_end);
            served += 1;
        }
        self.wake = self.next_wake(now, next);
        Ok(served)
    }

    /// A load is complete when the next read is of another, or there is none.
    fn follow_load(&mut self, entered: &Request, now: u64) {
        if !entered.write {
            self.load = Some(entered.load);
        }
        let Some(load) = self.load else { return };
        let goes_on = self.head.is_some_and(|head| head.request.write || head.request.load == load);
        if !goes_on {
            self.channel.load_complete(now, load);
            self.load = None;
        }
    }

    fn may_enter(&self, head: &Arrival, now: u64) -> bool {
        head.due.is_none_or(|due| due <= now) && self.channel.accepts(&head.request)
    }

    fn next_wake(&self, now: u64, channel: Option<u64>) -> Option<u64> {
        match &self.head {
            None if self.channel.is_empty() => None,
            Some(head) if self.channel.accepts(&head.request) => {
                let entry = head.due.map_or(now + 1, |due| due.max(now + 1));
                Some(channel.map_or(entry, |channel| channel.min(entry)))
            }
            _ => channel,
        }
    }

    /// Refuses to end with work left.
    fn check(&self, index: u32, cycle: u64) -> Result<(), AloneError> {
        let pending = self.channel.pending();
        if self.wake.is_some() || (self.head.is_none() && pending == 0) {
            return Ok(());
        }
        Err(AloneError::Stuck { channel: index, cycle, pending })
    }

    fn finish(self) -> ChannelOutcome {
        ChannelOutcome {
            statistics: self.channel.statistics(self.end),
            read_latency: self.read_latency,
            write_latency: self.write_latency,
            delay: self.delay,
            counters: self.channel.counters(),
        }
    }
}
