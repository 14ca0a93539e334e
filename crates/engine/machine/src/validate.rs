//! The rules of a valid machine. A key's own range is declared with the key; the rules here relate
//! keys to each other.

use super::{DataPath, L1, Machine, MachineError, ReadOnlyCache, Run, Shrinks, Sm, flatten};
use std::collections::{BTreeSet, HashMap};
use toml::Value;
use warpmem_cache::{Cache, WriteAllocate, WritePolicy};
use warpmem_dram::Dram;
use warpmem_params::{Invalid, Key, Kind, power_of_two, rule};
use warpmem_sim::{IndexHash, MAX_INDEX_BITS};

type Check = Result<(), Invalid>;

impl Machine {
    /// Refuses a machine that the model cannot run.
    ///
    /// # Errors
    /// [`MachineError::Invalid`] with the key, its value and what would be valid.
    pub fn validate(&self) -> Result<(), MachineError> {
        within_limits(self)?;
        self.clocks.validate()?;
        check_sm(&self.sm)?;
        check_l1_size(&self.l1.cache)?;
        check_cache("l1.cache", &self.l1.cache)?;
        check_cache("l2.cache", &self.l2.cache)?;
        check_shared_lines(&self.l1.cache, &self.l2.cache)?;
        check_miss_queue(&self.l1)?;
        check_wavefronts(&self.l1)?;
        check_outliving(&self.sm, &self.l1)?;
        check_l2_write(&self.l2.cache)?;
        check_send_and_fetch(&self.l1.cache, &self.l2.cache)?;
        check_unified(&self.l1, &self.sm)?;
        self.vm.check()?;
        self.dram.check()?;
        check_bursts(&self.dram, &self.l2.cache)?;
        self.dram.address_map(self.l2.slices_per_channel)?;
        check_ends(self)?;
        check_copies(self)?;
        check_reserve(self)?;
        check_credits(self)?;
        check_memory_nodes(self)?;
        check_first_sm(self)?;
        check_error(&self.run)?;
        check_fast_forward(&self.run)?;
        check_cold_launches(&self.run)?;
        Ok(check_address(self)?)
    }

    /// Refuses a machine that samples runs or skips launches, where every launch is evaluated.
    ///
    /// # Errors
    /// As [`Machine::validate`].
    pub fn validate_all_launches(&self) -> Result<(), MachineError> {
        let Run { error_permille: error, fast_forward: skipped, .. } = self.run;
        let valid = "0: every launch is evaluated here";
        rule(error == 0, "run.error_permille", error, valid)?;
        Ok(rule(skipped == 0, "run.fast_forward", skipped, valid)?)
    }

    /// Refuses DRAM channels that the model cannot run, and any key out of its range. Skips the rules
    /// of other units.
    ///
    /// # Errors
    /// As [`Machine::validate`].
    pub fn validate_channels(&self) -> Result<(), MachineError> {
        within_limits(self)?;
        self.dram.check()?;
        Ok(self.dram.layout().map(drop)?)
    }
}

fn within_limits(machine: &Machine) -> Check {
    let values: HashMap<String, Value> = flatten(machine).into_iter().collect();
    for Key { path, param, .. } in Machine::keys() {
        let Kind::Whole(range) = param.kind else { continue };
        let value = values.get(&path).and_then(Value::as_integer);
        let value = value.and_then(|value| u64::try_from(value).ok());
        let value = value.expect("its type is unsigned");
        rule(range.contains(value), &path, value, range.to_string())?;
    }
    Ok(())
}

fn check_sm(sm: &Sm) -> Check {
    let most = sm.max_warps * 32;
    let threads = format!("at most 32 per warp, {most} with `sm.max_warps` = {}", sm.max_warps);
    rule(sm.max_threads <= most, "sm.max_threads", sm.max_threads, threads)?;
    let warps = format!("at most one per warp: `sm.max_warps` = {}", sm.max_warps);
    rule(sm.schedulers <= sm.max_warps, "sm.schedulers", sm.schedulers, warps)?;
    check_collectors(sm)?;
    check_read_only_cache("sm.instruction_cache", &sm.instruction_cache)?;
    check_read_only_cache("sm.constant_cache", &sm.constant_cache)?;
    power_of_two("sm.shared.bank_bytes", sm.shared.bank_bytes)
}

