//! Sampling plan of a part of a trace: runs of neighbouring CTAs, grouped into strata.

use super::{Census, KernelPart, Measures, Part};
use std::ops::Range;
use warpmem_support::random::Random;

/// Number of CTAs of a kernel to sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Fraction of the CTAs, above 0 and at most 1.
    Fraction(f64),
    /// Number of CTAs per kernel; all if there are fewer.
    Ctas(u32),
}

/// Parameters of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    pub size: Size,
    /// Minimum number of CTAs to sample per kernel. A kernel with no more is kept whole.
    pub at_least: u32,
    /// Neighbouring CTAs that are drawn together; none: derived from the sample size.
    pub run: Option<u32>,
}

impl Design {
    /// Makes a design of this size, with defaults for everything else.
    pub fn of(size: Size) -> Design {
        Design { size, at_least: PER_STRATUM, run: None }
    }

    /// Returns the number of CTAs to sample out of `count`.
    fn wanted(&self, count: u32) -> u32 {
        let wanted = match self.size {
            Size::Fraction(fraction) => (f64::from(count) * fraction).round() as u32,
            Size::Ctas(ctas) => ctas,
        };
        wanted.max(self.at_least).max(PER_STRATUM).min(count)
    }
}

/// Default maximum of CTAs per run.
const LONGEST_RUN: u32 = 32;
/// Default minimum of runs drawn from a kernel, if it has the CTAs: fewer are too few to estimate
/// an error.
const LEAST_RUNS: u32 = 8;
/// A variance needs two values.
const PER_STRATUM: u32 = 2;

/// Strata of every kernel of a part, and the number drawn from each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Plans by kernel of the part.
    pub kernels: Vec<KernelPlan>,
}

/// The strata of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPlan {
    /// Number of the kernel in the trace. It seeds the draw, so that the sample of a kernel does
    /// not depend on other kernels.
    pub kernel: usize,
    /// Neighbouring CTAs that are drawn together, as ranges of indices into the kernel's part; they
    /// cover all CTAs in order.
    pub runs: Vec<Range<usize>>,
    /// Strata; every run is in exactly one.
    pub strata: Vec<Stratum>,
}

/// Runs of similar position and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// Indices into the kernel's runs.
    pub runs: Vec<usize>,
    /// Number of runs drawn: all, or at least two.
    pub drawn: usize,
}

/// Runs drawn by a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Runs by kernel and stratum; within a stratum in random order, all orders equally likely.
    pub kernels: Vec<Vec<Vec<usize>>>,
}

impl Plan {
    /// Cuts each kernel of `part` into runs of neighbouring CTAs, and these into strata.
    ///
    /// Runs are drawn in proportion to the size of the stratum, so that every CTA has nearly the
    /// same probability and a replay, which cannot weight CTAs, is not distorted (Cochran 5.3 to
    /// 5.5). Two runs are drawn from every stratum: the finest stratification that still reveals
    /// its own variance (5A.12). A kernel of one CTA is kept whole.
    pub fn new(part: &Part, census: &Census, design: &Design) -> Plan {
        let kernels = part.kernels.iter().zip(&census.kernels);
        Plan { kernels: kernels.map(|(part, ctas)| KernelPlan::new(part, ctas, design)).collect() }
    }

    /// Returns whether a sample is the whole part, so that there is nothing to estimate.
    pub fn is_whole(&self) -> bool {
        self.kernels.iter().all(KernelPlan::is_whole)
    }

    /// Draws a sample; samples of other seeds are independent of it.
    pub fn draw(&self, seed: u64) -> Draw {
        let draw = |plan: &KernelPlan| plan.draw(&mut Random::numbered(seed, plan.kernel as u64));
        Draw { kernels: self.kernels.iter().map(draw).collect() }
    }

    /// Returns the drawn CTAs of `part`, to which this plan belongs.
    pub fn part(&self, part: &Part, draw: &Draw) -> Part {
        let kernels = part.kernels.iter().zip(&self.kernels).zip(&draw.kernels);
        let drawn = kernels.map(|((part, plan), strata)| {
            let mut runs: Vec<usize> = strata.iter().flatten().copied().collect();
            runs.sort_unstable();
            let ctas = runs.into_iter().flat_map(|run| &part.ctas[plan.runs[run].clone()]);
            KernelPart { ctas: ctas.copied().collect(), ..*part }
        });
        Part { kernels: drawn.collect() }
    }
}

