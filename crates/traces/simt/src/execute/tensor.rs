//! Bulk copies through tensor maps: each active lane copies the box at its coordinates, immediately.
//! Identical stores and prefetches of several lanes are merged (see [`bulk`](super::bulk)).

use warpmem_ptx::{Atomic, AtomicOp, Cache, Space, TensorCopy, Type};
use warpmem_trace::{Kind, MAX_WIDTH, Mbarrier};

use super::atomic::modified;
use super::bulk::in_one_allocation;
use super::convert::tf32;
use super::destination::Destination;
use super::float::Float;
use super::memory::{outside, read_lane, write_lane};
use super::request::record;
use super::spaces::{Group, addresses, generic_address};
use super::tensor_map::read_map;
use super::{ExecutionContext, Outcome, Trap, mbarrier, peer};
use crate::bounds::MAX_SHARED;
use crate::lanes::{Lanes, WARP, first_of_alike, lanes_of};
use crate::peers::offset_of;
use crate::program::Step;
use crate::tensor::{MAX_DIMENSIONS, Row, RowPart, TensorElement, TensorMap, pieces};
use crate::warp::Warp;

/// Alignment of a box in shared memory, bytes (CUDA C++ Programming Guide, "Alignment requirements for
/// multi-dimensional bulk tensor asynchronous copy operations").
const BOX_ALIGN: u64 = 128;

/// Operand values of all lanes.
struct Operands {
    f: TensorCopy,
    /// Generic addresses of the maps.
    map: Lanes<u64>,
    coordinates: Vec<Lanes<u32>>,
    /// Addresses in shared memory; unused by prefetches.
    shared: Lanes<u64>,
    /// Mbarriers of loads.
    mbarrier: Option<Lanes<u64>>,
    /// Destination CTAs of loads, one bit per rank, if not those of the addresses.
    multicast: Option<Lanes<u32>>,
}

impl Operands {
    fn of(
        warp: &Warp,
        step: &Step,
        f: TensorCopy,
        rank: usize,
        [shared, mbarrier]: [i64; 2],
    ) -> Operands {
        let loads = is_load(f);
        let map = usize::from(loads);
        let behind = map + 1 + rank;
        let address = |at: usize, offset: i64| addresses(warp, step.sources[at], offset);
        let coordinates =
            step.sources[map + 1..behind].iter().map(|&source| warp.narrow(source)).collect();
        Operands {
            f,
            map: address(map, 0),
            coordinates,
            shared: match f {
                TensorCopy::Load | TensorCopy::Multicast => address(0, shared),
                TensorCopy::Store | TensorCopy::Reduce(_) => address(behind, shared),
                TensorCopy::Prefetch => [0; WARP],
            },
            mbarrier: loads.then(|| address(behind, mbarrier)),
            multicast: (f == TensorCopy::Multicast)
                .then(|| warp.narrow(step.sources[behind + 1]).map(|mask| mask & 0xffff)),
        }
    }

    /// Returns the lanes that issue a copy, without duplicates.
    fn issued(&self, mask: u32) -> u32 {
        let coordinates =
            |lane: usize| self.coordinates.iter().map(|of| of[lane]).collect::<Vec<_>>();
        match self.f {
            TensorCopy::Store | TensorCopy::Prefetch => {
                first_of_alike(mask, |lane| (self.map[lane], self.shared[lane], coordinates(lane)))
            }
            TensorCopy::Load | TensorCopy::Multicast | TensorCopy::Reduce(_) => mask,
        }
    }

    /// Returns the destination of a lane's load.
    fn destination(&self, lane: usize) -> Option<Destination> {
        let mbarrier = self.mbarrier?[lane];
        let multicast = self.multicast.map(|masks| masks[lane]);
        Some(Destination { to: self.shared[lane], mbarrier, multicast })
    }
}

fn is_load(f: TensorCopy) -> bool {
    matches!(f, TensorCopy::Load | TensorCopy::Multicast)
}

/// Executes `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor` and `cp.async.bulk.prefetch.tensor`.
pub(super) fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    mask: u32,
    f: TensorCopy,
    rank: u8,
    offsets: [i64; 2],
) -> Outcome {
    let operands = Operands::of(warp, step, f, rank.into(), offsets);
    if mask == 0 {
        record_rows(warp, ctx, step, f, &[], None);
    }
    lanes_of(operands.issued(mask)).try_for_each(|lane| one(warp, ctx, step, lane, &operands))
}

