//! Rules specific to L1 and its presets; `warpmem-cache` tests the rules common to all caches.

use super::*;
use warpmem_cache::Evicted;
use warpmem_machine::load;

const ALL_BYTES: u32 = u32::MAX;

/// Outcome of a read, with the dirty line that it evicts.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Hit,
    Pending,
    Miss(Option<Evicted>),
    Fail(ReservationFail),
}

const MISS: Found = Found::Miss(None);

fn sector(address: u64, bytes: u32) -> Sector {
    Sector { address, bytes, ..Sector::BLANK }
}

/// Reads with `queue` free miss-queue entries; a miss opens its MSHR entry.
fn read_with(l1: &mut L1, requests: &mut RequestTable, address: u64, queue: usize) -> Found {
    match l1.read(&sector(address, 1), queue) {
        Ok(Read::Hit(_)) => Found::Hit,
        Ok(Read::Pending(_)) => Found::Pending,
        Ok(Read::Miss { miss, allocated, .. }) => {
            let id = warpmem_sim::test_request(requests, address);
            l1.open(miss, id, requests);
            Found::Miss(allocated.and_then(|allocated| allocated.dirty()))
        }
        Err(reason) => Found::Fail(reason),
    }
}

fn read(l1: &mut L1, requests: &mut RequestTable, address: u64) -> Found {
    read_with(l1, requests, address, 8)
}

/// Stores with `queue` free miss-queue entries, without a fetch; returns whether the store is sent
/// on.
fn sends(l1: &mut L1, address: u64, bytes: u32, local: bool, queue: usize) -> bool {
    let write = l1.write(&sector(address, bytes), local, queue).expect("there is room");
    assert_eq!(write.fetch, None);
    write.sent_on
}

fn l1(machine: &str, overrides: &[&str]) -> L1 {
    let linear = ["l1.cache.index=linear"];
    let overrides: Vec<String> = linear.iter().chain(overrides).map(|&o| o.to_owned()).collect();
    L1::new(&load(machine, &overrides).unwrap().l1)
}

#[test]
fn li2015_reserves_a_line_at_the_miss() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &[]);
    // Five lines of one set, of 32 sets of 4 ways.
    for way in 0..4 {
        assert_eq!(read(&mut l1, &mut requests, way << 12), MISS);
    }
    assert_eq!(read(&mut l1, &mut requests, 4 << 12), Found::Fail(ReservationFail::LineAlloc));
    l1.fill(2 << 12, 8);
    assert_eq!(read(&mut l1, &mut requests, 4 << 12), MISS);
}

#[test]
fn the_least_recently_used_line_is_evicted() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &[]);
    for way in 0..4 {
        read(&mut l1, &mut requests, way << 12);
        l1.fill(way << 12, 8);
    }
    assert_eq!(read(&mut l1, &mut requests, 0), Found::Hit);
    read(&mut l1, &mut requests, 4 << 12);
    l1.fill(4 << 12, 8);
    assert_eq!(read(&mut l1, &mut requests, 0), Found::Hit);
    assert_eq!(read(&mut l1, &mut requests, 1 << 12), MISS);
}

#[test]
fn a_merged_read_counts_as_a_use() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &["l1.cache.size_bytes=256", "l1.cache.ways=2"]);
    read(&mut l1, &mut requests, 0);
    read(&mut l1, &mut requests, 128);
    assert_eq!(read(&mut l1, &mut requests, 0), Found::Pending);
    l1.fill(0, 8);
    l1.fill(128, 8);
    read(&mut l1, &mut requests, 256);
    assert_eq!(read(&mut l1, &mut requests, 0), Found::Hit, "line 128 was evicted");
}

#[test]
fn with_allocation_on_fill_a_fill_counts_as_a_use() {
    let mut requests = RequestTable::default();
    let small = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];
    let mut l1 = l1("accelsim-rtx2060s", &small);
    for address in [0x000, 0x080] {
        read(&mut l1, &mut requests, address);
        l1.fill(address, 8);
    }
    // The second sector of the first line is filled after reads have merged into the second line.
    for address in [0x020, 0x0a0, 0x0a0] {
        read(&mut l1, &mut requests, address);
    }
    l1.fill(0x020, 8);
    read(&mut l1, &mut requests, 0x100);
    l1.fill(0x100, 8);
    assert_eq!(read(&mut l1, &mut requests, 0x020), Found::Hit);
    assert_ne!(read(&mut l1, &mut requests, 0x080), Found::Hit);
}

