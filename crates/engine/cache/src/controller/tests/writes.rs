//! Stores under each policy: data kept, sent on and fetched.

use super::*;

fn config(write: WritePolicy, write_allocate: WriteAllocate) -> Cache {
    Cache { write, write_allocate, ..cache(2) }
}

fn driven(write: WritePolicy, write_allocate: WriteAllocate) -> Driven {
    Driven::of(&config(write, write_allocate))
}

/// As [`driven`], but stores that are sent on allocate.
fn allocating(write_allocate: WriteAllocate) -> Driven {
    let config = config(WritePolicy::WriteThrough, write_allocate);
    Driven::new(&config, FetchUse::Join, ThroughMiss::Allocate)
}

/// Opens the fetch of a store.
fn fetch(it: &mut Driven, store: WriteAccess) -> Write {
    let write = it.write(store).expect("there is room");
    let request = test_request(&mut it.requests, store.address);
    match write.fetch {
        Some(Fetch::Open(miss)) => {
            it.cache.open(miss, request, &mut it.requests);
        }
        Some(Fetch::Join(entry)) => it.cache.join(entry, request, &mut it.requests),
        None => panic!("it fetches nothing"),
    }
    Write { fetch: None, ..write }
}

#[test]
fn write_back_keeps_a_store_dirty() {
    let mut it = driven(WritePolicy::WriteBack, WriteAllocate::LazyFetch);
    let write = it.put(store(0));
    assert!(write.slot.is_some() && write.allocated.is_some() && !write.sent_on && !write.hit);
    let again = it.put(store(0));
    assert!(again.hit && again.slot == write.slot && again.allocated.is_none());
    it.bring(&[LINE]);
    assert_eq!(it.read_from(read(2 * LINE)).1, Some(Evicted { address: 0, dirty: 1 }));
}

/// A set of `ways` lines, at most `most` dirty.
fn bounded(ways: u32, most: u32) -> Driven {
    let Driven { cache, requests, room } = Driven::of(&cache(ways));
    Driven { cache: cache.with_dirty_ways(most), requests, room }
}

#[test]
fn the_line_written_least_recently_is_cleaned_beyond_the_bound_and_stays() {
    let mut it = bounded(4, 2);
    for address in [0, LINE, 0, SECTOR] {
        it.put(store(address));
        assert_eq!(it.cache.take_cleaned(), None);
    }
    // A use is no write.
    assert_eq!(it.read(LINE), Found::Hit);
    it.put(store(2 * LINE));
    assert_eq!(it.cache.take_cleaned(), Some(Evicted { address: LINE, dirty: 0b1 }));
    it.put(store(3 * LINE));
    assert_eq!(it.cache.take_cleaned(), Some(Evicted { address: 0, dirty: 0b11 }));
    assert!([0, SECTOR, LINE].into_iter().all(|address| it.read(address) == Found::Hit));
    assert_eq!((it.cache.counts.early_writebacks, it.cache.counts.writebacks), (2, 0));
    // Line 2 is the oldest and dirty, line 3 dirty too.
    assert_eq!(it.read_from(read(4 * LINE)).1, Some(Evicted { address: 2 * LINE, dirty: 1 }));
    it.put(store(5 * LINE));
    assert_eq!(it.cache.take_cleaned(), None, "the eviction has made room");
}

#[test]
fn n_stores_to_new_lines_clean_all_but_the_bound() {
    for (ways, most) in [(1, 1), (8, 1), (8, 4), (8, 8), (8, 20)] {
        let mut it = bounded(ways, most);
        for line in 0..50 {
            it.put(store(line * LINE));
            it.cache.take_cleaned();
        }
        let written_back = it.cache.counts.early_writebacks + it.cache.counts.writebacks;
        assert_eq!(written_back, u64::from(50 - most.min(ways)), "{ways} ways, bound {most}");
    }
}

#[test]
fn atomics_obey_the_bound_on_dirty_lines() {
    let mut it = bounded(4, 1);
    it.bring(&[0, LINE]);
    assert_eq!(it.read_from(atomic(0)).0, Found::Hit);
    assert_eq!(it.cache.take_cleaned(), None);
    assert_eq!(it.read_from(atomic(LINE)).0, Found::Hit);
    assert_eq!(it.cache.take_cleaned(), Some(Evicted { address: 0, dirty: 1 }));
    // An atomic that misses writes at its fill.
    assert_eq!(it.read_from(atomic(2 * LINE)).0, Found::Miss);
    let slot = it.fill(2 * LINE).slot.expect("it has a line");
    it.cache.modify(slot, 2 * LINE, Room { queue: 0, ..it.room });
    assert_eq!(it.cache.take_cleaned(), None, "no fill waits for room to clean a line");
    it.cache.modify(slot, 2 * LINE, it.room);
    assert_eq!(it.cache.take_cleaned(), Some(Evicted { address: LINE, dirty: 1 }));
}