/// Executes the copy of one lane.
fn one(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    lane: usize,
    operands: &Operands,
) -> Outcome {
    let f = operands.f;
    let map = map_of(warp, ctx, lane, operands)?;
    let at = operands.shared[lane];
    let destination = operands.destination(lane);
    destination.map_or(Ok(()), |destination| destination.check(ctx, lane))?;
    check_box(ctx, lane, f, &map, at)?;
    let mut coordinates = [0; MAX_DIMENSIONS];
    for (to, lanes) in coordinates.iter_mut().zip(&operands.coordinates) {
        *to = lanes[lane] as i32;
    }
    let rows: Vec<Row> = map.rows(&coordinates).collect();
    record_rows(warp, ctx, step, f, &rows, destination);
    let inside: u64 = rows.iter().filter_map(|row| row.inside).map(|part| part.bytes).sum();
    let filled = map.box_bytes() - inside;
    if let Some(destination) = destination.filter(|_| filled > 0) {
        record_filled(warp, ctx, step, destination, filled);
    }
    if f != TensorCopy::Prefetch {
        let mut parts = rows.iter().filter_map(|row| row.inside);
        parts.try_for_each(|part| in_one_allocation(ctx, lane, part.address, part.bytes))?;
    }
    let Some(destination) = destination else {
        return Copy { warp, ctx, lane, map: &map, at }.execute(f, &rows);
    };
    for (at, mbarrier) in destination.targets() {
        Copy { warp, ctx, lane, map: &map, at }.execute(f, &rows)?;
        mbarrier::complete_bytes(warp, ctx, lane, mbarrier, map.box_bytes())?;
    }
    Ok(())
}

/// Reads the map that a lane names.
fn map_of(
    warp: &Warp,
    ctx: &mut ExecutionContext<'_>,
    lane: usize,
    operands: &Operands,
) -> Result<TensorMap, Trap> {
    let (address, rank) = (operands.map[lane], operands.coordinates.len());
    let name = name(operands.f);
    let words = read_map(warp, ctx, name, lane, generic_address(address))?;
    let map = TensorMap::of_words(&words).map_err(|error| {
        Trap::new(lane, format!("`{name}`: no tensor map at {address:#x}: {error}"))
    })?;
    match map.rank() == rank {
        true => Ok(map),
        false => {
            let reason = format!(
                "`{name}.{rank}d` with the map at {address:#x}, of a tensor of {} dimensions",
                map.rank()
            );
            Err(Trap::new(lane, reason))
        }
    }
}

fn name(f: TensorCopy) -> &'static str {
    match f {
        TensorCopy::Load | TensorCopy::Multicast | TensorCopy::Store => "cp.async.bulk.tensor",
        TensorCopy::Reduce(_) => "cp.reduce.async.bulk.tensor",
        TensorCopy::Prefetch => "cp.async.bulk.prefetch.tensor",
    }
}

/// Refuses a box that does not fit in shared memory, or whose layout there is undefined.
fn check_box(
    ctx: &ExecutionContext<'_>,
    lane: usize,
    f: TensorCopy,
    map: &TensorMap,
    at: u64,
) -> Outcome {
    let (bytes, row) = (map.box_bytes(), map.row_bytes());
    if bytes > MAX_SHARED.into() {
        let reason = format!(
            "tensor copy of a box of {bytes} bytes; no SM has more than {MAX_SHARED} of shared memory"
        );
        return Err(Trap::new(lane, reason));
    }
    if f == TensorCopy::Prefetch {
        return Ok(());
    }
    if !at.is_multiple_of(BOX_ALIGN) {
        let reason = format!(
            "tensor copy of a box at {at:#x} of shared memory, which is not a multiple of {BOX_ALIGN}"
        );
        return Err(Trap::new(lane, reason));
    }
    // The CTAs of a cluster have equal shares of shared memory.
    let room = (ctx.shared.len() as u64).checked_sub(offset_of(at));
    if room.is_none_or(|room| room < bytes) {
        return Err(outside(ctx, Space::Shared, lane, at, bytes));
    }
    match map.swizzle().span().filter(|&span| row < span) {
        // Neither the ISA nor the guide defines whether such rows are contiguous or padded.
        Some(span) => {
            let reason = format!(
                "tensor copy of a box with rows of {row} bytes and a swizzle of {span} bytes is not \
                 supported; rows of {span} are"
            );
            Err(Trap::new(lane, reason))
        }
        None => Ok(()),
    }
}

