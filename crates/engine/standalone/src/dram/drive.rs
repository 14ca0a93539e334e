//! The driver: runs channels in parallel, each fed as fast as it accepts requests. It owns time and
//! the requests in flight; the channels decide everything else.

use super::feed::{Arrival, Feed};
use super::outcome::{ChannelOutcome, Outcome};
use super::{Device, StandaloneError, Stream};
use std::ops::ControlFlow;
use warpmem_dram::scheduler::SchedulerContext;
use warpmem_dram::{Channel, CommandSink, Dram};
use warpmem_sim::{DramCycle, Histogram};

/// Receives the number of requests that have been served since its last call; may end the run.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Cycles without an arrival or a completion after which a channel with work is stuck, although it
/// may still be refreshing.
const PATIENCE: u64 = 1 << 26;

/// Requests served between two reports of progress.
const REPORT: u64 = 1 << 16;

/// Sends the stream to channels under this scheduler, until everything is served. Channels do not
/// wait for each other's requests; they share one time, so that schedulers of several channels may
/// exchange messages.
///
/// # Errors
/// Returns [`StandaloneError`] if the stream or scheduler is invalid, a file cannot be read, or
/// `progress` ended the run.
pub fn run(
    device: &Device,
    scheduler: &str,
    stream: &Stream,
    progress: Progress<'_>,
) -> Result<Outcome, StandaloneError> {
    run_with_log(device, scheduler, stream, progress, None)
}

/// Runs as [`run`] does, and hands every command to `commands`, if given, while the run proceeds.
///
/// # Errors
/// As [`run`].
pub fn run_with_log(
    device: &Device,
    scheduler: &str,
    stream: &Stream,
    progress: Progress<'_>,
    mut commands: Option<&mut dyn CommandSink>,
) -> Result<Outcome, StandaloneError> {
    let feeds = Feed::all(stream, device)?;
    let note = feeds.first().and_then(Feed::note);
    let mut channels = channels(device, scheduler, stream, feeds.len())?;
    if commands.is_some() {
        channels.iter_mut().for_each(Channel::enable_log);
    }
    let fed = (0..).zip(channels.into_iter().zip(feeds));
    let mut fed: Vec<FedChannel> =
        fed.map(|(number, (channel, feed))| FedChannel::new(number, channel, feed)).collect();
    let mut unreported = 0;
    let mut now = DramCycle::ZERO;
    while now < DramCycle::NEVER {
        for fed in &mut fed {
            if fed.wake <= now {
                unreported += fed.step(now)?;
            }
        }
        now = fed.iter().map(|fed| fed.wake).min().unwrap_or(DramCycle::NEVER);
        if unreported >= REPORT {
            report(&mut unreported, progress)?;
            hand_over(&mut fed, &mut commands);
        }
    }
    report(&mut unreported, progress)?;
    hand_over(&mut fed, &mut commands);
    Ok(Outcome {
        device: device.clone(),
        stream: stream.to_string(),
        scheduler: scheduler.to_owned(),
        note,
        channels: fed.into_iter().map(FedChannel::finish).collect(),
    })
}

fn report(unreported: &mut u64, progress: Progress<'_>) -> Result<(), StandaloneError> {
    match progress(std::mem::take(unreported)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(StandaloneError::Interrupted),
    }
}

/// Hands on the commands logged since the last call.
fn hand_over(fed: &mut [FedChannel], commands: &mut Option<&mut dyn CommandSink>) {
    let Some(sink) = commands else { return };
    for (index, fed) in (0..).zip(fed) {
        sink.commands(index, &fed.channel.take_log());
    }
}

/// Builds `count` channels under one scheduler.
fn channels(
    device: &Device,
    scheduler: &str,
    stream: &Stream,
    count: usize,
) -> Result<Vec<Channel>, StandaloneError> {
    let context = SchedulerContext {
        dram: Dram { channels: count as u32, ..device.dram.clone() },
        sources: stream.sources.sms,
        warps: stream.sources.warps_of_all(),
    };
    Ok(Channel::family(&context, scheduler)?)
}

