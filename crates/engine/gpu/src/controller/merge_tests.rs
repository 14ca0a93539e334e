//! Side channels at the controller: the information that reaches the scheduler, and its time.

use super::*;
use crate::engine::Bench;
use crate::side::SideChannels;
use crate::testing::machine;
use std::sync::{Arc, Mutex};
use warpmem_dram::prefetch::PREFETCHERS;
use warpmem_dram::scheduler::{BankView, Event, Queued, Scheduler, Slot, Traits};
use warpmem_sim::{CountedMerges, Location, Needs, Request as Row, SliceId, SmId, WarpId};

/// A notification of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Notification {
    /// A request with its merge report.
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

/// FR-FCFS that records its notifications.
struct Spy(Arc<Mutex<Vec<Notification>>>);

impl Scheduler for Spy {
    fn traits(&self) -> Traits {
        Traits { takes_events: true, ..Traits::default() }
    }

    fn pick(&mut self, bank: &BankView) -> Option<Slot> {
        Some(bank.fr_fcfs())
    }

    fn on_arrival(&mut self, _: Slot, queued: &Queued) {
        let DramRequest { id, merges, age, critical, hit_prone, .. } = queued.request;
        self.0.lock().unwrap().push(Notification::Arrived { id, merges, age, critical, hit_prone });
    }

    fn on_event(&mut self, event: Event, cycle: DramCycle) {
        let cycle = cycle.number();
        let notified = match event {
            Event::Merged { merges, age, .. } => Notification::Merged { merges, age, cycle },
            Event::LoadComplete { load } => Notification::Ended { load, cycle },
            Event::Activated { .. } | Event::Overtaken => return,
        };
        self.0.lock().unwrap().push(notified);
    }
}

/// A controller of one slice, and the notifications of its scheduler.
struct ControllerBench {
    bench: Bench,
    controller: MemoryController,
    ports: (PortId, PortId),
    notified: Arc<Mutex<Vec<Notification>>>,
    /// First cycle in which the slice accepts a fill.
    opens: u64,
}

/// Cycles from the slice to the queue.
const WAY: u64 = 20;

/// Arrival of a fill, and its stamps in DRAM.
type Fill = (u64, RequestId, [u64; 3]);

impl ControllerBench {
    fn new(needs: &Needs) -> ControllerBench {
        ControllerBench::with(needs, &[])
    }

    fn with(needs: &Needs, overrides: &[&str]) -> ControllerBench {
        let one = ["dram.channels=1", "l2.slices_per_channel=1", "l2.to_dram_latency=20"];
        let machine = machine(&[&one, overrides].concat());
        let mut bench = Bench::new(&machine, [1, 1, 0, 0]);
        bench.side = SideChannels::new(&machine, needs, false);
        let [dram, l2] = [Domain::Dram, Domain::L2].map(|domain| UnitId { domain, index: 0 });
        let misses = bench.sim.region.fabric.add_port("misses", 0, 100, l2, dram);
        let fills = bench.sim.region.fabric.add_port("fills", 0, 4, dram, l2);
        let (notified, ports) = (Arc::default(), (misses, fills));
        let channel = Channel::new(&machine.dram, Box::new(Spy(Arc::clone(&notified)))).unwrap();
        let clock = bench.sim.region.fabric.clock(Domain::Dram);
        let none = PREFETCHERS.build("none", &machine.prefetch_context()).unwrap();
        let controller = MemoryController::new(&machine, 0, clock.of(), channel, none, vec![ports]);
        ControllerBench { bench, controller, ports, notified, opens: 0 }
    }

    /// Sends an item that the controller may take from `cycle` on.
    fn send(&mut self, cycle: u64, row: Row) -> RequestId {
        let place = self.bench.sim.map.locate(row.address);
        let id = self.bench.sim.region.requests.add(Row { place, ..row }, Ticks(0));
        self.bench.sim.region.fabric.push(self.ports.0, id, Ticks(cycle));
        id
    }

    /// Sends a miss with its merges.
    fn send_merged(&mut self, cycle: u64, row: Row, merges: u8, age: u32) -> RequestId {
        let id = self.send(cycle, row);
        self.tell(Sent { about: id, merges, age });
        id
    }

    /// Sends a dummy request about another.
    fn send_dummy(&mut self, cycle: u64, about: RequestId, merges: u8, age: u32) {
        let &Row { address, place, .. } = self.bench.sim.region.requests.get(about);
        self.send(cycle, Row::of_slice(address, RequestKind::Read, place));
        self.tell(Sent { about, merges, age });
    }

    fn tell(&mut self, sent: Sent) {
        self.bench.side.merges.as_mut().expect("merges are asked for").push(SliceId(0), sent);
    }

    /// Runs to the end and calls `and` after each step of the slice. Returns the fills and the
    /// notifications.
    fn run_and(
        &mut self,
        mut and: impl FnMut(u64, &mut Context),
    ) -> (Vec<Fill>, Vec<Notification>) {
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
        (filled, std::mem::take(&mut *self.notified.lock().unwrap()))
    }