/// Returns the operation of a reduction on elements of a type, if valid (ISA, "cp.reduce.async.bulk.tensor",
/// the table of valid combinations).
fn reduction(lane: usize, op: AtomicOp, ty: Type) -> Result<Atomic, Trap> {
    use Type::{Bf16, F16, F32, S32, S64, U32, U64};
    let types: &[Type] = match op {
        AtomicOp::Add => &[U32, S32, U64, F32, F16, Bf16],
        AtomicOp::Min | AtomicOp::Max => &[U32, S32, U64, S64, F16, Bf16],
        AtomicOp::Increment | AtomicOp::Decrement => &[U32],
        // Bit types operate as integers of the same width.
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[U32, S32, U64, S64],
        AtomicOp::Exchange | AtomicOp::CompareAndSwap => &[],
    };
    if !types.contains(&ty) {
        let known: Vec<String> = types.iter().map(|ty| format!("`.{}`", ty.name())).collect();
        let (ty, known) = (ty.name(), known.join(", "));
        let reason = format!(
            "`cp.reduce.async.bulk.tensor` has no {op:?} of elements of type `.{ty}`; it has one of {known}"
        );
        return Err(Trap::new(lane, reason));
    }
    Ok(Atomic { space: Space::Global, op, ty, elements: 1, ftz: ty == F32, offset: 0 })
}

/// Returns the bits that a load keeps of an element.
fn loaded(element: TensorElement, bits: u64) -> u64 {
    let single = f32::from_bits(bits as u32);
    match element {
        TensorElement::Plain(_) => bits,
        TensorElement::F32Ftz => single.flushed().to_bits().into(),
        TensorElement::Tf32 => tf32(single).into(),
        TensorElement::Tf32Ftz => tf32(single.flushed()).into(),
    }
}

/// A copy of one lane.
struct Copy<'a, 'c> {
    warp: &'a mut Warp,
    ctx: &'a mut ExecutionContext<'c>,
    lane: usize,
    map: &'a TensorMap,
    /// Address of the box in shared memory.
    at: u64,
}

impl Copy<'_, '_> {
    fn execute(&mut self, f: TensorCopy, rows: &[Row]) -> Outcome {
        match f {
            TensorCopy::Load | TensorCopy::Multicast => {
                rows.iter().try_for_each(|row| self.load(row))
            }
            TensorCopy::Store => rows.iter().try_for_each(|row| self.store(row)),
            TensorCopy::Reduce(op) => {
                let atomic = reduction(self.lane, op, self.map.element().ty())?;
                rows.iter().try_for_each(|row| self.reduce(row, atomic))
            }
            TensorCopy::Prefetch => Ok(()),
        }
    }

    /// Fills a row of the box, including the part outside the tensor.
    fn load(&mut self, row: &Row) -> Outcome {
        let (width, fill) = (self.element_bytes(), self.map.fill_bits());
        for range in row.outside(self.map.row_bytes()) {
            for at in range.step_by(width as usize) {
                self.write_shared(row.at + at, width, fill)?;
            }
        }
        let Some(part) = row.inside else { return Ok(()) };
        let element = self.map.element();
        let width = if element.is_plain() { self.word(part) } else { width };
        for at in (0..part.bytes).step_by(width as usize) {
            let value = self.read_global(part.address + at, width)?;
            self.write_shared(row.at + part.skipped + at, width, loaded(element, value))?;
        }
        Ok(())
    }

    fn store(&mut self, row: &Row) -> Outcome {
        let Some(part) = row.inside else { return Ok(()) };
        let width = self.word(part);
        for at in (0..part.bytes).step_by(width as usize) {
            let value = self.read_shared(row.at + part.skipped + at, width)?;
            self.write_global(part.address + at, width, value)?;
        }
        Ok(())
    }

    fn reduce(&mut self, row: &Row, atomic: Atomic) -> Outcome {
        let Some(part) = row.inside else { return Ok(()) };
        let width = self.element_bytes();
        for at in (0..part.bytes).step_by(width as usize) {
            let old = self.read_global(part.address + at, width)?;
            let operand = self.read_shared(row.at + part.skipped + at, width)?;
            self.write_global(part.address + at, width, modified(atomic, old, operand, 0))?;
        }
        Ok(())
    }

