//! Dispatches each record to the counters.

use super::access::{Geometry, Lines, Pattern, Touched};
use super::dependences::{Chains, Code};
use super::footprint::FootprintTally;
use super::intensity::Compulsory;
use super::part::PartTally;
use super::read::Visitor;
use super::requests::Access;
use super::reuse::ReuseTally;
use super::sharing::sharing;
use super::sites::Sites;
use super::space::MemorySpace;
use super::spread::{Places, RowTally};
use super::translation::Pages;
use super::{Options, Profile};
use rustc_hash::FxHashMap;
use warpmem_machine::{Machine, MachineError};
use warpmem_trace::{Instruction, Record, Trace};

pub(super) struct Profiler<'a> {
    machine: &'a Machine,
    options: &'a Options,
    places: Places,
    /// Kernels by name, and the kernel of each launch.
    parts: Vec<PartTally>,
    part_of: Vec<usize>,
    sites: Sites,
    footprints: [FootprintTally; MemorySpace::ALL.len()],
    reuse: ReuseTally,
    rows: RowTally,
    records: u64,
    now: Now,
    lines: Lines,
    pages: Pages,
    /// Latest instruction with a line in each channel.
    channels: Vec<u64>,
}

/// Current kernel and CTA.
struct Now {
    part: usize,
    cta: u64,
    code: Code,
    statics: Vec<Option<Static>>,
    /// Chains by warp of the CTA.
    chains: Vec<Chains>,
}

/// Counts of a static memory instruction.
#[derive(Clone, Copy)]
struct Static {
    access: Access,
    space: MemorySpace,
    width: u32,
    site: usize,
}

impl<'a> Profiler<'a> {
    pub fn new(
        trace: &Trace,
        machine: &'a Machine,
        options: &'a Options,
    ) -> Result<Profiler<'a>, MachineError> {
        let geometry = Geometry::new(options);
        let places = Places::new(machine, geometry)?;
        let (parts, part_of) = parts(trace, &places);
        let footprint = |space| FootprintTally::new(space, geometry, options.footprint_limit);
        let cache_lines = options.caches.iter().map(|bytes| bytes / u64::from(options.line_bytes));
        Ok(Profiler {
            parts,
            part_of,
            sites: Sites::default(),
            footprints: MemorySpace::ALL.map(footprint),
            reuse: ReuseTally::new(options.reuse_limit, cache_lines.collect()),
            rows: RowTally::new(&places, options.footprint_limit),
            records: 0,
            now: Now {
                part: 0,
                cta: 0,
                code: Code::new(&[]),
                statics: Vec::new(),
                chains: Vec::new(),
            },
            lines: Lines::new(geometry),
            pages: Pages::new(geometry),
            channels: vec![0; machine.dram.channels as usize],
            places,
            machine,
            options,
        })
    }

    /// Counts the lines of a global access individually.
    fn count_lines(&mut self, access: Access) {
        let Now { part, cta, .. } = self.now;
        let spread = &mut self.parts[part].spread;
        let footprint = &mut self.footprints[MemorySpace::Global as usize];
        let mut channels = 0;
        for &touched in self.lines.as_slice() {
            let place = self.places.of(touched.line);
            let bank = self.places.bank(&place);
            spread.access(bank);
            self.rows.access(bank, place.row.0, cta);
            footprint.access(touched, access, cta);
            self.reuse.access(touched.line);
            let last = &mut self.channels[place.channel.index()];
            channels += u32::from(*last != self.records);
            *last = self.records;
        }
        if self.lines.as_slice().len() > 1 {
            spread.divergent(channels);
        }
    }

    fn count_global(&mut self, instruction: Static, record: &Record) {
        let Static { access, width, site, .. } = instruction;
        let (lines, lanes) = (self.lines.as_slice().len() as u32, record.mask.count_ones());
        let sectors = self.lines.sectors();
        let part = &mut self.parts[self.now.part];
        part.requests[access as usize].add(&self.lines, sectors, Pattern::of(record, width));
        part.requested_bytes += u64::from(lanes) * u64::from(width);
        self.sites.tally(site).add(lines, sectors, lanes);
        self.count_lines(access);
    }

    pub fn figures(&self) -> Profile {
        let Options { line_bytes, sector_bytes, .. } = *self.options;
        let places = &self.places;
        let mut all = PartTally::new("", places);
        self.parts.iter().for_each(|part| all.merge(part));
        let all = all.figures(places, sector_bytes);
        let kernels = self.parts.iter().map(|part| part.figures(places, sector_bytes)).collect();
        let names: Vec<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        let global = &self.footprints[MemorySpace::Global as usize];
        let footprint = self.footprints.iter().map(FootprintTally::figures);
        Profile {
            line_bytes,
            sector_bytes,
            records: self.records,
            kernels,
            sites: self.sites.figures(&names),
            compulsory: Compulsory::new(
                &all.intensity,
                &global.figures(),
                line_bytes,
                sector_bytes,
            ),
            footprint: footprint.filter(|footprint| footprint.lines.value > 0).collect(),
            reuse: self.reuse.figures(line_bytes.into()),
            line_sharing: sharing(&global.lines, |line| line.used),
            spread: self.rows.figures(self.machine, places, &global.lines),
            all,
        }
    }
}

