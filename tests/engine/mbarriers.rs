//! Mbarriers: waits for arrivals and copies, and their latency.

use crate::trace::{Access, Kernel, NO_REFRESH, Step, Warp, machine, run, write};
use warpmem::machine::Machine;
use warpmem_trace::{Barrier, CacheOp, ClusterAddress, Kind, Mbarrier, OpClass, Space};

fn two_sms(overrides: &[&str]) -> Machine {
    let keys = [
        "sm.count=4",
        "sm.max_ctas=1",
        "sm.operand_latency=0",
        "sm.collectors=0",
        "sm.register_banks=0",
        "sm.writeback_latency=0",
        "sm.shared.latency=11",
        "sm.atomics_stall=false",
        "cluster.gpcs=1",
        "cluster.latency=20",
        "network.flit_bytes=40",
    ];
    machine("accelsim-qv100", &[&NO_REFRESH, &keys[..], overrides].concat())
}

/// Makes an access of one lane.
fn lane(kind: Kind, space: Space, address: u64) -> Access {
    Access { kind, space, width: 8, ..Access::load(8, vec![address]) }
}

fn about(operation: Mbarrier, access: Access) -> Step {
    Step::Mbarrier(operation, Box::new(Step::Memory(access)))
}

fn init(at: u64, arrivals: u32) -> Step {
    about(Mbarrier::Init { arrivals }, lane(Kind::Store, Space::Shared, at))
}

fn expect(at: u64, arrivals: u32, bytes: i32) -> Step {
    about(Mbarrier::Arrive { arrivals, bytes }, lane(Kind::Reduction, Space::Shared, at))
}

fn arrive(at: u64) -> Step {
    expect(at, 1, 0)
}

fn wait(at: u64, parity: bool) -> Step {
    about(Mbarrier::Wait { parity }, lane(Kind::Load, Space::Shared, at))
}

fn work(count: usize) -> Warp {
    vec![Step::Compute { class: OpClass::Integer, dest: 1, source: 1 }; count]
}

/// Makes a copy of `bytes` from memory that signals an mbarrier.
fn copy(bytes: u32, signal: u32) -> Step {
    let from =
        Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..Access::load(bytes, vec![0]) };
    about(Mbarrier::Signal { offset: signal }, from)
}

fn chain(parts: &[Warp]) -> Warp {
    parts.concat()
}

/// Makes a CTA whose first warp initializes the mbarriers before the others pass the barrier.
fn cta(inits: &[Step], warps: &[Warp]) -> Vec<Warp> {
    let begin = |number: usize| if number == 0 { inits.to_vec() } else { vec![] };
    let warps = warps.iter().enumerate();
    warps
        .map(|(number, warp)| {
            chain(&[
                begin(number),
                vec![Step::Fence, Step::Barrier(Barrier::of_cta(0))],
                warp.clone(),
            ])
        })
        .collect()
}

fn cycles(machine: &Machine, ctas: Vec<Vec<Warp>>) -> u64 {
    run(machine, &write(&[Kernel { ctas, ..Kernel::default() }]).trace).core_cycles
}

