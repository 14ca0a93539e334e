//! A finished run as the tables see it, and the rows of the tables of its units.

use super::RunKey;
use std::sync::Arc;
use warpmem_dram::{Activity, BankResult, ChannelResult, Energy};
use warpmem_gpu::results::{CounterResult, KernelResult, RunResult, SliceResult, SmResult, total};
use warpmem_network::{LinkResult, NetworkResult, NodeResult};

/// A run's key, its counts, and their sums over units: one row of `runs`.
pub struct FinishedRun {
    pub(super) key: RunKey,
    pub(super) result: RunResult,
    pub(super) sms: SmResult,
    pub(super) slices: SliceResult,
    pub(super) channels: ChannelResult,
    pub(super) banks: BankResult,
}

impl FinishedRun {
    pub fn new(key: RunKey, result: RunResult) -> FinishedRun {
        let channels = total(&result.channels);
        // One slice in a state is enough for the whole.
        let mshr_cycles = result.mshr_cycles;
        FinishedRun {
            sms: total(&result.sms),
            slices: SliceResult { mshr_cycles, ..total(&result.slices) },
            banks: total(&channels.banks),
            channels,
            key,
            result,
        }
    }

    /// Bytes that the column commands of `banks` move.
    pub(super) fn bytes(&self, banks: &BankResult) -> u64 {
        banks.columns() * u64::from(self.key.machine.dram.burst_bytes())
    }

    /// Energy of a channel, or of several added up; none where the machine's currents are not known.
    pub(super) fn energy(&self, channel: &ChannelResult, banks: &BankResult) -> Option<Energy> {
        let machine = &self.key.machine;
        let activity = Activity::new(channel, banks);
        Energy::of(&machine.dram, 1000.0 / f64::from(machine.clocks.dram_mhz), &activity)
    }

    /// DRAM cycles in which memory worked, which every channel counts: longer than until the last CTA.
    pub(super) fn dram_cycles(&self) -> u64 {
        self.result.channels.first().map_or(0, |channel| channel.cycles)
    }

    /// DRAM cycles in 10^-6 s.
    pub(super) fn dram_mhz(&self) -> u64 {
        self.key.machine.clocks.dram_mhz.into()
    }
}

/// A row about one unit of a run; units are numbered from 0.
pub(super) struct UnitRow {
    pub(super) run: Arc<FinishedRun>,
    pub(super) unit: usize,
}

impl UnitRow {
    pub(super) fn kernels(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.kernels.len())
    }

    pub(super) fn sms(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.sms.len())
    }

    pub(super) fn slices(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.slices.len())
    }

    pub(super) fn channels(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.channels.len())
    }

    pub(super) fn networks(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.networks.len())
    }

    fn all(run: &Arc<FinishedRun>, count: usize) -> impl Iterator<Item = UnitRow> {
        (0..count).map(move |unit| UnitRow { run: Arc::clone(run), unit })
    }

    pub(super) fn kernel(&self) -> &KernelResult {
        &self.run.result.kernels[self.unit]
    }

    pub(super) fn sm(&self) -> &SmResult {
        &self.run.result.sms[self.unit]
    }

    pub(super) fn slice(&self) -> &SliceResult {
        &self.run.result.slices[self.unit]
    }

    pub(super) fn channel(&self) -> &ChannelResult {
        &self.run.result.channels[self.unit]
    }

    pub(super) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.unit]
    }
}

/// A row about one number of a policy's own.
pub(super) struct CounterRow {
    pub(super) run: Arc<FinishedRun>,
    index: usize,
}

impl CounterRow {
    /// One row for each number of the run, channel by channel.
    pub(super) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = CounterRow> {
        let count = run.result.counters.len();
        (0..count).map(move |index| CounterRow { run: Arc::clone(run), index })
    }

    pub(super) fn counter(&self) -> &CounterResult {
        &self.run.result.counters[self.index]
    }
}

/// A row about one bank.
pub(super) struct BankRow {
    pub(super) run: Arc<FinishedRun>,
    pub(super) channel: usize,
    pub(super) bank: usize,
}

impl BankRow {
    /// One row for each bank of the run, channel by channel.
    pub(super) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = BankRow> {
        run.result.channels.iter().enumerate().flat_map(move |(channel, counts)| {
            (0..counts.banks.len()).map(move |bank| BankRow { run: Arc::clone(run), channel, bank })
        })
    }

    pub(super) fn counts(&self) -> &BankResult {
        &self.run.result.channels[self.channel].banks[self.bank]
    }
}

/// What a node of a network does.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Source,
    Destination,
}

/// A row about one node of a network, on one side.
pub(super) struct NodeRow {
    pub(super) run: Arc<FinishedRun>,
    pub(super) network: usize,
    pub(super) side: Side,
    pub(super) node: usize,
}

impl NodeRow {
    /// One row for each node of the run, network by network, sources first.
    pub(super) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = NodeRow> {
        run.result.networks.iter().enumerate().flat_map(move |(network, counts)| {
            let row = move |side, node| NodeRow { run: Arc::clone(run), network, side, node };
            let sources = (0..counts.sources.len()).map(move |node| row(Side::Source, node));
            let destinations =
                (0..counts.destinations.len()).map(move |node| row(Side::Destination, node));
            sources.chain(destinations)
        })
    }

    pub(super) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.network]
    }

    pub(super) fn counts(&self) -> &NodeResult {
        match self.side {
            Side::Source => &self.network().sources[self.node],
            Side::Destination => &self.network().destinations[self.node],
        }
    }
}

/// A row about one link of a network.
pub(super) struct LinkRow {
    pub(super) run: Arc<FinishedRun>,
    pub(super) network: usize,
    link: usize,
}

impl LinkRow {
    /// One row for each link of the run, network by network.
    pub(super) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = LinkRow> {
        run.result.networks.iter().enumerate().flat_map(move |(network, counts)| {
            (0..counts.links.len()).map(move |link| LinkRow { run: Arc::clone(run), network, link })
        })
    }

    pub(super) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.network]
    }

    pub(super) fn link(&self) -> &LinkResult {
        &self.network().links[self.link]
    }
}