    /// Returns the number of fills and the notifications.
    fn run(mut self) -> (usize, Vec<Notification>) {
        let (filled, notified) = self.run_and(|_, _| {});
        (filled.len(), notified)
    }
}

/// A read of this row of one bank.
fn read(row: u64) -> Row {
    Row::of_slice(row << 16, RequestKind::Read, Location::ZERO)
}

fn merges() -> Needs {
    Needs { merges: Some(CountedMerges::InterCore), ..Needs::default() }
}

fn arrived(id: RequestId, merges: u8, age: u32) -> Notification {
    Notification::Arrived { id: id.0, merges, age, critical: false, hit_prone: false }
}

#[test]
fn a_dummy_request_notifies_the_scheduler_and_ends() {
    let mut bench = ControllerBench::new(&merges());
    let first = bench.send_merged(0, read(0), 1, 30);
    let waiting = bench.send_merged(1, read(1), 2, 50);
    bench.send_dummy(5, waiting, 4, 9);
    let (fills, notified) = bench.run();
    let merged = Notification::Merged { merges: 4, age: 9, cycle: 5 + WAY };
    assert_eq!(notified, [arrived(first, 1, 30), arrived(waiting, 2, 50), merged]);
    assert_eq!(fills, 2, "a dummy is not answered");
}

#[test]
fn an_update_about_a_request_in_service_or_done_is_dropped() {
    let mut bench = ControllerBench::new(&merges());
    let first = bench.send_merged(0, read(0), 1, 0);
    bench.send_dummy(5, first, 2, 9);
    bench.send_dummy(500, first, 3, 9);
    let (_, notified) = bench.run();
    assert_eq!(notified, [arrived(first, 1, 0)]);
}

/// Fills the queue with requests to rows of one bank.
fn fill_queue(bench: &mut ControllerBench) -> Vec<RequestId> {
    (0..64).map(|row| bench.send_merged(0, read(row), 1, 0)).collect()
}

#[test]
fn a_dummy_request_takes_no_queue_entry() {
    let mut bench = ControllerBench::new(&merges());
    let ids = fill_queue(&mut bench);
    bench.send_dummy(0, ids[63], 2, 0);
    let (_, notified) = bench.run();
    let cycle = 64 + WAY;
    assert_eq!(notified[64], Notification::Merged { merges: 2, age: 0, cycle }, "one item a cycle");
}

#[test]
fn dummy_requests_take_no_credit() {
    let one = [
        "l2.to_dram_credits=1",
        "dram.write_queue=0",
        "dram.write_high_watermark=0",
        "dram.write_low_watermark=0",
    ];
    let mut bench = ControllerBench::with(&merges(), &one);
    // The two reads take the slice's own credit and the shared one; the request behind the reports
    // takes the first that is returned.
    let ids = [0, 1].map(|row| bench.send_merged(0, read(row), 1, 0));
    (0..3).for_each(|n| bench.send_dummy(2, ids[1], 2 + n, 0));
    bench.send_merged(3, read(2), 1, 0);
    let (fills, _) = bench.run_and(|_, _| {});
    let stamps: Vec<[u64; 3]> = fills.iter().map(|fill| fill.2).collect();
    assert_eq!(stamps.len(), 3);
    assert_eq!(stamps[2][0], stamps[0][2] + WAY);
}

#[test]
fn dummy_requests_arrive_one_a_cycle_at_a_full_idle_queue() {
    let mut bench = ControllerBench::new(&merges());
    bench.opens = 5000;
    // Four reads fill the return port; then nothing moves.
    let ids: Vec<RequestId> = (0..68).map(|row| bench.send_merged(0, read(row), 1, 0)).collect();
    (0..3).for_each(|n| bench.send_dummy(4000, ids[67], 2 + n, 0));
    let (_, notified) = bench.run();
    let cycle = |n: u32| 4000 + u64::from(n) + WAY;
    let merged = |n: u32| Notification::Merged { merges: 2 + n, age: 0, cycle: cycle(n) };
    assert_eq!(notified[68..], [0, 1, 2].map(merged));
}

#[test]
fn a_dummy_request_waits_behind_a_blocked_miss() {
    let mut bench = ControllerBench::new(&merges());
    let ids = fill_queue(&mut bench);
    let waiting: Vec<RequestId> =
        (64..72).map(|row| bench.send_merged(0, read(row), 1, 0)).collect();
    bench.send_dummy(0, ids[63], 2, 0);
    let (_, notified) = bench.run();
    let place = |wanted: Notification| notified.iter().position(|&notified| notified == wanted);
    let last = place(arrived(waiting[7], 1, 0)).unwrap();
    assert!(
        matches!(notified[last + 1], Notification::Merged { merges: 2, .. }),
        "{:?}",
        notified[last + 1]
    );
}

#[test]
fn the_marks_of_sm_and_l2_reach_the_scheduler() {
    let mut bench = ControllerBench::new(&Needs::default());
    let critical = bench.send(0, Row { critical: true, ..read(0) }).0;
    let hit_prone = bench.send(0, Row { hit_prone: true, ..read(0) }).0;
    let (_, notified) = bench.run();
    let arrived = |id, critical, hit_prone| Notification::Arrived {
        id,
        merges: 1,
        age: 0,
        critical,
        hit_prone,
    };
    assert_eq!(notified, [arrived(critical, true, false), arrived(hit_prone, false, true)]);
}