/// Makes producers and consumers of two stages that signal each other repeatedly, with copies; the
/// first CTA of a pair also sends to the second.
pub fn pipeline(pairs: usize) -> Kernel {
    let (full, empty) = (|stage: u64| 8 * stage, |stage: u64| 64 + 8 * stage);
    let inits: Warp =
        (0..2).flat_map(|stage| [init(full(stage), 1), init(empty(stage), 2)]).collect();
    let rounds = || (0..6u64).map(|round| (round % 2, round / 2 % 2 == 1));
    let producer = |destinations: u16| -> Warp {
        let round = |(stage, parity): (u64, bool)| {
            let from = Access::load(400, vec![4096 * stage]);
            let from = Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..from };
            let signal = Mbarrier::Signal { offset: full(stage) as u32 };
            let copy = Step::Mbarrier(signal, Box::new(Step::CopyTo(destinations, from)));
            // In the first round nothing needs to be emptied: it waits for the phase before the
            // first.
            [wait(empty(stage), !parity), expect(full(stage), 1, 400), copy]
        };
        rounds().flat_map(round).collect()
    };
    let receiver = || -> Warp {
        let round = |(stage, parity): (u64, bool)| {
            [wait(empty(stage), !parity), expect(full(stage), 1, 400)]
        };
        rounds().flat_map(round).collect()
    };
    let consumer = || -> Warp {
        let round = |(stage, parity)| {
            chain(&[vec![wait(full(stage), parity)], work(5), vec![arrive(empty(stage))]])
        };
        rounds().flat_map(round).collect()
    };
    let meet = vec![Step::ClusterArrive, Step::ClusterWait];
    let all = |first: Warp| {
        let warps =
            [first, consumer(), consumer()].map(|warp| chain(&[meet.clone(), warp, meet.clone()]));
        cta(&inits, &warps)
    };
    let ctas = (0..pairs).flat_map(|_| [all(producer(0b11)), all(receiver())]).collect();
    Kernel { cluster: Some([2, 1, 1]), ctas, ..Kernel::default() }
}

#[test]
fn a_wait_blocks_until_all_have_arrived() {
    let machine = two_sms(&[]);
    let with = |producer: usize, arrivals: usize| {
        let late = chain(&[work(producer), vec![arrive(0); arrivals]]);
        let waiting = chain(&[vec![wait(0, false)], work(50)]);
        cycles(&machine, vec![cta(&[init(0, arrivals as u32)], &[late, waiting])])
    };
    // An addition takes two cycles.
    assert_eq!(with(300, 1) - with(200, 1), 200);
    assert_eq!(with(300, 3) - with(200, 3), 200);
    let alone = cycles(&machine, vec![cta(&[init(0, 1)], &[work(300), work(50)])]);
    assert!(with(300, 1) >= alone + 100, "what follows the wait follows the arrival");
}

#[test]
fn wait_on_a_complete_phase_does_not_block() {
    let machine = two_sms(&[]);
    let warp = |wait: Option<Step>| chain(&[wait.into_iter().collect(), work(50)]);
    let with = |wait| cycles(&machine, vec![cta(&[init(0, 1)], &[warp(wait), work(400)])]);
    // Before the first phase completes, the phase of the other parity counts as complete.
    assert_eq!(with(Some(wait(0, true))), with(None));
    // This one is uninitialized.
    assert_eq!(with(Some(wait(64, false))), with(None));
}

/// The wait reads the mbarrier once; the arrival that completes its phase resumes the warp in that
/// cycle.
#[test]
fn wait_ends_when_the_banks_serve_the_arrival() {
    let machine = two_sms(&[]);
    let round = |rounds: usize| {
        let ping = (0..rounds).flat_map(|n| [arrive(0), wait(8, n % 2 == 1)]).collect::<Warp>();
        let pong = (0..rounds).flat_map(|n| [wait(0, n % 2 == 1), arrive(8)]).collect::<Warp>();
        cycles(&machine, vec![cta(&[init(0, 1), init(8, 1)], &[ping, pong])])
    };
    let per_round = (round(30) - round(10)) / 20;
    // On each side, the arrival takes a cycle from the scheduler to the banks, and the resumed warp
    // issues in the next, unless its own wait is still at the banks.
    let serial = 2 * 2;
    let read = 11 + 1;
    assert!((serial..=2 * (read + 2)).contains(&per_round), "{per_round}");
    assert_eq!((round(50) - round(30)) / 20, per_round);
}

