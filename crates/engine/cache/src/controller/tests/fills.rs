//! Fills and prefetched lines.

use super::*;

#[test]
fn a_fill_returns_the_merged_requests_in_order() {
    let mut it = Driven::of(&cache(1));
    let first = test_request(&mut it.requests, 0);
    let Ok(Read::Miss { miss, .. }) = it.access(read(0)) else { panic!("the line is absent") };
    let entry = it.cache.open(miss, first, &mut it.requests);
    assert_eq!(it.cache.outstanding(SECTOR - 1), Some(entry));
    assert_eq!(it.read(0), Found::Pending);
    let fill = it.fill(0);
    assert_eq!((fill.entry, fill.first, fill.count), (entry, first, 2));
    assert_ne!(it.requests.next(first, CacheLevel::L2), RequestId::NONE);
    assert_eq!(it.cache.outstanding(0), None);
}

#[test]
fn a_fill_uses_the_line_reserved_by_its_miss() {
    let mut it = Driven::of(&cache(2));
    let Ok(Read::Miss { miss, allocated, .. }) = it.access(read(0)) else {
        panic!("the line is absent");
    };
    let request = test_request(&mut it.requests, 0);
    it.cache.open(miss, request, &mut it.requests);
    let fill = it.fill(0);
    assert_eq!(fill.slot, allocated.map(|allocated| allocated.slot));
    assert_eq!(fill.allocated, None);
}

/// A cache of one dirty line, and an outstanding miss of another line without a reservation.
fn behind_a_dirty_line() -> Driven {
    let mut it = Driven::of(&Cache { read_allocate: ReadAllocate::OnFill, ..cache(1) });
    it.read(LINE);
    it.put(store(0));
    it
}

#[test]
fn a_fill_without_room_for_its_dirty_victim_can_be_retried() {
    let mut it = behind_a_dirty_line();
    it.room.queue = 0;
    assert_eq!(it.insert(LINE, Insertion::Newest), Err(ReservationFail::MissQueueFull));
    assert!(it.has(0) && it.cache.outstanding(LINE).is_some());
    it.room.queue = 1;
    let evicted = it.fill(LINE).allocated.and_then(|allocated| allocated.dirty());
    assert_eq!(evicted, Some(Evicted { address: 0, dirty: 1 }));
    assert_eq!(it.read(LINE), Found::Hit);
}

#[test]
fn fill_nothing_closes_the_entry_and_keeps_no_line() {
    let mut it = behind_a_dirty_line();
    let fill = it.cache.fill_nothing(LINE);
    assert_eq!((fill.slot, fill.allocated, fill.count), (None, None, 1));
    assert!(it.has(0) && it.cache.outstanding(LINE).is_none());
}

#[test]
fn a_merged_atomic_dirties_the_filled_line() {
    let mut it = Driven::of(&cache(1));
    it.read_from(atomic(SECTOR));
    let slot = it.fill(SECTOR).slot.unwrap();
    it.cache.modify(slot, SECTOR, it.room);
    assert_eq!(it.read_from(read(LINE)).1, Some(Evicted { address: 0, dirty: 0b10 }));
}

fn prefetch(it: &mut Driven, line: u64, room: usize) -> Prefetch {
    it.cache.prefetch(line * LINE, 4, room, |line| line)
}

#[test]
fn a_prefetched_line_hits_in_all_its_sectors() {
    let mut it = Driven::of(&cache(1));
    assert!(matches!(prefetch(&mut it, 0, 0), Prefetch::Inserted(_)));
    assert!((0..4).all(|sector| it.read(sector * SECTOR) == Found::Hit));
}

#[test]
fn a_prefetched_line_disturbs_nothing() {
    let mut it = Driven::of(&cache(1));
    it.read(3 * SECTOR);
    assert_eq!(prefetch(&mut it, 0, 8), Prefetch::Late);
    let reserved = Prefetch::Dropped(ReservationFail::LineAlloc);
    assert_eq!(prefetch(&mut it, 1, 8), reserved, "the only line is reserved");
    it.fill(3 * SECTOR);
    assert_eq!(prefetch(&mut it, 0, 8), Prefetch::Redundant);
    it.put(store(0));
    let no_room = Prefetch::Dropped(ReservationFail::MissQueueFull);
    assert_eq!(prefetch(&mut it, 1, 0), no_room, "no room for dirty data");
    assert!(matches!(prefetch(&mut it, 1, 1), Prefetch::Inserted(_)));
}
