//! The schedule of router steps: extra steps must change nothing.

use super::{Layout, Routers};
use crate::tests::rig::{Outcome, Packet, Readers, Rig, read, write};
use crate::tests::spec::spec;
use crate::{Direction, LinkResult, NetworkResult, Placement, Topology, butterfly, mesh, ring};
use warpmem_params::PolicyInfo;
use warpmem_sim::{Context, NetworkCycle};
use warpmem_support::random::Random;

const INFO: PolicyInfo = PolicyInfo { name: "test", summary: "", source: "", params: Vec::new };

const NODES: usize = 12;

/// A network that steps every router and source in every cycle, due or not.
struct SteppedEveryCycle(Routers);

impl Topology for SteppedEveryCycle {
    fn step(&mut self, cycle: NetworkCycle, ctx: &mut Context) -> Option<NetworkCycle> {
        let SteppedEveryCycle(routers) = self;
        for router in routers.wires.routers.ids() {
            routers.vcs.make_due(router);
            routers.agenda.routers.now(router);
        }
        routers.sources.ids().for_each(|source| routers.agenda.sources.now(source));
        let next = routers.step(cycle, ctx);
        let busy = next.is_some() || !routers.buffers.is_empty();
        busy.then_some(cycle + 1)
    }

    fn so_far(&self, cycles: u64) -> NetworkResult {
        self.0.so_far(cycles)
    }

    fn finish(&mut self, cycles: u64) -> NetworkResult {
        self.0.finish(cycles)
    }

    fn links(&self) -> Vec<LinkResult> {
        self.0.links()
    }

    fn describe(&self) -> Vec<String> {
        self.0.describe()
    }
}

/// Returns bursts with pauses, some to all nodes and some to a single one.
fn traffic(seed: u64) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut cycle = 0;
    (0..600)
        .map(|_| {
            cycle += random.below(20) / 19 * random.below(40);
            let among = if random.below(3) == 0 { 1 } else { NODES as u64 };
            let make = if random.below(2) == 0 { read } else { write };
            make(random.below(NODES as u64) as usize, cycle, random.below(among) as u16)
        })
        .collect()
}

fn outcome(rig: Rig, layout: &Layout, seed: u64, stepped: bool) -> Outcome {
    let rig = Rig { entries: 2, readers: Readers::Sporadic { seed }, ..rig };
    rig.run_over(&traffic(seed), |context| {
        let routers = Routers::new(layout, context, &INFO).unwrap();
        if stepped { Box::new(SteppedEveryCycle(routers)) } else { Box::new(routers) }
    })
}

/// Checks that a network has the same outcome when all its routers and sources are stepped in every
/// cycle.
fn check<'a>(rig: impl Fn() -> Rig<'a>, layout: &Layout, seed: u64, what: &str) {
    let [quiet, stepped] = [false, true].map(|stepped| outcome(rig(), layout, seed, stepped));
    let result = NetworkResult { cycles: quiet.result.cycles, ..stepped.result };
    assert_eq!(quiet.arrived, stepped.arrived, "{what}");
    assert_eq!(quiet.result, result, "{what}");
}

#[test]
fn steps_of_routers_that_are_not_due_change_nothing() {
    let all = Placement::all_to_all(NODES);
    let layouts = [
        Layout::crossbar(NODES, NODES),
        mesh::layout(&all, 0),
        ring::layout(&all),
        butterfly::layout(NODES, NODES, 3),
    ];
    let kinds = [
        ["network.vc_buffer=1", "network.vc_assignment=dynamic", "network.allocator=islip"],
        [
            "network.vc_buffer=8",
            "network.vc_assignment=dynamic",
            "network.allocator=pim(iterations=2)",
        ],
        ["network.vc_buffer=5", "network.switching=cut-through", "network.allocator=oldest-first"],
        [
            "network.vc_buffer=3",
            "network.vc_assignment=static-destination",
            "network.allocator=round-robin",
        ],
    ];
    let rules = ["round-robin", "hold-grant", "oldest-first", "random"];
    let mut seed = 0;
    for layout in &layouts {
        for kind in kinds {
            for rule in rules {
                seed += 1;
                let keys = [
                    &format!("arbiter={rule}"),
                    "network.virtual_channels=4",
                    "network.router_latency=2",
                    "network.link_latency=1",
                    "network.header_bytes=8",
                ];
                let spec = spec(&[&keys[..], &kind].concat());
                let rig = || Rig::all_to_all(&spec, NODES);
                check(rig, layout, seed, &format!("{kind:?} {rule}"));
            }
        }
    }
}

/// With shared nodes, one port of a node may have room while another has none.
#[test]
fn steps_of_routers_that_are_not_due_change_nothing_with_shared_nodes() {
    let groups = NODES / 3;
    let ways = [
        (Direction::Request, Layout::crossbar(groups, NODES)),
        (Direction::Reply, Layout::crossbar(NODES, groups)),
    ];
    let kinds = [
        ["network.virtual_channels=1", "network.vc_buffer=1", "network.switching=wormhole"],
        ["network.virtual_channels=4", "network.vc_buffer=2", "network.switching=wormhole"],
        ["network.virtual_channels=2", "network.vc_buffer=5", "network.switching=cut-through"],
        [
            "network.virtual_channels=4",
            "network.vc_buffer=2",
            "network.vc_assignment=static-destination",
        ],
    ];
    let rules = ["round-robin", "hold-grant", "random"];
    let mut seed = 100;
    for (direction, layout) in &ways {
        for kind in kinds {
            for rule in rules {
                seed += 1;
                let keys = [
                    &format!("arbiter={rule}"),
                    "network.sms_per_node=3",
                    "network.router_latency=1",
                    "network.link_latency=0",
                    "network.header_bytes=8",
                ];
                let spec = spec(&[&keys[..], &kind].concat());
                let rig = || Rig::new(&spec, *direction);
                check(rig, layout, seed, &format!("{direction:?} {kind:?} {rule}"));
            }
        }
    }
}