impl KernelPlan {
    fn new(part: &KernelPart, ctas: &[Measures], design: &Design) -> KernelPlan {
        // Clusters are drawn whole, so runs are counted in clusters.
        let cluster = part.cluster;
        let count = ctas.len() as u32 / cluster;
        let wanted = design.wanted(ctas.len() as u32).div_ceil(cluster);
        let longest = match design.run {
            Some(run) => run.div_ceil(cluster),
            None => (wanted / LEAST_RUNS).min(LONGEST_RUN),
        };
        let length = longest.clamp(1, (wanted / PER_STRATUM).max(1));
        let all = count.div_ceil(length);
        let start = |index: u32| (split(count, all, index) * cluster) as usize;
        let runs: Vec<Range<usize>> =
            (0..all).map(|index| start(index)..start(index + 1)).collect();
        let drawn = (f64::from(wanted) / f64::from(count.max(1)) * f64::from(all)).round() as u32;
        let drawn = drawn.clamp(all.min(PER_STRATUM), all);
        let records = |run: &Range<usize>| ctas[run.clone()].iter().map(|cta| cta.records).sum();
        let records: Vec<u64> = runs.iter().map(records).collect();
        KernelPlan { kernel: part.kernel, strata: strata(&records, drawn), runs }
    }

    /// Returns whether every run is drawn.
    pub fn is_whole(&self) -> bool {
        self.strata.iter().all(|stratum| stratum.drawn == stratum.runs.len())
    }

    /// Returns the mean number of CTAs of a sample.
    pub fn ctas_drawn(&self) -> u64 {
        let ctas = self.runs.last().map_or(0, |run| run.end as u64);
        let drawn: usize = self.strata.iter().map(|stratum| stratum.drawn).sum();
        ctas * drawn as u64 / self.runs.len().max(1) as u64
    }

    fn draw(&self, random: &mut Random) -> Vec<Vec<usize>> {
        let draw = |stratum: &Stratum| {
            let mut runs = stratum.runs.clone();
            // The first steps of a Fisher-Yates shuffle.
            for place in 0..stratum.drawn {
                let other = place + random.below((runs.len() - place) as u64) as usize;
                runs.swap(place, other);
            }
            runs.truncate(stratum.drawn);
            runs
        };
        self.strata.iter().map(draw).collect()
    }
}

/// Stratifies runs with the given `records`, `drawn` of which are to be drawn: blocks of neighbours
/// in launch order, because early and late CTAs differ, and within each block classes of size,
/// because heavy and light CTAs differ.
fn strata(records: &[u64], drawn: u32) -> Vec<Stratum> {
    let all = records.len() as u32;
    if drawn == all {
        let whole = Stratum { runs: (0..records.len()).collect(), drawn: records.len() };
        return if all > 0 { vec![whole] } else { Vec::new() };
    }
    let count = drawn / PER_STRATUM;
    let classes = count.isqrt();
    let blocks = count / classes;
    let mut strata = Vec::with_capacity((blocks * classes) as usize);
    for block in in_proportion(all, drawn, blocks) {
        let mut runs: Vec<usize> = block.things.collect();
        runs.sort_by_key(|&run| records[run]);
        strata.extend(in_proportion(runs.len() as u32, block.drawn, classes).map(|class| {
            Stratum { runs: runs[class.things].to_vec(), drawn: class.drawn as usize }
        }));
    }
    strata
}

/// A share of some items, and the number to draw from it.
struct Share {
    things: Range<usize>,
    drawn: u32,
}

/// Divides `count` items, `drawn` of which are to be drawn, into `shares`: the numbers to draw are
/// nearly equal, and the items are in proportion to them.
fn in_proportion(count: u32, drawn: u32, shares: u32) -> impl Iterator<Item = Share> {
    (0..shares).map(move |share| {
        let ends = [share, share + 1].map(|index| split(drawn, shares, index));
        let [from, to] = ends.map(|end| split(count, drawn, end) as usize);
        Share { things: from..to, drawn: ends[1] - ends[0] }
    })
}

/// Returns the start of share `index` of `count` items in nearly equal `shares`.
fn split(count: u32, shares: u32, index: u32) -> u32 {
    (u64::from(count) * u64::from(index) / u64::from(shares)) as u32
}
