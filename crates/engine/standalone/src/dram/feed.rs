//! The requests of one channel, in sequence.

use super::file::{Access, AccessFile, Target};
use super::map::Map;
use super::pattern::{BankRow, Geometry, Walk};
use super::rate::Rate;
use super::stream::{self, Mix, Sources, Stream};
use super::{Device, StandaloneError};
use std::sync::Arc;
use warpmem_dram::DramRequest;
use warpmem_sim::{BankId, ChannelId, DramCycle, RowId};
use warpmem_support::random::Random;

/// A request and the cycle before which it does not arrive; none: as soon as the channel accepts
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub request: DramRequest,
    pub due: Option<DramCycle>,
}

/// A stream's requests to one channel.
pub(super) struct Feed {
    origin: Box<dyn Origin>,
    rate: Option<Rate>,
    rotation: SourceRotation,
    /// Requests so far, including the first.
    count: u64,
    /// First remaining request, if any.
    front: Arrival,
    is_empty: bool,
}

/// A source of requests, in order.
trait Origin {
    /// Makes the next request, except for its number, from the previous one; returns false at the
    /// end.
    fn next(
        &mut self,
        rotation: &mut SourceRotation,
        next: &mut Arrival,
    ) -> Result<bool, StandaloneError>;

    /// Returns the interpretation of a file where its lines leave it open.
    fn note(&self) -> Option<&'static str> {
        None
    }
}

impl Arrival {
    /// Sets the target of a request, with the source that `rotation` gives.
    fn aim(&mut self, place: BankRow, bursts: u16, write: bool, rotation: &mut SourceRotation) {
        let Issuer { sm, warp, load } = rotation.next(write);
        let BankRow { bank, row } = place;
        self.request = DramRequest { bank, row, write, bursts, sm, warp, load, ..self.request };
    }

    /// Replaces fields of the request by those that the file gives.
    fn correct(&mut self, access: &Access) {
        let request = &mut self.request;
        self.due = access.cycle;
        request.pc = access.pc.unwrap_or(0);
        request.sm = access.sm.unwrap_or(request.sm);
        request.warp = access.warp.unwrap_or(request.warp);
        request.load = access.load.unwrap_or(request.load);
    }
}

impl Feed {
    /// Builds a feed for each channel of the stream. Each reads the file separately, so that none
    /// buffers the requests of others.
    pub fn all(stream: &Stream, device: &Device) -> Result<Vec<Feed>, StandaloneError> {
        stream.check()?;
        let map = Arc::new(Map::new(&device.dram)?);
        let channels = stream.channels(&device.dram);
        let feed = |channel| {
            let mut feed = Feed {
                origin: origin(stream, device, &map, channel)?,
                rate: stream.rate.map(|rate| rate.rate(stream.bytes, device.period)),
                rotation: SourceRotation::new(stream.sources),
                count: 0,
                front: Arrival { request: NOTHING, due: None },
                is_empty: false,
            };
            feed.advance()?;
            Ok(feed)
        };
        (0..channels).map(feed).collect()
    }

    /// Returns the first remaining request; none at the end.
    pub fn front(&self) -> Option<&Arrival> {
        (!self.is_empty).then_some(&self.front)
    }

    /// Returns the interpretation of the stream's file where its lines leave it open.
    pub fn note(&self) -> Option<&'static str> {
        self.origin.note()
    }

    /// Advances to the next request.
    pub fn advance(&mut self) -> Result<(), StandaloneError> {
        self.is_empty = !self.origin.next(&mut self.rotation, &mut self.front)?;
        self.front.request.id = self.count as u32;
        if let Some(rate) = self.rate {
            self.front.due = Some(rate.due(self.count));
        }
        self.count += 1;
        Ok(())
    }
}

