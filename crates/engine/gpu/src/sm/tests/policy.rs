//! Inputs of a warp scheduler: view and events.

use super::*;
use crate::testing::machine;
use warpmem_testing::{barrier, compute, exit, load, memory, store};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Missed(u16, u64),
    Evicted(u16, u64),
}
use Event::{Evicted, Missed};

/// View at a pick.
#[derive(Clone, Copy, Debug)]
struct Seen {
    cycle: u64,
    loads: u64,
    left: u32,
    room: usize,
}

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    seen: Vec<Seen>,
}

/// Picks the lowest slot and logs its inputs; `left` is the value of slot 0.
struct Recorder {
    needs: Needs,
    log: Arc<Mutex<Log>>,
}

impl WarpScheduler for Recorder {
    fn pick(&mut self, candidates: u64, view: &WarpView) -> Option<WarpSlot> {
        let (cycle, loads) = (view.cycle.number() - START, view.loads);
        let (left, room) = (view.records_left[0], view.miss_room);
        self.log.lock().unwrap().seen.push(Seen { cycle, loads, left, room });
        Some(WarpSlot::lowest(candidates))
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn missed(&mut self, slot: WarpSlot, line: u64, _: CoreCycle) {
        self.log.lock().unwrap().events.push(Missed(slot.0, line));
    }

    fn evicted(&mut self, slot: WarpSlot, line: u64) {
        self.log.lock().unwrap().events.push(Evicted(slot.0, line));
    }
}

/// Runs a CTA of `warps` and returns the inputs of a policy with `needs`.
fn run_logged(overrides: &[&str], needs: Needs, warps: Vec<WarpSteps>) -> Log {
    let mut rig =
        Rig::new(&machine(&[&["l1.latency=30"], overrides].concat()), MemoryStub::default());
    let log = Arc::<Mutex<Log>>::default();
    rig.sm.set_policy(Box::new(Recorder { needs, log: Arc::clone(&log) }));
    rig.launch(&trace(&[TestKernel::new([warps])]), START);
    rig.run();
    std::mem::take(&mut log.lock().unwrap())
}

const L1_EVENTS: Needs = Needs { l1_events: true, miss_room: false };
const MISS_ROOM: Needs = Needs { l1_events: false, miss_room: true };
const TWO_LINES: [&str; 2] = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];

/// Warp 0 reads line 0, then warp 1 runs `of_warp_1`, then warp 0 reads line 0 again.
fn interleaved(of_warp_1: WarpSteps) -> Vec<WarpSteps> {
    let line_0 = || vec![load(&[0]).used_after(0)];
    let between = vec![barrier(0)];
    vec![
        [line_0(), between.clone(), between.clone(), line_0(), vec![exit()]].concat(),
        [between.clone(), of_warp_1, between].concat(),
    ]
}

fn reads_of_lines_1_and_2() -> Vec<WarpSteps> {
    interleaved(vec![load(&[128]), load(&[256]).used_after(0)])
}

#[test]
fn misses_and_evictions_are_reported_with_the_owner_of_the_line() {
    let log = run_logged(&TWO_LINES, L1_EVENTS, reads_of_lines_1_and_2());
    let last = [Missed(0, 0), Evicted(1, 1)];
    assert_eq!(log.events[..4], [Missed(0, 0), Missed(1, 1), Missed(1, 2), Evicted(0, 0)]);
    assert_eq!(log.events[4..], last);
}

#[test]
fn a_line_allocated_on_fill_belongs_to_the_requesting_warp() {
    let overrides = [&TWO_LINES[..], &["l1.cache.read_allocate=on-fill"]].concat();
    let log = run_logged(&overrides, L1_EVENTS, reads_of_lines_1_and_2());
    let first = [Missed(0, 0), Missed(1, 1), Missed(1, 2), Evicted(0, 0)];
    assert_eq!(log.events[..4], first);
    assert_eq!(log.events[4..], [Missed(0, 0), Evicted(1, 1)]);
}

#[test]
fn hits_and_merges_are_not_reported() {
    let warps = vec![vec![load(&[0]), load(&[4]).used_after(0), load(&[8])], vec![load(&[12])]];
    assert_eq!(run_logged(&[], L1_EVENTS, warps).events, [Missed(0, 0)]);
}