#[test]
fn with_a_bound_every_write_needs_room_to_clean_a_line() {
    let mut it = bounded(4, 1);
    it.put(store(0));
    it.room.queue = 0;
    assert_eq!(it.write(store(LINE)), Err(ReservationFail::MissQueueFull));
    assert_eq!(it.read_from(atomic(0)).0, Found::Fail(ReservationFail::MissQueueFull));
    assert!(!it.has(LINE) && it.cache.take_cleaned().is_none(), "nothing has changed");
    let config = config(WritePolicy::WriteBack, WriteAllocate::FetchOnWrite);
    let Driven { cache, requests, room } = Driven::of(&config);
    let mut it = Driven { cache: cache.with_dirty_ways(1), requests, room };
    it.room.queue = 1;
    let fetch_and_clean = it.write(partial(0));
    assert_eq!(fetch_and_clean, Err(ReservationFail::MissQueueFull));
    it.room.queue = 2;
    assert!(it.write(partial(0)).is_ok());
}

#[test]
fn write_through_updates_a_line_and_sends_the_store_on() {
    let mut it = driven(WritePolicy::WriteThrough, WriteAllocate::None);
    it.bring(&[0]);
    let write = it.put(store(0));
    assert!(write.hit && write.slot.is_some() && write.sent_on);
    it.bring(&[LINE]);
    assert_eq!(it.read_from(read(2 * LINE)).1, Some(Evicted { address: 0, dirty: 0 }));
}

#[test]
fn write_evict_drops_the_sector_and_sends_the_store_on() {
    let mut it = driven(WritePolicy::WriteEvict, WriteAllocate::None);
    it.bring(&[0, SECTOR]);
    let write = it.put(store(0));
    assert!(write.hit && write.slot.is_none() && write.sent_on);
    assert_eq!([it.read(SECTOR), it.read(0)], [Found::Hit, Found::Miss]);
}

#[test]
fn a_line_without_sectors_is_replaced_next() {
    let mut it = driven(WritePolicy::WriteEvict, WriteAllocate::None);
    it.bring(&[0, LINE]);
    it.put(store(LINE));
    it.bring(&[2 * LINE]);
    assert!(it.has(0), "the oldest line is still present");
    assert_eq!(it.cache.counts.evictions, 0);
}

#[test]
fn local_write_back_keeps_local_stores_and_evicts_on_others() {
    let mut it = driven(WritePolicy::LocalWriteBack, WriteAllocate::None);
    it.bring(&[0, LINE]);
    it.room.queue = 0;
    let local = |address| WriteAccess { local: true, ..store(address) };
    assert!(!it.put(local(0)).sent_on);
    it.room.queue = 1;
    assert!(it.put(store(LINE)).sent_on && !it.has(1));
    let missed = it.put(local(2 * LINE));
    assert!(missed.sent_on && missed.slot.is_none(), "nothing is allocated");
}

#[test]
fn a_store_that_is_sent_on_needs_room_below() {
    for write in [WritePolicy::WriteEvict, WritePolicy::WriteThrough, WritePolicy::WriteBack] {
        let mut it = driven(write, WriteAllocate::None);
        it.room.queue = 0;
        assert_eq!(it.write(store(0)), Err(ReservationFail::MissQueueFull), "{write:?}");
        it.room.queue = 1;
        assert!(it.put(store(0)).sent_on, "{write:?}");
        assert_eq!(it.cache.counts.write_misses, 1, "the failure is not counted");
    }
}

#[test]
fn a_store_to_an_absent_sector_of_a_present_line_is_a_sector_miss() {
    let mut it = driven(WritePolicy::WriteBack, WriteAllocate::LazyFetch);
    for address in [0, SECTOR, SECTOR] {
        it.put(store(address));
    }
    let c = &it.cache.counts;
    assert_eq!((c.write_misses, c.write_sector_misses, c.write_hits), (1, 1, 1));
}

#[test]
fn a_store_of_several_sectors_hits_if_all_are_present() {
    let mut it = driven(WritePolicy::WriteBack, WriteAllocate::LazyFetch);
    let two = WriteAccess { sectors: 0b101, ..store(SECTOR) };
    it.put(store(SECTOR));
    assert!(!it.put(two).hit);
    assert!(it.put(two).hit);
    it.bring(&[LINE]);
    assert_eq!(it.read_from(read(2 * LINE)).1, Some(Evicted { address: 0, dirty: 0b1010 }));
}

