//! L1 and L2: geometry, policies, MSHRs.

use super::super::MachineError;
use super::mapping::{Mapping, Setting};

/// Bytes of a sector.
const SECTOR: u32 = 32;

const KILOBYTE: u32 = 1024;

const EXPECTED: &str = "`none` or <S|N>:<sets>:<line>:<ways>,\
    <L|F>:<R|B|T|E|L>:<m|f|s>:<N|W|F|L>:<L|H|P|X>,<mshr>:<entries>:<merges>,<miss queue>";

/// The keys of a cache.
struct Keys {
    size: &'static str,
    ways: &'static str,
    line: &'static str,
    sector: &'static str,
    replacement: &'static str,
    write: &'static str,
    read_allocate: &'static str,
    write_allocate: &'static str,
    index: &'static str,
    mshr_entries: &'static str,
    mshr_merges: &'static str,
    miss_queue: &'static str,
}

macro_rules! keys {
    ($cache:literal) => {
        Keys {
            size: concat!($cache, ".size_bytes"),
            ways: concat!($cache, ".ways"),
            line: concat!($cache, ".line_bytes"),
            sector: concat!($cache, ".sector_bytes"),
            replacement: concat!($cache, ".replacement"),
            write: concat!($cache, ".write"),
            read_allocate: concat!($cache, ".read_allocate"),
            write_allocate: concat!($cache, ".write_allocate"),
            index: concat!($cache, ".index"),
            mshr_entries: concat!($cache, ".mshr_entries"),
            mshr_merges: concat!($cache, ".mshr_merges"),
            miss_queue: concat!($cache, ".miss_queue"),
        }
    };
}

const L1: Keys = keys!("l1.cache");
const L2: Keys = keys!("l2.cache");

/// A cache described by an option.
struct Cache<'a> {
    is_sectored: bool,
    sets: u32,
    line: u32,
    ways: u32,
    /// Replacement, write, read allocation, write allocation, set index.
    policies: [&'a str; 5],
    mshr_entries: u32,
    mshr_merges: u32,
    miss_queue: u32,
}

pub(super) fn map(mapping: &mut Mapping) -> Result<(), MachineError> {
    let l2 = mapping.take_or("-gpgpu_cache:dl2", "none");
    let l1 = mapping.take_or("-gpgpu_cache:dl1", "none");
    let burst =
        mapping.number_of("dram.bus_bytes").saturating_mul(mapping.number_of("dram.burst_length"));
    let sector = match Cache::read(&l2)? {
        Some(cache) => {
            let sector = cache.sector().max(burst.min(cache.line));
            if sector != cache.sector() {
                mapping.leave(&l2, "sectors are not smaller than a burst of DRAM");
            }
            write(mapping, &L2, &l2, &cache, sector)?;
            kept_ways(mapping, cache.ways)?;
            Some(sector)
        }
        None => {
            mapping.set("l2.enabled", false, &l2);
            None
        }
    };
    match Cache::read(&l1)? {
        Some(cache) => write_l1(mapping, &l1, &cache, sector),
        None => {
            mapping.set("l1.enabled", false, &l1);
            Ok(())
        }
    }
}

/// Maps L1, which has the sectors of the L2 and, in a unified store, the capacity that shared memory
/// leaves.
fn write_l1(
    mapping: &mut Mapping,
    setting: &Setting,
    cache: &Cache<'_>,
    l2_sector: Option<u32>,
) -> Result<(), MachineError> {
    let sector = l2_sector.unwrap_or(cache.sector());
    write(mapping, &L1, setting, cache, sector)?;
    if sector != cache.sector() {
        mapping.leave(setting, "sectors of L1 are those of the L2");
    }
    let skip = mapping.take_or("-gpgpu_gmem_skip_L1D", "0");
    if skip.flag()? {
        mapping.set("l1.enabled", false, &skip);
    }
    let adaptive = mapping.take_or("-gpgpu_adaptive_cache_config", "0");
    let unified = mapping.take_or("-gpgpu_unified_l1d_size", "0");
    let options = mapping.take_or("-gpgpu_shmem_option", "0");
    let unified_bytes = unified.number()?.saturating_mul(KILOBYTE);
    let is_unified = adaptive.flag()? && unified_bytes > 0;
    mapping.set("l1.unified_bytes", if is_unified { unified_bytes } else { 0 }, &unified);
    let sizes = options.text().split(',');
    let sizes = sizes.map(|size| options.part::<u32>(size, "sizes in KB, separated by `,`"));
    let sizes: Vec<u32> = sizes.collect::<Result<_, _>>()?;
    let bytes = sizes.iter().map(|kilobytes| kilobytes.saturating_mul(KILOBYTE)).collect();
    mapping.set("l1.shared_options_bytes", if is_unified { bytes } else { Vec::new() }, &options);
    if is_unified {
        let left = unified_bytes
            - sizes.iter().min().map_or(0, |least| least * KILOBYTE).min(unified_bytes);
        mapping.set(L1.size, left, &unified);
        mapping.set(L1.ways, left / (cache.sets * cache.line), &unified);
    }
    Ok(())
}

