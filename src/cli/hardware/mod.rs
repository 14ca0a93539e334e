//! `warpmem hardware`: measurements on a GPU.

mod table;

use super::capture::command_line;
use super::exit::Interrupted;
use super::format::{self, Format};
use super::interrupt::Interrupt;
use super::output::{complain, note, print};
use super::progress::bar;
use crate::capture::Plan;
use crate::cli::files::{InputFile, OutputFile};
use crate::files::claims::Claims;
use crate::files::staged;
use crate::hardware::{
    DEFAULT_DRIVER, Gpu, HardwareError, MEASUREMENTS, Measured, Measurement, Observer, Parameters,
    ResultsFile, Session, Work, measurement,
};
use crate::slots::List;
use anyhow::{Context, bail};
use clap::ValueHint;
use indicatif::ProgressBar;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Measure latencies, bandwidths and kernels on an NVIDIA GPU
///
/// Needs only the GPU's driver, not the CUDA toolkit: kernels are PTX, which the driver compiles.
/// Writes SM cycles and bandwidths to a file, which `warpmem correlate --hardware` compares with
/// those of a machine.
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// List the built-in measurements, one per line; needs no GPU
    #[arg(long, conflicts_with_all = ["only", "launches", "output"])]
    list: bool,
    /// Only these built-in measurements; by default all, or none with --launch
    #[arg(long, value_name = "NAME,…", value_parser = List::parse)]
    only: Option<List>,
    /// Measure your own kernels: a launch file as `warpmem capture --launch` takes it; may be repeated
    #[arg(long = "launch", value_name = "FILE", value_hint = ValueHint::FilePath)]
    launches: Vec<InputFile>,
    /// Repetitions to measure, after one that is not counted
    #[arg(long, value_name = "N", default_value = "7")]
    repeat: NonZeroU32,
    /// Index of the GPU in the driver's order
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: u32,
    /// The driver's library
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DRIVER, value_hint = ValueHint::FilePath)]
    driver: InputFile,
    /// File to write the results to, in JSON
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present = "list")]
    output: Option<OutputFile>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

const AFTER_HELP: &str = "\
Every repetition begins with the buffers' first values and without what is measured in L2. The
clock of the SMs is measured beside it, not set: other work on the GPU disturbs a measurement. One
that fails is left out and named, with exit status 2.

Examples:
  warpmem hardware --list
  warpmem hardware -o hardware.json
  warpmem hardware --only l1-latency,l2-latency,l2-lines --repeat 21 -o latencies.json
  warpmem hardware --launch mine.toml --launch other.toml --device 1 -o mine.json
  warpmem correlate --hardware hardware.json";

pub fn execute(args: &Args) -> anyhow::Result<()> {
    match &args.output {
        None => print(&table::list()),
        Some(output) => measure(args, output),
    }
}

