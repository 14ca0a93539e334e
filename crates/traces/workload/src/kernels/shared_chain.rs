//! Chains of dependent lines, followed by one warp of each CTA while the others load random lines.
//! Knowing how many SMs wait for a line pays off only where a chain is shared.
//!
//! ```cuda
//! struct alignas(128) Node { const Node *next; };
//!
//! __global__ void shared_chain(const Node *nodes, const Node *common, const Node *const *own, const unsigned *share,
//!                              uint64_t *out, unsigned hops, int loads) {
//!     int warp = threadIdx.x / 32, id = blockIdx.x * (blockDim.x / 32) + warp;
//!     if (warp == 0) {
//!         unsigned shared = share[blockIdx.x];
//!         const Node *p = common;
//!         for (unsigned k = 0; k < shared; k++) p = p->next;
//!         if (shared < hops) p = own[blockIdx.x];
//!         for (unsigned k = shared; k < hops; k++) p = p->next;
//!         out[id] = (uint64_t)p;
//!     } else {
//!         uint64_t sum = 0;
//!         for (int k = id * loads; k < id * loads + loads; k++) sum += (uint64_t)nodes[random(k)].next;
//!         out[id] = sum;
//!     }
//! }
//! ```

use super::computed::{Computed, check_power_of_two, is_chosen};
use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "shared-chain",
    summary: "one warp of each CTA follows a chain of lines, shared or private; the others load random lines",
    source: "the regime of Li 2015: lines that warps of several SMs wait for",
    parameters: &[&[
        Parameter::count("ctas", 120, (1, 1 << 12), "CTAs", "CTAs"),
        Parameter::count("warps", 6, (1, 32), "warps", "Warps per CTA; the first follows a chain"),
        Parameter::decimal(
            "share",
            100,
            (0, 100),
            "-",
            "Fraction of hops on the common chain; the rest are on private chains",
        ),
        Parameter::choice::<ShareOf>(
            "share-of",
            "hops",
            "Unit of the fraction: the first hops of each CTA, or whole CTAs",
        ),
        Parameter::count("hops", 80, (1, 1 << 12), "lines", "Length of a chain"),
        Parameter::count("loads", 40, (0, 1 << 12), "loads", "Loads of each of the other warps"),
        Parameter::count(
            "lines",
            1 << 18,
            (1 << 9, 1 << 24),
            "lines",
            "128-byte lines of the footprint, a power of two",
        ),
    ]],
    run: |gpu, arguments, random| {
        let shape = Shape {
            ctas: arguments.count32("ctas"),
            warps: arguments.count32("warps"),
            share: arguments.hundredths("share"),
            share_of: arguments.choice("share-of"),
            hops: arguments.count32("hops"),
            loads: arguments.count32("loads"),
            lines: arguments.count32("lines"),
        };
        check_power_of_two("lines", shape.lines.into())?;
        shared_chain(gpu, &shape, random).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum ShareOf {
    Hops,
    Ctas,
}

impl Choice for ShareOf {
    const NAMES: &'static [(&'static str, ShareOf)] =
        &[("hops", ShareOf::Hops), ("ctas", ShareOf::Ctas)];
}

struct Shape {
    ctas: u32,
    warps: u32,
    share: u64,
    share_of: ShareOf,
    hops: u32,
    loads: u32,
    lines: u32,
}

/// A line: a pointer to the next, and padding.
type Node = [u64; 16];

impl Shape {
    /// Returns the hops of each CTA on the common chain.
    fn common_hops(&self) -> Vec<u32> {
        let of_hops = (0..self.hops).filter(|&hop| is_chosen(hop, self.share)).count() as u32;
        let of_cta = |cta| match self.share_of {
            ShareOf::Hops => of_hops,
            ShareOf::Ctas if is_chosen(cta, self.share) => self.hops,
            ShareOf::Ctas => 0,
        };
        (0..self.ctas).map(of_cta).collect()
    }
}

/// Links `count` chains of `hops` lines each, every one a cycle through random lines. Returns the
/// nodes and the start of each chain. If there are fewer lines than the chains need, chains share
/// lines.
fn link(nodes: Array<Node>, count: u32, hops: u32, random: &mut Random) -> (Vec<Node>, Vec<u64>) {
    let lines = nodes.len() as u32;
    let hops = hops.min(lines);
    let mut order: Vec<u32> = (0..lines).collect();
    random.shuffle(&mut order);
    let mut words = vec![[0; 16]; lines as usize];
    let mut heads = Vec::with_capacity(count as usize);
    for chain in order.chunks_exact(hops as usize).cycle().take(count as usize) {
        let successors = chain[1..].iter().chain(&chain[..1]);
        for (&line, &next) in chain.iter().zip(successors) {
            words[line as usize][0] = nodes.address(next.into());
        }
        heads.push(nodes.address(chain[0].into()));
    }
    (words, heads)
}

