//! Reads: outcomes, reservations and failures.

use super::*;

#[test]
fn a_filled_sector_hits_and_its_neighbour_is_a_sector_miss() {
    let mut it = Driven::of(&cache(4));
    assert_eq!([it.read(0), it.read(0)], [Found::Miss, Found::Pending]);
    it.fill(0);
    assert_eq!([it.read(0), it.read(SECTOR)], [Found::Hit, Found::Miss]);
    let c = &it.cache.counts;
    let counts = (c.read_hits, c.read_misses, c.read_sector_misses, c.read_pending_hits);
    assert_eq!(counts, (1, 1, 1, 1));
}

#[test]
fn a_reserved_line_cannot_be_replaced() {
    let mut it = Driven::of(&cache(2));
    it.read(0);
    it.read(LINE);
    assert_eq!(it.read(2 * LINE), Found::Fail(ReservationFail::LineAlloc));
    it.fill(LINE);
    assert_eq!(it.read(2 * LINE), Found::Miss);
    assert!(!it.has(1));
}

#[test]
fn a_miss_under_on_fill_allocation_reserves_no_line() {
    let mut it = Driven::of(&Cache { read_allocate: ReadAllocate::OnFill, ..cache(1) });
    assert_eq!([0, 1, 2].map(|line| it.read(line * LINE)), [Found::Miss, Found::Miss, Found::Miss]);
    assert!(!it.has(0));
    let fill = it.fill(0);
    assert!(fill.allocated.is_some() && it.has(0));
}

#[test]
fn a_merge_renews_its_line_under_fetch_use_join() {
    for (fetch_use, young) in [(FetchUse::Join, 0), (FetchUse::Fill, 1)] {
        let config = Cache { read_allocate: ReadAllocate::OnFill, ..cache(2) };
        let mut it = Driven::new(&config, fetch_use, ThroughMiss::Pass);
        it.bring(&[0, LINE]);
        assert_eq!([it.read(SECTOR), it.read(SECTOR)], [Found::Miss, Found::Pending]);
        it.bring(&[2 * LINE]);
        assert!(it.has(young) && !it.has(1 - young), "{fetch_use:?}");
    }
}

#[test]
fn a_fill_renews_its_line_under_fetch_use_fill() {
    for (fetch_use, young) in [(FetchUse::Join, 1), (FetchUse::Fill, 0)] {
        let config = Cache { read_allocate: ReadAllocate::OnFill, ..cache(2) };
        let mut it = Driven::new(&config, fetch_use, ThroughMiss::Pass);
        it.bring(&[0, LINE, SECTOR, 2 * LINE]);
        assert!(it.has(young) && !it.has(1 - young), "{fetch_use:?}");
    }
}

#[test]
fn every_failure_names_its_resource_and_changes_nothing() {
    let mut it = Driven::of(&Cache { mshr_entries: 1, mshr_merges: 1, ..cache(4) });
    it.room.queue = 0;
    assert_eq!(it.read(0), Found::Fail(ReservationFail::MissQueueFull));
    it.room.queue = 1;
    assert_eq!(it.read(0), Found::Miss);
    assert_eq!(it.read(0), Found::Fail(ReservationFail::MshrMerge));
    assert_eq!(it.read(LINE), Found::Fail(ReservationFail::MshrEntry));
    let misses = CacheCounts { read_misses: 1, ..CacheCounts::default() };
    assert_eq!(it.cache.counts, misses);
    assert!(!it.has(1));
}

#[test]
fn held_mshr_entries_are_not_free() {
    let mut it = Driven::of(&Cache { mshr_entries: 2, ..cache(4) });
    it.read(0);
    it.room.held_mshrs = 1;
    assert_eq!(it.read(LINE), Found::Fail(ReservationFail::MshrEntry));
    it.room.held_mshrs = 0;
    assert_eq!(it.read(LINE), Found::Miss);
}

