//! What a policy sees of its SM.

use super::*;
use warpmem_testing::{barrier, compute, exit, load, machine, memory, store};
use warpmem_trace::OpClass::Integer;
use warpmem_trace::{CacheOp, Kind, Space};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Missed(u16, u64),
    Evicted(u16, u64),
}
use Event::{Evicted, Missed};

/// What was seen at a pick.
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

/// Picks the lowest slot and notes what it sees; `left` is that of slot 0.
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

/// What a policy sees of a CTA of `warps` if it asks for what it `needs`.
fn told(overrides: &[&str], needs: Needs, warps: Vec<WarpSteps>) -> Log {
    let mut rig = Rig::new(&machine(&[&["l1.latency=30"], overrides].concat()), Below::default());
    let log = Arc::<Mutex<Log>>::default();
    rig.sm.set_policy(Box::new(Recorder { needs, log: Arc::clone(&log) }));
    rig.launch(&trace(&[TestKernel::new([warps])]), START);
    rig.run();
    std::mem::take(&mut log.lock().unwrap())
}

const L1_EVENTS: Needs = Needs { l1_events: true, miss_room: false };
const MISS_ROOM: Needs = Needs { l1_events: false, miss_room: true };
const TWO_LINES: [&str; 2] = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];

/// Warp 0 reads line 0, then warp 1 does its part, then warp 0 reads line 0 again.
fn in_turns(of_warp_1: WarpSteps) -> Vec<WarpSteps> {
    let line_0 = || vec![load(&[0]).used_after(0)];
    let between = vec![barrier(0)];
    vec![
        [line_0(), between.clone(), between.clone(), line_0(), vec![exit()]].concat(),
        [between.clone(), of_warp_1, between].concat(),
    ]
}

fn reads_of_lines_1_and_2() -> Vec<WarpSteps> {
    in_turns(vec![load(&[128]), load(&[256]).used_after(0)])
}

#[test]
fn reads_that_miss_are_told_with_the_warp_that_brought_what_leaves() {
    let told = told(&TWO_LINES, L1_EVENTS, reads_of_lines_1_and_2());
    let last = [Missed(0, 0), Evicted(1, 1)];
    assert_eq!(told.events[..4], [Missed(0, 0), Missed(1, 1), Missed(1, 2), Evicted(0, 0)]);
    assert_eq!(told.events[4..], last);
}

#[test]
fn a_line_that_has_its_place_when_it_comes_is_of_the_warp_that_asked() {
    let overrides = [&TWO_LINES[..], &["l1.cache.read_allocate=on-fill"]].concat();
    let told = told(&overrides, L1_EVENTS, reads_of_lines_1_and_2());
    let first = [Missed(0, 0), Missed(1, 1), Missed(1, 2), Evicted(0, 0)];
    assert_eq!(told.events[..4], first);
    assert_eq!(told.events[4..], [Missed(0, 0), Evicted(1, 1)]);
}

#[test]
fn hits_and_what_joins_a_miss_are_not_told() {
    let warps = vec![vec![load(&[0]), load(&[4]).used_after(0), load(&[8])], vec![load(&[12])]];
    assert_eq!(told(&[], L1_EVENTS, warps).events, [Missed(0, 0)]);
}

#[test]
fn a_store_that_gets_a_place_owns_it_and_is_no_miss() {
    let write = ["l1.cache.write=write-back", "l1.cache.write_allocate=fetch-on-write"];
    let overrides = [&TWO_LINES[..], &write].concat();
    let told = told(&overrides, L1_EVENTS, in_turns(vec![store(&[128]), store(&[256])]));
    assert_eq!(told.events, [Missed(0, 0), Evicted(0, 0), Missed(0, 0), Evicted(1, 1)]);
}

#[test]
fn nothing_of_l1_is_told_to_who_does_not_ask() {
    assert_eq!(told(&TWO_LINES, MISS_ROOM, reads_of_lines_1_and_2()).events, []);
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
    let told = told(&[], Needs::default(), steps.map(|step| vec![step]).to_vec());
    assert_eq!(told.seen[0].loads, 0b1_1111);
    assert_eq!(told.seen[1].loads, 0b1_1110, "the first has no more");
}

/// The second scheduler is asked when the first has issued the last load that its warp had
/// fetched.
#[test]
fn what_is_not_fetched_is_no_load() {
    let fetching = ["sm.schedulers=2", "sm.fetch_warps=2"];
    let warps =
        vec![vec![load(&[0]), load(&[0]), compute(Integer, &[])], vec![compute(Integer, &[]); 6]];
    let told = told(&fetching, Needs::default(), warps);
    let (before, after): (Vec<Seen>, Vec<Seen>) =
        told.seen.iter().copied().partition(|seen| seen.left > 0);
    assert!(before.iter().all(|seen| seen.loads == 0b01) && !before.is_empty());
    assert!(after.iter().all(|seen| seen.loads == 0) && after.len() > 2);
}

#[test]
fn a_warp_has_the_records_left_that_it_has_not_begun() {
    let warp = vec![compute(Integer, &[]), load(&[0]), load(&[0]), exit()];
    let told = told(&[], Needs::default(), vec![warp]);
    let left: Vec<u32> = told.seen.iter().map(|seen| seen.left).collect();
    assert_eq!(left, [2, 2, 1, 0]);
}

/// The room for misses and the cycles from which it is that, seen by a warp that issues something
/// in every cycle.
fn rooms(overrides: &[&str], loads: &[u64]) -> Vec<(u64, usize)> {
    let loads = loads.iter().map(|&address| load(&[address]));
    let warp = loads.chain(vec![compute(Integer, &[]); 400]).collect();
    let mut seen = told(overrides, MISS_ROOM, vec![warp]).seen;
    seen.dedup_by_key(|seen| seen.room);
    seen.iter().map(|seen| (seen.cycle, seen.room)).collect()
}

#[test]
fn the_room_for_misses_is_the_free_entries() {
    let at_tags = L1_LATENCY;
    let expected =
        [(0, 3), (at_tags, 2), (at_tags + 1, 1), (MISS, 2), (MISS + 1, 3)].map(|room| room);
    assert_eq!(rooms(&["l1.cache.mshr_entries=3"], &[0, 128]), expected);
}

#[test]
fn there_is_no_room_while_a_sector_waits_at_the_tags() {
    let overrides = ["l1.cache.mshr_entries=3", "l1.cache.mshr_merges=1"];
    let at_tags = L1_LATENCY;
    assert_eq!(rooms(&overrides, &[0, 4]), [(0, 3), (at_tags, 2), (at_tags + 1, 0), (MISS, 3)]);
}