    fn element_bytes(&self) -> u64 {
        self.map.element().ty().bytes().into()
    }

    /// Returns the bytes that can be moved at once, without crossing a swizzle chunk.
    fn word(&self, part: RowPart) -> u64 {
        const WORD: u64 = 8;
        match (part.address | part.skipped | part.bytes).is_multiple_of(WORD) {
            true => WORD,
            false => self.element_bytes(),
        }
    }

    fn read_global(&mut self, address: u64, width: u64) -> Result<u64, Trap> {
        read_lane(self.warp, self.ctx, Space::Global, self.lane, address, width)
    }

    fn write_global(&mut self, address: u64, width: u64, value: u64) -> Outcome {
        write_lane(self.warp, self.ctx, Space::Global, self.lane, address, width, value)
    }

    /// Reads `width` bytes, `at` bytes into the box.
    fn read_shared(&mut self, at: u64, width: u64) -> Result<u64, Trap> {
        let address = self.map.swizzle().place(self.at + at);
        let space = peer::space_of(self.ctx, address);
        read_lane(self.warp, self.ctx, space, self.lane, address, width)
    }

    fn write_shared(&mut self, at: u64, width: u64, value: u64) -> Outcome {
        let address = self.map.swizzle().place(self.at + at);
        let space = peer::space_of(self.ctx, address);
        write_lane(self.warp, self.ctx, space, self.lane, address, width, value)
    }
}

/// Records the part of some rows inside the tensor, one lane of the record per row, as bulk copies. Empty
/// copies make no request.
fn record_rows(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    f: TensorCopy,
    rows: &[Row],
    destination: Option<Destination>,
) {
    const NOTHING: u64 = 16;
    let requests = requests(rows);
    if requests.is_empty() {
        let group = Group { space: Space::Global, lanes: 0, addresses: [0; WARP] };
        return record(warp, ctx, step, kind(f), Cache::Global, NOTHING, &group);
    }
    let of_one_width = requests.chunk_by(|(_, bytes), (_, next)| bytes == next);
    for requests in of_one_width.flat_map(|requests| requests.chunks(WARP)) {
        let mut addresses = [0; WARP];
        for (to, (address, _)) in addresses.iter_mut().zip(requests) {
            *to = *address;
        }
        let lanes = u32::MAX >> (WARP - requests.len());
        let group = Group { space: Space::Global, lanes, addresses };
        record(warp, ctx, step, kind(f), Cache::Global, requests[0].1, &group);
        if let Some(destination) = destination {
            warp.record(|records| {
                records.copied_to(destination.recorded(ctx));
                records.with_mbarrier(destination.signal());
            });
        }
    }
}

/// Records filled bytes of a box that are not read from memory: the mbarriers count them too.
fn record_filled(
    warp: &mut Warp,
    ctx: &ExecutionContext<'_>,
    step: &Step,
    destination: Destination,
    bytes: u64,
) {
    let mut group = Group { space: Space::Shared, lanes: 0, addresses: [0; WARP] };
    for (lane, (_, mbarrier)) in destination.targets().enumerate() {
        group.lanes |= 1 << lane;
        group.addresses[lane] = mbarrier;
        if peer::space_of(ctx, mbarrier) == Space::Cluster {
            group.space = Space::Cluster;
        }
    }
    record(warp, ctx, step, Kind::Reduction, Cache::Default, mbarrier::BYTES, &group);
    warp.record(|records| {
        records.with_mbarrier(Mbarrier::Arrive { arrivals: 0, bytes: -(bytes as i32) });
    });
}

/// Returns addresses and bytes of the pieces of rows, split into as many parts as the trace requires.
fn requests(rows: &[Row]) -> Vec<(u64, u64)> {
    let most = u64::from(MAX_WIDTH);
    let mut requests = Vec::new();
    for (address, bytes) in pieces(rows) {
        let parts = (0..bytes).step_by(MAX_WIDTH as usize);
        requests.extend(parts.map(|at| (address + at, (bytes - at).min(most))));
    }
    requests
}

fn kind(f: TensorCopy) -> Kind {
    match f {
        TensorCopy::Load | TensorCopy::Multicast => Kind::AsyncCopy,
        TensorCopy::Store => Kind::Store,
        TensorCopy::Reduce(_) => Kind::Reduction,
        TensorCopy::Prefetch => Kind::Prefetch,
    }
}
