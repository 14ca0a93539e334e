//! Coalescing of lane addresses into sectors.

use super::sectors::{Sector, Sectors};
use std::collections::BTreeMap;
use warpmem_machine::{AtomicRequests, Machine, RequestOrder};
use warpmem_trace::MAX_REGISTER_WIDTH;

/// Bytes of a page, the unit of `run.page_offset`.
const PAGE_BYTES: u64 = 4096;

/// Bits of a sector's byte mask.
const PARTS: u32 = 32;

/// Coalesces lane accesses into sectors, in the order in which lanes first touch them, or by
/// address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coalescer {
    sector_shift: u32,
    /// Log2 of the bytes per bit of a byte mask.
    part_shift: u32,
    atomic_requests: AtomicRequests,
    order: RequestOrder,
    /// Bytes added to all addresses of the trace.
    displacement: u64,
}

impl Coalescer {
    pub fn new(machine: &Machine) -> Coalescer {
        let sector_shift = machine.l1.cache.sector_bytes.trailing_zeros();
        Coalescer {
            sector_shift,
            part_shift: sector_shift.saturating_sub(PARTS.trailing_zeros()),
            atomic_requests: machine.sm.atomic_requests,
            order: machine.sm.request_order,
            displacement: u64::from(machine.run.page_offset) * PAGE_BYTES,
        }
    }

    /// Writes the distinct sectors of accesses of `width` bytes at `addresses`. A load needs every
    /// part that it touches; a store covers only the parts that one lane fills completely.
    pub fn sectors(&self, addresses: &[u64], width: u32, store: bool, out: &mut Sectors) {
        out.clear();
        let bulk = width > MAX_REGISTER_WIDTH;
        let width = u64::from(width.max(1));
        if self.is_one_range(addresses, width, store) {
            let range = self.parts(addresses[0], width * addresses.len() as u64, store);
            range.for_each(|(address, bytes)| {
                out.push(Sector { address, bytes, ..Sector::BLANK });
            });
        } else if bulk {
            self.add_bulk(addresses, width, store, out);
        } else {
            self.add_each(addresses, width, store, out);
        }
        self.put_in_order(out);
    }

    /// Whether the lanes' accesses are equivalent to one access to all their bytes: they are
    /// contiguous, and no part of a sector is stored to by two lanes.
    #[inline]
    fn is_one_range(&self, addresses: &[u64], width: u64, store: bool) -> bool {
        let Some((&first, rest)) = addresses.split_first() else { return false };
        let unaligned = (first | width) & ((1 << self.part_shift) - 1) != 0;
        let mut next = first.wrapping_add(width);
        let beside = rest.iter().all(|&address| {
            let expected = next;
            next = next.wrapping_add(width);
            address == expected
        });
        beside && !(store && unaligned)
    }

    /// Adds the accesses of lanes one by one.
    fn add_each(&self, addresses: &[u64], width: u64, store: bool, out: &mut Sectors) {
        for &address in addresses {
            for (sector, bytes) in self.parts(address, width, store) {
                out.add(sector, bytes);
            }
        }
    }

    /// As [`Coalescer::add_each`], for lanes with so many sectors that a linear search for each
    /// would be slow.
    fn add_bulk(&self, addresses: &[u64], width: u64, store: bool, out: &mut Sectors) {
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        for &lane in addresses {
            for (address, bytes) in self.parts(lane, width, store) {
                let new = || out.push(Sector { address, ..Sector::BLANK });
                let at = *places.entry(address).or_insert_with(new);
                out.at_mut(at).bytes |= bytes;
            }
        }
    }