#[test]
fn lazy_fetch_fetches_a_partly_written_sector_when_it_is_read() {
    let mut it = driven(WritePolicy::WriteBack, WriteAllocate::LazyFetch);
    it.put(partial(0));
    assert_eq!(it.read(0), Found::Miss);
    it.fill(0);
    it.put(WriteAccess { bytes: 0xffff, ..store(SECTOR) });
    it.put(WriteAccess { bytes: 0xffff_0000, ..store(SECTOR) });
    assert_eq!(
        [it.read(0), it.read(SECTOR)],
        [Found::Hit, Found::Hit],
        "two halves make a whole sector"
    );
    assert_eq!(it.cache.counts.write_fetches, 0);
}

#[test]
fn fetch_on_write_fetches_a_partly_written_sector_once() {
    for read_allocate in [ReadAllocate::OnMiss, ReadAllocate::OnFill] {
        let config = config(WritePolicy::WriteBack, WriteAllocate::FetchOnWrite);
        let mut it = Driven::of(&Cache { read_allocate, ..config });
        let write = fetch(&mut it, partial(0));
        assert!(write.slot.is_some() && !write.sent_on, "the data need the line now");
        it.put(partial(0));
        assert_eq!(it.read(0), Found::Pending);
        it.fill(0);
        it.put(partial(0));
        it.put(store(SECTOR));
        assert_eq!(it.cache.counts.write_fetches, 1, "{read_allocate:?}");
    }
}

#[test]
fn stores_that_are_sent_on_allocate_or_bypass() {
    for write_allocate in [WriteAllocate::LazyFetch, WriteAllocate::FetchOnWrite] {
        let mut it = allocating(write_allocate);
        let write = it.put(partial(0));
        assert!(write.slot.is_some() && write.sent_on, "{write_allocate:?}");
        assert!(allocating(WriteAllocate::None).put(partial(0)).slot.is_none());
        let passed = driven(WritePolicy::WriteThrough, write_allocate).put(partial(0));
        assert!(passed.slot.is_none() && passed.sent_on, "{write_allocate:?}");
    }
}

#[test]
fn a_store_that_is_sent_on_bypasses_a_set_of_reserved_lines() {
    let mut it = allocating(WriteAllocate::LazyFetch);
    it.read(0);
    it.read(LINE);
    let write = it.put(store(2 * LINE));
    assert!(write.slot.is_none() && write.sent_on);
}

/// A known gap: the store is neither sent on nor dirty, so the next level never receives its data.
#[test]
fn a_store_that_is_sent_on_fetches_a_missing_sector_of_a_present_line_instead() {
    let mut it = driven(WritePolicy::WriteThrough, WriteAllocate::FetchOnWrite);
    it.bring(&[0]);
    let write = fetch(&mut it, partial(SECTOR));
    assert!(write.slot.is_some() && !write.sent_on);
    it.fill(SECTOR);
    it.bring(&[LINE]);
    assert_eq!(it.read_from(read(2 * LINE)).1, Some(Evicted { address: 0, dirty: 0 }));
    // With `ThroughMiss::Allocate` they are sent on, and nothing is fetched.
    let mut it = allocating(WriteAllocate::FetchOnWrite);
    it.bring(&[0]);
    assert!(it.put(partial(SECTOR)).sent_on);
}

/// One sector per line.
fn sends_and_fetches() -> Cache {
    let config = config(WritePolicy::WriteBack, WriteAllocate::SendAndFetch);
    Cache { sector_bytes: config.line_bytes, ..config }
}

#[test]
fn send_and_fetch_sends_every_missing_store_on_and_fetches_its_line() {
    let mut it = Driven::of(&sends_and_fetches());
    let write = fetch(&mut it, store(0));
    assert!(write.sent_on && write.slot.is_none() && !write.hit);
    let joined = fetch(&mut it, store(0));
    assert!(joined.sent_on && joined.hit);
    assert_eq!(it.fill(0).count, 2);
    assert!(!it.put(partial(0)).sent_on, "the line is whole");
    let c = &it.cache.counts;
    assert_eq!((c.write_misses, c.write_hits, c.write_fetches), (1, 2, 1));
}

#[test]
fn send_and_fetch_needs_room_for_the_store_the_fetch_and_a_dirty_victim() {
    let mut it = Driven::of(&Cache { mshr_merges: 1, ..sends_and_fetches() });
    it.room.queue = 1;
    assert_eq!(it.write(store(0)), Err(ReservationFail::MissQueueFull));
    it.room.queue = 2;
    for line in 0..2 {
        fetch(&mut it, store(line * LINE));
        assert_eq!(it.write(store(line * LINE)), Err(ReservationFail::MshrMerge));
        it.fill(line * LINE);
        it.put(store(line * LINE));
    }
    assert_eq!(it.write(store(2 * LINE)), Err(ReservationFail::MissQueueFull));
    it.room.queue = 3;
    assert!(fetch(&mut it, store(2 * LINE)).allocated.unwrap().dirty().is_some());
}