#[test]
fn lanes_arrive_separately_and_drops_lower_the_expected_count() {
    let machine = two_sms(&[]);
    let lanes = |operation| {
        let access =
            Access { kind: Kind::Reduction, space: Space::Shared, ..Access::load(8, vec![0; 32]) };
        about(operation, access)
    };
    let all = lanes(Mbarrier::Arrive { arrivals: 1, bytes: 0 });
    let dropped = lanes(Mbarrier::ArriveAndDrop { arrivals: 1, bytes: 0 });
    for (arrivals, first, second) in [
        (32, vec![all.clone()], vec![all.clone()]),
        (64, vec![dropped.clone(), all.clone()], vec![all]),
        (33, vec![dropped, arrive(0)], vec![arrive(0)]),
    ] {
        // The waiting warp observes the end of both phases.
        let steps = chain(&[first, work(100), second]);
        let waiting = vec![wait(0, false), wait(0, true)];
        cycles(&machine, vec![cta(&[init(0, arrivals)], &[steps, waiting])]);
    }
}

#[test]
fn expected_bytes_hold_the_phase_open() {
    let machine = two_sms(&[]);
    let with = |bytes: u32| {
        let producer = vec![expect(0, 1, bytes as i32), copy(bytes, 0)];
        let consumer = chain(&[vec![wait(0, false)], work(400)]);
        cycles(&machine, vec![cta(&[init(0, 1)], &[producer, consumer])])
    };
    let unsignalled = |bytes: u32| {
        let from = Access {
            kind: Kind::AsyncCopy,
            cache_op: CacheOp::Global,
            ..Access::load(bytes, vec![0])
        };
        let producer = vec![arrive(0), Step::Memory(from)];
        let consumer = chain(&[vec![wait(0, false)], work(400)]);
        cycles(&machine, vec![cta(&[init(0, 1)], &[producer, consumer])])
    };
    let one_load = {
        let load = Access { dest: Some(1), cache_op: CacheOp::Global, ..Access::load(4, vec![0]) };
        let warp = |loads| chain(&[loads, work(400)]);
        let with = |loads| cycles(&machine, vec![cta(&[], &[warp(loads)])]);
        with(vec![Step::Memory(load)]) - with(vec![])
    };
    let waited = with(32) - unsignalled(32);
    assert!(waited.abs_diff(one_load) <= 15, "{waited} cycles for a load that takes {one_load}");
    assert!(with(32 << 10) > with(32) + 900, "more bytes take longer: a sector a cycle");
}

#[test]
fn arrival_waits_for_earlier_copies_of_its_warp() {
    let machine = two_sms(&[]);
    let late = |increments| {
        let access = lane(Kind::Reduction, Space::Shared, 0);
        about(Mbarrier::ArriveAfterCopies { increments }, access)
    };
    let from =
        Access { kind: Kind::AsyncCopy, ..Access::load(16, (0..32).map(|n| 4096 * n).collect()) };
    let with = |copies: bool, increments: bool| {
        let copies = if copies { vec![Step::Memory(from.clone())] } else { vec![] };
        let end = if increments { vec![late(true), arrive(0)] } else { vec![late(false)] };
        let producer = chain(&[copies, end]);
        let consumer = chain(&[vec![wait(0, false)], work(400)]);
        cycles(&machine, vec![cta(&[init(0, 1)], &[producer, consumer])])
    };
    for increments in [false, true] {
        assert!(with(true, increments) > with(false, increments) + 200, "{increments}");
    }
}

fn in_other(kind: Kind, offset: u32) -> Access {
    lane(kind, Space::Cluster, ClusterAddress { rank: 1, offset }.encode())
}

/// Runs a cluster of two CTAs whose mbarriers are initialized before the given warps start.
fn two_ctas(machine: &Machine, arrivals: u32, warps: [Warp; 2]) -> u64 {
    let meet = vec![Step::ClusterArrive, Step::ClusterWait];
    let ctas =
        warps.map(|warp| vec![chain(&[vec![init(0, arrivals), Step::Fence], meet.clone(), warp])]);
    let kernel = Kernel { cluster: Some([2, 1, 1]), ctas: ctas.into(), ..Kernel::default() };
    run(machine, &write(&[kernel]).trace).core_cycles
}