/// Returns the result of each warp: the end of its chain, or the sum of its loads.
fn shared_chain(
    gpu: &mut Gpu,
    shape: &Shape,
    random: &mut Random,
) -> Result<Array<u64>, WorkloadError> {
    let &Shape { ctas, warps, hops, loads, lines, .. } = shape;
    let nodes = gpu.zeros::<Node>(lines.into());
    let (words, heads) = link(nodes, 1 + ctas, hops, random);
    gpu.copy_to(nodes, &words);
    let (common, own) = (heads[0], gpu.upload(&heads[1..]));
    let share = gpu.upload(&shape.common_hops());
    let out = gpu.zeros::<u64>(u64::from(ctas * warps));
    let places = Computed::new(random);
    gpu.launch(&grid_of("shared_chain", ctas, 32 * warps, 16), async |w| {
        let (warp, cta) = (w.thread_x() >> 5, w.block_x());
        let id = cta.mad(warps, warp);
        let is_first = warp.eq(0);
        let follow = || {
            let (shared, p) = (share.load(cta), w.var(common));
            w.range(0, shared, 1, |_| p.set(p.get().as_pointer().load()));
            w.when(shared.lt(hops), || p.set(own.load(cta)));
            w.range(shared, hops, 1, |_| p.set(p.get().as_pointer().load()));
            out.store(id, &p);
        };
        let load = || {
            let (first, sum) = (id * loads, w.var(0));
            w.range(first, first + loads, 1, |k| {
                sum.set(nodes.at(places.below(lines, k)).part(0).load() + &sum);
            });
            out.store(id, &sum);
        };
        w.when_else(is_first, follow, load);
    })?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use std::collections::BTreeSet;

    const SMALL: Shape = Shape {
        ctas: 4,
        warps: 3,
        share: 100,
        share_of: ShareOf::Hops,
        hops: 8,
        loads: 5,
        lines: 1 << 12,
    };

    fn run_shape(shape: &Shape) -> Run<Vec<u64>> {
        run(|gpu| {
            let out = shared_chain(gpu, shape, &mut Random::new(5))?;
            Ok(gpu.download(out))
        })
    }

    /// Returns the lines of the hops of each CTA.
    fn chains(shape: &Shape) -> Vec<Vec<u64>> {
        let run = run_shape(shape);
        let of_cta = |cta| {
            let executed = run.warp(cta * shape.warps as usize);
            let loads = executed.iter().filter(|(i, _)| i.kind == Kind::Load && i.width == 8);
            let addresses = loads.map(|(_, record)| record.active_addresses()[0]);
            let lines: Vec<u64> = addresses.map(|address| address / 128).collect();
            // The head of its own chain is loaded before the first hop on it.
            let common = shape.common_hops()[cta] as usize;
            lines[..common].iter().chain(lines.iter().skip(common + 1)).copied().collect()
        };
        (0..shape.ctas as usize).map(of_cta).collect()
    }

    #[test]
    fn a_fraction_of_hops_is_on_the_common_chain() {
        for (share, common) in [(0, 0), (25, 2), (50, 4), (100, 8)] {
            let chains = chains(&Shape { share, ..SMALL });
            let lines: BTreeSet<u64> = chains.iter().flatten().copied().collect();
            assert!(chains.iter().all(|chain| chain.len() == 8));
            assert!(chains.iter().all(|chain| chain[..common] == chains[0][..common]));
            assert_eq!(lines.len(), common + 4 * (8 - common), "the others share no line");
        }
    }

    #[test]
    fn a_fraction_of_ctas_follows_the_common_chain() {
        for (share, distinct) in [(0, 4), (50, 3), (100, 1)] {
            let chains = chains(&Shape { share, share_of: ShareOf::Ctas, ..SMALL });
            let lines: BTreeSet<u64> = chains.iter().flatten().copied().collect();
            assert_eq!(lines.len(), 8 * distinct);
            assert_eq!(chains.iter().collect::<BTreeSet<_>>().len(), distinct);
        }
    }

    /// Each hop loads the address returned by the previous one.
    #[test]
    fn hops_depend_on_their_predecessor_and_chains_are_cycles() {
        let run = run_shape(&SMALL);
        let executed = run.warp(0);
        let is_hop = |i: &warpmem_trace::Instruction| i.kind == Kind::Load && i.width == 8;
        let hops: Vec<_> = executed.iter().filter(|(i, _)| is_hop(i)).collect();
        assert_eq!(hops.len(), 8);
        assert!(hops[1..].iter().all(|(load, _)| load.address_from == Some(1)));
        assert_eq!(run.result[0], hops[0].1.active_addresses()[0], "a cycle of as many lines");
    }

    #[test]
    fn other_warps_issue_the_given_loads_of_one_line() {
        let run = run_shape(&SMALL);
        let executed = run.warp(1);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        assert_eq!(loads.len(), 5);
        assert!(loads.iter().all(|(_, r)| r.active_addresses().iter().all(|a| a % 128 == 0)));
        assert!(
            loads.iter().all(|(load, _)| load.address_from.is_none()),
            "none waits for another"
        );
        let lines: BTreeSet<u64> = loads.iter().map(|(_, r)| r.active_addresses()[0]).collect();
        assert_eq!(lines.len(), 5);
    }
}
