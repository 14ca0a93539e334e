//! Effect of network arbitration on DRAM row locality, in whole machines.

use crate::trace::{Access, Kernel, Step, TraceFile, loads, machine, mixed, run, write};
use warpmem::dram::CommandKind;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::{Discard, RunResult};
use warpmem::machine::Machine;
use warpmem::network::TOPOLOGIES;
use warpmem::network::allocator::ALLOCATORS;
use warpmem::network::arbiter::ARBITERS;
use warpmem::record::request_convoy;
use warpmem::sim::RowId;
use warpmem_trace::Kind;

/// Arbiters that hold grants.
const HOLDING: [&str; 3] = ["hold-grant", "row-matching-hold-grant", "hash-matching-hold-grant"];

/// The crossbar in both forms.
const ONE_STAGE: &str = "policy.topology=crossbar";
const ROUTER: &str = "policy.topology=crossbar(form=router)";

/// Makes a machine of two SMs and one channel. A request takes two network cycles, so that its SM's
/// next request has arrived when they end.
fn two_sms(topology: &str, scheduler: &str, arbiter: &str) -> Machine {
    let scheduler = format!("policy.dram_scheduler={scheduler}");
    let arbiter = format!("policy.arbiter={arbiter}");
    let shape = ["sm.count=2", "dram.channels=1", "l2.slices_per_channel=1", "l1.enabled=false"];
    let wires = ["network.header_bytes=8", "network.flit_bytes=4"];
    machine("li2015", &[&shape[..], &wires, &[topology, &scheduler, &arbiter]].concat())
}

/// Makes a trace with a warp per SM that loads two lines of each of its rows together, all in one
/// bank.
fn row_by_row(machine: &Machine, rows: &[&[u32]]) -> TraceFile {
    let map = machine.address_map().unwrap();
    let bank = map.locate(0).bank;
    let lines = |row: &u32| {
        let lines = (0..).map(|line| line * 128).filter(|&line| {
            let place = map.locate(line);
            (place.bank, place.row) == (bank, RowId(*row))
        });
        lines.take(2).collect::<Vec<u64>>()
    };
    let cta = |rows: &&[u32]| {
        vec![vec![Step::Memory(Access::load(4, rows.iter().flat_map(lines).collect()))]]
    };
    write(&[Kernel { ctas: rows.iter().map(cta).collect(), ..Kernel::default() }])
}

/// Returns rows in the order of their activations.
fn opened(machine: &Machine, rows: &[&[u32]]) -> Vec<u32> {
    let file = row_by_row(machine, rows);
    let (_, logs) = Simulation::new(machine, &file.trace).run_with_commands().unwrap();
    let commands = logs.iter().flatten();
    let reads = commands.clone().filter(|command| command.kind == CommandKind::Rd);
    let bursts = 128 / (machine.dram.bus_bytes * machine.dram.burst_length) as usize;
    assert_eq!(reads.count(), rows.concat().len() * 2 * bursts, "every line is read");
    let activations = commands.filter(|command| command.kind == CommandKind::Act);
    activations.map(|command| command.row).collect()
}

/// Yuan 2009, Figure 4: two cores with two requests each, each core to its own row.
#[test]
fn round_robin_pays_the_row_switch_three_times_and_hold_grant_once() {
    let rows: [&[u32]; 2] = [&[0], &[1]];
    for form in [ONE_STAGE, ROUTER] {
        let opened = |scheduler, rule| opened(&two_sms(form, scheduler, rule), &rows);
        assert_eq!(opened("fcfs", "round-robin"), [0, 1, 0, 1], "{form}");
        for rule in HOLDING {
            assert_eq!(opened("fcfs", rule), [0, 1], "{form}, {rule}");
        }
        assert_eq!(opened("fr-fcfs", "round-robin"), [0, 1], "{form}: out of order");
    }
}

#[test]
fn grants_are_held_for_as_long_as_rows_match() {
    // Rows 0 and 3 share a one-bit hash.
    let rows: [&[u32]; 2] = [&[0, 3], &[1]];
    for form in [ONE_STAGE, ROUTER] {
        let opened = |rule| opened(&two_sms(form, "fcfs", rule), &rows);
        for rule in ["hold-grant", "hash-matching-hold-grant(bits=1)"] {
            assert_eq!(opened(rule), [0, 3, 1], "{form}, {rule}");
        }
        for rule in ["row-matching-hold-grant", "hash-matching-hold-grant"] {
            assert_eq!(opened(rule), [0, 1, 3], "{form}, {rule}");
        }
    }
}

/// Returns the requests and their row changes, as they leave the request network.
fn after_network(arbiter: &str, file: &TraceFile) -> (u64, u64) {
    let arbiter = format!("policy.arbiter={arbiter}");
    let machine = machine("li2015", &["l1.enabled=false", &arbiter]);
    let result = run(&machine, &file.trace);
    let streams = &result.networks[0].after;
    streams
        .iter()
        .fold((0, 0), |(requests, rows), stream| (requests + stream.requests, rows + stream.rows))
}

