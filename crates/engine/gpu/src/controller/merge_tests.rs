//! What crosses levels beside requests: what of it reaches the scheduler, and when.

use super::*;
use crate::engine::Bench;
use crate::side::SideChannels;
use std::sync::{Arc, Mutex};
use warpmem_dram::scheduler::{BankView, Event, Queued, Scheduler, Slot, Traits};
use warpmem_sim::{CountedMerges, Location, Needs, Request as Row, SliceId, SmId, WarpId};
use warpmem_testing::machine;

/// What a scheduler was told.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    /// A request, and what came with it.
    Arrived {
        id: u32,
        merges: u8,
        age: u32,
        critical: bool,
        hit_prone: bool,
    },
    Merged {
        merges: u32,
        age: u64,
        cycle: u64,
    },
    Ended {
        load: u32,
        cycle: u64,
    },
}

/// FR-FCFS that keeps what it is told.
struct Spy(Arc<Mutex<Vec<Told>>>);

impl Scheduler for Spy {
    fn traits(&self) -> Traits {
        Traits { takes_events: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(bank.fr_fcfs())
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        let Request { id, merges, age, critical, hit_prone, .. } = queued.request;
        self.0.lock().unwrap().push(Told::Arrived { id, merges, age, critical, hit_prone });
    }

    fn on_event(&mut self, event: Event, cycle: DramCycle) {
        let cycle = cycle.number();
        let told = match event {
            Event::Merged { merges, age, .. } => Told::Merged { merges, age, cycle },
            Event::LoadComplete { load } => Told::Ended { load, cycle },
            Event::Activated { .. } | Event::Overtaken => return,
        };
        self.0.lock().unwrap().push(told);
    }
}

/// A controller of one slice, and what its scheduler was told.
struct Rig {
    bench: Bench,
    controller: Controller,
    ports: (PortId, PortId),
    told: Arc<Mutex<Vec<Told>>>,
    /// The slice takes no fill before this cycle.
    opens: u64,
}

/// Cycles of the way from the slice to the queue.
const WAY: u64 = 20;

/// When a fill came, and its stamps in DRAM.
type Fill = (u64, RequestId, [u64; 3]);

impl Rig {
    fn new(needs: &Needs) -> Rig {
        Rig::with(needs, &[])
    }

    fn with(needs: &Needs, overrides: &[&str]) -> Rig {
        let one = ["dram.channels=1", "l2.slices_per_channel=1", "l2.to_dram_latency=20"];
        let machine = machine(&[&one, overrides].concat());
        let mut bench = Bench::new(&machine, [1, 1, 0, 0]);
        bench.side = SideChannels::new(&machine, needs, false);
        let [dram, l2] = [Domain::Dram, Domain::L2].map(|domain| UnitId { domain, index: 0 });
        let misses = bench.sim.region.fabric.add_port("misses", 0, 100, l2, dram);
        let fills = bench.sim.region.fabric.add_port("fills", 0, 4, dram, l2);
        let (told, ports) = (Arc::default(), (misses, fills));
        let channel = Channel::new(&machine.dram, Box::new(Spy(Arc::clone(&told)))).unwrap();
        let clock = bench.sim.region.fabric.clock(Domain::Dram);
        let controller = Controller::new(&machine, 0, clock.of(), channel, vec![ports]).unwrap();
        Rig { bench, controller, ports, told, opens: 0 }
    }

    /// An item at the controller from `cycle` on.
    fn send(&mut self, cycle: u64, row: Row) -> RequestId {
        let place = self.bench.sim.map.locate(row.address);
        let id = self.bench.sim.region.requests.add(Row { place, ..row }, Ticks(0));
        self.bench.sim.region.fabric.push(self.ports.0, id, Ticks(cycle));
        id
    }

    /// A miss with what has merged into it.
    fn send_merged(&mut self, cycle: u64, row: Row, merges: u8, age: u32) -> RequestId {
        let id = self.send(cycle, row);
        self.tell(Sent { about: id, merges, age });
        id
    }

