//! A network at one load.

use super::flow::{Counts, Flow};
use super::rig::{Entrance, Rig, Terminals};
use super::{Setup, StandaloneError};
use std::ops::ControlFlow;
use std::sync::Arc;
use warpmem_sim::RequestId;

/// Receives the number of packets that have arrived since its last call; may end the run.
pub type Progress<'a> = &'a mut dyn FnMut(u64) -> ControlFlow<()>;

/// Steps between two reports of progress.
const REPORT: u64 = 1 << 9;

/// A network whose latency at any load can be measured.
#[derive(Clone, Debug)]
pub struct Curve {
    setup: Arc<Setup>,
    /// Cycles that a packet takes through the empty network, by source and then destination; 0 for
    /// pairs without traffic.
    zero_load_by_pair: Arc<[u64]>,
    /// Mean of these over all packets.
    zero_load: f64,
}

/// The result of a load.
#[derive(Clone, Debug)]
pub struct Point {
    pub(super) setup: Arc<Setup>,
    /// Flits per source and cycle.
    pub load: f64,
    pub(super) zero_load: f64,
    /// Counts of the window, see [`Counts`].
    pub(super) counts: Arc<Counts>,
    /// Flits over each link in the window.
    pub(super) links: Vec<u64>,
}

impl Curve {
    /// Measures the empty network, packet by packet.
    ///
    /// # Errors
    /// Returns an error if the topology or the arbiter is unknown or does not fit, or the network
    /// has a fault.
    pub fn new(setup: Setup) -> Result<Curve, StandaloneError> {
        let pattern = &setup.pattern;
        let (sources, destinations) = (pattern.sources, pattern.destinations);
        let mut rig = Rig::new(&setup)?;
        let mut zero_load_by_pair = vec![0; sources * destinations];
        let mut zero_load = 0.0;
        for (pair, cycles) in zero_load_by_pair.iter_mut().enumerate() {
            let (source, destination) = (pair / destinations, pair % destinations);
            let share = pattern.share(source, destination);
            if share > 0.0 {
                *cycles = probe(&mut rig, source, destination)?;
                zero_load += *cycles as f64 * share / sources as f64;
            }
        }
        Ok(Curve { setup: Arc::new(setup), zero_load_by_pair: zero_load_by_pair.into(), zero_load })
    }

    /// Sends packets at a load of this many flits per source and cycle, above 0 and at most 1.
    ///
    /// # Errors
    /// Returns an error if the load is not valid, the network has a fault, or `progress` ended the
    /// run.
    pub fn measure(&self, load: f64, progress: Progress<'_>) -> Result<Point, StandaloneError> {
        if !(load > 0.0 && load <= 1.0) {
            return Err(StandaloneError::option("rate", &load, "above 0 and at most 1"));
        }
        let window = self.setup.window;
        let mut rig = Rig::new(&self.setup)?;
        let mut flow = Flow::new(&self.setup, &self.zero_load_by_pair, rig.address_space(), load);
        rig.start(&mut flow);
        let mut run = Run { rig, flow, steps: 0, arrived: 0, progress };
        run.report()?;
        run.until(window.warmup, |_| false)?;
        let before = run.rig.passed();
        run.until(window.end(), |_| false)?;
        let after = run.rig.passed();
        run.until(window.limit(), |flow| flow.is_done())?;
        run.report()?;
        Ok(Point {
            setup: Arc::clone(&self.setup),
            load,
            zero_load: self.zero_load,
            counts: Arc::new(run.flow.finish()),
            links: after.iter().zip(before).map(|(after, before)| after - before).collect(),
        })
    }
}

/// A run in progress.
struct Run<'a, 'p> {
    rig: Rig,
    flow: Flow<'a>,
    steps: u64,
    /// Packets that had arrived at the last report.
    arrived: u64,
    progress: Progress<'p>,
}

impl Run<'_, '_> {
    /// Continues to `cycle`, or until `is_done`.
    fn until(&mut self, cycle: u64, is_done: fn(&Flow) -> bool) -> Result<(), StandaloneError> {
        while !is_done(&self.flow) {
            let Some(next) = self.rig.next() else { return self.at_rest(cycle) };
            if next >= cycle {
                return Ok(());
            }
            self.rig.step(&mut self.flow);
            self.steps += 1;
            if self.steps.is_multiple_of(REPORT) {
                self.report()?;
            }
        }
        Ok(())
    }

    /// Checks for deadlock when no event is left: there are no packets, or they are stuck.
    fn at_rest(&self, cycle: u64) -> Result<(), StandaloneError> {
        match self.flow.on_way() {
            0 => Ok(()),
            packets => Err(StandaloneError::Stuck { cycle, packets, state: self.rig.describe() }),
        }
    }

    fn report(&mut self) -> Result<(), StandaloneError> {
        let arrived = self.flow.arrived();
        let new = arrived - std::mem::replace(&mut self.arrived, arrived);
        match (self.progress)(new) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(StandaloneError::Interrupted),
        }
    }
}

/// Returns the cycles that a packet takes through an empty network.
fn probe(rig: &mut Rig, source: usize, destination: usize) -> Result<u64, StandaloneError> {
    let sent = rig.now() + 1;
    rig.push(source, destination, sent);
    let mut probe = Probe { arrived: None };
    while rig.next().is_some() {
        rig.step(&mut probe);
    }
    let state = || StandaloneError::Stuck { cycle: rig.now(), packets: 1, state: rig.describe() };
    Ok(probe.arrived.ok_or_else(state)? - sent)
}

/// Terminals that wait for one packet.
struct Probe {
    arrived: Option<u64>,
}

impl Terminals for Probe {
    fn taken(&mut self, _: usize, _: usize, _: u64, _: &mut Entrance) {}

    fn arrived(&mut self, _: RequestId, cycle: u64) {
        self.arrived = Some(cycle);
    }
}
