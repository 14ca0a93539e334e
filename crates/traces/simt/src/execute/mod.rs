//! Execution of instructions: the effect of each on the lanes of a warp.

mod atomic;
mod barrier;
mod bits;
mod bulk;
mod cluster;
mod compare;
mod control;
mod convert;
mod descriptor;
mod destination;
mod eight_bits;
mod element;
mod exchange;
mod float;
mod fragment;
mod half;
mod integer;
mod matrix;
mod mbarrier;
mod memory;
mod mma;
mod operand;
mod peer;
mod quad_pairs;
mod record;
mod request;
mod spaces;
mod sparse;
mod system;
mod tensor;
mod tensor_map;
mod texture;
mod video;
mod warpgroup;
mod wmma;
mod words;

use warpmem_ptx::{Op, TextureShape, Type, Wgmma};

use self::control::Site;
use self::mbarrier::Operation;
use crate::access_window::AccessWindow;
use crate::error::TrapKind;
use crate::global::Global;
use crate::peers::Peers;
use crate::program::{Program, Step};
use crate::warp::{Arrival, State, Warp};

/// State outside the warp that its instructions access.
pub(crate) struct ExecutionContext<'a> {
    pub program: &'a Program,
    pub global: Global<'a>,
    /// Shared memory of the CTA.
    pub shared: &'a mut [u8],
    /// Address of its first byte.
    pub shared_base: u64,
    /// The other CTAs of the cluster.
    pub peers: &'a mut Peers,
    /// Parameters of the kernel.
    pub params: &'a [u8],
    /// Access policy window of the launch.
    pub window: Option<AccessWindow>,
    /// Committed wgmma groups of each warp of the CTA.
    pub committed: &'a mut [u64],
    /// Program counter of the current instruction.
    pub pc: u64,
    /// Text that the CTA has printed.
    pub output: &'a mut String,
}

/// Reason why a lane cannot execute its instruction.
#[derive(Debug)]
pub(crate) struct Trap {
    pub lane: usize,
    pub reason: String,
    pub kind: TrapKind,
}

impl Trap {
    pub fn new(lane: usize, reason: impl Into<String>) -> Trap {
        Trap { lane, reason: reason.into(), kind: TrapKind::Other }
    }
}

type Outcome = Result<(), Trap>;

/// Event that a step leaves to the CTA.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    None,
    /// The warp has reached this barrier of the CTA.
    Barrier(u8, Arrival),
    /// The warp polls for progress of other warps; run them first.
    Yield,
}

/// Executes the next instruction of a runnable warp.
pub(crate) fn step(warp: &mut Warp, ctx: &mut ExecutionContext<'_>) -> Result<Event, Trap> {
    let Some(top) = warp.stack.top() else {
        warp.state = State::Ended;
        return Ok(Event::None);
    };
    let (pc, lanes, depth) = (top.pc, top.lanes, top.depth as usize);
    while warp.frames.len() > depth + 1 {
        warp.pop_frame();
    }
    let program = ctx.program;
    let routine = &program.routines[warp.frame().routine];
    let Some(step) = routine.steps.get(pc as usize) else {
        // A function whose last instruction falls through returns.
        control::leave(warp, ctx, lanes);
        return Ok(Event::None);
    };
    let mask = match step.guard {
        None => lanes,
        Some(guard) => {
            let holds = warp.predicate(guard.row);
            lanes & if guard.negated { !holds } else { holds }
        }
    };
    warp.executed += 1;
    ctx.pc = record::address(warp, program, pc);
    if !control::is_control(step.op) {
        control::set_pc(warp, pc + 1);
        record::compute(warp, step, mask);
    }
    execute(warp, ctx, step, Site { pc, lanes, mask })
}

