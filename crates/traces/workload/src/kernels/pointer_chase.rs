//! Linked lists followed by one lane per warp: pure latency.
//!
//! ```cuda
//! __global__ void chase(void **const *start, void ***end, int hops) {
//!     if (threadIdx.x % 32 != 0) return;
//!     int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
//!     void **p = start[warp];
//!     for (int k = 0; k < hops; k++) p = (void **)*p;
//!     end[warp] = p;
//! }
//! ```

use super::prelude::*;

pub const GENERATOR: Generator = Generator {
    name: "pointer-chase",
    summary: "linked lists followed by one lane per warp: dependent loads",
    source: "Wong et al., ISPASS 2010, latency microbenchmark",
    parameters: &[&[
        Parameter::count("nodes", 1 << 16, (1, 1 << 24), "nodes", "Nodes of the list, one cycle"),
        Parameter::count(
            "node-bytes",
            128,
            (8, 1 << 16),
            "bytes",
            "Size of a node, a multiple of 8",
        ),
        Parameter::choice::<Order>("order", "random", "Placement of successors in memory"),
        Parameter::count("hops", 1 << 12, (1, 1 << 24), "loads", "Hops per warp"),
        Parameter::count(
            "warps",
            1,
            (1, 1 << 16),
            "warps",
            "Warps, spread over the cycle, one per CTA",
        ),
    ]],
    run: |gpu, arguments, random| {
        let (nodes, node_bytes) = (arguments.count("nodes"), arguments.count("node-bytes"));
        check_multiple("node-bytes", node_bytes, 8)?;
        check_list(nodes, node_bytes)?;
        let next = successors(arguments.choice("order"), arguments.count32("nodes"), random);
        let warps = arguments.count32("warps");
        let starts: Vec<u32> = (0..warps)
            .map(|warp| (u64::from(warp) * next.len() as u64 / u64::from(warps)) as u32)
            .collect();
        chase(gpu, &next, node_bytes / 8, &starts, arguments.count32("hops")).map(drop)
    },
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    Random,
    Sequential,
}

impl Choice for Order {
    const NAMES: &'static [(&'static str, Order)] =
        &[("random", Order::Random), ("sequential", Order::Sequential)];
}

/// Refuses lists that exceed memory.
fn check_list(nodes: u64, node_bytes: u64) -> Result<(), WorkloadError> {
    if nodes * node_bytes <= 1 << 32 {
        return Ok(());
    }
    let (nodes, node_bytes) = (show_count(nodes), show_count(node_bytes));
    let message = format!("{nodes} nodes of {node_bytes} bytes are more than 2^32 bytes");
    Err(WorkloadError::Inconsistent { message })
}

fn successors(order: Order, nodes: u32, random: &mut Random) -> Vec<u32> {
    match order {
        Order::Random => random.cycle(nodes),
        Order::Sequential => (1..nodes).chain([0]).collect(),
    }
}

/// Chases the list with warp `w` from node `starts[w]`; a node is `stride` words of 8 bytes.
/// Returns the final addresses.
fn chase(
    gpu: &mut Gpu,
    next: &[u32],
    stride: u64,
    starts: &[u32],
    hops: u32,
) -> Result<Array<u64>, WorkloadError> {
    let list = gpu.zeros::<u64>(next.len() as u64 * stride);
    let node = |index: u32| list.address(u64::from(index) * stride);
    let mut words = vec![0; list.len() as usize];
    for (index, &successor) in next.iter().enumerate() {
        words[index * stride as usize] = node(successor);
    }
    gpu.copy_to(list, &words);
    let starts: Vec<u64> = starts.iter().map(|&index| node(index)).collect();
    let (start, end) = (gpu.upload(&starts), gpu.zeros(starts.len() as u64));
    gpu.launch(&launch("chase", 32 * starts.len() as u32, 32, 16), async |w| {
        w.exit_unless((w.thread_x() & 31).eq(0));
        let warp = w.global_x() >> 5;
        let p = w.var(start.load(warp));
        let k = w.var(0);
        w.do_while(|| {
            p.set(p.get().as_pointer().load());
            k.set(k.get() + 1);
            k.get().lt(hops)
        });
        end.store(warp, &p);
    })?;
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn the_loads_follow_the_list() {
        let next = successors(Order::Random, 50, &mut Random::new(9));
        let run = run(|gpu| {
            let end = chase(gpu, &next, 16, &[7, 20], 10)?;
            Ok(gpu.download(end))
        });
        for (warp, start) in [7u32, 20].into_iter().enumerate() {
            let visited: Vec<u32> =
                std::iter::successors(Some(start), |&node| Some(next[node as usize]))
                    .take(11)
                    .collect();
            let loads: Vec<u64> = run
                .warp(warp)
                .iter()
                .filter(|(instruction, _)| instruction.kind == Kind::Load)
                .flat_map(|(_, record)| record.active_addresses().to_vec())
                .collect();
            let first_node = run.result[warp] - u64::from(visited[10]) * 128;
            let expected: Vec<u64> =
                visited[..10].iter().map(|&node| first_node + u64::from(node) * 128).collect();
            assert_eq!(loads[1..], expected);
        }
    }

    #[test]
    fn every_hop_waits_for_the_one_before() {
        let run = run(|gpu| chase(gpu, &[0], 1, &[0], 5));
        let executed = run.warp(0);
        let loads: Vec<_> = executed.iter().filter(|(i, _)| i.kind == Kind::Load).collect();
        assert_eq!(loads.len(), 6);
        assert!(loads[1..].iter().all(|(load, _)| load.address_from == Some(1)));
    }
}