/// Up to three quarters of L2 may be set aside from compute capability 8.0 (CUDA programming guide,
/// 4.13.1).
fn kept_ways(mapping: &mut Mapping, ways: u32) -> Result<(), MachineError> {
    let major = mapping.take_or("-gpgpu_compute_capability_major", "7");
    let is_kept = major.number()? >= 8;
    mapping.set("l2.kept_ways", if is_kept { ways / 4 * 3 } else { 0 }, &major);
    Ok(())
}

fn write(
    mapping: &mut Mapping,
    keys: &Keys,
    setting: &Setting,
    cache: &Cache<'_>,
    sector: u32,
) -> Result<(), MachineError> {
    let bytes = cache.sets.checked_mul(cache.line).and_then(|way| way.checked_mul(cache.ways));
    let bytes = bytes.filter(|&bytes| bytes > 0).ok_or_else(|| setting.wrong(EXPECTED))?;
    let [replacement, write, allocate, write_allocate, index] = cache.policies;
    let named = |names: &[(&str, &'static str)], letter: &str| {
        let name = names.iter().find(|(known, _)| *known == letter).map(|&(_, name)| name);
        name.ok_or_else(|| setting.wrong(EXPECTED))
    };
    mapping.set(keys.size, bytes, setting);
    mapping.set(keys.ways, if cache.sets == 1 { 0 } else { cache.ways }, setting);
    mapping.set(keys.line, cache.line, setting);
    mapping.set(keys.sector, sector, setting);
    mapping.set(keys.replacement, named(&REPLACEMENT, replacement)?, setting);
    mapping.set(keys.write, named(&WRITE, write)?, setting);
    mapping.set(keys.read_allocate, named(&READ_ALLOCATE, allocate)?, setting);
    mapping.set(keys.write_allocate, named(&WRITE_ALLOCATE, write_allocate)?, setting);
    mapping.set(keys.index, named(&INDEX, index)?, setting);
    mapping.set(keys.mshr_entries, cache.mshr_entries, setting);
    mapping.set(keys.mshr_merges, cache.mshr_merges, setting);
    mapping.set(keys.miss_queue, cache.miss_queue, setting);
    Ok(())
}

const REPLACEMENT: [(&str, &str); 2] = [("L", "lru"), ("F", "fifo")];
const WRITE: [(&str, &str); 5] = [
    ("R", "write-through"), // read only
    ("B", "write-back"),
    ("T", "write-through"),
    ("E", "write-evict"),
    ("L", "local-write-back"),
];
const READ_ALLOCATE: [(&str, &str); 3] = [
    ("m", "on-miss"),
    ("f", "on-fill"),
    ("s", "on-fill"), // streaming
];
const WRITE_ALLOCATE: [(&str, &str); 4] =
    [("N", "none"), ("W", "send-and-fetch"), ("F", "fetch-on-write"), ("L", "lazy-fetch")];
const INDEX: [(&str, &str); 4] = [
    ("L", "linear"),
    ("H", "xor"), // Fermi's hash
    ("P", "ipoly"),
    ("X", "xor"),
];

impl<'a> Cache<'a> {
    /// Parses a cache, or none.
    fn read(setting: &'a Setting) -> Result<Option<Cache<'a>>, MachineError> {
        let text = setting.text();
        if text == "none" {
            return Ok(None);
        }
        let wrong = || setting.wrong(EXPECTED);
        let groups: Vec<Vec<&str>> =
            text.split(',').map(|group| group.split(':').collect()).collect();
        let [geometry, policies, mshr, queue, ..] = &groups[..] else { return Err(wrong()) };
        let (kind, geometry) = geometry.split_first().ok_or_else(wrong)?;
        let number = |text: &&str| setting.part::<u32>(text, EXPECTED);
        let geometry = geometry.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let [sets, line, ways] = geometry[..] else { return Err(wrong()) };
        let [_, entries, merges] = mshr[..] else { return Err(wrong()) };
        Ok(Some(Cache {
            is_sectored: *kind == "S",
            sets,
            line,
            ways,
            policies: policies.clone().try_into().map_err(|_| wrong())?,
            mshr_entries: number(&entries)?,
            mshr_merges: number(&merges)?,
            miss_queue: number(queue.first().ok_or_else(wrong)?)?,
        }))
    }

    fn sector(&self) -> u32 {
        if self.is_sectored { SECTOR } else { self.line }
    }
}
