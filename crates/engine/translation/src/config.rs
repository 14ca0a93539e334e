//! The configuration of address translation.

use serde::Serialize;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{Invalid, power_of_two, rule, section};

/// Levels of a page table at most.
pub const MAX_LEVELS: u64 = 6;

section! {
    /// Address translation: TLBs and page walks. Requests to global and local memory are translated,
    /// except write-backs of L1, which keep the physical address of their line.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Vm {
        /// `true`: addresses are translated. `false`: physical addresses are the virtual ones, at no
        /// cost; no other key of this section has an effect.
        enabled: bool = false;
        /// Page size, a power of two.
        page_bytes: u32 = 2_097_152, in 4096..=1 << 30, unit "bytes";
        /// Levels of the page table. A table has 512 entries of 8 bytes.
        levels: u32 = 4, in 1..=MAX_LEVELS, unit "levels";
        /// `true`: physical pages are scattered at random over the DRAM, by `vm.seed`. `false`: a
        /// physical page has the number of its virtual page.
        fragmentation: bool = false;
        /// Seed of the placement of pages.
        seed: u32 = 1, in 0..=1_000_000_000;
        /// First-level TLBs.
        l1: L1Tlb;
        /// TLBs between the first and the second level.
        group: GroupTlb;
        /// Second-level TLB.
        l2: L2Tlb;
        /// TLB-fill tokens.
        tokens: Tokens;
        /// Page walks.
        walk: Walk;
    }
}

section! {
    /// First-level TLBs, one per SM.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct L1Tlb {
        /// Entries.
        entries: u32 = 32, in 1..=ENTRIES, unit "entries";
        /// Entries of a set; 0: fully associative.
        ways: u32 = 0, in 0..=ENTRIES, unit "entries";
        /// Consecutive, aligned pages that an entry covers, each with a valid bit; a power of two.
        pages_per_entry: u32 = 1, in 1..=64, unit "pages";
        /// Latency of a hit, in addition to that of L1.
        latency: u32 = 0, in 0..=CYCLES, unit "core cycles";
        /// Ports: pages of an instruction that are looked up in a cycle, under `vm.l1.before_l1`. After
        /// L1 its requests leave one by one.
        ports: u32 = 32, in 1..=32, unit "lookups per core cycle";
        /// Pages for which translations may be outstanding.
        misses: u32 = 32, in 1..=ENTRIES, unit "pages";
        /// Waiting requests at which L1 stops to serve misses.
        waiting: u32 = 512, in 1..=ENTRIES, unit "requests";
        /// `true`: an instruction enters L1 when all its pages are translated, and the instructions
        /// behind it wait. `false`: L1 has virtual addresses, and its misses are translated, once per
        /// page of an instruction.
        before_l1: bool = false;
    }
}

section! {
    /// TLBs between the first and the second level, each shared by a group of SMs: a TPC or a GPC.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct GroupTlb {
        /// Consecutive SMs of a group; 0: no such TLBs.
        sms: u32 = 0, in 0..=1024, unit "SMs";
        /// Entries.
        entries: u32 = 128, in 1..=ENTRIES, unit "entries";
        /// Entries of a set; 0: fully associative.
        ways: u32 = 0, in 0..=ENTRIES, unit "entries";
        /// Consecutive, aligned pages that an entry covers, each with a valid bit; a power of two.
        pages_per_entry: u32 = 1, in 1..=64, unit "pages";
        /// Latency of a lookup.
        latency: u32 = 10, in 0..=CYCLES, unit "network cycles";
        /// Latency of the link to an SM, one way.
        link_latency: u32 = 5, in 1..=CYCLES, unit "network cycles";
        /// Lookups of each TLB per cycle, in turns over its SMs.
        lookups_per_cycle: u32 = 1, in 1..=256, unit "lookups";
    }
}

