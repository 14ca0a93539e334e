//! The rows of the tables of units.

use crate::run::FinishedRun;
use std::sync::Arc;
use warpmem_dram::{BankResult, ChannelResult};
use warpmem_gpu::results::{CounterResult, IntervalCounts, KernelResult, SliceResult, SmResult};
use warpmem_network::{LinkResult, NetworkResult, NodeResult};

/// A row for one unit of a run; units are numbered from 0.
pub(crate) struct UnitRow {
    pub(crate) run: Arc<FinishedRun>,
    pub(crate) unit: usize,
}

impl UnitRow {
    pub(crate) fn kernels(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.kernels.len())
    }

    pub(crate) fn sms(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.sms.len())
    }

    pub(crate) fn slices(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.slices.len())
    }

    pub(crate) fn channels(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.channels.len())
    }

    pub(crate) fn networks(run: &Arc<FinishedRun>) -> impl Iterator<Item = UnitRow> {
        UnitRow::all(run, run.result.networks.len())
    }

    fn all(run: &Arc<FinishedRun>, count: usize) -> impl Iterator<Item = UnitRow> {
        (0..count).map(move |unit| UnitRow { run: Arc::clone(run), unit })
    }

    pub(crate) fn kernel(&self) -> &KernelResult {
        &self.run.result.kernels[self.unit]
    }

    /// Returns the counts of the units for the kernel, which [`is_alone`](UnitRow::is_alone).
    pub(crate) fn kernel_counts(&self) -> &IntervalCounts {
        self.kernel().counts.as_ref().expect("other kernels have no values in these columns")
    }

    /// Whether no other kernel ran concurrently, so that the counts of units are its own.
    pub(crate) fn is_alone(&self) -> bool {
        self.kernel().counts.is_some()
    }

    pub(crate) fn sm(&self) -> &SmResult {
        &self.run.result.sms[self.unit]
    }

    pub(crate) fn slice(&self) -> &SliceResult {
        &self.run.result.slices[self.unit]
    }

    pub(crate) fn channel(&self) -> &ChannelResult {
        &self.run.result.channels[self.unit]
    }

    pub(crate) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.unit]
    }
}

/// A row for one counter of a policy.
pub(crate) struct CounterRow {
    pub(crate) run: Arc<FinishedRun>,
    index: usize,
}

impl CounterRow {
    /// Returns one row per counter of the run, ordered by channel.
    pub(crate) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = CounterRow> {
        let count = run.result.counters.len();
        (0..count).map(move |index| CounterRow { run: Arc::clone(run), index })
    }

    pub(crate) fn counter(&self) -> &CounterResult {
        &self.run.result.counters[self.index]
    }
}

/// A row for one bank.
pub(crate) struct BankRow {
    pub(crate) run: Arc<FinishedRun>,
    pub(crate) channel: usize,
    pub(crate) bank: usize,
}

impl BankRow {
    /// Returns one row per bank of the run, ordered by channel.
    pub(crate) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = BankRow> {
        run.result.channels.iter().enumerate().flat_map(move |(channel, counts)| {
            (0..counts.banks.len()).map(move |bank| BankRow { run: Arc::clone(run), channel, bank })
        })
    }

    pub(crate) fn counts(&self) -> &BankResult {
        &self.run.result.channels[self.channel].banks[self.bank]
    }
}

/// The side of a network node.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Source,
    Destination,
}

/// A row for one node of a network, on one side.
pub(crate) struct NodeRow {
    pub(crate) run: Arc<FinishedRun>,
    pub(crate) network: usize,
    pub(crate) side: Side,
    pub(crate) node: usize,
}

impl NodeRow {
    /// Returns one row per node of the run, ordered by network, sources first.
    pub(crate) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = NodeRow> {
        run.result.networks.iter().enumerate().flat_map(move |(network, counts)| {
            let row = move |side, node| NodeRow { run: Arc::clone(run), network, side, node };
            let sources = (0..counts.sources.len()).map(move |node| row(Side::Source, node));
            let destinations =
                (0..counts.destinations.len()).map(move |node| row(Side::Destination, node));
            sources.chain(destinations)
        })
    }

    pub(crate) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.network]
    }

    pub(crate) fn counts(&self) -> &NodeResult {
        match self.side {
            Side::Source => &self.network().sources[self.node],
            Side::Destination => &self.network().destinations[self.node],
        }
    }
}

/// A row for one link of a network.
pub(crate) struct LinkRow {
    pub(crate) run: Arc<FinishedRun>,
    pub(crate) network: usize,
    link: usize,
}

impl LinkRow {
    /// Returns one row per link of the run, ordered by network.
    pub(crate) fn all(run: &Arc<FinishedRun>) -> impl Iterator<Item = LinkRow> {
        run.result.networks.iter().enumerate().flat_map(move |(network, counts)| {
            (0..counts.links.len()).map(move |link| LinkRow { run: Arc::clone(run), network, link })
        })
    }

    pub(crate) fn network(&self) -> &NetworkResult {
        &self.run.result.networks[self.network]
    }

    pub(crate) fn link(&self) -> &LinkResult {
        &self.network().links[self.link]
    }
}
