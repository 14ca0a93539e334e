//! Random kernels.

use std::collections::BTreeMap;

use proptest::prelude::*;
use warpmem_trace::{Barrier, CacheOp, Eviction, KernelInfo, Kind, MemoryOp, OpClass, Space};

/// A kernel and its instructions in the order of a tool's output.
#[derive(Clone, Debug)]
pub struct GivenKernel {
    pub name: String,
    pub block: [u32; 3],
    pub rows: Vec<Given>,
}

/// An instruction of a warp.
#[derive(Clone, Debug)]
pub struct Given {
    pub cta: [u32; 3],
    pub warp: u32,
    pub pc: u64,
    pub act: Act,
    pub mask: u32,
    pub dests: Option<Vec<u16>>,
    pub srcs: Option<Vec<u16>>,
}

#[derive(Clone, Debug)]
pub enum Act {
    Memory(MemoryOp, Vec<u64>, Option<Eviction>),
    Compute(OpClass, u32),
    Barrier(Barrier),
    Arrival(Barrier),
    Fence,
}

pub const GRID: [u32; 3] = [3, 2, 2];

/// Warps by their number.
type Warps<'a> = BTreeMap<u32, Vec<&'a Given>>;

impl GivenKernel {
    pub fn info(&self) -> KernelInfo {
        KernelInfo {
            name: self.name.clone(),
            grid: GRID,
            block: self.block,
            registers_per_thread: 20,
            shared_bytes: 512,
            ..KernelInfo::default()
        }
    }

    /// Returns the instructions of each warp of each CTA, in launch order.
    pub fn by_cta(&self) -> Vec<([u32; 3], Warps<'_>)> {
        let mut ctas: BTreeMap<[u32; 3], Warps<'_>> = BTreeMap::new();
        for row in &self.rows {
            let [x, y, z] = row.cta;
            ctas.entry([z, y, x]).or_default().entry(row.warp).or_default().push(row);
        }
        ctas.into_iter().map(|([z, y, x], warps)| ([x, y, z], warps)).collect()
    }
}

/// Kernels with instructions of every kind.
pub fn kernels() -> impl Strategy<Value = Vec<GivenKernel>> {
    of_acts(|| {
        let kind = prop::sample::select(vec![
            Kind::Load,
            Kind::Load,
            Kind::Store,
            Kind::Atomic,
            Kind::Reduction,
            Kind::AsyncCopy,
            Kind::Prefetch,
        ]);
        let spaces = [Space::Global, Space::Local, Space::Shared, Space::Constant, Space::Texture];
        let cache_ops = vec![CacheOp::Default, CacheOp::LastUse, CacheOp::StrongGpu];
        let op =
            (kind, prop::sample::select(spaces.to_vec()), 0..6, prop::sample::select(cache_ops))
                .prop_map(|(kind, space, log, cache_op)| MemoryOp {
                    kind,
                    space,
                    width: 1u32 << log,
                    cache_op,
                });
        let l2 = prop::option::of(prop::sample::select(Eviction::ALL.map(|(_, l2)| l2).to_vec()));
        let memory = (op, addresses(), l2).prop_map(|(op, lanes, l2)| {
            Act::Memory(op, lanes, l2.filter(|_| op.space == Space::Global))
        });
        prop_oneof![
            4 => memory,
            2 => (0..OpClass::COUNT, 1u32..5).prop_map(|(class, n)| Act::Compute(OpClass::ALL[class], n)),
            1 => (0u8..16, prop::option::of(1u8..9))
                .prop_map(|(id, warps)| Act::Barrier(Barrier { id, warps })),
            1 => (0u8..16, 1u8..9).prop_map(|(id, n)| Act::Arrival(Barrier::of_warps(id, n))),
            1 => Just(Act::Fence),
        ]
        .boxed()
    })
}

/// Kernels of global loads and stores without registers and without address 0.
pub fn accesses() -> impl Strategy<Value = Vec<GivenKernel>> {
    let kernels = of_acts(|| {
        let kind = prop::sample::select(vec![Kind::Load, Kind::Store]);
        let op = (kind, 2..5).prop_map(|(kind, log)| MemoryOp {
            kind,
            space: Space::Global,
            width: 1u32 << log,
            cache_op: CacheOp::Default,
        });
        (op, addresses()).prop_map(|(op, lanes)| Act::Memory(op, lanes, None)).boxed()
    });
    kernels.prop_map(|mut kernels| {
        let rows = kernels.iter_mut().flat_map(|kernel| &mut kernel.rows);
        rows.for_each(|row| (row.dests, row.srcs) = (None, None));
        kernels
    })
}

/// Addresses of 32 lanes, strided or arbitrary; only active lanes are kept.
fn addresses() -> impl Strategy<Value = Vec<u64>> {
    let strided = (1u64..1 << 40, 0u64..64)
        .prop_map(|(base, step)| (0..32).map(|lane| base + step * lane).collect::<Vec<_>>());
    prop_oneof![strided, prop::collection::vec(1u64..1 << 63, 32)]
}

fn of_acts(act: impl Fn() -> BoxedStrategy<Act>) -> impl Strategy<Value = Vec<GivenKernel>> {
    let registers = || prop::option::of(prop::collection::vec(0u16..8, 1..3));
    let row = (
        (0..GRID[0], 0..GRID[1], 0..GRID[2]),
        any::<prop::sample::Index>(),
        0u64..8,
        act(),
        prop_oneof![Just(u32::MAX), 1u32..],
        registers(),
        registers(),
    );
    let kernel = (1u32..5, prop::collection::vec(row, 1..40)).prop_map(|(warps, rows)| {
        let given = rows.into_iter().map(|((x, y, z), warp, pc, act, mask, dests, srcs)| {
            let act = match act {
                Act::Memory(op, lanes, l2) => {
                    let active = (0..32).filter(|lane| mask >> lane & 1 == 1);
                    Act::Memory(op, active.map(|lane| lanes[lane]).collect(), l2)
                }
                other => other,
            };
            let warp = warp.index(warps as usize) as u32;
            Given { cta: [x, y, z], warp, pc: 16 * pc, act, mask, dests, srcs }
        });
        GivenKernel { name: String::new(), block: [16, 2 * warps, 1], rows: given.collect() }
    });
    prop::collection::vec(kernel, 1..4).prop_map(|mut kernels| {
        for (number, kernel) in kernels.iter_mut().enumerate() {
            kernel.name = format!("k{number}<float, 1>");
        }
        kernels
    })
}