#[test]
fn a_store_that_allocates_owns_its_line_and_is_not_a_miss() {
    let write = ["l1.cache.write=write-back", "l1.cache.write_allocate=fetch-on-write"];
    let overrides = [&TWO_LINES[..], &write].concat();
    let log = run_logged(&overrides, L1_EVENTS, interleaved(vec![store(&[128]), store(&[256])]));
    assert_eq!(log.events, [Missed(0, 0), Evicted(0, 0), Missed(0, 0), Evicted(1, 1)]);
}

#[test]
fn l1_events_are_reported_only_on_request() {
    assert_eq!(run_logged(&TWO_LINES, MISS_ROOM, reads_of_lines_1_and_2()).events, []);
}

#[test]
fn loads_are_reads_through_l1() {
    let of = |kind, space| memory(kind, space, &[0]);
    let past = load(&[0]).with(|i| i.cache_op = CacheOp::Global);
    let steps = [
        load(&[0]),
        of(Kind::Load, Space::Local),
        of(Kind::AsyncCopy, Space::Global),
        of(Kind::Load, Space::Texture),
        of(Kind::Prefetch, Space::Global),
        store(&[0]),
        of(Kind::Load, Space::Shared),
        of(Kind::Load, Space::Constant),
        of(Kind::Atomic, Space::Global),
        past,
        compute(Integer, &[]),
    ];
    let log = run_logged(&[], Needs::default(), steps.map(|step| vec![step]).to_vec());
    assert_eq!(log.seen[0].loads, 0b1_1111);
    assert_eq!(log.seen[1].loads, 0b1_1110, "warp 0 has finished");
}

/// The second scheduler picks after the first has issued the last load fetched by its warp.
#[test]
fn unfetched_instructions_are_not_in_loads() {
    let fetching = ["sm.schedulers=2", "sm.fetch_warps=2"];
    let warps =
        vec![vec![load(&[0]), load(&[0]), compute(Integer, &[])], vec![compute(Integer, &[]); 6]];
    let log = run_logged(&fetching, Needs::default(), warps);
    let (before, after): (Vec<Seen>, Vec<Seen>) =
        log.seen.iter().copied().partition(|seen| seen.left > 0);
    assert!(before.iter().all(|seen| seen.loads == 0b01) && !before.is_empty());
    assert!(after.iter().all(|seen| seen.loads == 0) && after.len() > 2);
}

#[test]
fn records_left_counts_records_not_begun() {
    let warp = vec![compute(Integer, &[]), load(&[0]), load(&[0]), exit()];
    let log = run_logged(&[], Needs::default(), vec![warp]);
    let left: Vec<u32> = log.seen.iter().map(|seen| seen.left).collect();
    assert_eq!(left, [2, 2, 1, 0]);
}

/// Returns (cycle, miss room) at each change, seen by a warp that issues in every cycle.
fn rooms(overrides: &[&str], loads: &[u64]) -> Vec<(u64, usize)> {
    let loads = loads.iter().map(|&address| load(&[address]));
    let warp = loads.chain(vec![compute(Integer, &[]); 400]).collect();
    let mut seen = run_logged(overrides, MISS_ROOM, vec![warp]).seen;
    seen.dedup_by_key(|seen| seen.room);
    seen.iter().map(|seen| (seen.cycle, seen.room)).collect()
}

#[test]
fn miss_room_is_the_number_of_free_mshr_entries() {
    let at_tags = L1_LATENCY;
    let expected =
        [(0, 3), (at_tags, 2), (at_tags + 1, 1), (MISS, 2), (MISS + 1, 3)].map(|room| room);
    assert_eq!(rooms(&["l1.cache.mshr_entries=3"], &[0, 128]), expected);
}

#[test]
fn miss_room_is_0_while_a_lookup_stalls() {
    let overrides = ["l1.cache.mshr_entries=3", "l1.cache.mshr_merges=1"];
    let at_tags = L1_LATENCY;
    assert_eq!(rooms(&overrides, &[0, 4]), [(0, 3), (at_tags, 2), (at_tags + 1, 0), (MISS, 3)]);
}
