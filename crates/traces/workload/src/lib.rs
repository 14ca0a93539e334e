//! Generated workloads: kernels written like CUDA code, executed warp by warp on real data, and
//! recorded as traces.
//!
//! A generator builds its input ([`input`]), uploads it to device memory ([`memory`]), and launches
//! its kernels ([`gpu`]). A kernel is code over the 32 lanes of a [`warp`]; its values ([`lanes`])
//! and addresses ([`pointer`]) issue the instructions that compute them. Loads return stored
//! values, so the algorithm computes with the addresses of its trace; tests compare its result with
//! a plain implementation.
//!
//! The same name, arguments and seed give the same bytes on every platform.

mod atomics;
mod constants;
mod functions;
mod gpu;
mod input;
mod kernels;
mod parameters;
mod pointer;
pub mod shell;
mod stop;
mod tensor;
#[cfg(test)]
mod tests;
mod warp;

use std::collections::BTreeMap;
use std::path::Path;

use warpmem_trace::{Provenance, TraceError, TraceSummary};

pub use gpu::{Progress, ProgressCallback};
pub use input::InputError;
#[cfg(fuzzing)]
pub use input::read_as_every_format;
pub use parameters::Parameter;
pub use stop::Stop;

use gpu::Gpu;
use input::Random;
use parameters::Arguments;
use warpmem_params::{did_you_mean, nearest};
use warpmem_trace::{BeyondEnd, Ranges, RangesError};

/// A workload generator.
pub struct Generator {
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Origin of the kernels: a program or paper.
    pub source: &'static str,
    /// Groups of parameters: shared ones and the generator's own.
    parameters: &'static [&'static [Parameter]],
    run: fn(&mut Gpu, &Arguments, &mut Random) -> Result<(), WorkloadError>,
}

