//! Speculative view of device memory for CTAs that run ahead of earlier ones: buffers their writes until
//! commit, and notes their reads, to detect writes of earlier CTAs that they should have seen.

use std::collections::HashMap;

use crate::lanes::{Lanes, lanes_of};
use crate::memory::DeviceMemory;

/// Bytes of a page, which is copied on first write.
const PAGE: usize = 1 << 12;
/// Bytes of a granule, the unit of conflict detection.
const GRANULE: usize = PAGE / 64;

/// A page: its area, and its number there.
type PageId = (u32, u32);

/// Committed granules, by page.
#[derive(Debug, Default)]
pub(crate) struct Committed(HashMap<PageId, u64>);

/// Reads and writes of a view.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Index of each page, by area and page, from 1; 0 if untouched.
    places: Vec<Vec<u32>>,
    pages: Vec<Page>,
    /// Recycled pages.
    spare: Vec<Box<Written>>,
}

#[derive(Debug)]
struct Page {
    id: PageId,
    /// Granules read.
    read: u64,
    written: Option<Box<Written>>,
}

/// A page with writes.
#[derive(Debug)]
struct Written {
    bytes: [u8; PAGE],
    /// Written bytes, one bit each, by granule.
    dirty: [u64; PAGE / GRANULE],
}

impl View {
    /// Reads as [`View::read`] does at the addresses of several lanes, with one width that divides them;
    /// returns the lanes outside the first lane's area.
    pub fn gather(
        &mut self,
        memory: &DeviceMemory,
        lanes: u32,
        address: impl Fn(usize) -> u64,
        width: usize,
        values: &mut Lanes<u64>,
    ) -> u32 {
        let first = lanes.trailing_zeros() as usize;
        let Some((area, offset)) = memory.place(address(first), 1) else { return lanes };
        let base = address(first) - offset as u64;
        let bytes = memory.area(area);
        let mut elsewhere = 0;
        let mut last = (usize::MAX, 0);
        for lane in lanes_of(lanes) {
            let offset = address(lane).wrapping_sub(base) as usize;
            let Some(unchanged) = bytes.get(offset..).and_then(|bytes| bytes.get(..width)) else {
                elsewhere |= 1 << lane;
                continue;
            };
            if offset / PAGE != last.0 {
                last = (offset / PAGE, self.place_of((area, (offset / PAGE) as u32)));
            }
            let page = &mut self.pages[last.1];
            page.read |= 1 << (offset % PAGE / GRANULE);
            let bytes = match &page.written {
                None => unchanged,
                Some(written) => &written.bytes[offset % PAGE..offset % PAGE + width],
            };
            values[lane] = number(bytes);
        }
        elsewhere
    }

    /// Writes as [`View::write`] does at the addresses of several lanes, otherwise as [`View::gather`].
    pub fn scatter(
        &mut self,
        memory: &DeviceMemory,
        lanes: u32,
        address: impl Fn(usize) -> u64,
        width: usize,
        values: &Lanes<u64>,
    ) -> u32 {
        let first = lanes.trailing_zeros() as usize;
        let Some((area, offset)) = memory.place(address(first), 1) else { return lanes };
        let base = address(first) - offset as u64;
        let size = memory.area(area).len();
        let ones = u64::MAX >> (64 - width);
        let mut elsewhere = 0;
        for lane in lanes_of(lanes) {
            let offset = address(lane).wrapping_sub(base) as usize;
            if offset >= size || size - offset < width {
                elsewhere |= 1 << lane;
                continue;
            }
            let written = self.written(memory, (area, (offset / PAGE) as u32));
            let within = offset % PAGE;
            written.bytes[within..within + width]
                .copy_from_slice(&values[lane].to_le_bytes()[..width]);
            written.dirty[within / GRANULE] |= ones << (within % GRANULE);
        }
        elsewhere
    }

