//! The rules of the tag array one by one, and a comparison with a reference model on lists.

use super::*;
use crate::{ReadAllocate, WriteAllocate, WritePolicy};
use proptest::prelude::*;
use std::collections::BTreeSet;
use warpmem_sim::IndexHash;

/// A cache of `sets` × `ways` lines of 128 bytes in four sectors.
fn cache(sets: u32, ways: u32) -> Cache {
    Cache {
        size_bytes: sets * ways * 128,
        ways,
        line_bytes: 128,
        sector_bytes: 32,
        replacement: Replacement::Lru,
        write: WritePolicy::WriteThrough,
        write_allocate: WriteAllocate::LazyFetch,
        read_allocate: ReadAllocate::OnFill,
        index: IndexHash::Linear,
        mshr_entries: 512,
        mshr_merges: 8,
        miss_queue: 16,
    }
}

fn tags(cache: &Cache) -> Tags {
    Tags::new(cache, cache.size_bytes)
}

/// Inserts `line`; returns the line that is evicted for it.
fn insert(tags: &mut Tags, line: u64) -> Option<u64> {
    let victim = tags.victim(line).expect("nothing is reserved");
    tags.replace(victim, line);
    victim.line.map(|(line, _)| line)
}

fn slot(tags: &Tags, line: u64) -> LineSlot {
    tags.find(line).expect("the line is present")
}

/// Returns the lines evicted as lines 10, 11, … are inserted into a full set of 0, 1, 2, with 0
/// used last.
fn leaving(replacement: Replacement) -> Vec<Option<u64>> {
    let mut tags = tags(&Cache { replacement, ..cache(1, 3) });
    for line in 0..3 {
        assert_eq!(insert(&mut tags, line), None, "an empty way is used first");
    }
    let first = slot(&tags, 0);
    tags.touch(first);
    (10..13).map(|line| insert(&mut tags, line)).collect()
}

#[test]
fn lru_renews_used_lines_and_fifo_does_not() {
    assert_eq!(leaving(Replacement::Lru), [Some(1), Some(2), Some(0)]);
    assert_eq!(leaving(Replacement::Fifo), [Some(0), Some(1), Some(2)]);
}

/// A full set of lines 0 to 3, with `lines` marked `evict_last`.
fn keeping(lines: &[u64], most: u32) -> Tags {
    let mut tags = tags(&cache(1, 4));
    (0..4).for_each(|line| assert_eq!(insert(&mut tags, line), None));
    lines.iter().for_each(|&line| tags.keep(slot(&tags, line), most));
    tags
}

#[test]
fn evict_last_lines_are_evicted_last_and_replacements_are_normal() {
    let mut tags = keeping(&[0, 1], 2);
    let leaving: Vec<_> = (10..13).map(|line| insert(&mut tags, line)).collect();
    assert_eq!(leaving, [Some(2), Some(3), Some(10)]);
    // All other lines are pending.
    for line in [11, 12] {
        tags.reserve(slot(&tags, line), 0);
    }
    assert_eq!(insert(&mut tags, 13), Some(0));
    assert_eq!(insert(&mut tags, 14), Some(13), "13 is not evict_last in the position of line 0");
}

#[test]
fn the_number_of_evict_last_lines_is_limited_and_the_least_recent_gives_way() {
    let mut tags = keeping(&[0, 1], 2);
    tags.touch(slot(&tags, 0));
    tags.keep(slot(&tags, 2), 2);
    let leaving: Vec<_> = (10..13).map(|line| insert(&mut tags, line)).collect();
    assert_eq!(leaving, [Some(1), Some(3), Some(10)], "1 gave way to 2");
    let mut none = keeping(&[0, 1], 0);
    assert_eq!(insert(&mut none, 10), Some(0));
}

#[test]
fn a_released_or_dropped_line_is_normal() {
    let mut tags = keeping(&[0, 1, 2, 3], 4);
    assert_eq!(
        tags.victim(9).unwrap().line,
        Some((0, 0)),
        "if all are evict_last, the oldest is evicted"
    );
    tags.release(slot(&tags, 2));
    assert_eq!(tags.victim(9).unwrap().line, Some((2, 0)));
    let place = slot(&tags, 3);
    tags.fill(place, 0);
    tags.drop_sector(place, 0);
    assert_eq!(insert(&mut tags, 10), None, "an empty position is used first");
    assert_eq!(insert(&mut tags, 11), Some(2));
    assert_eq!(insert(&mut tags, 12), Some(10), "line 10 is not evict_last");
}