#[test]
fn remote_arrivals_and_data_cross_the_cluster_network() {
    let waiting = || chain(&[vec![wait(0, false)], work(400)]);
    let remote = about(Mbarrier::Arrive { arrivals: 1, bytes: 0 }, in_other(Kind::Reduction, 0));
    let near = two_sms(&[]);
    let far = two_sms(&["cluster.latency=220"]);
    let with = |machine: &Machine, step: Step| two_ctas(machine, 1, [vec![step], waiting()]);
    assert_eq!(with(&far, remote.clone()) - with(&near, remote), 200);
    // A signalling store delivers its own bytes.
    let signal = Mbarrier::Signal { offset: 0 };
    let store = about(signal, in_other(Kind::Store, 512));
    let receiver = || chain(&[vec![expect(0, 1, 8)], waiting()]);
    let with = |machine: &Machine, steps: Warp| two_ctas(machine, 1, [steps, receiver()]);
    assert_eq!(with(&far, vec![store.clone()]) - with(&near, vec![store]), 200);
    // Likewise a copy of several messages: only the last resumes the warp.
    let wide = Access { width: 8192, ..in_other(Kind::AsyncCopy, 512) };
    let wide = about(signal, wide);
    let receiver = |bytes| chain(&[vec![expect(0, 1, bytes)], waiting()]);
    let narrow_port = two_sms(&["cluster.port_bytes=8"]);
    let with = |machine: &Machine| two_ctas(machine, 1, [vec![wide.clone()], receiver(8192)]);
    assert_eq!(with(&narrow_port) - with(&near), 8192 / 8 - 8192 / 32);
}

/// Both CTAs wait for data requested by one of them.
#[test]
fn multicast_copy_signals_each_cta_on_arrival() {
    let receiver = |bytes| chain(&[vec![expect(0, 1, bytes), wait(0, false)], work(400)]);
    let from = || Access {
        kind: Kind::AsyncCopy,
        cache_op: CacheOp::Global,
        ..Access::load(1024, vec![0])
    };
    let copy = |mask| {
        let copy = Step::CopyTo(mask, from());
        Step::Mbarrier(Mbarrier::Signal { offset: 0 }, Box::new(copy))
    };
    let with = |machine: &Machine, mask: u16, waits: [bool; 2]| {
        let warps = [0, 1].map(|rank| {
            let sends = if rank == 0 { vec![copy(mask)] } else { vec![] };
            chain(&[sends, if waits[rank] { receiver(1024) } else { vec![] }])
        });
        two_ctas(machine, 1, warps)
    };
    let (near, far) = (two_sms(&[]), two_sms(&["cluster.latency=220"]));
    let difference = |mask, waits| with(&far, mask, waits) - with(&near, mask, waits);
    assert_eq!(difference(0b01, [true, false]), 0, "its own data come from memory");
    assert_eq!(difference(0b10, [false, true]), 200);
    assert_eq!(difference(0b11, [true, true]), 200);
}

#[test]
fn a_pipeline_runs_on_every_number_of_ctas_and_ends_early_too() {
    for ctas in ["sm.max_ctas=1", "sm.max_ctas=2", "sm.max_ctas=5"] {
        run(&two_sms(&[ctas]), &write(&[pipeline(9)]).trace);
        for instructions in [10, 100, 300] {
            let limit = format!("run.launch_instructions={instructions}");
            run(&two_sms(&[ctas, &limit]), &write(&[pipeline(9), pipeline(2)]).trace);
        }
    }
}

/// Each of the CTAs waits at its own mbarrier.
#[test]
fn a_copy_for_ctas_on_one_sm_signals_each_of_them() {
    let machine = two_sms(&["sm.count=1", "sm.max_ctas=2"]);
    let receiver = || vec![expect(0, 1, 1024), wait(0, false)];
    let from = Access::load(1024, vec![0]);
    let from = Access { kind: Kind::AsyncCopy, cache_op: CacheOp::Global, ..from };
    let copy = Step::Mbarrier(Mbarrier::Signal { offset: 0 }, Box::new(Step::CopyTo(0b11, from)));
    two_ctas(&machine, 1, [chain(&[vec![copy], receiver()]), receiver()]);
}
