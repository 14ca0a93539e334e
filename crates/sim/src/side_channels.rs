//! What DRAM schedulers may ask of the levels above them. Each costs time only where it is asked for.

/// Side channels of the machine that a family of schedulers asks for. They cost time only where asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Merges into the LLC's MSHRs, by dummy requests on the way to DRAM (`Event::Merged` of DRAM schedulers).
    pub merges: Option<CountedMerges>,
    /// With `merges`: of several dummy requests that could be sent, the one whose requests have waited longest together
    /// goes first, not the one for which most wait.
    pub oldest_merges_first: bool,
    /// The end of what each load sends to a channel (`Event::LoadComplete` of DRAM schedulers).
    pub load_ends: bool,
    /// [`Request::critical`]: the SM has more than this share of its warps waiting for memory.
    pub critical_share: Option<f64>,
    /// The LLC sorts warps by their hits in it, which decides who passes it by and sets [`Request::hit_prone`].
    pub warp_types: Option<WarpTypes>,
}

/// How the LLC tells the types of warps apart (`medic`): all-hit, mostly-hit, balanced, mostly-miss, all-miss. A warp's
/// type comes from a sample of its reads there, and a new sample is taken when that one has grown old.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarpTypes {
    /// Share of hits in a sample from which a warp is mostly-hit; up to which it is mostly-miss.
    pub mostly_hit: f64,
    pub mostly_miss: f64,
    /// Reads of a sample.
    pub warm_up: u32,
    /// LLC cycles for which a type holds.
    pub resample: u64,
    /// Reads of mostly-miss and all-miss warps take no line.
    pub bypass: bool,
}

/// Which of the requests that wait for the same data count (Li 2015, Section 3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedMerges {
    /// Those that come from another SM than every one before.
    #[default]
    InterCore,
    /// All.
    All,
}
