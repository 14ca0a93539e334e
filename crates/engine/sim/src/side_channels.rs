//! Information from the levels above DRAM for DRAM schedulers.

/// The side channels that a DRAM scheduler needs. Unneeded ones cost no simulation time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Merges into the L2's MSHRs, reported by dummy requests that travel to DRAM
    /// (`Event::Merged` of DRAM schedulers).
    pub merges: Option<CountedMerges>,
    /// With `merges`, the report of merges before their miss has left the L2.
    pub early_merges: EarlyMerges,
    /// With `merges`, sends the dummy request of the MSHR entry with the longest total wait first,
    /// instead of that of the entry with the most requests.
    pub oldest_merges_first: bool,
    /// The end of a load's requests to a channel (`Event::LoadComplete` of DRAM schedulers).
    pub load_ends: bool,
    /// [`Request::critical`] is set if more than this share of the SM's warps wait for memory.
    pub critical_share: Option<f64>,
    /// The L2 classifies warps by their L2 hit rate, to select warps that bypass it and to set
    /// [`Request::hit_prone`].
    pub warp_types: Option<WarpTypes>,
}

/// How the L2 classifies warps (`medic`): all-hit, mostly-hit, balanced, mostly-miss or all-miss.
/// A warp's type is measured over a sample of its reads in the L2, and measured again after
/// `resample` cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarpTypes {
    /// A warp is mostly-hit if at least this share of its sample hits.
    pub mostly_hit: f64,
    /// A warp is mostly-miss if at most this share of its sample hits.
    pub mostly_miss: f64,
    /// Reads in a sample.
    pub warm_up: u32,
    /// L2 cycles after which a warp's type is measured again.
    pub resample: u64,
    /// Reads of mostly-miss and all-miss warps allocate no line.
    pub bypass: bool,
}

warpmem_params::choice! {
    /// Which requests that merge into an MSHR entry are counted (Li 2015, Section 3.3).
    #[derive(Debug, PartialEq, Eq)]
    pub enum CountedMerges {
        /// Requests from an SM that has no request in the entry yet.
        InterCore = "inter-core",
        /// Every merged request.
        All = "all",
    }
}

warpmem_params::choice! {
    /// How requests that merge into an MSHR entry before its miss has left for DRAM are reported.
    #[derive(Debug, Default, PartialEq, Eq)]
    pub enum EarlyMerges {
        /// By a dummy request, which precedes all misses; the controller keeps the report for the
        /// request to come (Li 2015, Section 4.4).
        Reported = "reported",
        /// By a dummy request ahead of the miss, of no use to a controller without the request.
        Lost = "lost",
        /// By the miss itself.
        #[default]
        Carried = "carried",
    }
}