section! {
    /// TLB-fill tokens (Ausavarungnirun et al., ASPLOS 2018): walks of warps without one fill a small
    /// cache beside the second-level TLB.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Tokens {
        /// Lookups between two changes of the number of tokens; 0: all walks fill the TLB.
        epoch: u32 = 0, in 0..=1_000_000_000, unit "lookups";
        /// Share of the warps of an SM that have a token at first.
        percent: u32 = 80, in 0..=100, unit "%";
        /// Entries of the bypass cache, fully associative.
        bypass_entries: u32 = 32, in 1..=ENTRIES, unit "entries";
    }
}

section! {
    /// Second-level TLB, shared by all SMs.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct L2Tlb {
        /// Entries.
        entries: u32 = 1024, in 1..=ENTRIES, unit "entries";
        /// Entries of a set; 0: fully associative.
        ways: u32 = 16, in 0..=ENTRIES, unit "entries";
        /// Consecutive, aligned pages that an entry covers, each with a valid bit; a power of two.
        pages_per_entry: u32 = 1, in 1..=64, unit "pages";
        /// Latency of a lookup.
        latency: u32 = 40, in 0..=CYCLES, unit "network cycles";
        /// Latency of the link to an SM or a TLB of a group, one way.
        link_latency: u32 = 20, in 1..=CYCLES, unit "network cycles";
        /// Lookups per cycle, in turns over the SMs, or in the order of arrival from groups.
        lookups_per_cycle: u32 = 1, in 1..=256, unit "lookups";
        /// `true`: the first lookup of a page in a run hits, as after a copy of its data to the GPU.
        /// `false`: it misses.
        warm: bool = false;
        /// Pages that wait for a walk or are being walked. Lookups wait while a miss finds it full.
        misses: u32 = 256, in 1..=ENTRIES, unit "pages";
    }
}

section! {
    /// Page walks.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Walk {
        /// Walks that proceed concurrently.
        walkers: u32 = 16, in 1..=1024, unit "walkers";
        /// Entries of each page walk cache: one cache per level of the table except the last, fully
        /// associative. 0: none.
        cache_entries: u32 = 32, in 0..=ENTRIES, unit "entries";
        /// `true`: loads of a walk are requests to the L2 slices. `false`: each takes
        /// `vm.walk.latency`.
        memory: bool = true;
        /// `true`: loads of a level of the table whose hit rate in L2 is below that of data allocate no
        /// line there (Ausavarungnirun et al., ASPLOS 2018).
        l2_bypass: bool = false;
        /// Latency of a load without `vm.walk.memory`.
        latency: u32 = 100, in 1..=CYCLES, unit "network cycles";
        /// Latency of the link between walkers and slices, one way.
        link_latency: u32 = 20, in 1..=CYCLES, unit "network cycles";
    }
}

impl Vm {
    /// Returns the number of address bits within a page.
    pub fn page_bits(&self) -> u32 {
        self.page_bytes.ilog2()
    }

    /// Returns the time from an SM to the lookup in the next TLB, network cycles.
    pub fn first_lookup_latency(&self) -> u32 {
        let Vm { group, l2, .. } = self;
        if group.sms > 0 {
            group.link_latency + group.latency
        } else {
            l2.link_latency + l2.latency
        }
    }

    /// Refuses sizes that do not fit each other.
    ///
    /// # Errors
    /// The key, its value and what would be valid.
    pub fn check(&self) -> Result<(), Invalid> {
        power_of_two("vm.page_bytes", self.page_bytes)?;
        check_tlb("vm.l1", self.l1.entries, self.l1.ways, self.l1.pages_per_entry)?;
        let group = &self.group;
        check_tlb("vm.group", group.entries, group.ways, group.pages_per_entry)?;
        check_tlb("vm.l2", self.l2.entries, self.l2.ways, self.l2.pages_per_entry)
    }
}

fn check_tlb(path: &str, entries: u32, ways: u32, pages: u32) -> Result<(), Invalid> {
    power_of_two(&format!("{path}.pages_per_entry"), pages)?;
    let divides = ways == 0 || entries.is_multiple_of(ways);
    let valid = format!("0, or a divisor of `{path}.entries` = {entries}");
    rule(divides, &format!("{path}.ways"), ways, valid)
}