#[test]
fn zero_ways_is_one_set_of_all_lines() {
    let mut tags = tags(&Cache { ways: 0, ..cache(4, 8) });
    // With several sets, all of these would map to one.
    assert!((0..32).all(|n| insert(&mut tags, n * 64).is_none()));
    assert_eq!(insert(&mut tags, 32 * 64), Some(0));
}

#[test]
fn reserved_lines_stay_until_their_last_sector_arrives() {
    let mut tags = tags(&cache(1, 2));
    for line in 0..2 {
        insert(&mut tags, line);
        let place = slot(&tags, line);
        tags.reserve(place, 1);
    }
    assert_eq!(tags.victim(9), None);
    let place = slot(&tags, 1);
    tags.reserve(place, 3);
    tags.fill(place, 1);
    assert_eq!(tags.victim(9), None, "sector 3 is still being fetched");
    tags.fill(place, 3);
    assert_eq!(tags.victim(9).unwrap().line, Some((1, 0)), "though line 0 is older");
}

#[test]
fn written_and_filled_bytes_are_valid_per_sector() {
    let mut tags = tags(&cache(1, 1));
    insert(&mut tags, 7);
    let place = slot(&tags, 7);
    tags.write(place, 2, 0x00ff, false);
    assert!(tags.holds(place, 2, 0x000f) && tags.holds(place, 2, 0x00ff));
    assert!(!tags.holds(place, 2, 0x0100) && !tags.holds(place, 2, ALL_BYTES));
    assert!(!tags.holds(place, 1, 1));
    tags.write(place, 2, 0xff00, false);
    assert!(tags.holds(place, 2, 0xffff), "writes add up");
    tags.fill(place, 1);
    assert!(tags.holds(place, 1, ALL_BYTES) && !tags.holds(place, 0, 1));
    tags.drop_sector(place, 2);
    assert!(!tags.holds(place, 2, 1) && tags.holds(place, 1, ALL_BYTES));
    insert(&mut tags, 8);
    assert!(!tags.holds(slot(&tags, 8), 1, 1), "nothing of the previous line is left");
}

#[test]
fn an_evicted_line_reports_exactly_its_dirty_sectors() {
    let mut tags = tags(&cache(1, 1));
    insert(&mut tags, 7);
    let place = slot(&tags, 7);
    tags.write(place, 0, ALL_BYTES, true);
    tags.write(place, 1, ALL_BYTES, false);
    tags.write(place, 3, 1, true);
    assert_eq!(tags.victim(8).unwrap().line, Some((7, 0b1001)));
    insert(&mut tags, 8);
    assert_eq!(tags.victim(9).unwrap().line, Some((8, 0)));
}

#[test]
fn a_reset_drops_every_line_and_takes_the_new_size() {
    let cache = cache(2, 2);
    let mut tags = tags(&cache);
    for lines in [4, 4, 8, 4] {
        tags.reset(&cache, lines * 128);
        assert!((0..=8).all(|line| tags.find(line).is_none()));
        let lines = u64::from(lines);
        assert!((0..lines).all(|line| insert(&mut tags, line).is_none()), "{lines} lines fit");
        assert_eq!(insert(&mut tags, lines), Some(0));
        assert!((1..=lines).all(|line| !tags.holds(slot(&tags, line), 0, 1)));
        (1..=lines).for_each(|line| tags.write(slot(&tags, line), 0, ALL_BYTES, true));
    }
}