    /// A dummy request about another.
    fn send_dummy(&mut self, cycle: u64, about: RequestId, merges: u8, age: u32) {
        let &Row { address, place, .. } = self.bench.sim.region.requests.get(about);
        self.send(cycle, Row::of_slice(address, RequestKind::Read, place));
        self.tell(Sent { about, merges, age });
    }

    fn tell(&mut self, sent: Sent) {
        self.bench.side.merges.as_mut().expect("merges are asked for").push(SliceId(0), sent);
    }

    /// Runs to the end; `and` is called after each step of the slice. The fills that came, and what the
    /// scheduler was told.
    fn run_and(&mut self, mut and: impl FnMut(u64, &mut Context)) -> (Vec<Fill>, Vec<Told>) {
        let (fills, opens, controller) = (self.ports.1, self.opens, &mut self.controller);
        let mut filled = Vec::new();
        self.bench.run(|unit, cycle, ctx| {
            if unit.domain == Domain::Dram {
                controller.step(DramCycle::new(cycle), ctx);
                return;
            }
            if cycle < opens {
                ctx.fabric.wake_cycle(unit, opens);
                return;
            }
            while let Some(id) = ctx.fabric.ready(fills, Ticks(cycle)) {
                ctx.fabric.pop(fills, Ticks(cycle));
                let s = ctx.requests.stamps(id);
                let stamps = [s.dram_entered, s.dram_started, s.dram_finished].map(|at| at.0);
                filled.push((cycle, id, stamps));
            }
            if let Some((ready, _)) = ctx.fabric.head(fills) {
                ctx.fabric.wake(unit, ready);
            }
            and(cycle, ctx);
        });
        assert_eq!(
            self.bench.sim.region.requests.in_flight(),
            filled.len(),
            "dummies and writes are gone"
        );
        (filled, std::mem::take(&mut *self.told.lock().unwrap()))
    }

