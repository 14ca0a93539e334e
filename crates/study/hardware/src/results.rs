//! The file of results.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;
use crate::error::HardwareError;
use crate::measurement::measurement;
use crate::work::{Parameters, Unit, Work};

/// Format version that is written and read.
const FORMAT: u32 = 1;

/// All measurements of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultsFile {
    /// Format version; the key marks the file as a result of `warpmem hardware`.
    warpmem_hardware: u32,
    /// Version of Warpmem that measured.
    pub version: String,
    pub command: String,
    pub device: DeviceInfo,
    /// Counted repetitions.
    pub repetitions: u32,
    /// Nanoseconds between the events around an empty kernel, subtracted from every timed launch.
    pub empty_launch_ns: f64,
    pub measurements: Vec<Measured>,
}

/// Result of one measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub name: String,
    /// Sizes of a built-in measurement; empty for a kernel.
    #[serde(default)]
    pub parameters: Parameters,
    /// Launch file of a user's own launches, relative to the folder of the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_file: Option<PathBuf>,
    /// [`Work::fingerprint`] of the measured work.
    pub crc32: u32,
    #[serde(flatten)]
    pub samples: Samples,
}

/// Samples of all repetitions of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Median SM clock during the measurement, MHz.
    pub clock_mhz: f64,
    pub figures: Vec<MeasuredFigure>,
}

/// A figure with one sample per repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    pub name: String,
    pub unit: Unit,
    pub median: f64,
    pub samples: Vec<f64>,
}

impl MeasuredFigure {
    /// Returns the smallest and the largest sample.
    pub fn range(&self) -> [f64; 2] {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        [least, self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }
}

impl Measured {
    /// Rebuilds the measured work; launch files are relative to `folder`, that of the file of results.
    ///
    /// # Errors
    /// When the measurement is unknown, a launch file is missing, or the work differs from the measured work.
    pub fn work(&self, folder: &Path) -> Result<Work, HardwareError> {
        let work = match &self.launch_file {
            None => measurement(&self.name)?.work(&self.parameters)?,
            Some(file) => Work::of_launch_file(&self.name, &folder.join(file))?,
        };
        match work.fingerprint() == self.crc32 {
            true => Ok(work),
            false => Err(HardwareError::Changed { name: self.name.clone() }),
        }
    }
}

impl ResultsFile {
    /// Creates results without measurements.
    pub fn new(
        command: String,
        device: DeviceInfo,
        repetitions: u32,
        empty_launch_ns: f64,
    ) -> ResultsFile {
        ResultsFile {
            warpmem_hardware: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            device,
            repetitions,
            empty_launch_ns,
            measurements: Vec::new(),
        }
    }

    /// Reads a file of results.
    ///
    /// # Errors
    /// When it cannot be read or is not a file of results.
    pub fn read(path: &Path) -> Result<ResultsFile, HardwareError> {
        #[derive(Deserialize)]
        struct Head {
            warpmem_hardware: u32,
        }
        let text = warpmem_support::files::text::read(path)
            .map_err(|source| HardwareError::Read { path: path.to_owned(), source })?;
        let refused = |error: serde_json::Error| HardwareError::NoResults {
            path: path.to_owned(),
            what: error.to_string(),
        };
        let head: Head = serde_json::from_str(&text).map_err(refused)?;
        if head.warpmem_hardware != FORMAT {
            let (path, found) = (path.to_owned(), head.warpmem_hardware);
            return Err(HardwareError::Format { path, found, known: FORMAT });
        }
        serde_json::from_str(&text).map_err(refused)
    }

    /// Writes the file; it appears only when complete.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let text = serde_json::to_string_pretty(self)?;
        warpmem_support::files::staged::write(path, |staged| {
            let mut file = std::fs::File::create(staged)?;
            Ok(writeln!(file, "{text}")?)
        })?;
        Ok(())
    }
}
