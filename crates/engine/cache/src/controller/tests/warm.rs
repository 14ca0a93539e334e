//! Accesses outside simulated time.

use super::*;

/// One set of two lines, after warm accesses: reads, and stores of a whole sector or of half of one.
fn warmed(config: &Cache, reads: &[u64], stores: &[(u64, u32)]) -> CacheController {
    let mut cache = Driven::of(config).cache;
    for &address in reads {
        cache.warm_read(address, |line| line);
    }
    for &(address, bytes) in stores {
        cache.warm_write(address, bytes, |line| line);
    }
    assert_eq!(cache.counts, CacheCounts::default(), "nothing is counted");
    cache
}

/// Returns the dirty sectors of a line, when another line evicts it.
fn dirty(cache: CacheController) -> u8 {
    let mut driven = Driven { cache, ..Driven::of(&super::cache(2)) };
    let evicted = [8, 16].map(|line| driven.read_from(read(line * LINE)).1);
    evicted.into_iter().flatten().map(|evicted| evicted.dirty).sum()
}

fn read(address: u64) -> ReadAccess {
    ReadAccess { address, atomic: false, insertion: Insertion::Newest, on_fill: false }
}

#[test]
fn reads_leave_the_sector_and_make_its_line_the_newest() {
    let mut cache = warmed(&cache(2), &[0, LINE, 0], &[]);
    assert!(cache.warm_read(0, |line| line).unwrap().hit);
    assert!(!cache.warm_read(SECTOR, |line| line).unwrap().hit, "not the whole line");
    let evicted = cache.warm_read(2 * LINE, |line| line).unwrap().allocated.unwrap().evicted;
    assert_eq!(evicted, Some(Evicted { address: LINE, dirty: 0 }));
}

#[test]
fn stores_leave_what_the_write_policy_leaves() {
    let half = [(0, 0xffff)];
    let mut lazy = warmed(&cache(2), &[], &half);
    assert!(!lazy.warm_read(0, |line| line).unwrap().hit, "half of the sector is valid");
    assert_eq!(dirty(warmed(&cache(2), &[], &half)), 1);
    let of = |write_allocate| Cache { write_allocate, ..cache(2) };
    assert!(warmed(&of(WriteAllocate::FetchOnWrite), &[], &half).warm_read(0, |l| l).unwrap().hit);
    let sent = of(WriteAllocate::SendAndFetch);
    assert_eq!(dirty(warmed(&sent, &[], &[(0, ALL_BYTES)])), 0, "the first store is sent on");
    assert_eq!(dirty(warmed(&sent, &[0], &[(0, ALL_BYTES)])), 1);
    assert_eq!(warmed(&of(WriteAllocate::None), &[], &[(0, ALL_BYTES)]).find(0), None);
    let through = Cache { write: WritePolicy::WriteThrough, ..cache(2) };
    assert_eq!(dirty(warmed(&through, &[0], &[(0, ALL_BYTES)])), 0);
    let evict = Cache { write: WritePolicy::WriteEvict, ..cache(2) };
    assert_eq!(warmed(&evict, &[0], &[(0, ALL_BYTES)]).find(0), None, "its only sector is dropped");
}

#[test]
fn the_bound_on_dirty_lines_holds() {
    let mut cache = Driven::of(&cache(2)).cache.with_dirty_ways(1);
    for line in [0, LINE] {
        cache.warm_write(line, ALL_BYTES, |line| line);
    }
    assert_eq!(dirty(cache), 1);
}

#[test]
fn outstanding_sectors_keep_their_line_and_are_not_filled() {
    let mut driven = Driven::of(&cache(1));
    assert_eq!(driven.read_from(read(0)).0, Found::Miss);
    assert!(driven.cache.warm_read(0, |line| line).unwrap().hit, "its data are on the way");
    assert_eq!(driven.cache.warm_read(LINE, |line| line), None, "no other line finds room");
    driven.cache.warm_write(0, ALL_BYTES, |line| line);
    driven.cache.warm_drop(0);
    assert!(driven.cache.find(0).is_some() && driven.cache.outstanding(0).is_some());
}