    /// Iterates over the sectors of an access to `bytes` from `address` on, with the parts that it
    /// touches.
    #[inline]
    fn parts(&self, address: u64, bytes: u64, store: bool) -> impl Iterator<Item = (u64, u32)> {
        let sector_bytes = 1u64 << self.sector_shift;
        let (mut at, mut left) = (address.wrapping_add(self.displacement), bytes);
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let offset = at & (sector_bytes - 1);
            let bytes = left.min(sector_bytes - offset);
            let part = (at - offset, self.mask(offset, bytes, store));
            at = at.wrapping_add(bytes);
            left -= bytes;
            Some(part)
        })
    }

    /// Writes the requests of atomics of `width` bytes: per sector, one request with the largest
    /// number of lanes at one address, or that number of requests of one lane each. A bulk
    /// reduction makes one request per sector in both cases.
    pub fn atomics(&self, addresses: &[u64], width: u32, out: &mut Sectors) {
        out.clear();
        if width > MAX_REGISTER_WIDTH {
            self.add_bulk_atomics(addresses, width.into(), out);
        } else {
            self.add_atomics(addresses, out);
        }
        self.put_in_order(out);
    }

    fn add_bulk_atomics(&self, addresses: &[u64], width: u64, out: &mut Sectors) {
        self.add_bulk(addresses, width, false, out);
        let sector_bytes = 1 << self.sector_shift;
        for sector in out.as_mut_slice() {
            let first = sector.address.wrapping_sub(self.displacement);
            let covers = |byte: u64, lane: u64| byte.wrapping_sub(lane) < width;
            let lanes_at =
                |byte| addresses.iter().filter(|&&lane| covers(byte, lane)).count() as u8;
            // A lane is longer than a sector, so it covers one of the sector's ends.
            let last = first.wrapping_add(sector_bytes - 1);
            sector.max_lanes_per_address = lanes_at(first).max(lanes_at(last));
        }
    }

    fn add_atomics(&self, addresses: &[u64], out: &mut Sectors) {
        for (lane, &address) in addresses.iter().enumerate() {
            let at = address.wrapping_add(self.displacement);
            let sector = (at >> self.sector_shift) << self.sector_shift;
            let same = addresses[..=lane].iter().filter(|&&other| other == address).count();
            match self.atomic_requests {
                AtomicRequests::PerSector => {
                    let found = out.add(sector, u32::MAX);
                    found.max_lanes_per_address = found.max_lanes_per_address.max(same as u8);
                }
                AtomicRequests::PerConflict => {
                    let have = out.as_slice().iter().filter(|s| s.address == sector).count();
                    if same > have {
                        let (address, bytes) = (sector, u32::MAX);
                        out.push(Sector {
                            address,
                            bytes,
                            max_lanes_per_address: 1,
                            ..Sector::BLANK
                        });
                    }
                }
            }
        }
    }

    fn put_in_order(&self, out: &mut Sectors) {
        if self.order == RequestOrder::Descending {
            out.descend();
        }
    }

    /// Returns the parts of a sector that `bytes` from `offset` on touch, or fill completely
    /// (`store`).
    #[inline]
    fn mask(&self, offset: u64, bytes: u64, store: bool) -> u32 {
        // Loads count partly touched parts, stores only completely filled ones.
        let up = (1u64 << self.part_shift) - 1;
        let (up_first, up_end) = if store { (up, 0) } else { (0, up) };
        let first = (offset + up_first) >> self.part_shift;
        let end = (offset + bytes + up_end) >> self.part_shift;
        // Sectors smaller than 32 bytes use the low bits only; their fills set all bits.
        let below = |part: u64| (1u64 << part.min(PARTS.into())) - 1;
        (below(end) & !below(first)) as u32
    }
}

