//! Work that the device and the simulated machine both execute: programs, and a function from their cycles to
//! figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpmem_capture::{CaptureError, Plan, PtxModule};

use crate::error::HardwareError;

/// Sizes of a measurement by name, sufficient to repeat it.
pub type Parameters = BTreeMap<String, u64>;

/// An executable measurement.
pub struct Work {
    pub name: String,
    /// Programs; each starts with empty caches.
    pub programs: Vec<Program>,
    figures: Box<Figures>,
}

/// Function from cycles to figures.
type Figures = dyn Fn(&Cycles) -> Vec<Figure> + Send + Sync;

/// A module and its launches.
pub struct Program {
    pub module: PtxModule,
    pub plan: Plan,
    /// Buffer into which each launch writes its cycles, 8 bytes per launch; `None` if the launches do not.
    pub timer: Option<&'static str>,
    /// CRC-32 of the launch file's text and the PTX.
    fingerprint: u32,
}

/// Cycles of all launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycles {
    /// Cycles, by program, then by launch.
    pub launches: Vec<Vec<f64>>,
    /// Clock, Hz.
    pub hz: f64,
}

/// A figure of a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub name: String,
    pub unit: Unit,
    pub value: f64,
}

/// Unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    #[serde(rename = "cycles")]
    Cycles,
    #[serde(rename = "GB/s")]
    GigabytesPerSecond,
    #[serde(rename = "B/cycle")]
    BytesPerCycle,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::GigabytesPerSecond => "GB/s",
            Unit::BytesPerCycle => "B/cycle",
        }
    }

    /// Formats a value for display: whole cycles for large counts, otherwise one decimal.
    pub fn shown(self, value: f64) -> String {
        match self {
            Unit::Cycles if value >= 10_000.0 => format!("{value:.0}"),
            _ => format!("{value:.1}"),
        }
    }
}

impl Figure {
    pub fn new(name: &str, unit: Unit, value: f64) -> Figure {
        Figure { name: name.to_owned(), unit, value }
    }
}

impl Cycles {
    /// Returns the total cycles of a program's launches.
    pub fn total(&self, program: usize) -> f64 {
        self.launches.get(program).into_iter().flatten().sum()
    }

    /// Returns the cycles by which the second program, a longer run of the same work, exceeds the first.
    pub fn difference(&self) -> f64 {
        self.total(1) - self.total(0)
    }
}

impl Program {
    /// Builds a program from the text of a launch file and its PTX.
    ///
    /// # Errors
    /// When either text is invalid.
    pub fn of_text(launch_file: &str, ptx: &str) -> Result<Program, String> {
        let plan = Plan::parse(launch_file, PathBuf::new())?;
        let module = PtxModule::of_text(plan.module.clone(), ptx.to_owned());
        let module = module.map_err(chained)?;
        Ok(Program { fingerprint: fingerprint(launch_file, ptx), module, plan, timer: None })
    }

    /// Marks `buffer` as the one into which the launches write their cycles.
    pub fn timed_by(self, buffer: &'static str) -> Program {
        Program { timer: Some(buffer), ..self }
    }
}

fn fingerprint(launch_file: &str, ptx: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(launch_file.as_bytes());
    hasher.update(ptx.as_bytes());
    hasher.finalize()
}

fn chained(error: CaptureError) -> String {
    let error: Box<dyn std::error::Error> = error.into();
    let source = error.source().map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

impl Work {
    pub fn new(
        name: &str,
        programs: Vec<Program>,
        figures: impl Fn(&Cycles) -> Vec<Figure> + Send + Sync + 'static,
    ) -> Work {
        Work { name: name.to_owned(), programs, figures: Box::new(figures) }
    }

    /// Builds the work that measures each launch of a program, and their sum if there are several.
    pub fn of_launches(name: &str, program: Program) -> Work {
        let kernels: Vec<String> =
            program.plan.launches.iter().map(|launch| launch.kernel.clone()).collect();
        Work::new(name, vec![program], move |cycles| of_kernels(&kernels, cycles))
    }

    /// Builds the work of a launch file.
    ///
    /// # Errors
    /// When the file or its module cannot be read, or uses textures.
    pub fn of_launch_file(name: &str, path: &Path) -> Result<Work, HardwareError> {
        let plan = Plan::read(path)?;
        if !plan.textures.is_empty() {
            return Err(HardwareError::Textures { launch_file: path.to_owned() });
        }
        let module = PtxModule::read(&plan.module)?;
        let text = warpmem_support::files::text::read(path)
            .map_err(|source| HardwareError::Read { path: path.to_owned(), source })?;
        let fingerprint = fingerprint(&text, &module.text);
        Ok(Work::of_launches(name, Program { module, plan, timer: None, fingerprint }))
    }

    /// Returns a checksum of the launches and PTX of all programs, so that only identical work is compared.
    pub fn fingerprint(&self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for program in &self.programs {
            hasher.update(&program.fingerprint.to_le_bytes());
        }
        hasher.finalize()
    }

    /// Computes the figures from the cycles.
    pub fn figures(&self, cycles: &Cycles) -> Vec<Figure> {
        (self.figures)(cycles)
    }
}

fn of_kernels(kernels: &[String], cycles: &Cycles) -> Vec<Figure> {
    let each = cycles.launches.iter().flatten();
    let numbered = kernels.iter().enumerate().zip(each);
    let mut figures: Vec<Figure> = numbered
        .map(|((number, kernel), &cycles)| {
            Figure::new(&format!("{number} {kernel}"), Unit::Cycles, cycles)
        })
        .collect();
    if figures.len() > 1 {
        figures.push(Figure::new("all launches", Unit::Cycles, cycles.total(0)));
    }
    figures
}