/// A channel and the requests sent to it.
struct FedChannel {
    number: u32,
    channel: Channel,
    /// The remaining requests; the first waits to enter the channel.
    feed: Feed,
    /// Load of the last read that entered, unless it is known to be complete.
    load: Option<u32>,
    /// Cycle in which the first request of the feed may enter; [`DramCycle::NEVER`] if there is
    /// none, or no room for it.
    entry: DramCycle,
    /// Cycle of the next event; [`DramCycle::NEVER`] if there is none.
    wake: DramCycle,
    /// End of the last data.
    end: DramCycle,
    /// Cycle in which a request last entered.
    entered: DramCycle,
    read_latency: Histogram,
    write_latency: Histogram,
    delay: Histogram,
}

impl FedChannel {
    fn new(number: u32, channel: Channel, feed: Feed) -> FedChannel {
        let mut fed = FedChannel {
            number,
            channel,
            feed,
            load: None,
            entry: DramCycle::NEVER,
            wake: DramCycle::NEVER,
            end: DramCycle::ZERO,
            entered: DramCycle::ZERO,
            read_latency: Histogram::default(),
            write_latency: Histogram::default(),
            delay: Histogram::default(),
        };
        fed.look_ahead();
        let first = fed.feed.front();
        fed.wake = first.map_or(DramCycle::NEVER, |first| first.due.unwrap_or_default());
        fed
    }

    /// Lets requests enter and steps the channel. Returns the number of requests served.
    fn step(&mut self, now: DramCycle) -> Result<u64, StandaloneError> {
        while self.entry <= now {
            self.enter(now)?;
        }
        let next = self.channel.step(now, u32::MAX).unwrap_or(DramCycle::NEVER);
        let mut served = 0;
        for done in self.channel.take_completions() {
            let latency = if done.write { &mut self.write_latency } else { &mut self.read_latency };
            latency.record(done.end.since(done.arrived));
            self.end = self.end.max(done.end);
            served += 1;
        }
        self.look_ahead();
        self.wake = next.min(self.entry.max(now + 1));
        if served == 0 || self.wake == DramCycle::NEVER || self.feed.front().is_none() {
            self.end_or_go_on(now)?;
        }
        Ok(served)
    }

    /// Computes the cycle in which the first request may enter: once per request, and again after
    /// each step of the channel.
    #[inline]
    fn look_ahead(&mut self) {
        self.entry = match self.feed.front() {
            Some(front) if self.channel.accepts(&front.request) => front.due.unwrap_or_default(),
            _ => DramCycle::NEVER,
        };
    }

    /// Moves the first request into the channel.
    fn enter(&mut self, now: DramCycle) -> Result<(), StandaloneError> {
        let Some(Arrival { request, due }) = self.feed.front() else { return Ok(()) };
        if let Some(due) = *due {
            self.delay.record(now.since(due));
        }
        self.channel.push(now, *request);
        self.entered = now;
        self.load = if request.write { self.load } else { Some(request.load) };
        self.feed.advance()?;
        self.end_load(now);
        self.look_ahead();
        Ok(())
    }

    /// Ends the load of the last read if the next read is of another load, or there is none.
    fn end_load(&mut self, now: DramCycle) {
        let Some(load) = self.load else { return };
        let next = self.feed.front().map(|front| front.request);
        if !next.is_some_and(|next| next.write || next.load == load) {
            self.channel.load_complete(now, load);
            self.load = None;
        }
    }

    /// Ends the run if everything has been served. Returns an error if it would end with work left,
    /// or never end.
    fn end_or_go_on(&mut self, now: DramCycle) -> Result<(), StandaloneError> {
        let pending = self.channel.pending();
        if pending == 0 && self.feed.front().is_none() {
            self.wake = DramCycle::NEVER;
            return Ok(());
        }
        let is_late = pending > 0 && now > self.end.max(self.entered) + PATIENCE;
        if self.wake < DramCycle::NEVER && !is_late {
            return Ok(());
        }
        Err(StandaloneError::Stuck { channel: self.number, cycle: now.number(), pending })
    }