/// A controller with a load of `requests` requests.
fn with_load(requests: usize) -> (ControllerBench, u32) {
    let mut bench = ControllerBench::new(&Needs { load_ends: true, ..Needs::default() });
    let load = bench.bench.context().begin_load((0..requests).map(|_| 0));
    (bench, load)
}

#[test]
fn the_last_request_of_a_load_ends_it() {
    let (mut bench, load) = with_load(2);
    let first = bench.send(0, Row { load, ..read(0) });
    let second = bench.send(9, Row { load, ..read(0) });
    let (_, notified) = bench.run();
    let end = Notification::Ended { load, cycle: 9 + WAY };
    assert_eq!(notified, [arrived(first, 1, 0), arrived(second, 1, 0), end]);
}

#[test]
fn an_l2_answer_ends_a_load_after_the_latency_to_the_channel() {
    let (mut bench, load) = with_load(2);
    bench.send(0, Row { load, ..read(0) });
    bench.bench.context().answered_in_l2(load, 0, Ticks(200));
    let (_, notified) = bench.run();
    assert_eq!(notified[1..], [Notification::Ended { load, cycle: 200 }]);
}

#[test]
fn an_l1_answer_ends_a_load_at_once_and_wakes_the_channel() {
    let (mut bench, load) = with_load(2);
    bench.send(0, Row { load, ..read(0) });
    bench.bench.sim.region.fabric.wake(UnitId { domain: Domain::L2, index: 0 }, Ticks(200));
    let (_, notified) = bench.run_and(|cycle, ctx| {
        if cycle == 200 {
            ctx.answered_in_l1(load, 0, Ticks(200));
        }
    });
    // The channel is stepped before the SMs of cycle 200.
    assert_eq!(notified[1..], [Notification::Ended { load, cycle: 201 }]);
}

#[test]
fn perfect_dram_completes_a_read_after_the_latency_from_the_slice() {
    let mut bench = ControllerBench::new(&Needs::default());
    bench.controller = bench.controller.perfect();
    let reads: Vec<RequestId> = (0..6).map(|row| bench.send(7, read(row))).collect();
    bench.send(7, Row::of_slice(0, RequestKind::Writeback, Location::ZERO));
    let late = bench.send(30, read(0));
    let (filled, notified) = bench.run_and(|_, _| {});
    // The return port holds four entries; the slice empties it in the next cycle.
    let done = 7 + WAY;
    let at = |read: usize| if read < 4 { done } else { done + 1 };
    let mut expected: Vec<_> =
        reads.into_iter().enumerate().map(|(n, id)| (at(n), id, [done; 3])).collect();
    expected.push((30 + WAY, late, [30 + WAY; 3]));
    assert_eq!(filled, expected);
    let counter = |name, value| Counter { name, value };
    let counters = [counter("perfect_reads", 7), counter("perfect_writes", 1)];
    assert_eq!(bench.controller.counters(), counters);
    let total = bench.controller.counts(DramCycle::new(100)).total();
    assert_eq!((total.activations, total.reads, total.writes), (0, 0, 0));
    assert!(notified.is_empty(), "the scheduler is asked for nothing");
}

#[test]
fn reads_in_flight_to_perfect_dram_take_no_return_entries() {
    let mut bench = ControllerBench::new(&Needs::default());
    bench.controller = bench.controller.perfect();
    for cycle in 0..3 * WAY {
        bench.send(cycle, read(cycle));
    }
    let (filled, _) = bench.run_and(|_, _| {});
    let cycles: Vec<u64> = filled.iter().map(|fill| fill.0).collect();
    assert_eq!(cycles, (WAY..4 * WAY).collect::<Vec<_>>());
}

#[test]
fn perfect_dram_drops_updates() {
    let mut bench = ControllerBench::new(&Needs { load_ends: true, ..merges() });
    bench.controller = bench.controller.perfect();
    let load = bench.bench.context().begin_load((0..3).map(|_| 0));
    let first = bench.send_merged(0, Row { load, ..read(0) }, 1, 0);
    bench.send_dummy(0, first, 2, 0);
    bench.send_merged(0, Row { load, ..read(1) }, 1, 0);
    bench.bench.context().answered_in_l2(load, 0, Ticks(3));
    assert_eq!(bench.run(), (2, Vec::new()));
}

#[test]
fn a_request_carries_its_source() {
    let mut bench = ControllerBench::new(&Needs::default());
    let row = Row {
        sm: SmId(3),
        warp: WarpId(100),
        cta: 7,
        ..Row::of_slice(0, RequestKind::Read, Location::ZERO)
    };
    let id = bench.send(0, row);
    let Item::Request(request) = bench.controller.item(0, id, &bench.bench.context()) else {
        panic!("a request is no update")
    };
    assert_eq!((request.sm, request.warp, request.cta), (3, 100, 7));
}