#[test]
fn rows_of_streams_stay_together_where_grants_are_held() {
    // Each warp streams through its own memory.
    let streams = loads([30, 2, 16], |warp, step, lane| warp << 20 | step << 9 | lane << 4);
    let file = write(&[streams]);
    let (requests, parted) = after_network("round-robin", &file);
    assert_eq!(requests, 30 * 2 * 16 * 4);
    for rule in HOLDING {
        let (same, held) = after_network(rule, &file);
        assert_eq!(same, requests, "{rule}");
        assert!(held < parted, "{rule}: {held} rows, {parted} under round-robin");
    }
}

/// Makes a trace with a warp per SM of `accelsim-rtx2060s` that copies tiles of 32 rows of 128 bytes in
/// sequence. The rows of a tile, and the tiles copied concurrently by the warps, differ by
/// multiples of 4 KiB.
fn tiles() -> TraceFile {
    let tile = |sm: u64, tile: u64| Access {
        kind: Kind::AsyncCopy,
        ..Access::load(128, (0..32).map(|row| sm << 17 | row << 12 | tile << 7).collect())
    };
    let copies = |sm: u64| (0..16).map(move |n| Step::Memory(tile(sm, n)));
    let warp = |sm: u64| copies(sm).chain([Step::WaitAsync]).collect();
    let ctas = (0..34).map(|sm| vec![warp(sm)]).collect();
    write(&[Kernel { ctas, ..Kernel::default() }])
}

#[test]
fn slice_hash_breaks_up_a_convoy_of_sms() {
    let file = tiles();
    let ideal = |hash: &str| {
        let hash = format!("dram.address.partition_hash={hash}");
        let result =
            run(&machine("accelsim-rtx2060s", &["policy.ideal=perfect-l2", &hash]), &file.trace);
        (request_convoy(&result).unwrap(), result.core_cycles)
    };
    let (in_step, cycles) = ideal("linear");
    assert!(in_step > 0.5, "{in_step}");
    let (hashed, hashed_cycles) = ideal("ipoly");
    assert!(hashed < 0.1 && hashed_cycles * 4 < cycles, "{hashed}: {hashed_cycles}, {cycles}");
}

#[test]
fn a_hot_spot_is_no_convoy() {
    let atomics = (0..30).map(|_| {
        let atomic = Access { kind: Kind::Atomic, ..Access::load(4, vec![0; 32]) };
        vec![vec![Step::Memory(atomic); 8]]
    });
    let file = write(&[Kernel { ctas: atomics.collect(), ..Kernel::default() }]);
    let result = run(&machine("accelsim-rtx2060s", &[]), &file.trace);
    assert!(result.networks[0].crowded.iter().sum::<u64>() > 100, "all want one slice");
    assert!(request_convoy(&result).unwrap() < 0.1);
}

/// Runs with ports of one entry.
fn squeezed(policies: &[&str], file: &TraceFile) -> RunResult {
    let narrow = ["network.input_buffer=1", "network.output_buffer=1", "l1.enabled=false"];
    // A ring needs two virtual channels.
    let channels = ["network.virtual_channels=2"];
    run(&machine("li2015", &[&narrow[..], &channels, policies].concat()), &file.trace)
}

/// Returns the packets of the request and reply networks.
fn packets(policies: &[&str], file: &TraceFile) -> [u64; 2] {
    let result = squeezed(policies, file);
    [0, 1].map(|network| result.networks[network].sources.iter().map(|node| node.packets).sum())
}

#[test]
fn every_arbiter_and_allocator_returns_every_reply() {
    let file = write(&[mixed(12, 5, 1 << 18)]);
    let expected = packets(&[], &file);
    assert!(expected[1] > 0);
    for arbiter in ARBITERS.names() {
        let arbiter = format!("policy.arbiter={arbiter}");
        for topology in TOPOLOGIES.names() {
            let topology = format!("policy.topology={topology}");
            assert_eq!(packets(&[&topology, &arbiter], &file), expected, "{topology}, {arbiter}");
        }
        for allocator in ALLOCATORS.names() {
            let allocator = format!("network.allocator={allocator}");
            let routers = [ROUTER, &allocator, &arbiter];
            assert_eq!(packets(&routers, &file), expected, "{routers:?}");
        }
    }
}

#[test]
fn random_policies_are_repeatable() {
    let file = write(&[mixed(12, 5, 1 << 18)]);
    let policies = [ROUTER, "policy.arbiter=random", "network.allocator=pim"];
    assert_eq!(squeezed(&policies, &file), squeezed(&policies, &file));
}

#[test]
fn unknown_allocator_error_lists_the_known_ones() {
    let file = write(&[loads([1, 1, 1], |_, _, lane| lane)]);
    let error = |allocator: &str| {
        let machine = machine("li2015", &[&format!("network.allocator={allocator}")]);
        let result = Simulation::new(&machine, &file.trace).run(&mut Discard);
        result.map(drop).unwrap_err().to_string()
    };
    let unknown = error("islib");
    for part in ["allocator `islib`", "did you mean `islip`", "pim", "round-robin", "oldest-first"]
    {
        assert!(unknown.contains(part), "{unknown}");
    }
    let parameter = error("pim(rounds=2)");
    assert!(parameter.contains("rounds") && parameter.contains("iterations"), "{parameter}");
}