/// A selected measurement.
enum Chosen {
    BuiltIn(&'static Measurement),
    Own { name: String, path: PathBuf },
}

fn measure(args: &Args, output: &Path) -> anyhow::Result<()> {
    let chosen = chosen(args)?;
    check_files(&chosen, output)?;
    staged::check(output)?;
    let gpu = Gpu::open(args.driver.as_os_str(), args.device)?;
    let session = Session::new(&gpu).context("failed to prepare the device")?;
    note(&table::device(&session.device));
    let repeat = args.repeat.get();
    let command = command_line();
    let device = session.device.clone();
    let mut results = ResultsFile::new(command, device, repeat, session.empty_launch);
    let bar = Bar::new(chosen.len() as u64 * u64::from(repeat + 1))?;
    let mut failed = Vec::new();
    for one in &chosen {
        bar.bar.set_message(one.name().to_owned());
        match one.measured(&session, repeat, output, &bar) {
            Ok(measured) => results.measurements.push(measured),
            Err(HardwareError::Interrupted) => break,
            Err(error) => failed.push(anyhow::Error::new(error).context(one.failure())),
        }
    }
    bar.bar.finish_and_clear();
    finish(args, output, &results, failed, bar.interrupt.is_asked())
}

/// Refuses an output that would overwrite a file of a launch.
fn check_files(chosen: &[Chosen], output: &Path) -> anyhow::Result<()> {
    let mut files = Claims::default();
    for one in chosen {
        if let Chosen::Own { path, .. } = one {
            Plan::read(path)?.claim_inputs(&mut files);
        }
    }
    files.write("--output", output);
    Ok(files.check()?)
}

/// Writes and prints the results, and reports failed measurements.
fn finish(
    args: &Args,
    output: &Path,
    results: &ResultsFile,
    failed: Vec<anyhow::Error>,
    is_interrupted: bool,
) -> anyhow::Result<()> {
    let count = results.measurements.len();
    if count > 0 {
        results.write(output).map_err(|error| anyhow::anyhow!(error))?;
        print(&match args.format {
            Format::Table => table::results(results),
            Format::Json => format::json(&table::rows(results)),
            Format::Csv => format::csv(&table::rows(results)),
        })?;
        note(&format!("{}: {count} measurements", output.display()));
    }
    if is_interrupted {
        let kept = match count {
            0 => "nothing is written".to_owned(),
            _ => format!("{} has the {count} finished measurements", output.display()),
        };
        return Err(Interrupted { kept }.into());
    }
    let mut failed = failed.into_iter().rev();
    let Some(last) = failed.next() else { return Ok(()) };
    failed.rev().for_each(|error| complain(&format!("error: {error:#}")));
    Err(last)
}

/// Returns the chosen measurements, each under a unique name.
fn chosen(args: &Args) -> anyhow::Result<Vec<Chosen>> {
    let mut chosen = Vec::new();
    match &args.only {
        Some(List(names)) => {
            for name in names {
                chosen.push(Chosen::BuiltIn(measurement(name)?));
            }
        }
        None if args.launches.is_empty() => chosen.extend(MEASUREMENTS.iter().map(Chosen::BuiltIn)),
        None => {}
    }
    for path in &args.launches {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        chosen.push(Chosen::Own { name, path: path.to_path_buf() });
    }
    for (at, one) in chosen.iter().enumerate() {
        if chosen[..at].iter().any(|other| other.name() == one.name()) {
            bail!("two measurements are called `{}`: give each once, or rename a file", one.name());
        }
    }
    Ok(chosen)
}

impl Chosen {
    fn name(&self) -> &str {
        match self {
            Chosen::BuiltIn(measurement) => measurement.name,
            Chosen::Own { name, .. } => name,
        }
    }

    fn failure(&self) -> String {
        format!("failed to measure {}", self.name())
    }

    /// Performs the measurement; `output` is the future file of results.
    fn measured(
        &self,
        session: &Session<'_>,
        repeat: u32,
        output: &Path,
        observer: &Bar,
    ) -> Result<Measured, HardwareError> {
        let name = self.name().to_owned();
        let (parameters, launch_file, work) = match self {
            Chosen::BuiltIn(measurement) => {
                let parameters = (measurement.parameters)(&session.device);
                let work = measurement.work(&parameters)?;
                (parameters, None, work)
            }
            Chosen::Own { name, path } => {
                let work = Work::of_launch_file(name, path)?;
                (Parameters::new(), Some(from_folder_of(output, path)), work)
            }
        };
        let samples = session.measure(&work, repeat, observer)?;
        Ok(Measured { name, parameters, launch_file, crc32: work.fingerprint(), samples })
    }
}

/// Returns a path relative to the folder of another file.
fn from_folder_of(file: &Path, path: &Path) -> PathBuf {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let file = absolute(file);
    let folder = file.parent().unwrap_or(Path::new("/"));
    pathdiff::diff_paths(absolute(path), folder).unwrap_or_else(|| path.to_owned())
}

/// Progress on standard error.
struct Bar {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl Bar {
    fn new(repetitions: u64) -> anyhow::Result<Bar> {
        let bar = bar("{bar:30} {percent:>3} % · {msg} · {eta} left");
        bar.set_length(repetitions);
        Ok(Bar { bar, interrupt: Interrupt::install()? })
    }
}

impl Observer for Bar {
    fn repeated(&self) {
        self.bar.inc(1);
    }

    fn is_stopped(&self) -> bool {
        self.interrupt.is_asked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_file_is_named_from_the_folder_of_the_results() {
        let from = |output, path| from_folder_of(Path::new(output), Path::new(path));
        assert_eq!(from("hardware.json", "k.toml"), Path::new("k.toml"));
        assert_eq!(from("results/hardware.json", "kernels/k.toml"), Path::new("../kernels/k.toml"));
    }
}