    /// Reads up to 8 bytes; `None` unless all are in one area.
    pub fn read(&mut self, memory: &DeviceMemory, address: u64, width: usize) -> Option<u64> {
        let (area, offset) = memory.place(address, width as u64)?;
        let mut value = [0; 8];
        if offset % PAGE + width > PAGE {
            for (at, byte) in value.iter_mut().enumerate().take(width) {
                *byte = self.read(memory, address + at as u64, 1)? as u8;
            }
            return Some(u64::from_le_bytes(value));
        }
        let page = self.page((area, (offset / PAGE) as u32));
        let within = offset % PAGE;
        page.read |= granules(within, width);
        let bytes = match &page.written {
            Some(written) => &written.bytes[within..within + width],
            None => &memory.area(area)[offset..offset + width],
        };
        value[..width].copy_from_slice(bytes);
        Some(u64::from_le_bytes(value))
    }

    /// Writes up to 8 bytes; `None` unless all are in one area.
    pub fn write(
        &mut self,
        memory: &DeviceMemory,
        address: u64,
        width: usize,
        value: u64,
    ) -> Option<()> {
        let (area, offset) = memory.place(address, width as u64)?;
        let bytes = value.to_le_bytes();
        if offset % PAGE + width > PAGE {
            return (0..width)
                .try_for_each(|at| self.write(memory, address + at as u64, 1, bytes[at].into()));
        }
        let within = offset % PAGE;
        let written = self.written(memory, (area, (offset / PAGE) as u32));
        written.bytes[within..within + width].copy_from_slice(&bytes[..width]);
        for at in within..within + width {
            written.dirty[at / GRANULE] |= 1 << (at % GRANULE);
        }
        Some(())
    }

    /// Returns whether it has read a granule that another view has committed.
    pub fn has_read(&self, committed: &Committed) -> bool {
        self.pages
            .iter()
            .any(|page| committed.0.get(&page.id).is_some_and(|granules| page.read & granules != 0))
    }

    /// Commits the writes to device memory, and clears the view.
    pub fn commit(&mut self, memory: &mut DeviceMemory, committed: &mut Committed) {
        for page in &self.pages {
            let Some(written) = &page.written else { continue };
            let start = page.id.1 as usize * PAGE;
            let area = memory.area_mut(page.id.0);
            let mut granules = 0;
            for (granule, &dirty) in
                written.dirty.iter().enumerate().filter(|(_, dirty)| **dirty != 0)
            {
                granules |= 1 << granule;
                copy_dirty(&written.bytes, area, start, granule, dirty);
            }
            *committed.0.entry(page.id).or_default() |= granules;
        }
        self.clear();
    }

    /// Clears the view.
    pub fn clear(&mut self) {
        for page in self.pages.drain(..) {
            let (area, number) = page.id;
            self.places[area as usize][number as usize] = 0;
            self.spare.extend(page.written);
        }
    }

    fn page(&mut self, id: PageId) -> &mut Page {
        let place = self.place_of(id);
        &mut self.pages[place]
    }

    /// Returns the index of a page.
    #[inline]
    fn place_of(&mut self, id: PageId) -> usize {
        let known = self.places.get(id.0 as usize).and_then(|places| places.get(id.1 as usize));
        match known {
            Some(&place) if place > 0 => place as usize - 1,
            _ => self.add(id),
        }
    }

    fn add(&mut self, id: PageId) -> usize {
        let (area, number) = (id.0 as usize, id.1 as usize);
        if area >= self.places.len() {
            self.places.resize(area + 1, Vec::new());
        }
        let places = &mut self.places[area];
        if number >= places.len() {
            places.resize(number + 1, 0);
        }
        self.pages.push(Page { id, read: 0, written: None });
        places[number] = self.pages.len() as u32;
        self.pages.len() - 1
    }

