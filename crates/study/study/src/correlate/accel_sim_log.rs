//! Parser of Accel-Sim's log: options, then a block of statistics after each kernel.
//!
//! Written for GPGPU-Sim 4.2 (Accel-Sim 1.2 and 1.3, development branch of 2024). The lines read
//! here have kept their form since GPGPU-Sim 3.2, except for `bw_util`, which was twice the
//! fraction of busy cycles before 4.0. Counts of caches and DRAM accumulate over the kernels of a
//! run, so the last block holds the totals of the run.

use std::collections::HashMap;
use std::io::BufRead;
use std::mem;
use std::path::Path;

use super::error::ReferenceError;
use super::figures::{Figures, KernelFigures, row_locality, total};
use super::identity::STATED;
use super::reference_run::{FIFO, FR_FCFS, ReferenceRun, Stated};
use warpmem_record::metrics::quotient;
use warpmem_support::files::text;

/// Longest accepted line, bytes; kernel names are the longest items of a log.
const MAX_LINE: u64 = 1 << 20;

/// Reads the run of a log.
pub(super) fn read(path: &Path, mut file: impl BufRead) -> Result<ReferenceRun, ReferenceError> {
    let mut log = Log::new(path);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let io = |source| ReferenceError::Io { path: path.to_owned(), source };
        if text::read_line(&mut file, &mut bytes, MAX_LINE).map_err(io)? == 0 {
            return log.finish();
        }
        log.line += 1;
        log.read_line(String::from_utf8_lossy(&bytes).trim())?;
    }
}

/// State of parsing a log.
struct Log<'a> {
    path: &'a Path,
    line: u64,
    launch_latency: u64,
    dram_scheduler: String,
    /// Stated values of the machine, by option and position.
    stated: HashMap<(&'static str, usize), f64>,
    /// Figures of the completed kernel blocks.
    kernels: Vec<KernelFigures>,
    block: Option<Block>,
    /// Wall-clock time, s.
    seconds: Option<f64>,
}

/// Statistics printed after a kernel, some of them cumulative over the run.
#[derive(Default)]
struct Block {
    name: String,
    line: u64,
    /// Cycles of the kernel.
    cycles: Option<u64>,
    thread_instructions: Option<u64>,
    /// Cycles of the run so far.
    total_cycles: Option<u64>,
    totals: Figures,
    channels: Vec<Channel>,
}

/// Statistics of a DRAM channel.
struct Channel {
    activations: u64,
    bus_utilization: f64,
}

impl<'a> Log<'a> {
    fn new(path: &'a Path) -> Log<'a> {
        Log {
            path,
            line: 0,
            launch_latency: 0,
            dram_scheduler: FR_FCFS.to_owned(),
            stated: HashMap::new(),
            kernels: Vec::new(),
            block: None,
            seconds: None,
        }
    }

    fn read_line(&mut self, line: &str) -> Result<(), ReferenceError> {
        if line.starts_with('-') {
            return self.read_option(line);
        }
        if line.starts_with("n_cmd=") {
            return self.read_channel(line);
        }
        let Some((key, value)) = line.split_once('=') else { return Ok(()) };
        let (key, value) = (key.trim_end(), value.trim_start());
        match key {
            "kernel_name" => self.begin(value),
            "gpgpu_simulation_time" => self.read_seconds(value),
            _ => self.read_statistic(key, value),
        }
    }

    /// Parses an option: `-gpgpu_n_clusters   80 # number of processing clusters`.
    fn read_option(&mut self, line: &str) -> Result<(), ReferenceError> {
        let mut words = line.split_ascii_whitespace();
        let (key, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match key {
            "-gpgpu_kernel_launch_latency" => self.launch_latency = self.count(key, value)?,
            "-gpgpu_dram_scheduler" => {
                self.dram_scheduler = match value {
                    "0" => FIFO.to_owned(),
                    "1" => FR_FCFS.to_owned(),
                    other => other.to_owned(),
                };
            }
            _ => self.read_stated(key, value)?,
        }
        Ok(())
    }

    /// Parses the numbers of an option: `-gpgpu_clock_domains 1132.0:1132.0:1132.0:850.0`.
    fn read_stated(&mut self, key: &str, value: &str) -> Result<(), ReferenceError> {
        let options = STATED.iter().flat_map(|(_, options)| *options);
        for &(option, place) in options.filter(|(option, _)| *option == key) {
            let number = self.number(key, value.split(':').nth(place).unwrap_or_default())?;
            self.stated.insert((option, place), number);
        }
        Ok(())
    }

    /// Returns the machine keys stated by the log: those whose options are all present.
    fn machine(&self) -> Vec<Stated> {
        let stated = |&(key, options): &(&'static str, &[(&'static str, usize)])| {
            let values = options.iter().map(|option| self.stated.get(option).copied());
            let value = values.product::<Option<f64>>()?;
            let names: Vec<&str> = options.iter().map(|(option, _)| *option).collect();
            Some(Stated { key, options: names.join(" × "), value })
        };
        STATED.iter().filter_map(stated).collect()
    }

