//! The file of results.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::DeviceInfo;
use crate::error::HardwareError;
use crate::measurement::measurement;
use crate::work::{Parameters, Unit, Work};

/// The format that this version writes and reads.
const FORMAT: u32 = 1;

/// All that was measured on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultsFile {
    /// What tells such a file from others, and its format.
    warpmem_hardware: u32,
    /// The version of Warpmem that measured.
    pub version: String,
    pub command: String,
    pub device: DeviceInfo,
    /// Repetitions that count.
    pub repetitions: u32,
    /// Nanoseconds between the events around a kernel that does nothing. They are subtracted from
    /// those around every other.
    pub empty_launch_ns: f64,
    pub measurements: Vec<Measured>,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub name: String,
    /// Of a built-in one; none are a kernel's.
    #[serde(default)]
    pub parameters: Parameters,
    /// Of a user's own launches: their file, from the folder of the file of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_file: Option<PathBuf>,
    /// [`Work::fingerprint`] of what was measured.
    pub crc32: u32,
    #[serde(flatten)]
    pub samples: Samples,
}

/// What the repetitions of a measurement gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Of the SMs while it was measured: the median.
    pub clock_mhz: f64,
    pub figures: Vec<MeasuredFigure>,
}

/// A figure with its samples, one for each repetition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    pub name: String,
    pub unit: Unit,
    pub median: f64,
    pub samples: Vec<f64>,
}

impl MeasuredFigure {
    /// The least and the greatest sample.
    pub fn range(&self) -> [f64; 2] {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        [least, self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
    }
}

impl Measured {
    /// The same work again; launch files are found from `folder`, that of the file of results.
    ///
    /// # Errors
    /// When there is no such measurement any more, a launch file is not there, or what is there is not
    /// what was measured.
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
    /// Without measurements yet.
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

    /// # Errors
    /// When it cannot be read, or is no such file.
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

    /// Writes the file, which appears when it is whole.
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