impl Generator {
    /// Iterates over all parameters in order of declaration.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// Describes the algorithm and its memory accesses, one line per paragraph: its section of the
    /// catalogue.
    pub fn description(&self) -> String {
        let heading = format!("\n## `{}`\n", self.name);
        let (_, section) = CATALOGUE.split_once(&heading).unwrap_or_default();
        let section = section.split("\n## ").next().unwrap_or_default();
        let paragraphs = section.trim().split("\n\n");
        paragraphs.map(|lines| lines.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
    }
}

/// Descriptions of the generators, a section each.
const CATALOGUE: &str = include_str!("catalogue.md");

/// Failure to generate a workload.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    #[error("unknown kernel `{name}`{}; valid: {valid}", did_you_mean(*.nearest))]
    UnknownGenerator { name: String, nearest: Option<&'static str>, valid: String },
    #[error("{generator} has no parameter `{name}`{}; valid: {valid}", did_you_mean(*.nearest))]
    UnknownParameter {
        generator: &'static str,
        name: String,
        nearest: Option<&'static str>,
        valid: String,
    },
    #[error("`{value}` is not a value of --{parameter}{}; valid: {valid}", did_you_mean(*.nearest))]
    BadValue {
        parameter: &'static str,
        value: String,
        nearest: Option<&'static str>,
        valid: String,
    },
    #[error("{message}")]
    Inconsistent { message: String },
    #[error(transparent)]
    Ranges(#[from] RangesError),
    #[error(transparent)]
    BeyondEnd(#[from] BeyondEnd),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Returns all generators in list order.
pub fn generators() -> &'static [Generator] {
    kernels::GENERATORS
}

/// Returns the generator named `name`.
pub fn find(name: &str) -> Result<&'static Generator, WorkloadError> {
    let names = || generators().iter().map(|g| g.name);
    generators().iter().find(|g| g.name == name).ok_or_else(|| WorkloadError::UnknownGenerator {
        name: name.to_owned(),
        nearest: nearest(name, names()),
        valid: names().collect::<Vec<_>>().join(", "),
    })
}

/// The result of a generator.
#[derive(Debug)]
pub struct Generated {
    pub trace: TraceSummary,
    /// Notes for users on the input, such as dropped entries of a file. One line each.
    pub notes: Vec<String>,
}

/// A trace to generate.
#[derive(Clone, Debug)]
pub struct Request {
    /// Name of the generator.
    pub kernel: String,
    /// Values by name, in command-line notation; the rest have their defaults.
    pub parameters: BTreeMap<String, String>,
    pub seed: u64,
    /// Launches to include in the trace, numbered from 0. The others run for their effects on
    /// memory only.
    pub launches: Ranges,
}

impl Request {
    /// Checks the parameters as far as possible without running the generator.
    ///
    /// # Errors
    /// If there is no such generator, or a parameter is invalid.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.arguments().map(drop)
    }

    fn arguments(&self) -> Result<Arguments, WorkloadError> {
        let generator = find(&self.kernel)?;
        Arguments::resolve(generator.name, generator.parameters, &self.parameters)
    }

    /// Runs the generator and writes its trace to `output`. After an error, or if `progress` stops
    /// it, no file remains.
    ///
    /// # Errors
    /// If the request is invalid, an input file cannot be read, or the trace cannot be written.
    pub fn generate(
        &self,
        output: &Path,
        progress: &mut ProgressCallback<'_>,
    ) -> Result<Generated, WorkloadError> {
        self.generate_until(&Stop::default(), output, progress)
    }

    /// As [`Request::generate`], and also stops on request of `stop` between calls of `progress`:
    /// during input generation or in the middle of a CTA.
    ///
    /// # Errors
    /// As [`Request::generate`]; [`WorkloadError::Interrupted`] if it was stopped.
    pub fn generate_until(
        &self,
        stop: &Stop,
        output: &Path,
        progress: &mut ProgressCallback<'_>,
    ) -> Result<Generated, WorkloadError> {
        let generator = find(&self.kernel)?;
        let arguments = Arguments::resolve(generator.name, generator.parameters, &self.parameters)?;
        if arguments.names(output) {
            let message = "the trace cannot replace its input; valid: another name";
            return Err(WorkloadError::Inconsistent { message: message.to_owned() });
        }
        let provenance = Provenance {
            tool: TOOL.to_owned(),
            source: generator.source.to_owned(),
            command: self.spelt_out(&arguments),
        };
        let mut gpu = Gpu::create(output, provenance, self.launches.clone(), progress)?;
        let random = &mut Random::new(self.seed);
        match stop.watch(|| (generator.run)(&mut gpu, &arguments, random)) {
            Err(WorkloadError::Interrupted) if gpu.is_complete() => {}
            Err(error) => return Err(error),
            Ok(()) => {}
        }
        Ok(Generated { trace: gpu.finish()?, notes: arguments.into_notes() })
    }

    /// Returns the command that generates the trace again, with every parameter.
    ///
    /// # Errors
    /// As [`Request::check`].
    pub fn command(&self) -> Result<String, WorkloadError> {
        Ok(self.spelt_out(&self.arguments()?))
    }

    fn spelt_out(&self, arguments: &Arguments) -> String {
        let options = arguments.as_options();
        let launches = match &self.launches {
            all if *all == Ranges::all() => String::new(),
            some => format!(" --kernels {some}"),
        };
        format!("{TOOL} {}{options} --seed {}{launches}", self.kernel, self.seed)
    }
}

/// The program in the provenance of generated traces, and the beginning of its command.
const TOOL: &str = "warpmem generate";

/// The origin of a generated trace. Traces of one workload with different seeds are repeats of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeded {
    /// The command without program and seed: `bfs --graph rmat --nodes 65536`.
    pub workload: String,
    pub seed: u64,
}

impl Seeded {
    /// Reads the origin of a trace; none if no generator made it.
    pub fn of(provenance: &Provenance) -> Option<Seeded> {
        let command = provenance.command.strip_prefix(TOOL)?.strip_prefix(' ')?;
        // A parameter may contain the option's name, but all parameters precede it.
        let (parameters, rest) = command.rsplit_once(" --seed ")?;
        let (seed, launches) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
        let is_generated = provenance.tool == TOOL;
        let seed = seed.parse().ok().filter(|_| is_generated)?;
        Some(Seeded { workload: format!("{parameters}{launches}"), seed })
    }
}

/// As [`Request::generate`], with all launches and without notes.
pub fn generate(
    name: &str,
    given: &BTreeMap<String, String>,
    seed: u64,
    output: &Path,
    progress: &mut ProgressCallback<'_>,
) -> Result<TraceSummary, WorkloadError> {
    let (kernel, parameters) = (name.to_owned(), given.clone());
    Request { kernel, parameters, seed, launches: Ranges::all() }
        .generate(output, progress)
        .map(|generated| generated.trace)
}
