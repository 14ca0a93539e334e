//! What an L1 answers, keeps and evicts, access by access.

use super::*;
use warpmem_machine::load;

fn sector(address: u64, bytes: u32) -> Sector {
    Sector { address, bytes, ..Sector::BLANK }
}

fn read(l1: &mut L1, requests: &mut RequestTable, address: u64) -> Read {
    let outcome = l1.read(&sector(address, ALL_BYTES), 8);
    if matches!(outcome, Read::Miss { .. }) {
        let id = warpmem_sim::test_request(requests, address);
        l1.open(address, id, requests);
    }
    outcome
}

fn l1(machine: &str, overrides: &[&str]) -> L1 {
    let linear = ["l1.cache.index=linear"];
    let overrides: Vec<String> = linear.iter().chain(overrides).map(|&o| o.to_owned()).collect();
    L1::new(&load(machine, &overrides).unwrap().l1)
}

#[test]
fn a_filled_sector_hits_and_its_neighbour_is_a_sector_miss() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("v100", &[]);
    assert_eq!(read(&mut l1, &mut requests, 0x1000), Read::Miss { writeback: None });
    assert_eq!(read(&mut l1, &mut requests, 0x1000), Read::Pending);
    l1.fill(0x1000, 8);
    assert_eq!(read(&mut l1, &mut requests, 0x1000), Read::Hit);
    assert_eq!(read(&mut l1, &mut requests, 0x1020), Read::Miss { writeback: None });
    let c = &l1.counts;
    assert_eq!(
        (c.read_hits, c.read_misses, c.read_sector_misses, c.read_pending_hits),
        (1, 1, 1, 1)
    );
}

#[test]
fn reserved_lines_cannot_be_replaced() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &[]);
    // 32 sets of 4 ways: five lines of one set.
    for way in 0..4 {
        assert_eq!(read(&mut l1, &mut requests, way << 12), Read::Miss { writeback: None });
    }
    assert_eq!(read(&mut l1, &mut requests, 4 << 12), Read::Fail(ReservationFail::LineAlloc));
    l1.fill(2 << 12, 8);
    assert_eq!(read(&mut l1, &mut requests, 4 << 12), Read::Miss { writeback: None });
}

#[test]
fn the_least_recently_used_line_gives_way() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &[]);
    for way in 0..4 {
        read(&mut l1, &mut requests, way << 12);
        l1.fill(way << 12, 8);
    }
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Hit);
    read(&mut l1, &mut requests, 4 << 12);
    l1.fill(4 << 12, 8);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Hit);
    assert_eq!(read(&mut l1, &mut requests, 1 << 12), Read::Miss { writeback: None });
}

#[test]
fn a_merged_read_is_a_use_of_its_line() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &["l1.cache.size_bytes=256", "l1.cache.ways=2"]);
    read(&mut l1, &mut requests, 0);
    read(&mut l1, &mut requests, 128);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Pending);
    l1.fill(0, 8);
    l1.fill(128, 8);
    read(&mut l1, &mut requests, 256);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Hit, "line 128 gave way");
}

#[test]
fn each_shortage_has_its_name() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &["l1.cache.mshr_entries=1", "l1.cache.mshr_merges=1"]);
    assert_eq!(l1.read(&sector(0, 1), 0), Read::Fail(ReservationFail::MissQueueFull));
    read(&mut l1, &mut requests, 0);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Fail(ReservationFail::MshrMerge));
    assert_eq!(read(&mut l1, &mut requests, 128), Read::Fail(ReservationFail::MshrEntry));
}

#[test]
fn a_store_that_goes_on_needs_a_place_below() {
    let full = Write::Fail(ReservationFail::MissQueueFull);
    for policy in ["write-evict", "write-through", "write-back"] {
        let policy = format!("l1.cache.write={policy}");
        let mut l1 = l1("li2015", &[&policy, "l1.cache.write_allocate=none"]);
        assert_eq!(l1.write(&sector(0, 1), false, 0), full, "{policy}");
        assert_eq!(l1.write(&sector(0, 1), false, 1), Write::Through, "{policy}");
        assert_eq!(l1.counts.write_misses, 1, "the failure is not counted");
    }
}

#[test]
fn a_store_beside_what_is_there_misses_its_sector() {
    let mut l1 = l1("v100", &[]);
    for address in [0x1000, 0x1020, 0x1020] {
        l1.write(&sector(address, 1), false, 1);
    }
    let c = &l1.counts;
    assert_eq!((c.write_misses, c.write_sector_misses, c.write_hits), (1, 1, 1));
}

#[test]
fn a_store_under_write_evict_drops_the_line() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &["l1.cache.write=write-evict"]);
    read(&mut l1, &mut requests, 0);
    l1.fill(0, 8);
    assert_eq!(l1.write(&sector(0, 1), false, 1), Write::Through);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Miss { writeback: None });
}

#[test]
fn local_write_back_keeps_what_is_local_and_drops_other_lines() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("rtx2060s", &[]);
    let present = |l1: &mut L1, requests: &mut RequestTable, address| {
        read(l1, requests, address);
        l1.fill(address, 8);
    };
    present(&mut l1, &mut requests, 0);
    assert_eq!(l1.write(&sector(0, 1), false, 1), Write::Through);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Miss { writeback: None });
    l1.fill(0, 8);
    assert_eq!(l1.write(&sector(0, 1), true, 0), Write::Absorbed { writeback: None });
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Hit);
    assert_eq!(l1.write(&sector(0x80, 1), true, 1), Write::Through, "a miss is not allocated");
}

