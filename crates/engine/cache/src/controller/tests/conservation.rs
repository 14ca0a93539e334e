//! Under all rules: data of a store are dirty in the cache or sent on, a failure changes nothing,
//! and every access is counted once.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LINES: u64 = 6;

#[derive(Clone, Copy, Debug)]
enum Action {
    Read(bool, Insertion),
    Write(u32, bool),
    Fill,
    Prefetch,
}

fn action() -> impl Strategy<Value = Action> {
    let insertion =
        prop_oneof![Just(Insertion::Newest), Just(Insertion::Oldest), Just(Insertion::Nowhere)];
    prop_oneof![
        (any::<bool>(), insertion).prop_map(|(atomic, insertion)| Action::Read(atomic, insertion)),
        (prop_oneof![Just(ALL_BYTES), Just(0xff)], any::<bool>())
            .prop_map(|(bytes, local)| Action::Write(bytes, local)),
        Just(Action::Fill),
        Just(Action::Prefetch),
    ]
}

fn config() -> impl Strategy<Value = Cache> {
    let write = prop_oneof![
        Just(WritePolicy::WriteThrough),
        Just(WritePolicy::WriteEvict),
        Just(WritePolicy::WriteBack),
        Just(WritePolicy::LocalWriteBack)
    ];
    let write_allocate = prop_oneof![
        Just(WriteAllocate::None),
        Just(WriteAllocate::LazyFetch),
        Just(WriteAllocate::FetchOnWrite),
        Just(WriteAllocate::SendAndFetch)
    ];
    let read_allocate = prop_oneof![Just(ReadAllocate::OnMiss), Just(ReadAllocate::OnFill)];
    (write, write_allocate, read_allocate).prop_map(|(write, write_allocate, read_allocate)| {
        // Send-and-fetch fetches whole lines.
        let sends = write_allocate == WriteAllocate::SendAndFetch;
        let sector_bytes = if sends { LINE } else { SECTOR } as u32;
        let small = Cache { mshr_entries: 3, mshr_merges: 2, sector_bytes, ..cache(2) };
        Cache { write, write_allocate, read_allocate, ..small }
    })
}

/// A cache, and the addresses of its dirty sectors.
struct Model {
    it: Driven,
    sector_bytes: u64,
    dirty: BTreeSet<u64>,
    accesses: u64,
}

impl Model {
    fn sector(&self, address: u64) -> u64 {
        address / self.sector_bytes * self.sector_bytes
    }

    /// Checks that an evicted line reports exactly its dirty sectors.
    fn allocated(&mut self, allocated: Option<Allocation>) {
        let Some(Evicted { address, dirty }) = allocated.and_then(|allocated| allocated.evicted)
        else {
            return;
        };
        let line = address..address + LINE;
        let expected: BTreeSet<u64> = self.dirty.range(line.clone()).copied().collect();
        let bits = (0..8).filter(|sector| dirty >> sector & 1 == 1);
        let found: BTreeSet<u64> =
            bits.map(|sector| address + sector * self.sector_bytes).collect();
        assert_eq!(found, expected);
        self.dirty.retain(|address| !line.contains(address));
    }

    fn read(&mut self, access: ReadAccess) -> Result<(), ReservationFail> {
        let sector = self.sector(access.address);
        let request = test_request(&mut self.it.requests, access.address);
        match self.it.access(access)? {
            Read::Hit(_) if access.atomic => {
                self.dirty.insert(sector);
            }
            Read::Hit(_) => {}
            Read::Pending(entry) => self.it.cache.join(entry, request, &mut self.it.requests),
            Read::Miss { miss, allocated, .. } => {
                self.it.cache.count_read_miss(&miss);
                self.allocated(allocated);
                self.it.cache.open(miss, request, &mut self.it.requests);
            }
        }
        self.accesses += 1;
        Ok(())
    }

    fn write(&mut self, store: WriteAccess) -> Result<(), ReservationFail> {
        let write = self.it.write(store)?;
        self.allocated(write.allocated);
        let sector = self.sector(store.address);
        if !write.sent_on {
            assert!(write.slot.is_some(), "the data have a line");
            self.dirty.insert(sector);
        }
        let request = test_request(&mut self.it.requests, store.address);
        match write.fetch {
            Some(Fetch::Open(miss)) => {
                self.it.cache.open(miss, request, &mut self.it.requests);
            }
            Some(Fetch::Join(entry)) => self.it.cache.join(entry, request, &mut self.it.requests),
            None => {}
        }
        self.accesses += 1;
        Ok(())
    }

    fn step(&mut self, address: u64, action: Action) -> Result<(), ReservationFail> {
        match action {
            Action::Read(atomic, insertion) => {
                self.read(ReadAccess { address, atomic, insertion, on_fill: false })
            }
            Action::Write(bytes, local) => {
                self.write(WriteAccess { bytes, local, ..store(address) })
            }
            Action::Fill if self.it.cache.outstanding(address).is_some() => {
                let fill = self.it.insert(address, Insertion::Newest)?;
                self.allocated(fill.allocated);
                Ok(())
            }
            Action::Fill => Ok(()),
            Action::Prefetch => {
                let sectors = (LINE / self.sector_bytes) as u32;
                let line = address / LINE * LINE;
                let room = self.it.room.queue;
                let prefetch = self.it.cache.prefetch(line, sectors, room, |line| line);
                if let Prefetch::Inserted(allocated) = prefetch {
                    self.allocated(Some(allocated));
                }
                Ok(())
            }
        }
    }

    fn counted(&self) -> u64 {
        let c = &self.it.cache.counts;
        let reads = c.read_hits + c.read_misses + c.read_sector_misses + c.read_pending_hits;
        reads + c.write_hits + c.write_misses + c.write_sector_misses
    }
}

proptest! {
    #[test]
    fn no_store_is_lost_and_failures_change_nothing(
        config in config(),
        through_miss in prop_oneof![Just(ThroughMiss::Allocate), Just(ThroughMiss::Pass)],
        fetch_use in prop_oneof![Just(FetchUse::Join), Just(FetchUse::Fill)],
        steps in prop::collection::vec((0..LINES * 4, 0usize..4, action()), 0..200),
    ) {
        // A known gap with a test of its own.
        let loses = config.write == WritePolicy::WriteThrough
            && config.write_allocate == WriteAllocate::FetchOnWrite
            && through_miss == ThroughMiss::Pass;
        prop_assume!(!loses);
        let it = Driven::new(&config, fetch_use, through_miss);
        let sector_bytes = config.sector_bytes.into();
        let mut model = Model { it, sector_bytes, dirty: BTreeSet::new(), accesses: 0 };
        for (sector, queue, action) in steps {
            model.it.room.queue = queue;
            let address = sector * SECTOR;
            let counts = model.it.cache.counts.clone();
            let misses = model.it.cache.mshr().len();
            if model.step(address, action).is_err() {
                prop_assert_eq!(&model.it.cache.counts, &counts);
                prop_assert_eq!(model.it.cache.mshr().len(), misses);
            }
            prop_assert_eq!(model.counted(), model.accesses);
        }
    }
}