#[test]
fn invalidation_drops_all_data_but_keeps_the_positions_of_pending_lines() {
    let mut tags = keeping(&[2], 1);
    let [dirty, pending] = [1, 3].map(|line| slot(&tags, line));
    tags.write(dirty, 0, ALL_BYTES, true);
    tags.write(dirty, 2, 1, true);
    tags.reserve(pending, 0);
    tags.write(pending, 1, ALL_BYTES, true);
    let mut left = Vec::new();
    assert_eq!(tags.invalidate(|slot, line| left.push((slot, line))), 3);
    left.sort_unstable_by_key(|&(_, line)| line);
    assert_eq!(left.iter().map(|&(_, line)| line).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(left[1].0, dirty);
    assert_eq!([0, 1, 2, 3].map(|line| tags.find(line)), [None, None, None, Some(pending)]);
    assert_eq!(tags.present(pending), 1, "only its pending sector");
    // Empty positions are used first, and nothing is dirty or `evict_last` any more.
    assert_eq!((10..13).map(|line| insert(&mut tags, line)).collect::<Vec<_>>(), [None; 3]);
    tags.fill(pending, 0);
    assert_eq!(tags.victim(0).unwrap().line, Some((3, 0)));
}

#[test]
fn consecutive_lines_use_every_set_whatever_the_hash() {
    let cases = [
        (IndexHash::Linear, 16),
        (IndexHash::Xor, 16),
        (IndexHash::Ipoly, 16),
        (IndexHash::Linear, 12),
    ];
    for (index, sets) in cases {
        let mut tags = tags(&Cache { index, ..cache(sets, 2) });
        let lines = u64::from(sets) * 2;
        let kept = (0..lines).all(|line| insert(&mut tags, line).is_none());
        assert!(kept, "{index:?}: {lines} lines do not fit {sets} sets of 2 ways");
    }
}

#[test]
fn hashes_spread_a_stride_of_all_sets_and_linear_does_not() {
    let sets_used = |index| {
        let tags = tags(&Cache { index, ..cache(16, 1) });
        (0..16).map(|n| tags.victim(n * 16).unwrap().slot.0).collect::<BTreeSet<_>>().len()
    };
    assert_eq!(sets_used(IndexHash::Linear), 1);
    assert_eq!(sets_used(IndexHash::Xor), 16);
    assert_eq!(sets_used(IndexHash::Ipoly), 16);
}

#[test]
fn a_smaller_store_keeps_its_sets_and_loses_ways() {
    let cache = cache(4, 8);
    let mut tags = Tags::new(&cache, cache.size_bytes / 4);
    let of_set_1 = |way: u64| way * 4 + 1;
    assert_eq!(insert(&mut tags, of_set_1(0)), None);
    assert_eq!(insert(&mut tags, of_set_1(1)), None);
    assert_eq!(insert(&mut tags, of_set_1(2)), Some(of_set_1(0)), "two ways");
    assert_eq!(insert(&mut tags, 2), None, "the next set is another");
}

/// The reference model: the same rules on lists that are searched.
struct Naive {
    sets: Vec<Vec<NaiveLine>>,
    ways: usize,
    lru: bool,
}

struct NaiveLine {
    number: u64,
    dirty: u8,
    pending: u8,
    /// Sectors that were filled or written.
    present: u8,
    valid: [u32; 4],
}

impl Naive {
    fn set(&mut self, line: u64) -> &mut Vec<NaiveLine> {
        let count = self.sets.len() as u64;
        &mut self.sets[(line % count) as usize]
    }

    fn line(&mut self, line: u64) -> Option<&mut NaiveLine> {
        self.set(line).iter_mut().find(|l| l.number == line)
    }

    fn touch(&mut self, line: u64) {
        if self.lru {
            let set = self.set(line);
            let at = set.iter().position(|l| l.number == line).unwrap();
            let used = set.remove(at);
            set.push(used);
        }
    }

    /// Inserts `line`; returns the evicted line, or `None` if every line is reserved.
    fn insert(&mut self, line: u64) -> Option<Option<(u64, u8)>> {
        let ways = self.ways;
        let set = self.set(line);
        let leaving = if set.len() < ways {
            None
        } else {
            let at = set.iter().position(|l| l.pending == 0)?;
            let old = set.remove(at);
            Some((old.number, old.dirty))
        };
        set.push(NaiveLine { number: line, dirty: 0, pending: 0, present: 0, valid: [0; 4] });
        Some(leaving)
    }
}

#[derive(Clone, Debug)]
enum Action {
    Use,
    Reserve,
    Fill,
    Write(u32, bool),
    Drop,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::Use),
        Just(Action::Reserve),
        Just(Action::Fill),
        (any::<u32>(), any::<bool>()).prop_map(|(bytes, dirty)| Action::Write(bytes, dirty)),
        Just(Action::Drop),
    ]
}