#[test]
fn streaming_misses_reserve_no_line() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("accelsim-rtx2060s", &[]);
    for line in 0..200u64 {
        assert_eq!(read(&mut l1, &mut requests, line * 128), MISS);
    }
    assert_eq!(l1.counts().evictions, 0);
}

#[test]
fn streaming_l1_keeps_local_stores_and_invalidates_on_others() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("accelsim-rtx2060s", &[]);
    for _ in 0..2 {
        assert_eq!(read(&mut l1, &mut requests, 0), MISS);
        l1.fill(0, 8);
        assert!(!sends(&mut l1, 0, 1, true, 0));
        assert!(sends(&mut l1, 0, 1, false, 1));
    }
    assert!(sends(&mut l1, 0x80, 1, true, 1), "no allocation on a store miss");
}

#[test]
fn write_through_stores_leave_valid_bytes() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("accelsim-qv100", &[]);
    for half in [0xffff, 0xffff_0000] {
        assert!(sends(&mut l1, 0x40, half, false, 1));
    }
    assert_eq!(read(&mut l1, &mut requests, 0x40), Found::Hit);
    assert!(sends(&mut l1, 0x60, 1, false, 1));
    assert_eq!(read(&mut l1, &mut requests, 0x60), MISS, "a read needs the whole sector");
}

#[test]
fn evicted_dirty_lines_are_written_back() {
    let overrides = ["l1.cache.write=write-back", "l1.cache.write_allocate=fetch-on-write"];
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &overrides);
    for way in 0..4u64 {
        assert!(!sends(&mut l1, way << 12, ALL_BYTES, false, 8));
    }
    let full = Found::Fail(ReservationFail::MissQueueFull);
    assert_eq!(read_with(&mut l1, &mut requests, 4 << 12, 1), full);
    let dirty = Evicted { address: 0, dirty: 1 };
    assert_eq!(read_with(&mut l1, &mut requests, 4 << 12, 2), Found::Miss(Some(dirty)));
}

#[test]
fn a_fill_evicts_a_dirty_line_only_with_miss_queue_room() {
    for (room, expected) in [(1, Some(Evicted { address: 0, dirty: 1 })), (0, None)] {
        let overrides = [
            "l1.cache.write=write-back",
            "l1.cache.write_allocate=fetch-on-write",
            "l1.cache.read_allocate=on-fill",
            "l1.cache.size_bytes=128",
            "l1.cache.ways=1",
        ];
        let mut requests = RequestTable::default();
        let mut l1 = l1("li2015", &overrides);
        read(&mut l1, &mut requests, 128);
        sends(&mut l1, 0, ALL_BYTES, false, 8);
        let evicted = l1.fill(128, room).allocated.and_then(|allocated| allocated.dirty());
        assert_eq!(evicted, expected);
        let dirty_stays = read(&mut l1, &mut requests, 0) == Found::Hit;
        assert_eq!(dirty_stays, expected.is_none());
        assert_eq!(l1.counts().writebacks, u64::from(expected.is_some()));
    }
}

#[test]
fn a_resized_l1_tracks_the_owner_of_every_line() {
    let two_lines = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];
    let mut l1 = L1::new(&crate::testing::machine(&two_lines).l1);
    l1.keep_owners();
    l1.reset(1024);
    let mut requests = RequestTable::default();
    let mut read = |line: u64| {
        let Ok(Read::Miss { miss, allocated, .. }) = l1.read(&sector(line * 128, 1), 8) else {
            panic!("the line is absent");
        };
        let left = l1.claim(allocated.unwrap(), WarpSlot::new(line as usize));
        let request = warpmem_sim::test_request(&mut requests, line * 128);
        l1.open(miss, request, &mut requests);
        l1.fill(line * 128, 8);
        left
    };
    assert_eq!((0..8).find_map(&mut read), None, "room for eight");
    assert_eq!([8, 9].map(read), [(0, 0), (1, 1)].map(|(slot, line)| Some((WarpSlot(slot), line))));
}