/// A request before its address and source are known.
const NOTHING: DramRequest = DramRequest {
    id: 0,
    bank: BankId(0),
    row: RowId(0),
    write: false,
    bursts: 1,
    line: 0,
    port: 0,
    sm: DramRequest::NO_SOURCE,
    warp: u32::MAX,
    cta: u32::MAX,
    pc: 0,
    load: u32::MAX,
    critical: false,
    hit_prone: false,
    walk: false,
    merges: 1,
    age: 0,
};

/// The source of a request.
#[derive(Clone, Copy)]
struct Issuer {
    sm: u16,
    warp: u32,
    load: u32,
}

const NO_ISSUER: Issuer = Issuer { sm: NOTHING.sm, warp: NOTHING.warp, load: NOTHING.load };

/// Round robin over the sources, request by request.
struct SourceRotation {
    sources: Sources,
    load: u32,
    /// Requests of the current load so far.
    asked: u32,
    sm: u32,
    /// Warp within its SM.
    warp: u32,
}

impl SourceRotation {
    fn new(sources: Sources) -> SourceRotation {
        SourceRotation { sources, load: 0, asked: 0, sm: 0, warp: 0 }
    }

    /// Returns the source of the next request. A write counts, although it has no source.
    fn next(&mut self, write: bool) -> Issuer {
        let Sources { sms, warps, group } = self.sources;
        let asked =
            Issuer { sm: self.sm as u16, warp: self.sm * warps + self.warp, load: self.load };
        self.asked += 1;
        if self.asked == group {
            (self.asked, self.sm, self.load) = (0, self.sm + 1, self.load.wrapping_add(1));
        }
        if self.sm == sms {
            (self.sm, self.warp) = (0, self.warp + 1);
        }
        if self.warp == warps {
            self.warp = 0;
        }
        if write { NO_ISSUER } else { asked }
    }
}

/// Builds the part of the stream that goes to this channel.
fn origin(
    stream: &Stream,
    device: &Device,
    map: &Arc<Map>,
    channel: u32,
) -> Result<Box<dyn Origin>, StandaloneError> {
    let wrong_size = |valid| StandaloneError::option("bytes", &stream.bytes, valid);
    let bursts = map.bursts(stream.bytes).map_err(wrong_size)?;
    let size = Size { bytes: stream.bytes, bursts };
    let window = Window { map: Arc::clone(map), channel: ChannelId(channel as u16) };
    Ok(match &stream.origin {
        stream::Origin::Pattern { pattern, locality, channels, mix } => {
            let geometry = Geometry::new(&device.dram, map.row_bits, bursts.into());
            let random = Random::numbered(mix.seed, u64::from(channel) << 1);
            let walk = Walk::new(*pattern, geometry, *locality, random)?;
            let (channel, channels) = (u64::from(channel), u64::from(*channels));
            let left = (mix.requests + channels - 1 - channel) / channels;
            Box::new(Walked { walk, left, bursts, ops: Ops::new(*mix, channel) })
        }
        stream::Origin::Strided { stride, mix } => Box::new(Strided {
            next: 0,
            stride: stride % map.capacity,
            left: mix.requests,
            size,
            ops: Ops::new(*mix, channel.into()),
            window,
        }),
        stream::Origin::File(file) => {
            let file = AccessFile::of(file)?;
            Box::new(Filed { file, size, sources: stream.sources, window })
        }
    })
}

/// Bytes and column commands of a request.
#[derive(Clone, Copy)]
struct Size {
    bytes: u32,
    bursts: u16,
}

/// Draws reads and writes.
struct Ops {
    random: Random,
    /// Number of reads among [`DRAWN`] equally likely values.
    reads: u64,
}

const DRAWN: u64 = 1 << 32;

impl Ops {
    fn new(mix: Mix, channel: u64) -> Ops {
        let random = Random::numbered(mix.seed, channel << 1 | 1);
        Ops { random, reads: (mix.reads * DRAWN as f64).round() as u64 }
    }

    /// Returns whether the next request is a write. Draws nothing if all are reads.
    fn next(&mut self) -> bool {
        self.reads < DRAWN && self.random.below(DRAWN) >= self.reads
    }
}