    /// Parses a duration: `0 days, 0 hrs, 0 min, 10 sec (10 sec)`.
    fn read_seconds(&mut self, value: &str) -> Result<(), ReferenceError> {
        let sum = value.split_once('(').and_then(|(_, sum)| sum.split_once(" sec"));
        let sum = sum.map_or("", |(sum, _)| sum);
        self.seconds = Some(self.number("gpgpu_simulation_time", sum)?);
        Ok(())
    }

    fn begin(&mut self, name: &str) -> Result<(), ReferenceError> {
        self.end_kernel()?;
        let (name, line) = (name.trim_end().to_owned(), self.line);
        self.block = Some(Block { name, line, ..Block::default() });
        Ok(())
    }

    fn read_statistic(&mut self, key: &str, value: &str) -> Result<(), ReferenceError> {
        // Lines outside the blocks are statistics about the simulator itself.
        let Some(mut block) = self.block.take() else { return Ok(()) };
        let totals = &mut block.totals;
        let count = || self.count(key, value).map(Some);
        match key {
            "gpu_sim_cycle" => block.cycles = count()?,
            "gpu_sim_insn" => block.thread_instructions = count()?,
            "gpu_tot_sim_cycle" => block.total_cycles = count()?,
            "gpu_tot_sim_insn" => totals.thread_instructions = count()?,
            "L1D_total_cache_accesses" => totals.l1.accesses = count()?,
            "L1D_total_cache_misses" => totals.l1.misses = count()?,
            "L2_total_cache_accesses" => totals.l2.accesses = count()?,
            "L2_total_cache_misses" => totals.l2.misses = count()?,
            "total dram reads" => totals.dram_reads = count()?,
            "total dram writes" => totals.dram_writes = count()?,
            "averagemflatency" => totals.reply_latency = Some(self.number(key, value)?),
            "average row locality" => totals.row_locality = self.fraction(key, value)?,
            _ => {}
        }
        self.block = Some(block);
        Ok(())
    }

    /// Parses the counts of a channel: `n_cmd=6710 n_nop=4432 n_act=94 n_pre=78 … bw_util=0.3052`.
    fn read_channel(&mut self, line: &str) -> Result<(), ReferenceError> {
        let (mut activations, mut bus_utilization) = (None, None);
        for (key, value) in line.split_ascii_whitespace().filter_map(|word| word.split_once('=')) {
            match key {
                "n_act" => activations = Some(self.count(key, value)?),
                "bw_util" => bus_utilization = Some(self.number(key, value)?),
                _ => {}
            }
        }
        if let Some((block, (activations, bus_utilization))) =
            self.block.as_mut().zip(activations.zip(bus_utilization))
        {
            block.channels.push(Channel { activations, bus_utilization });
        }
        Ok(())
    }

    /// Completes the kernel of the current block, which has all required values.
    fn end_kernel(&mut self) -> Result<(), ReferenceError> {
        let Some(block) = &mut self.block else { return Ok(()) };
        let name = mem::take(&mut block.name);
        let Some(cycles) = block.cycles else {
            let what = format!(
                "no `gpu_sim_cycle` follows `kernel_name = {name}` of line {}; expected the \
                 statistics of a kernel",
                block.line
            );
            return Err(ReferenceError::Log { path: self.path.to_owned(), what });
        };
        let thread_instructions = block.thread_instructions;
        self.kernels.push(KernelFigures { name, cycles, range: None, thread_instructions });
        Ok(())
    }

