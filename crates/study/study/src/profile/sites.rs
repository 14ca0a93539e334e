//! Static memory instructions, each aggregated over its executions.

use super::requests::Access;
use rustc_hash::FxHashMap;
use serde::Serialize;
use warpmem_record::metrics::quotient;

/// A static global memory instruction, over its executions with an active lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Site {
    pub kernel: String,
    /// Offset from the start of the kernel, bytes.
    pub pc: u64,
    pub access: Access,
    pub executions: u64,
    /// Distinct lines, summed over the executions.
    pub lines: u64,
    pub mean_lines: Option<f64>,
    pub max_lines: u32,
    /// Mean number of distinct sectors per execution.
    pub mean_sectors: Option<f64>,
    /// Mean number of active lanes per execution.
    pub mean_lanes: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct SiteTally {
    executions: u64,
    lines: u64,
    max_lines: u32,
    sectors: u64,
    lanes: u64,
}

impl SiteTally {
    pub fn add(&mut self, lines: u32, sectors: u32, lanes: u32) {
        self.executions += 1;
        self.lines += u64::from(lines);
        self.max_lines = self.max_lines.max(lines);
        self.sectors += u64::from(sectors);
        self.lanes += u64::from(lanes);
    }
}

/// Key of an instruction: the group of its kernel, its PC, and its access kind.
type Place = (usize, u64, Access);

/// All sites, numbered in the order of their first execution.
#[derive(Default)]
pub(super) struct Sites {
    numbers: FxHashMap<Place, usize>,
    places: Vec<Place>,
    tallies: Vec<SiteTally>,
}

impl Sites {
    /// Returns the number of a site.
    pub fn number(&mut self, group: usize, pc: u64, access: Access) -> usize {
        let place = (group, pc, access);
        *self.numbers.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.tallies.push(SiteTally::default());
            self.places.len() - 1
        })
    }

    pub fn tally(&mut self, number: usize) -> &mut SiteTally {
        &mut self.tallies[number]
    }

    /// Returns the executed instructions by descending number of lines.
    pub fn figures(&self, names: &[&str]) -> Vec<Site> {
        let site = |(&(group, pc, access), tally): (&Place, &SiteTally)| Site {
            kernel: names[group].to_owned(),
            pc,
            access,
            executions: tally.executions,
            lines: tally.lines,
            mean_lines: quotient(tally.lines, tally.executions),
            max_lines: tally.max_lines,
            mean_sectors: quotient(tally.sectors, tally.executions),
            mean_lanes: quotient(tally.lanes, tally.executions),
        };
        let executed = self.places.iter().zip(&self.tallies).filter(|(_, t)| t.executions > 0);
        let mut sites: Vec<((usize, u64, Access), Site)> =
            executed.map(|(place, tally)| (*place, site((place, tally)))).collect();
        sites.sort_by(|(a, one), (b, other)| other.lines.cmp(&one.lines).then(a.cmp(b)));
        sites.into_iter().map(|(_, site)| site).collect()
    }
}
