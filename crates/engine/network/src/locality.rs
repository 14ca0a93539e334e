//! Row locality of the requests as they enter the request network and as they leave it (Yuan 2009,
//! Figures 1 and 6).

use super::ids::EntranceId;
use super::{Direction, NetworkContext};
use crate::StreamResult;
use warpmem_sim::{ChannelId, Location, RowId, Table, hint};

/// No row of a bank.
const NO_ROW: RowId = RowId(u32::MAX);

/// A stream of requests with the row of its last request to each bank.
struct Stream {
    /// Last row, by bank; [`NO_ROW`] before the first request.
    rows: Vec<RowId>,
    result: StreamResult,
}

impl Stream {
    fn new(banks: usize) -> Stream {
        Stream { rows: vec![NO_ROW; banks], result: StreamResult::default() }
    }

    fn pass(&mut self, bank: usize, row: RowId) {
        let last = &mut self.rows[bank];
        self.result.requests += 1;
        self.result.rows += u64::from(*last != row);
        *last = row;
    }
}

/// One stream per SM, at the entry of the network, and one per channel, at its exit.
pub(super) struct RowLocality {
    banks: usize,
    /// Streams by entrance, as every SM has its own port.
    before: Table<EntranceId, Stream>,
    after: Table<ChannelId, Stream>,
}

impl RowLocality {
    /// Builds the streams; `None` for a reply network.
    pub fn new(context: &NetworkContext) -> Option<RowLocality> {
        let (banks, channels) = (context.banks, context.channels);
        let sms: usize = context.inputs.iter().map(Vec::len).sum();
        (context.direction == Direction::Request).then(|| RowLocality {
            banks,
            before: Table::from_fn(sms, |_| Stream::new(channels * banks)),
            after: Table::from_fn(channels, |_| Stream::new(banks)),
        })
    }

    /// Prefetches the counts of a request that will enter the network into the host's caches.
    #[inline]
    pub fn will_enter(&self, entrance: EntranceId, place: Location) {
        let bank = place.channel.index() * self.banks + place.bank.index();
        if let Some(last) = self.before[entrance].rows.get(bank) {
            hint::will_be_read(last);
        }
    }

    /// Counts a request that enters the network.
    pub fn enter(&mut self, entrance: EntranceId, place: Location) {
        let bank = place.channel.index() * self.banks + place.bank.index();
        self.before[entrance].pass(bank, place.row);
    }

    /// Counts a request that leaves the network.
    pub fn leave(&mut self, place: Location) {
        self.after[place.channel].pass(place.bank.index(), place.row);
    }

    /// Returns the counts of the SMs' streams and of the channels' streams.
    pub fn so_far(&self) -> (Vec<StreamResult>, Vec<StreamResult>) {
        let result = |stream: &Stream| stream.result;
        (self.before.iter().map(result).collect(), self.after.iter().map(result).collect())
    }
}