/// Checks the geometry of the cache at `path`.
fn check_read_only_cache(path: &str, cache: &ReadOnlyCache) -> Check {
    let key = |name: &str| format!("{path}.{name}");
    let (line, size) = (cache.line_bytes, cache.size_bytes);
    power_of_two(&key("line_bytes"), line)?;
    let lines = format!("a multiple of `{}` = {line}", key("line_bytes"));
    rule(size.is_multiple_of(line), &key("size_bytes"), size, lines)?;
    let (lines, ways) = (size / line, cache.ways);
    let divisors = format!("0 (fully associative) or a divisor of the {lines} lines");
    let divides = ways == 0 || lines.is_multiple_of(ways);
    rule(size == 0 || divides, &key("ways"), ways, divisors)
}

/// Dispatch register, collector, unit register and unit take a cycle each.
fn check_collectors(sm: &Sm) -> Check {
    let (latency, banks) = (sm.operand_latency, sm.register_banks);
    let has_collectors = sm.collectors > 0;
    let valid = format!("at least 4 with `sm.collectors` = {}", sm.collectors);
    rule(!has_collectors || latency >= 4, "sm.operand_latency", latency, valid)?;
    let valid = "0 without `sm.collectors`";
    rule(has_collectors || banks == 0, "sm.register_banks", banks, valid)?;
    rule(banks != 3, "sm.register_banks", banks, "0, 1, 2 or 4")
}

/// Networks store sets of the units at either end as bit masks of the largest number of SMs.
fn check_ends(machine: &Machine) -> Check {
    let (channels, most) = (machine.dram.channels, 256);
    let per_channel = machine.l2.slices_per_channel;
    let valid = format!("at most {most} L2 slices, with `l2.slices_per_channel` = {per_channel}");
    rule(machine.slices() <= most, "dram.channels", channels, valid)
}

/// Peer slices belong to two channels.
fn check_copies(machine: &Machine) -> Check {
    let (copies, channels) = (machine.l2.copies, machine.dram.channels);
    let even = "an even number with `l2.copies` = true".to_owned();
    rule(!copies || channels.is_multiple_of(2), "dram.channels", channels, even)?;
    let entries = machine.l2.cache.mshr_entries;
    let valid = "at least 2 with `l2.copies` = true: half of them hold no copies";
    rule(!copies || entries >= 2, "l2.cache.mshr_entries", entries, valid)
}

/// A queue smaller than the reserve would never take a request.
fn check_reserve(machine: &Machine) -> Check {
    let (reserve, queue) = (machine.l2.queue_reserve, machine.l2.queue);
    let valid = format!("at most `l2.queue` = {queue}");
    rule(reserve <= queue, "l2.queue_reserve", reserve, valid)
}

/// Writes that wait for a drain hold their credits; one credit more lets a read pass.
fn check_credits(machine: &Machine) -> Check {
    let (credits, writes) = (machine.l2.to_dram_credits, machine.dram.write_queue);
    let valid = format!("0, or more than `dram.write_queue` = {writes}");
    rule(credits == 0 || credits > writes, "l2.to_dram_credits", credits, valid)
}

/// `network.memory_nodes` names a distinct node for every slice, or none.
fn check_memory_nodes(machine: &Machine) -> Check {
    let given = &machine.network.memory_nodes;
    let slices = machine.slices();
    let nodes = machine.sm.count.div_ceil(machine.network.sms_per_node) + slices;
    let distinct = given.iter().collect::<BTreeSet<_>>().len() == given.len();
    let fits = given.len() == slices as usize && given.iter().all(|&node| node < nodes);
    let valid = format!("[] or {slices} different nodes, one for each L2 slice, below {nodes}");
    let shown = format!("{given:?}");
    rule(given.is_empty() || distinct && fits, "network.memory_nodes", &shown, valid)
}

fn check_first_sm(machine: &Machine) -> Check {
    let (first, sms) = (machine.run.first_sm, machine.sm.count);
    rule(first < sms, "run.first_sm", first, format!("below `sm.count` = {sms}"))
}

/// Counts of concurrent kernels cannot be attributed to one of them, and a kernel that ends early has no
/// cycles to extrapolate.
fn check_error(run: &Run) -> Check {
    let (key, error) = ("run.error_permille", run.error_permille);
    let apart = |other: bool| error == 0 || !other;
    rule(apart(run.concurrent_kernels), key, error, "0 with `run.concurrent_kernels`")?;
    rule(apart(run.launch_instructions > 0), key, error, "0 with `run.launch_instructions`")
}

/// Concurrent kernels have no order in which some could be left out.
fn check_fast_forward(run: &Run) -> Check {
    let (key, launches) = ("run.fast_forward", run.fast_forward);
    rule(launches == 0 || !run.concurrent_kernels, key, launches, "0 with `run.concurrent_kernels`")
}