    /// How many fills came, and what the scheduler was told.
    fn run(mut self) -> (usize, Vec<Told>) {
        let (filled, told) = self.run_and(|_, _| {});
        (filled.len(), told)
    }
}

/// A read of this row of one bank.
fn read(row: u64) -> Row {
    Row::of_slice(row << 16, RequestKind::Read, Location::ZERO)
}

fn merges() -> Needs {
    Needs { merges: Some(CountedMerges::InterCore), ..Needs::default() }
}

fn arrived(id: RequestId, merges: u8, age: u32) -> Told {
    Told::Arrived { id: id.0, merges, age, critical: false, hit_prone: false }
}

#[test]
fn a_dummy_request_tells_of_the_request_that_it_is_about_and_is_gone() {
    let mut rig = Rig::new(&merges());
    let first = rig.send_merged(0, read(0), 1, 30);
    let waiting = rig.send_merged(1, read(1), 2, 50);
    rig.send_dummy(5, waiting, 4, 9);
    let (fills, told) = rig.run();
    let merged = Told::Merged { merges: 4, age: 9, cycle: 5 + WAY };
    assert_eq!(told, [arrived(first, 1, 30), arrived(waiting, 2, 50), merged]);
    assert_eq!(fills, 2, "a dummy is not answered");
}

#[test]
fn an_update_about_a_request_in_service_or_gone_is_dropped() {
    let mut rig = Rig::new(&merges());
    let first = rig.send_merged(0, read(0), 1, 0);
    rig.send_dummy(5, first, 2, 9);
    rig.send_dummy(500, first, 3, 9);
    let (_, told) = rig.run();
    assert_eq!(told, [arrived(first, 1, 0)]);
}

/// Fills the queue with requests to rows of one bank.
fn fill_queue(rig: &mut Rig) -> Vec<RequestId> {
    (0..64).map(|row| rig.send_merged(0, read(row), 1, 0)).collect()
}

#[test]
fn a_dummy_request_takes_no_place_in_the_queue() {
    let mut rig = Rig::new(&merges());
    let ids = fill_queue(&mut rig);
    rig.send_dummy(0, ids[63], 2, 0);
    let (_, told) = rig.run();
    let cycle = 64 + WAY;
    assert_eq!(told[64], Told::Merged { merges: 2, age: 0, cycle }, "one item a cycle");
}

#[test]
fn dummy_requests_take_no_credit() {
    let one = [
        "l2.to_dram_credits=1",
        "dram.write_queue=0",
        "dram.write_high_watermark=0",
        "dram.write_low_watermark=0",
    ];
    let mut rig = Rig::with(&merges(), &one);
    // The two reads have the slice's own and the other; what comes behind the reports has the first that is free.
    let ids = [0, 1].map(|row| rig.send_merged(0, read(row), 1, 0));
    (0..3).for_each(|n| rig.send_dummy(2, ids[1], 2 + n, 0));
    rig.send_merged(3, read(2), 1, 0);
    let (fills, _) = rig.run_and(|_, _| {});
    let stamps: Vec<[u64; 3]> = fills.iter().map(|fill| fill.2).collect();
    assert_eq!(stamps.len(), 3);
    assert_eq!(stamps[2][0], stamps[0][2] + WAY);
}

#[test]
fn dummy_requests_come_one_a_cycle_though_the_queue_is_full_and_at_rest() {
    let mut rig = Rig::new(&merges());
    rig.opens = 5000;
    // Four are served, which fill the port back; then nothing moves.
    let ids: Vec<RequestId> = (0..68).map(|row| rig.send_merged(0, read(row), 1, 0)).collect();
    (0..3).for_each(|n| rig.send_dummy(4000, ids[67], 2 + n, 0));
    let (_, told) = rig.run();
    let cycle = |n: u32| 4000 + u64::from(n) + WAY;
    let merged = |n: u32| Told::Merged { merges: 2 + n, age: 0, cycle: cycle(n) };
    assert_eq!(told[68..], [0, 1, 2].map(merged));
}

#[test]
fn a_dummy_request_waits_behind_a_miss_that_finds_no_room() {
    let mut rig = Rig::new(&merges());
    let ids = fill_queue(&mut rig);
    let waiting: Vec<RequestId> = (64..72).map(|row| rig.send_merged(0, read(row), 1, 0)).collect();
    rig.send_dummy(0, ids[63], 2, 0);
    let (_, told) = rig.run();
    let place = |wanted: Told| told.iter().position(|&told| told == wanted);
    let last = place(arrived(waiting[7], 1, 0)).unwrap();
    assert!(matches!(told[last + 1], Told::Merged { merges: 2, .. }), "{:?}", told[last + 1]);
}

#[test]
fn marks_of_sm_and_l2_reach_the_scheduler() {
    let mut rig = Rig::new(&Needs::default());
    let critical = rig.send(0, Row { critical: true, ..read(0) }).0;
    let hit_prone = rig.send(0, Row { hit_prone: true, ..read(0) }).0;
    let (_, told) = rig.run();
    let arrived =
        |id, critical, hit_prone| Told::Arrived { id, merges: 1, age: 0, critical, hit_prone };
    assert_eq!(told, [arrived(critical, true, false), arrived(hit_prone, false, true)]);
}

/// A rig with a load of so many requests.
fn with_load(requests: usize) -> (Rig, u32) {
    let mut rig = Rig::new(&Needs { load_ends: true, ..Needs::default() });
    let load = rig.bench.context().begin_load((0..requests).map(|_| 0));
    (rig, load)
}

#[test]
fn the_last_request_of_a_load_ends_it() {
    let (mut rig, load) = with_load(2);
    let first = rig.send(0, Row { load, ..read(0) });
    let second = rig.send(9, Row { load, ..read(0) });
    let (_, told) = rig.run();
    let end = Told::Ended { load, cycle: 9 + WAY };
    assert_eq!(told, [arrived(first, 1, 0), arrived(second, 1, 0), end]);
}

#[test]
fn an_answer_of_the_l2_ends_a_load_when_the_channel_knows_it() {
    let (mut rig, load) = with_load(2);
    rig.send(0, Row { load, ..read(0) });
    rig.bench.context().answered_in_l2(load, 0, Ticks(200));
    let (_, told) = rig.run();
    assert_eq!(told[1..], [Told::Ended { load, cycle: 200 }]);
}

#[test]
fn what_l1_answers_ends_a_load_at_once_and_wakes_the_channel() {
    let (mut rig, load) = with_load(2);
    rig.send(0, Row { load, ..read(0) });
    rig.bench.sim.region.fabric.wake(UnitId { domain: Domain::L2, index: 0 }, Ticks(200));
    let (_, told) = rig.run_and(|cycle, ctx| {
        if cycle == 200 {
            ctx.answered_in_l1(load, 0, Ticks(200));
        }
    });
    // The channel has had its turn in cycle 200.
    assert_eq!(told[1..], [Told::Ended { load, cycle: 201 }]);
}

#[test]
fn perfect_dram_answers_when_a_read_has_come_all_the_way() {
    let mut rig = Rig::new(&Needs::default());
    rig.controller = rig.controller.perfect();
    let reads: Vec<RequestId> = (0..6).map(|row| rig.send(7, read(row))).collect();
    rig.send(7, Row::of_slice(0, RequestKind::Writeback, Location::ZERO));
    let late = rig.send(30, read(0));
    let (filled, told) = rig.run_and(|_, _| {});
    // The port back holds four, and the slice empties it in the cycle after.
    let done = 7 + WAY;
    let at = |read: usize| if read < 4 { done } else { done + 1 };
    let mut expected: Vec<_> =
        reads.into_iter().enumerate().map(|(n, id)| (at(n), id, [done; 3])).collect();
    expected.push((30 + WAY, late, [30 + WAY; 3]));
    assert_eq!(filled, expected);
    let counter = |name, value| Counter { name, value };
    let counters = [counter("perfect_reads", 7), counter("perfect_writes", 1)];
    assert_eq!(rig.controller.counters(), counters);
    let total = rig.controller.counts(DramCycle::new(100)).total();
    assert_eq!((total.activations, total.reads, total.writes), (0, 0, 0));
    assert!(told.is_empty(), "the scheduler is asked for nothing");
}

#[test]
fn what_is_on_its_way_to_perfect_dram_takes_no_place_on_the_way_back() {
    let mut rig = Rig::new(&Needs::default());
    rig.controller = rig.controller.perfect();
    for cycle in 0..3 * WAY {
        rig.send(cycle, read(cycle));
    }
    let (filled, _) = rig.run_and(|_, _| {});
    let cycles: Vec<u64> = filled.iter().map(|fill| fill.0).collect();
    assert_eq!(cycles, (WAY..4 * WAY).collect::<Vec<_>>());
}

#[test]
fn perfect_dram_drops_updates() {
    let mut rig = Rig::new(&Needs { load_ends: true, ..merges() });
    rig.controller = rig.controller.perfect();
    let load = rig.bench.context().begin_load((0..3).map(|_| 0));
    let first = rig.send_merged(0, Row { load, ..read(0) }, 1, 0);
    rig.send_dummy(0, first, 2, 0);
    rig.send_merged(0, Row { load, ..read(1) }, 1, 0);
    rig.bench.context().answered_in_l2(load, 0, Ticks(3));
    assert_eq!(rig.run(), (2, Vec::new()));
}

#[test]
fn a_request_says_from_whom_it_is() {
    let mut rig = Rig::new(&Needs::default());
    let row = Row {
        sm: SmId(3),
        warp: WarpId(100),
        cta: 7,
        ..Row::of_slice(0, RequestKind::Read, Location::ZERO)
    };
    let id = rig.send(0, row);
    let Item::Request(request) = rig.controller.item(id, &rig.bench.context()) else {
        panic!("a request is no update")
    };
    assert_eq!((request.sm, request.warp, request.cta), (3, 100, 7));
}