impl Sectors {
    /// Returns the entry of a sector, with `bytes` added to its parts.
    #[inline]
    fn add(&mut self, address: u64, bytes: u32) -> &mut Sector {
        // Neighbouring lanes mostly touch the same sector, so search backwards.
        let found = self.as_slice().iter().rposition(|s| s.address == address);
        let at = match found {
            Some(at) => at,
            None => self.push(Sector { address, ..Sector::BLANK }),
        };
        let sector = self.at_mut(at);
        sector.bytes |= bytes;
        sector
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PER_SECTOR: Coalescer = Coalescer {
        sector_shift: 5,
        part_shift: 0,
        atomic_requests: AtomicRequests::PerSector,
        order: RequestOrder::Lanes,
        displacement: 0,
    };
    const PER_CONFLICT: Coalescer =
        Coalescer { atomic_requests: AtomicRequests::PerConflict, ..PER_SECTOR };

    fn sectors(addresses: &[u64], width: u32, store: bool, sector_bytes: u32) -> Vec<Sector> {
        let mut out = Sectors::new();
        let sector_shift = sector_bytes.trailing_zeros();
        let coalescer = Coalescer { sector_shift, part_shift: sector_shift - 5, ..PER_SECTOR };
        coalescer.sectors(addresses, width, store, &mut out);
        out.as_slice().to_vec()
    }

    #[test]
    fn a_coalesced_warp_touches_each_sector_once() {
        let addresses: Vec<u64> = (0..32).map(|lane| 0x1000 + 4 * lane).collect();
        let got = sectors(&addresses, 4, false, 32);
        assert_eq!(
            got.iter().map(|s| s.address).collect::<Vec<_>>(),
            [0x1000, 0x1020, 0x1040, 0x1060]
        );
        assert!(got.iter().all(|s| s.bytes == u32::MAX));
        assert_eq!(sectors(&addresses, 4, false, 128).len(), 1);
    }

    #[test]
    fn an_access_across_a_boundary_touches_both_sectors() {
        let got = sectors(&[0x101c], 8, true, 32);
        assert_eq!(got.len(), 2);
        assert_eq!((got[0].bytes, got[1].bytes), (0xf000_0000, 0x0000_000f));
    }

    #[test]
    fn a_store_covers_only_completely_filled_parts() {
        // 128-byte sectors have parts of 4 bytes: two bytes fill none, four aligned bytes fill
        // one.
        assert_eq!(sectors(&[0x1000], 2, true, 128)[0].bytes, 0);
        assert_eq!(sectors(&[0x1000], 2, false, 128)[0].bytes, 1);
        assert_eq!(sectors(&[0x1004], 4, true, 128)[0].bytes, 2);
    }

    proptest! {
        /// Compares the range path with the lane-by-lane path.
        #[test]
        fn contiguous_lanes_coalesce_as_lane_by_lane(
            first in prop_oneof![0u64..1 << 12, u64::MAX - 600..=u64::MAX],
            lanes in 1u64..=32,
            width in prop_oneof![1u32..=20, 250u32..=600],
            store in any::<bool>(),
            sector_shift in 5u32..8,
        ) {
            let part_shift = sector_shift - 5;
            let coalescer = Coalescer { sector_shift, part_shift, ..PER_SECTOR };
            let step = |lane: u64| first.wrapping_add(lane * u64::from(width));
            let addresses: Vec<u64> = (0..lanes).map(step).collect();
            let (mut range, mut by_lane) = (Sectors::new(), Sectors::new());
            coalescer.sectors(&addresses, width, store, &mut range);
            coalescer.add_each(&addresses, width.into(), store, &mut by_lane);
            prop_assert_eq!(range.as_slice(), by_lane.as_slice());
        }
    }

    #[test]
    fn a_bulk_copy_of_one_lane_touches_its_sectors_in_order() {
        let got = sectors(&[0x1010], 4096, false, 32);
        assert_eq!(got.len(), 129, "half a sector at each end");
        assert!((0..).step_by(32).zip(&got).all(|(at, sector)| sector.address == 0x1000 + at));
        let masks = [got[0].bytes, got[1].bytes, got[128].bytes];
        assert_eq!(masks, [0xffff_0000, u32::MAX, 0x0000_ffff]);
    }

    /// 32 lanes of 2,048 sectors each, which overlap by half.
    #[test]
    fn bulk_copies_of_many_lanes_touch_each_sector_once() {
        let addresses: Vec<u64> = (0..32).rev().map(|lane| lane << 15).collect();
        let got = sectors(&addresses, 1 << 16, false, 32);
        assert_eq!(got.len(), 33 << 10);
        assert_eq!(
            [got[0].address, got[2048].address],
            [31 << 15, 30 << 15],
            "in the order of first touch"
        );
    }

    /// Both lanes add to the middle 256 bytes.
    #[test]
    fn bulk_reductions_make_one_request_per_sector_with_its_lane_count() {
        for coalescer in
            [PER_SECTOR, PER_CONFLICT, Coalescer { displacement: PAGE_BYTES, ..PER_SECTOR }]
        {
            let mut out = Sectors::new();
            coalescer.atomics(&[0x1010, 0x1110], 512, &mut out);
            let lanes: Vec<u8> = out.as_slice().iter().map(|s| s.max_lanes_per_address).collect();
            assert_eq!(lanes, [[1; 8].as_slice(), &[2; 9], &[1; 8]].concat());
        }
    }

    #[test]
    fn descending_order_sends_the_highest_address_first() {
        let coalescer = Coalescer { order: RequestOrder::Descending, ..PER_CONFLICT };
        let mut out = Sectors::new();
        let mut of = |addresses: &[u64]| {
            coalescer.sectors(addresses, 4, false, &mut out);
            let sectors: Vec<u64> = out.as_slice().iter().map(|s| s.address).collect();
            coalescer.atomics(addresses, 4, &mut out);
            let atomics: Vec<u64> = out.as_slice().iter().map(|s| s.address).collect();
            (sectors, atomics)
        };
        assert_eq!(of(&[0, 4, 32, 64]), (vec![64, 32, 0], vec![64, 32, 0]));
        assert_eq!(of(&[64, 0, 96, 64]), (vec![96, 64, 0], vec![96, 64, 64, 0]));
    }

    fn atomics(coalescer: &Coalescer) -> Vec<(u64, u8)> {
        let mut out = Sectors::new();
        let addresses = [0x1000, 0x1004, 0x1000, 0x1000, 0x2000, 0x1004];
        coalescer.atomics(&addresses, 4, &mut out);
        out.as_slice().iter().map(|s| (s.address, s.max_lanes_per_address)).collect()
    }

    #[test]
    fn per_sector_atomics_count_the_lanes_at_one_address() {
        assert_eq!(atomics(&PER_SECTOR), [(0x1000, 3), (0x2000, 1)]);
    }

    #[test]
    fn per_conflict_atomics_make_one_request_per_lane_at_one_address() {
        let three = [(0x1000, 1); 3];
        assert_eq!(atomics(&PER_CONFLICT), [&three[..], &[(0x2000, 1)]].concat());
    }

    #[test]
    fn page_offset_displaces_all_addresses() {
        let mut out = Sectors::new();
        let mut of = |coalescer: &Coalescer| {
            coalescer.sectors(&[0x1010], 32, false, &mut out);
            let loads: Vec<u64> = out.as_slice().iter().map(|s| s.address).collect();
            coalescer.atomics(&[0x1010, 0x1010], 4, &mut out);
            (loads, out.as_slice()[0])
        };
        let moved = Coalescer { displacement: 3 * PAGE_BYTES, ..PER_SECTOR };
        let (loads, atomic) = of(&moved);
        assert_eq!(loads, [0x4000, 0x4020]);
        assert_eq!((atomic.address, atomic.max_lanes_per_address), (0x4000, 2));
    }
}