/// A flush before one kernel would empty the caches under another.
fn check_cold_launches(run: &Run) -> Check {
    let apart = !run.cold_launches || !run.concurrent_kernels;
    rule(apart, "run.cold_launches", run.cold_launches, "false with `run.concurrent_kernels`")
}

/// Under `send-and-fetch` a store that misses sends up to three requests at once: its data, a fetch
/// and the write-back of a dirty line. Lines must be fetched as a whole.
fn check_send_and_fetch(l1: &Cache, l2: &Cache) -> Check {
    let others = "\"none\", \"fetch-on-write\" or \"lazy-fetch\"";
    let sends = |cache: &Cache| cache.write_allocate == WriteAllocate::SendAndFetch;
    let (key, value) = ("write_allocate", "\"send-and-fetch\"");
    rule(!sends(l1), &format!("l1.cache.{key}"), value, others)?;
    let whole = l2.sector_bytes == l2.line_bytes;
    let valid = format!("{others} where lines have sectors");
    rule(!sends(l2) || whole, &format!("l2.cache.{key}"), value, valid)?;
    let entries = l2.miss_queue;
    let valid = format!("at least 3 with `l2.cache.{key}` = {value}");
    rule(!sends(l2) || entries >= 3, "l2.cache.miss_queue", entries, valid)
}

/// Largest L1, bytes.
const L1_BYTES: u32 = 1 << 24;

fn check_l1_size(l1: &Cache) -> Check {
    let size = l1.size_bytes;
    rule(size <= L1_BYTES, "l1.cache.size_bytes", size, format!("at most {L1_BYTES} in L1"))
}

/// Checks the geometry of the cache at `path`.
fn check_cache(path: &str, cache: &Cache) -> Check {
    let key = |name: &str| format!("{path}.{name}");
    let line = cache.line_bytes;
    power_of_two(&key("line_bytes"), line)?;
    power_of_two(&key("sector_bytes"), cache.sector_bytes)?;
    let sectors = format!("at most a line: `{}` = {line}", key("line_bytes"));
    rule(cache.sector_bytes <= line, &key("sector_bytes"), cache.sector_bytes, sectors)?;
    let size = cache.size_bytes;
    let lines = format!("a multiple of `{}` = {line}", key("line_bytes"));
    rule(size.is_multiple_of(line), &key("size_bytes"), size, lines)?;
    let ways = cache.associativity();
    let divisors = format!("0 (fully associative) or a divisor of the {} lines", cache.lines());
    rule(cache.lines().is_multiple_of(ways), &key("ways"), ways, divisors)?;
    let hashable = cache.index == IndexHash::Linear || cache.sets().is_power_of_two();
    let sets = format!(
        "\"linear\", or sizes that give a power of two of sets (now {} sets)",
        cache.sets()
    );
    rule(hashable, &key("index"), &cache.index.quoted(), sets)?;
    let hashable = cache.index == IndexHash::Linear || cache.sets().ilog2() <= MAX_INDEX_BITS;
    let sets = format!("\"linear\", or at most 2^{MAX_INDEX_BITS} sets (now {})", cache.sets());
    rule(hashable, &key("index"), &cache.index.quoted(), sets)
}

/// A request of L1 addresses a line and sectors of the L2, so both have the same geometry.
fn check_shared_lines(l1: &Cache, l2: &Cache) -> Check {
    let line = format!("the same as `l2.cache.line_bytes` = {}", l2.line_bytes);
    rule(l1.line_bytes == l2.line_bytes, "l1.cache.line_bytes", l1.line_bytes, line)?;
    let sector = format!("the same as `l2.cache.sector_bytes` = {}", l2.sector_bytes);
    rule(l1.sector_bytes == l2.sector_bytes, "l1.cache.sector_bytes", l1.sector_bytes, sector)
}

/// Requests to the L2 do not carry their address space, so a policy for local memory only cannot
/// apply there.
fn check_l2_write(l2: &Cache) -> Check {
    let holds = l2.write != WritePolicy::LocalWriteBack;
    rule(
        holds,
        "l2.cache.write",
        "\"local-write-back\"",
        "a policy that does not depend on the address space; this one is for L1 only",
    )
}