/// The addresses of one channel.
struct Window {
    map: Arc<Map>,
    channel: ChannelId,
}

impl Window {
    /// Returns the position of the request to an address, if it is in the channel.
    fn place(&self, address: u64, size: Size) -> Option<BankRow> {
        self.map.place(address, size.bytes, self.channel)
    }
}

struct Walked {
    walk: Walk,
    left: u64,
    bursts: u16,
    ops: Ops,
}

impl Origin for Walked {
    fn next(
        &mut self,
        rotation: &mut SourceRotation,
        next: &mut Arrival,
    ) -> Result<bool, StandaloneError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(false) };
        self.left = left;
        next.aim(self.walk.next(), self.bursts, self.ops.next(), rotation);
        Ok(true)
    }
}

struct Strided {
    next: u64,
    stride: u64,
    /// Remaining addresses of all channels.
    left: u64,
    size: Size,
    ops: Ops,
    window: Window,
}

impl Origin for Strided {
    fn next(
        &mut self,
        rotation: &mut SourceRotation,
        next: &mut Arrival,
    ) -> Result<bool, StandaloneError> {
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let address = self.next;
            self.next = (address + self.stride) % self.window.map.capacity;
            if let Some(place) = self.window.place(address, self.size) {
                next.aim(place, self.size.bursts, self.ops.next(), rotation);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

struct Filed {
    file: AccessFile,
    /// Size of accesses without one.
    size: Size,
    sources: Sources,
    window: Window,
}

impl Origin for Filed {
    fn next(
        &mut self,
        rotation: &mut SourceRotation,
        next: &mut Arrival,
    ) -> Result<bool, StandaloneError> {
        while let Some(access) = self.file.read()? {
            self.check_source(&access)?;
            let size = self.size_of(&access)?;
            if let Some(place) = self.place(access.target, size)? {
                next.aim(place, size.bursts, access.write, rotation);
                next.correct(&access);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn note(&self) -> Option<&'static str> {
        self.file.note()
    }
}

impl Filed {
    /// Returns the position of an access, if it is in the channel.
    fn place(&self, target: Target, size: Size) -> Result<Option<BankRow>, StandaloneError> {
        match target {
            Target::Address(address) => {
                self.check_address(address)?;
                Ok(self.window.place(address, size))
            }
            Target::Levels(levels) => {
                let at = self.window.map.at_levels(&levels);
                let (channel, place) =
                    at.map_err(|(expected, found)| self.file.wrong(&found, expected))?;
                Ok((channel == self.window.channel).then_some(place))
            }
        }
    }

    fn size_of(&self, access: &Access) -> Result<Size, StandaloneError> {
        let Some(bytes) = access.bytes else { return Ok(self.size) };
        let bursts = self.window.map.bursts(bytes);
        let bursts = bursts.map_err(|expected| self.file.wrong(&bytes, expected))?;
        Ok(Size { bytes, bursts })
    }

    fn check_address(&self, address: u64) -> Result<(), StandaloneError> {
        let capacity = self.window.map.capacity;
        if address < capacity {
            return Ok(());
        }
        Err(self.file.out_of_range(address, capacity))
    }

    /// Checks the SM and warp of an access, because schedulers have tables with an entry for each.
    fn check_source(&self, access: &Access) -> Result<(), StandaloneError> {
        let (sms, warps) = (self.sources.sms, self.sources.warps_of_all());
        if let Some(sm) = access.sm.filter(|&sm| u32::from(sm) >= sms) {
            return Err(self.file.wrong(&sm, format!("an SM below {sms}, the number of sources")));
        }
        if let Some(warp) = access.warp.filter(|&warp| warp >= warps) {
            let expected = format!("a warp below {warps}, the warps of all sources");
            return Err(self.file.wrong(&warp, expected));
        }
        Ok(())
    }
}