/// Returns the kernels by name, with their counts from the index, and the kernel of each launch.
fn parts(trace: &Trace, places: &Places) -> (Vec<PartTally>, Vec<usize>) {
    let mut known: FxHashMap<&str, usize> = FxHashMap::default();
    let mut parts = Vec::new();
    let part_of = trace.kernels().iter().map(|kernel| {
        let name = kernel.info.name.as_str();
        let part = *known.entry(name).or_insert_with(|| {
            parts.push(PartTally::new(name, places));
            parts.len() - 1
        });
        parts[part].launches += 1;
        parts[part].mix.add(kernel);
        part
    });
    let part_of = part_of.collect();
    (parts, part_of)
}

impl Visitor for Profiler<'_> {
    fn kernel(&mut self, kernel: usize, instructions: &[Instruction]) {
        let part = self.part_of[kernel];
        let sites = &mut self.sites;
        let mut resolve = |instruction: &Instruction| {
            let access = Access::of(instruction.kind)?;
            let space = MemorySpace::of(instruction.space)?;
            let site = sites.number(part, instruction.pc, access);
            Some(Static { access, space, width: instruction.width, site })
        };
        self.now.part = part;
        self.now.code = Code::new(instructions);
        self.now.statics = instructions.iter().map(&mut resolve).collect();
    }

    fn cta(&mut self, number: u64, warps: usize) {
        self.now.cta = number;
        self.now.chains.clear();
        self.now.chains.resize_with(warps, Chains::new);
    }

    fn record(&mut self, warp: usize, record: &Record) {
        self.records += 1;
        let part = &mut self.parts[self.now.part];
        for (sum, lanes) in part.mix.compute_lanes.iter_mut().zip(record.compute_lanes) {
            *sum += u64::from(lanes);
        }
        let id = record.instruction.0;
        self.now.chains[warp].record(&self.now.code, id, &mut part.dependences);
        let Some(instruction) = self.now.statics[id as usize] else { return };
        if record.active_addresses().is_empty() {
            return;
        }
        self.lines.fill(record, instruction.width);
        if instruction.space.has_translation() {
            part.translation.add(self.pages.count(self.lines.as_slice()));
        }
        if instruction.space == MemorySpace::Global {
            self.count_global(instruction, record);
            return;
        }
        let footprint = &mut self.footprints[instruction.space as usize];
        let touched: &[Touched] = self.lines.as_slice();
        touched.iter().for_each(|&t| footprint.access(t, instruction.access, self.now.cta));
    }
}