    #[inline]
    fn written(&mut self, memory: &DeviceMemory, id: PageId) -> &mut Written {
        let place = self.place_of(id);
        let page = &mut self.pages[place];
        page.written.get_or_insert_with(|| {
            let mut written = self.spare.pop().unwrap_or_default();
            written.dirty = [0; PAGE / GRANULE];
            let bytes = &memory.area(id.0)[id.1 as usize * PAGE..];
            let length = bytes.len().min(PAGE);
            written.bytes[..length].copy_from_slice(&bytes[..length]);
            written
        })
    }
}

impl Default for Written {
    fn default() -> Written {
        Written { bytes: [0; PAGE], dirty: [0; PAGE / GRANULE] }
    }
}

/// Returns the little-endian number of up to 8 bytes.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        _ => bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

/// Returns the granules of a page that contain bytes.
fn granules(first: usize, width: usize) -> u64 {
    let [first, last] = [first / GRANULE, (first + width - 1) / GRANULE];
    1 << first | 1 << last
}

/// Copies the written bytes of a granule.
fn copy_dirty(page: &[u8; PAGE], to: &mut [u8], start: usize, granule: usize, dirty: u64) {
    let first = granule * GRANULE;
    if dirty == u64::MAX {
        to[start + first..][..GRANULE].copy_from_slice(&page[first..][..GRANULE]);
        return;
    }
    for at in (first..first + GRANULE).filter(|at| dirty >> (at % GRANULE) & 1 == 1) {
        to[start + at] = page[at];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZES: [u64; 3] = [100, 3 * PAGE as u64, PAGE as u64 + 24];

    fn memory() -> (DeviceMemory, [u64; 3]) {
        let mut memory = DeviceMemory::default();
        let addresses = SIZES.map(|bytes| memory.allocate(bytes).unwrap());
        for (address, bytes) in addresses.into_iter().zip(SIZES) {
            for (at, byte) in memory.bytes_mut(address, bytes).unwrap().iter_mut().enumerate() {
                *byte = (at * 7 + at / 251) as u8;
            }
        }
        (memory, addresses)
    }

    /// An access: array, offset, log2 of the width, and the value of a write.
    fn access() -> impl Strategy<Value = (usize, u64, u32, Option<u64>)> {
        (0..3usize, 0..4 * PAGE as u64, 0..4u32, any::<Option<u64>>())
    }

    proptest! {
        /// A view reads, and after commit leaves, the same as direct accesses to memory.
        #[test]
        fn views_behave_like_memory(accesses in prop::collection::vec(access(), 1..200)) {
            let (mut direct, addresses) = memory();
            let (mut behind, _) = memory();
            let mut view = View::default();
            for round in accesses.chunks(50) {
                for &(array, offset, power, value) in round {
                    let (address, width) = (addresses[array] + offset, 1 << power);
                    match value {
                        None => {
                            let expected = direct.read(address, width);
                            prop_assert_eq!(view.read(&behind, address, width), expected);
                        }
                        Some(value) => {
                            let expected = direct.write(address, width, value);
                            prop_assert_eq!(view.write(&behind, address, width, value), expected);
                        }
                    }
                }
                view.commit(&mut behind, &mut Committed::default());
            }
            for (address, bytes) in addresses.into_iter().zip(SIZES) {
                prop_assert_eq!(direct.bytes(address, bytes), behind.bytes(address, bytes));
            }
        }
    }

    #[test]
    fn conflicting_reads_are_detected() {
        let (mut memory, [_, array, _]) = memory();
        let mut committed = Committed::default();
        let mut earlier = View::default();
        earlier.write(&memory, array + 128, 4, 1).unwrap();
        let reader = |memory: &DeviceMemory, offset: u64| {
            let mut view = View::default();
            view.read(memory, array + offset, 8).unwrap();
            view
        };
        let later = [120, 128, 184, 192].map(|offset| reader(&memory, offset));
        earlier.commit(&mut memory, &mut committed);
        assert_eq!(later.map(|view| view.has_read(&committed)), [false, true, true, false]);
        earlier.write(&memory, array, 4, 1).unwrap();
        assert!(!earlier.has_read(&committed), "the view is clear");
    }
}