/// Executes an instruction. Lists every operation, so that none is forgotten.
fn execute(
    warp: &mut Warp,
    ctx: &mut ExecutionContext<'_>,
    step: &Step,
    site: Site,
) -> Result<Event, Trap> {
    let mask = site.mask;
    match step.op {
        Op::Unary(f, ty, modes) => {
            if ty.is_float() {
                float::unary(warp, step, mask, f, ty, modes);
            } else if is_packed_half(ty) {
                half::unary(warp, step, mask, f, ty, modes);
            } else {
                integer::unary(warp, step, mask, f, ty);
            }
        }
        Op::Binary(f, ty, modes) => {
            if ty.is_float() {
                float::binary(warp, step, mask, f, ty, modes);
            } else if is_packed_half(ty) {
                half::binary(warp, step, mask, f, ty, modes);
            } else {
                integer::binary(warp, step, mask, f, ty, modes.saturate);
            }
        }
        Op::Ternary(f, ty, modes) => {
            if ty.is_float() {
                float::ternary(warp, step, mask, f, ty, modes);
            } else if is_packed_half(ty) {
                half::ternary(warp, step, mask, f, ty, modes);
            } else {
                integer::ternary(warp, step, mask, f, ty, modes.saturate);
            }
        }
        Op::Video(video) => video::scalar(warp, step, mask, video),
        Op::VideoMultiplyAdd(video) => video::multiply_add(warp, step, mask, video),
        Op::VideoVector(video) => video::vector(warp, step, mask, video),
        Op::BitFieldInsert(ty) => bits::insert(warp, step, mask, ty),
        Op::Lop3 { table, combine } => bits::lop3(warp, step, mask, table, combine),
        Op::Permute(mode) => bits::permute(warp, step, mask, mode),
        Op::Funnel { left, clamp } => bits::funnel(warp, step, mask, left, clamp),
        Op::Dot { a_signed, b_signed, halves } => {
            integer::dot(warp, step, mask, a_signed, b_signed, halves);
        }
        Op::Carry { op, ty, reads, writes } => {
            integer::carry(warp, step, mask, op, ty, reads, writes);
        }
        Op::SetPredicate { compare, combine, ty, ftz } => {
            compare::set_predicate(warp, step, mask, compare, combine, ty, ftz);
        }
        Op::Set { compare, combine, to, ty, ftz } => {
            compare::set(warp, step, mask, compare, combine, to, ty, ftz);
        }
        Op::Select(ty) => compare::select(warp, step, mask, ty),
        Op::SelectBySign { ty, by, ftz } => compare::select_by_sign(warp, step, mask, ty, by, ftz),
        Op::Test(test, ty) => compare::test(warp, step, mask, test, ty),
        Op::Move(ty) => convert::mov(warp, step, mask, ty),
        Op::Pack(ty) => convert::pack(warp, step, mask, ty),
        Op::Unpack(ty) => convert::unpack(warp, step, mask, ty),
        Op::Repack => convert::repack(warp, step, mask),
        Op::PackClamped { bits, signed } => {
            convert::pack_clamped(warp, step, mask, bits, signed);
        }
        Op::Convert(conversion) => convert::convert(warp, step, mask, conversion),
        Op::ConvertAddress { space, to_space } => {
            spaces::convert_address(warp, step, mask, space, to_space);
        }
        Op::IsSpace(space) => spaces::is_space(warp, step, mask, space),
        Op::Load(access) => memory::load(warp, ctx, step, mask, access)?,
        Op::Store(access) => memory::store(warp, ctx, step, mask, access)?,
        Op::Atomic(atomic) => atomic::atomic(warp, ctx, step, mask, atomic, true)?,
        Op::Reduce(atomic) => atomic::atomic(warp, ctx, step, mask, atomic, false)?,
        Op::Prefetch { space, offset } => memory::prefetch(warp, ctx, step, mask, space, offset),
        Op::CopyAsync { bypass, to_offset, from_offset } => {
            memory::copy_async(warp, ctx, step, mask, bypass, to_offset, from_offset)?;
        }
        Op::Bulk { f, offsets } => bulk::execute(warp, ctx, step, mask, f, offsets)?,
        Op::Tensor { f, rank, offsets } => {
            tensor::execute(warp, ctx, step, mask, f, rank, offsets)?;
        }
        Op::ReplaceInMap { field, space, offset } => {
            tensor_map::replace_field(warp, ctx, step, mask, field, (space, offset))?;
        }
        Op::PublishMap { offsets } => tensor_map::publish(warp, ctx, step, mask, offsets)?,
        Op::Cluster(op) => cluster::execute(warp, ctx, step, mask, op)?,
        Op::Mma(mma) => mma::mma(warp, ctx, step, mask, mma),
        Op::WmmaLoad(access) => wmma::load(warp, ctx, step, mask, access)?,
        Op::WmmaStore(access) => wmma::store(warp, ctx, step, mask, access)?,
        Op::Wgmma(Wgmma::Wait(pending)) => return warpgroup::wait(warp, ctx, step, site, pending),
        Op::Wgmma(f) => warpgroup::execute(warp, ctx, step, mask, f)?,
        Op::LoadMatrix(matrices) => matrix::load(warp, ctx, step, mask, matrices)?,
        Op::StoreMatrix(matrices) => matrix::store(warp, ctx, step, matrices)?,
        Op::Texture { dimensions, coordinates, .. } => {
            texture::fetch(warp, ctx, step, mask, dimensions, coordinates)?;
        }
        Op::MoveMatrix => matrix::transpose(warp, step, mask),
        Op::CopyAsyncCommit => warp.copies.commit(),
        Op::CopyAsyncWait(groups) => {
            let complete = warp.copies.wait(groups.unwrap_or(0));
            warp.record(|records| records.wait_async_first(complete));
        }
        Op::Fence => warp.record(|records| records.fence(ctx.pc, mask)),
        Op::Vote(vote) => exchange::vote(warp, step, mask, vote),
        Op::Shuffle(shuffle) => exchange::shuffle(warp, step, mask, shuffle),
        Op::Match { all, ty } => exchange::matching(warp, step, mask, all, ty),
        Op::ReduceLanes(reduction, ty) => exchange::reduce(warp, step, mask, reduction, ty),
        Op::ActiveMask => warp.set_narrow(step.dests[0], &[mask; 32], mask),
        Op::Elect => exchange::elect(warp, step, mask),
        Op::CreatePolicy(policy) => {
            let shares = warp.narrow(step.sources[0]);
            let bits = |share| policy.of_share(f32::from_bits(share)).bits();
            warp.set_wide(step.dests[0], &shares.map(bits), mask);
        }
        Op::CreateRangePolicy { policy, offset } => {
            let addresses = spaces::addresses(warp, step.sources[0], offset);
            let [primary, total] = [1, 2].map(|source| warp.narrow(step.sources[source]));
            let bits =
                |lane: usize| policy.of_range(addresses[lane], primary[lane], total[lane]).bits();
            warp.set_wide(step.dests[0], &std::array::from_fn(bits), mask);
        }
        // No effect here: the lanes of a warp execute together, copies complete immediately, and accesses are
        // in program order.
        Op::Hint | Op::Nop | Op::ProxyFence | Op::BulkGroup | Op::WarpBarrier => {}
        Op::Branch(target) => control::branch(warp, ctx, step, site, target),
        Op::BranchIndexed(table) => control::branch_indexed(warp, ctx, step, site, table)?,
        Op::Call(number) => control::call(warp, ctx, step, site, number)?,
        Op::Return => control::ret(warp, ctx, step, site),
        Op::Exit => control::exit(warp, ctx, site),
        Op::Trap => control::trap(warp, site)?,
        Op::Barrier(barrier) => return barrier::arrive(warp, ctx, step, site, barrier),
        Op::ClusterBarrier(half) => return barrier::meet_cluster(warp, ctx, site, half),
        Op::Mbarrier { f, space, offset } => {
            control::set_pc(warp, site.pc + 1);
            return mbarrier::execute(warp, ctx, step, mask, Operation { f, space, offset });
        }
    }
    Ok(Event::None)
}

fn is_packed_half(ty: Type) -> bool {
    matches!(ty, Type::F16x2 | Type::Bf16x2)
}

/// Returns whether an operation is implemented; launches of kernels with others are refused.
pub(crate) fn is_supported(op: Op) -> bool {
    match op {
        Op::Texture { dimensions, .. } => {
            matches!(dimensions, TextureShape::OneD | TextureShape::TwoD)
        }
        _ => true,
    }
}