#[test]
fn a_miss_also_needs_room_for_its_dirty_victim() {
    let mut it = Driven::of(&cache(1));
    it.put(store(SECTOR));
    it.room.queue = 1;
    assert_eq!(it.read(LINE), Found::Fail(ReservationFail::MissQueueFull));
    assert!(it.has(0));
    it.room.queue = 2;
    let evicted = Evicted { address: 0, dirty: 0b10 };
    assert_eq!(it.read_from(read(LINE)), (Found::Miss, Some(evicted)));
    assert_eq!((it.cache.counts.evictions, it.cache.counts.writebacks), (1, 1));
}

#[test]
fn a_line_inserted_as_the_oldest_is_replaced_next() {
    for read_allocate in [ReadAllocate::OnMiss, ReadAllocate::OnFill] {
        let mut it = Driven::of(&Cache { read_allocate, ..cache(2) });
        it.bring(&[0]);
        it.read_from(ReadAccess { insertion: Insertion::Oldest, ..read(LINE) });
        it.insert(LINE, Insertion::Oldest).unwrap();
        it.bring(&[2 * LINE]);
        assert!(it.has(0) && !it.has(1), "{read_allocate:?}");
    }
}

#[test]
fn a_bypassing_read_allocates_no_line_but_fills_a_present_one() {
    let mut it = Driven::of(&cache(1));
    let nowhere = |address| ReadAccess { insertion: Insertion::Nowhere, ..read(address) };
    assert_eq!(it.read_from(nowhere(0)).0, Found::Miss);
    assert_eq!(it.insert(0, Insertion::Nowhere).unwrap().slot, None);
    it.bring(&[SECTOR]);
    let Ok(Read::Miss { insertion, miss, .. }) = it.access(nowhere(0)) else {
        panic!("the sector is missing");
    };
    assert_eq!(insertion, Insertion::Newest);
    let request = test_request(&mut it.requests, 0);
    it.cache.open(miss, request, &mut it.requests);
    assert!(it.insert(0, Insertion::Nowhere).unwrap().slot.is_some());
    assert_eq!(it.read(0), Found::Hit);
}

#[test]
fn atomics_count_as_reads_and_dirty_the_line_they_hit() {
    let mut it = Driven::of(&cache(1));
    for found in [Found::Miss, Found::Pending] {
        assert_eq!(it.read_from(atomic(0)).0, found);
    }
    it.fill(0);
    assert_eq!(it.read_from(atomic(0)).0, Found::Hit);
    let c = &it.cache.counts;
    assert_eq!([c.atomic_misses, c.atomic_pending_hits, c.atomic_hits, c.atomics], [1, 1, 1, 3]);
    assert_eq!(it.read_from(read(LINE)).1, Some(Evicted { address: 0, dirty: 1 }));
}

#[test]
fn an_atomic_that_bypasses_the_cache_drops_its_sector() {
    let mut it = Driven::of(&cache(1));
    it.bring(&[0, SECTOR]);
    it.cache.bypass_atomic(0);
    assert_eq!([it.read(SECTOR), it.read(0)], [Found::Hit, Found::Miss]);
    assert_eq!(it.cache.counts.atomics, 1);
}

#[test]
fn the_set_key_selects_the_set() {
    let config = Cache { ways: 1, size_bytes: 2 * LINE as u32, ..cache(1) };
    let mut it = Driven::of(&config);
    it.bring(&[0]);
    let Ok(Read::Miss { allocated, .. }) = it.cache.read(read(2 * LINE), it.room, |_| 1) else {
        panic!("the line is absent");
    };
    assert_eq!(allocated.unwrap().evicted, None, "set 1 is empty");
}

#[test]
fn the_read_reserve_binds_misses_but_not_hits_or_stores() {
    let mut it = Driven::of(&Cache { write: WritePolicy::WriteThrough, ..cache(2) });
    it.bring(&[0]);
    assert_eq!(it.read(LINE), Found::Miss);
    it.room = Room { queue: 2, held_mshrs: 0, read_reserve: 2 };
    let full = || Found::Fail(ReservationFail::MissQueueFull);
    assert_eq!(it.read(0), Found::Hit);
    assert_eq!([it.read(LINE), it.read(2 * LINE)], [full(), full()], "it merges into no entry");
    assert!(it.write(store(2 * LINE)).is_ok());
    it.room.queue = 3;
    assert_eq!(it.read(LINE), Found::Pending);
}