    fn finish(self) -> ChannelOutcome {
        ChannelOutcome {
            counts: self.channel.counts(self.end),
            read_latency: self.read_latency,
            write_latency: self.write_latency,
            delay: self.delay,
            counters: self.channel.counters(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dram::{Mix, Origin, Pattern, Period, Sources};
    use std::sync::{Arc, Mutex};
    use warpmem_dram::scheduler::{BankView, Event, Queued, Scheduler, Slot, Traits};
    use warpmem_machine::load;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Report {
        Arrival(u32),
        Complete(u32),
    }

    /// FR-FCFS that records the loads reported to it.
    struct LoadRecorder(Arc<Mutex<Vec<Report>>>);

    impl Scheduler for LoadRecorder {
        fn pick(&mut self, bank: &BankView) -> Option<Slot> {
            Some(bank.fr_fcfs())
        }

        fn traits(&self) -> Traits {
            Traits { orders_writes: true, takes_events: true, ..Traits::default() }
        }

        fn on_arrival(&mut self, _: Slot, queued: &Queued) {
            self.0.lock().unwrap().push(Report::Arrival(queued.request.load));
        }

        fn on_event(&mut self, event: Event, _: DramCycle) {
            if let Event::LoadComplete { load } = event {
                self.0.lock().unwrap().push(Report::Complete(load));
            }
        }
    }

    fn device() -> Device {
        let dram = load("li2015", &[]).unwrap().dram;
        Device {
            name: "test".to_owned(),
            dram,
            period: Period::of_mhz(1000),
            scheduler: "fr-fcfs".to_owned(),
            warnings: Vec::new(),
        }
    }

    fn feed(device: &Device, requests: u64, group: u32, reads: f64) -> Feed {
        let mix = Mix { requests, reads, seed: 1 };
        let stream = Stream {
            origin: Origin::Pattern { pattern: Pattern::OneBank, locality: 1, channels: 1, mix },
            bytes: 64,
            rate: None,
            sources: Sources { sms: 1, warps: 1, group },
        };
        Feed::all(&stream, device).unwrap().remove(0)
    }

    fn reports(requests: u64, group: u32, reads: f64) -> Vec<Report> {
        let (device, reports) = (device(), Arc::default());
        let channel =
            Channel::new(&device.dram, Box::new(LoadRecorder(Arc::clone(&reports)))).unwrap();
        let mut fed = FedChannel::new(0, channel, feed(&device, requests, group, reads));
        while fed.wake < DramCycle::NEVER {
            fed.step(fed.wake).unwrap();
        }
        let mut reports = reports.lock().unwrap();
        std::mem::take(&mut *reports)
    }

    /// Before the next load's first request, and before the next cycle.
    #[test]
    fn a_load_is_complete_with_its_last_request() {
        let load = |id| [Report::Arrival(id), Report::Arrival(id), Report::Complete(id)];
        assert_eq!(reports(200, 2, 1.0), (0..100).flat_map(load).collect::<Vec<_>>());
    }

    #[test]
    fn the_last_load_is_complete_with_the_stream() {
        let expected = [Report::Arrival(0), Report::Arrival(0), Report::Complete(0)];
        assert_eq!(reports(2, 3, 1.0), expected);
    }

    #[test]
    fn writes_belong_to_no_load_and_end_none() {
        let reports = reports(400, 8, 0.5);
        let ends = reports.iter().filter_map(|reports| match reports {
            Report::Complete(load) => Some(*load),
            Report::Arrival(_) => None,
        });
        assert_eq!(ends.collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
        assert!(reports.contains(&Report::Arrival(u32::MAX)));
    }

    /// A scheduler that never picks leaves work that nothing will ever do, with or without
    /// refreshes.
    #[test]
    fn a_stuck_channel_is_an_error() {
        struct Idle;
        impl Scheduler for Idle {
            fn pick(&mut self, _: &BankView) -> Option<Slot> {
                None
            }
        }
        for trefi in [0, 1_000_000] {
            let mut device = device();
            (device.dram.timing.trefi, device.dram.timing.trfc) = (trefi, trefi / 1000);
            let channel = Channel::new(&device.dram, Box::new(Idle)).unwrap();
            let mut fed = FedChannel::new(3, channel, feed(&device, 1, 1, 1.0));
            let error = loop {
                if let Err(error) = fed.step(fed.wake) {
                    break error;
                }
            };
            let stuck = matches!(error, StandaloneError::Stuck { channel: 3, pending: 1, .. });
            assert!(stuck, "{error}");
        }
    }
}