/// In a write-back L1 a miss takes two entries of the miss queue at once: for its fetch, and for the
/// dirty line that it evicts.
fn check_miss_queue(l1: &L1) -> Check {
    let cache = &l1.cache;
    let holds = !cache.write.has_dirty_lines() || cache.miss_queue >= 2;
    let valid = "at least 2, for a miss and the dirty line that it evicts, if `l1.cache.write` leaves dirty lines";
    rule(holds, "l1.cache.miss_queue", cache.miss_queue, valid)?;
    let valid = format!("less than `l1.cache.miss_queue` = {}", cache.miss_queue);
    rule(l1.read_reserve < cache.miss_queue, "l1.read_reserve", l1.read_reserve, valid)
}

/// Wavefronts count the words of a sector in one step.
fn check_wavefronts(l1: &L1) -> Check {
    let holds = l1.data_path != DataPath::Wavefronts || l1.cache.sector_bytes == 32;
    let valid = "32 with `l1.data_path` = \"wavefronts\"";
    rule(holds, "l1.cache.sector_bytes", l1.cache.sector_bytes, valid)
}

/// The start of a kernel flushes L1, which then awaits no data of stores.
fn check_outliving(sm: &Sm, l1: &L1) -> Check {
    let fetches = l1.enabled && l1.cache.write_allocate.fetches();
    let valid = "false with an `l1.cache.write_allocate` that fetches";
    rule(!(sm.stores_outlive_warps && fetches), "sm.stores_outlive_warps", true, valid)
}

fn check_unified(l1: &L1, sm: &Sm) -> Check {
    let holds = l1.shrinks == Shrinks::Ways || l1.cache.index == IndexHash::Linear;
    let valid = "\"linear\" with `l1.shrinks` = \"sets\": the hashes need a power of two of sets";
    rule(holds, "l1.cache.index", &l1.cache.index.quoted(), valid)?;
    let options = &l1.shared_options_bytes;
    let (Some(&smallest), Some(&largest)) = (options.iter().min(), options.iter().max()) else {
        let valid = "0 without `l1.shared_options_bytes`";
        return rule(l1.unified_bytes == 0, "l1.unified_bytes", l1.unified_bytes, valid);
    };
    let key = "l1.shared_options_bytes";
    let (unit, bytes) = match l1.shrinks {
        Shrinks::Ways => ("ways", l1.cache.sets() * l1.cache.line_bytes),
        Shrinks::Sets => ("sets", l1.cache.associativity() * l1.cache.line_bytes),
    };
    let shown = format!("{options:?}");
    let fits = |&option: &u32| {
        option < l1.unified_bytes && (l1.unified_bytes - option).is_multiple_of(bytes)
    };
    let valid = format!(
        "sizes below `l1.unified_bytes` = {} that leave whole {unit} of {bytes} bytes",
        l1.unified_bytes
    );
    rule(options.iter().all(fits), key, &shown, valid)?;
    let holds_all = format!("an option that holds `sm.shared_bytes` = {}", sm.shared_bytes);
    rule(largest >= sm.shared_bytes, key, &shown, holds_all)?;
    let rest = l1.unified_bytes - smallest;
    let size = format!("{rest}: {} bytes less the smallest of `{key}`", l1.unified_bytes);
    rule(l1.cache.size_bytes == rest, "l1.cache.size_bytes", l1.cache.size_bytes, size)
}

/// A sector is transferred by a whole number of column commands.
fn check_bursts(dram: &Dram, l2: &Cache) -> Check {
    let (bytes, sector) = (dram.burst_bytes(), l2.sector_bytes);
    let valid = format!(
        "a width whose burst ({} bytes x {} transfers = {bytes} bytes) is at most \
         `l2.cache.sector_bytes` = {sector}",
        dram.bus_bytes, dram.burst_length
    );
    rule(bytes <= sector, "dram.bus_bytes", dram.bus_bytes, valid)?;
    let row = format!("at least a line: `l2.cache.line_bytes` = {}", l2.line_bytes);
    rule(dram.row_bytes >= l2.line_bytes, "dram.row_bytes", dram.row_bytes, row)
}

/// The address map keeps each line within one channel and one row.
fn check_address(machine: &Machine) -> Check {
    let (dram, line) = (&machine.dram, machine.l2.cache.line_bytes);
    let layout = dram.layout()?;
    let interleave = dram.address.interleave_bytes;
    let whole_lines = format!("at least a line: `l2.cache.line_bytes` = {line}");
    let fits = interleave == 0 || interleave >= line;
    rule(fits, "dram.address.interleave_bytes", interleave, whole_lines)?;
    let shown = format!("\"{}\" ({layout})", dram.address.map);
    let together = format!(
        "the lowest {} bits from column and burst, so that a line lies in one row",
        line.ilog2()
    );
    rule(layout.bits_within_row() >= line.ilog2(), "dram.address.map", &shown, together)
}