proptest! {
    #[test]
    fn behaves_as_the_reference_model(
        lru in any::<bool>(),
        (sets, ways) in (prop_oneof![Just(1u32), Just(3), Just(4)], 1u32..5),
        steps in prop::collection::vec((0u64..24, 0u32..4, action()), 0..300),
    ) {
        let replacement = if lru { Replacement::Lru } else { Replacement::Fifo };
        let mut tags = tags(&Cache { replacement, ..cache(sets, ways) });
        let sets = (0..sets).map(|_| Vec::new()).collect();
        let mut naive = Naive { sets, ways: ways as usize, lru };
        for (line, sector, action) in steps {
            if naive.line(line).is_none() {
                let victim = tags.victim(line);
                prop_assert_eq!(victim.map(|v| v.line), naive.insert(line));
                let Some(victim) = victim else { continue };
                tags.replace(victim, line);
            }
            let place = tags.find(line);
            prop_assert!(place.is_some());
            let (place, at) = (place.unwrap(), sector as usize);
            let model = naive.line(line).unwrap();
            match action {
                Action::Use => {}
                Action::Reserve => {
                    tags.reserve(place, sector);
                    model.pending |= 1 << sector;
                }
                Action::Fill => {
                    tags.fill(place, sector);
                    model.pending &= !(1 << sector);
                    model.present |= 1 << sector;
                    model.valid[at] = ALL_BYTES;
                }
                Action::Write(bytes, dirty) => {
                    tags.write(place, sector, bytes, dirty);
                    model.present |= 1 << sector;
                    model.valid[at] |= bytes;
                    model.dirty |= u8::from(dirty) << sector;
                }
                Action::Drop => {
                    tags.drop_sector(place, sector);
                    model.present &= !(1 << sector);
                    model.valid[at] = 0;
                    if model.present | model.pending | model.dirty == 0 {
                        naive.set(line).retain(|other| other.number != line);
                        prop_assert_eq!(tags.find(line), None);
                        continue;
                    }
                }
            }
            for byte in 0..32 {
                let held = model.valid[at] >> byte & 1 == 1;
                prop_assert_eq!(tags.holds(place, sector, 1 << byte), held);
            }
            tags.touch(place);
            naive.touch(line);
        }
    }
}

/// An action on a present line under a bound on dirty lines.
#[derive(Clone, Copy, Debug)]
enum Change {
    Use,
    /// A store, recorded for the bound.
    Write,
    /// A store without room to clean another line, which is not recorded.
    WriteWithoutRoom,
    InvalidateAll,
}

/// The choice of the line to clean by a search of the whole set.
fn searched(tags: &Tags, written: &[u64], slot: LineSlot, most: usize) -> Option<u64> {
    let is_dirty = |at: &LineSlot| tags.lines[at.index()].dirty != 0;
    let dirty: Vec<_> = tags.oldest_first(tags.set_at(slot)).filter(is_dirty).collect();
    let first = dirty.iter().min_by_key(|at| written[at.index()])?;
    (dirty.len() > most).then(|| tags.lines[first.index()].number())
}

proptest! {
    #[test]
    fn the_dirty_line_written_first_is_cleaned_beyond_the_bound(
        most in 1u32..4,
        steps in prop::collection::vec(
            (0u64..16, 0u32..4, prop_oneof![
                2 => Just(Change::Use),
                6 => Just(Change::Write),
                2 => Just(Change::WriteWithoutRoom),
                1 => Just(Change::InvalidateAll),
            ]),
            0..300,
        ),
    ) {
        let mut tags = tags(&cache(2, 4));
        tags.bound_dirty(most);
        let (mut written, mut writes) = (vec![0; tags.capacity()], 0);
        for (line, sector, change) in steps {
            if tags.find(line).is_none() {
                insert(&mut tags, line);
            }
            let place = slot(&tags, line);
            match change {
                Change::Use => tags.touch(place),
                Change::WriteWithoutRoom => tags.write(place, sector, ALL_BYTES, true),
                Change::InvalidateAll => {
                    tags.invalidate(|_, _| {});
                }
                Change::Write => {
                    tags.write(place, sector, ALL_BYTES, true);
                    (writes, written[place.index()]) = (writes + 1, writes + 1);
                    let expected = searched(&tags, &written, place, most as usize);
                    let cleaned = tags.clean_beyond_bound(place);
                    prop_assert_eq!(cleaned.map(|(line, _)| line), expected);
                }
            }
        }
    }
}