    fn finish(mut self) -> Result<ReferenceRun, ReferenceError> {
        self.end_kernel()?;
        let machine = self.machine();
        let log = |what| ReferenceError::Log { path: self.path.to_owned(), what };
        let Some(block) = self.block else {
            let what = "no line `kernel_name = …`; expected the log of Accel-Sim with the \
                        statistics that it prints after each kernel, or results in JSON";
            return Err(log(what.to_owned()));
        };
        let missing = block.missing();
        let launches = self.kernels.len();
        let figures = Figures { wall_seconds: self.seconds, ..block.figures(self.kernels) };
        Ok(ReferenceRun {
            dram_scheduler: self.dram_scheduler,
            machine,
            figures: figures.without_launches(self.launch_latency, launches).map_err(log)?,
            missing,
            ..ReferenceRun::default()
        })
    }

    fn count(&self, key: &str, value: &str) -> Result<u64, ReferenceError> {
        let word = value.split_ascii_whitespace().next().unwrap_or_default();
        word.parse().map_err(|_| self.unexpected(key, "a whole number", value))
    }

    fn number(&self, key: &str, value: &str) -> Result<f64, ReferenceError> {
        let word = value.split_ascii_whitespace().next().unwrap_or_default();
        let number = word.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.unexpected(key, "a number", value))
    }

    /// Parses a fraction: `65536/3010 = 21.772757`.
    fn fraction(&self, key: &str, value: &str) -> Result<Option<f64>, ReferenceError> {
        let word = value.split_ascii_whitespace().next().unwrap_or_default();
        let parts = word.split_once('/');
        let parts = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (above, below) = parts.ok_or_else(|| self.unexpected(key, "a fraction", value))?;
        Ok(quotient(above, below))
    }

    fn unexpected(&self, key: &str, expected: &'static str, found: &str) -> ReferenceError {
        ReferenceError::Value {
            path: self.path.to_owned(),
            line: self.line,
            key: key.to_owned(),
            expected,
            found: found.chars().take(SHOWN).collect::<String>().escape_debug().to_string(),
        }
    }
}

/// Maximum length of a bad value quoted by a message, characters.
const SHOWN: usize = 60;

impl Block {
    /// Returns the required keys that the block lacks.
    fn missing(&self) -> Vec<&'static str> {
        let Figures { l1, l2, .. } = &self.totals;
        let found = [
            ("gpu_tot_sim_cycle", self.total_cycles.is_some()),
            ("gpu_tot_sim_insn", self.totals.thread_instructions.is_some()),
            ("L1D_total_cache_accesses", l1.accesses.is_some()),
            ("L1D_total_cache_misses", l1.misses.is_some()),
            ("L2_total_cache_accesses", l2.accesses.is_some()),
            ("L2_total_cache_misses", l2.misses.is_some()),
            ("total dram reads", self.totals.dram_reads.is_some()),
            ("total dram writes", self.totals.dram_writes.is_some()),
            ("n_act and bw_util", !self.channels.is_empty()),
            ("averagemflatency", self.totals.reply_latency.is_some()),
        ];
        found.into_iter().filter(|(_, found)| !found).map(|(key, _)| key).collect()
    }

    /// Returns the figures of the run, including launch latency.
    fn figures(self, kernels: Vec<KernelFigures>) -> Figures {
        let channels = self.channels.len();
        let activations =
            (channels > 0).then(|| total(self.channels.iter().map(|c| c.activations)));
        let utilization: f64 = self.channels.iter().map(|c| c.bus_utilization).sum();
        let column_commands = self.totals.dram_reads.zip(self.totals.dram_writes);
        let per_activation = column_commands
            .zip(activations)
            .and_then(|((reads, writes), activations)| row_locality(reads, writes, activations));
        Figures {
            cycles: self
                .total_cycles
                .unwrap_or_else(|| total(kernels.iter().map(|kernel| kernel.cycles))),
            activations,
            row_locality: per_activation.or(self.totals.row_locality),
            bus_utilization: (channels > 0).then(|| utilization / channels as f64),
            kernels,
            ..self.totals
        }
    }
}

#[cfg(test)]
mod tests;