#[test]
fn a_line_that_a_store_leaves_with_nothing_is_the_next_to_be_replaced() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &["l1.cache.write=write-evict"]);
    for way in 0..4 {
        read(&mut l1, &mut requests, way << 12);
        l1.fill(way << 12, 8);
    }
    l1.write(&sector(3 << 12, 1), false, 1);
    read(&mut l1, &mut requests, 4 << 12);
    l1.fill(4 << 12, 8);
    assert_eq!(read(&mut l1, &mut requests, 0), Read::Hit, "the oldest has stayed");
    assert_eq!(l1.counts.evictions, 0);
}

#[test]
fn where_lines_come_with_their_fills_these_make_them_young() {
    let mut requests = RequestTable::default();
    let small = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];
    let mut l1 = l1("rtx2060s", &small);
    for address in [0x000, 0x080] {
        read(&mut l1, &mut requests, address);
        l1.fill(address, 8);
    }
    // The second sector of the first line comes, after others have waited for one of the second
    // line.
    for address in [0x020, 0x0a0, 0x0a0] {
        read(&mut l1, &mut requests, address);
    }
    l1.fill(0x020, 8);
    read(&mut l1, &mut requests, 0x100);
    l1.fill(0x100, 8);
    assert_eq!(read(&mut l1, &mut requests, 0x020), Read::Hit);
    assert_ne!(read(&mut l1, &mut requests, 0x080), Read::Hit);
}

#[test]
fn a_sector_written_in_part_is_fetched_even_by_a_read_of_that_part() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("v100", &[]);
    assert_eq!(l1.write(&sector(0x40, 0xff), false, 1), Write::Through);
    assert_eq!(l1.read(&sector(0x40, 0x0f), 8), Read::Miss { writeback: None });
    l1.open(0x40, warpmem_sim::test_request(&mut requests, 0x40), &mut requests);
    l1.fill(0x40, 8);
    assert_eq!(l1.read(&sector(0x40, 0x0f), 8), Read::Hit);
}

#[test]
fn a_sector_written_whole_is_there() {
    let mut l1 = l1("v100", &[]);
    assert_eq!(l1.write(&sector(0x40, 0xffff), false, 1), Write::Through);
    assert_eq!(l1.write(&sector(0x40, 0xffff_0000), false, 1), Write::Through);
    assert_eq!(l1.read(&sector(0x40, 0x0f), 8), Read::Hit);
}

#[test]
fn a_dirty_line_that_leaves_is_written_back() {
    let overrides = ["l1.cache.write=write-back", "l1.cache.write_allocate=fetch-on-write"];
    let mut l1 = l1("li2015", &overrides);
    for way in 0..4u64 {
        let outcome = l1.write(&sector(way << 12, ALL_BYTES), false, 8);
        assert_eq!(outcome, Write::Absorbed { writeback: None });
    }
    let dirty = Dirty { address: 0, sectors: 1 };
    assert_eq!(l1.read(&sector(4 << 12, 1), 1), Read::Fail(ReservationFail::MissQueueFull));
    assert_eq!(l1.read(&sector(4 << 12, 1), 2), Read::Miss { writeback: Some(dirty) });
}

#[test]
fn a_fill_writes_back_the_dirty_line_that_it_replaces_or_passes_by() {
    for (room, expected) in [(1, Some(Dirty { address: 0, sectors: 1 })), (0, None)] {
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
        l1.write(&sector(0, ALL_BYTES), false, 8);
        assert_eq!(l1.fill(128, room).1, expected);
        let dirty_stays = l1.read(&sector(0, ALL_BYTES), 8) == Read::Hit;
        assert_eq!(dirty_stays, expected.is_none());
        assert_eq!(l1.counts.writebacks, u64::from(expected.is_some()));
    }
}

#[test]
fn what_a_store_fetches_has_its_line_even_if_lines_are_allocated_on_fill() {
    let overrides = [
        "l1.cache.write=write-back",
        "l1.cache.write_allocate=fetch-on-write",
        "l1.cache.read_allocate=on-fill",
    ];
    let mut requests = RequestTable::default();
    let mut l1 = l1("li2015", &overrides);
    assert_eq!(l1.write(&sector(0, 1), false, 8), Write::Fetch { writeback: None });
    l1.open(0, warpmem_sim::test_request(&mut requests, 0), &mut requests);
    assert_eq!(l1.read(&sector(0, 1), 8), Read::Pending, "even the bytes written");
    l1.fill(0, 8);
    assert_eq!(l1.read(&sector(0, ALL_BYTES), 8), Read::Hit);
}

#[test]
fn streaming_misses_reserve_no_line() {
    let mut requests = RequestTable::default();
    let mut l1 = l1("rtx2060s", &[]);
    for line in 0..200u64 {
        assert_eq!(read(&mut l1, &mut requests, line * 128), Read::Miss { writeback: None });
    }
    assert_eq!(l1.counts.evictions, 0);
}

#[test]
fn lines_of_an_l1_made_larger_have_owners_too() {
    let two_lines = ["l1.cache.size_bytes=256", "l1.cache.ways=2"];
    let mut l1 = L1::new(&warpmem_testing::machine(&two_lines).l1);
    l1.keep_owners();
    l1.reset(1024);
    let mut requests = RequestTable::default();
    let mut read = |line: u64| {
        l1.read(&sector(line * 128, ALL_BYTES), 8);
        let left = l1.claim(line as u32);
        let request = warpmem_sim::test_request(&mut requests, line * 128);
        l1.open(line * 128, request, &mut requests);
        l1.fill(line * 128, 8);
        left
    };
    assert_eq!((0..8).find_map(&mut read), None, "room for eight");
    assert_eq!([8, 9].map(read), [Some((0, 0)), Some((1, 1))]);
}
