//! Runs measurements on a device, one after the other.

use crate::device::DeviceInfo;
use crate::driver::Gpu;
use crate::error::HardwareError;
use crate::instruments::Instruments;
use crate::program::{Loaded, Run};
use crate::results::{MeasuredFigure, Samples};
use crate::statistics::{mean, median};
use crate::work::{Cycles, Figure, Work};

/// Observer of a measurement, which may stop it.
pub trait Observer {
    /// Called after each repetition.
    fn repeated(&self);

    /// Returns whether the user wants to stop.
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Observer for () {
    fn repeated(&self) {}
}

/// A device and its instruments.
pub struct Session<'g> {
    gpu: &'g Gpu,
    pub device: DeviceInfo,
    instruments: Instruments<'g>,
    /// Time of an empty launch, nanoseconds.
    pub empty_launch: f64,
}

impl<'g> Session<'g> {
    /// Prepares the instruments.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn new(gpu: &'g Gpu) -> Result<Session<'g>, HardwareError> {
        let device = DeviceInfo::read(gpu)?;
        let instruments = Instruments::new(gpu, &device)?;
        let empty_launch = instruments.empty_launch()?;
        Ok(Session { gpu, device, instruments, empty_launch })
    }

    /// Runs the work `repetitions` times after one uncounted warm-up.
    ///
    /// # Errors
    /// When the driver refuses, a kernel fails or computes wrong values, or the user stops the measurement.
    pub fn measure(
        &self,
        work: &Work,
        repetitions: u32,
        observer: &dyn Observer,
    ) -> Result<Samples, HardwareError> {
        let loaded = work.programs.iter().map(|program| Loaded::new(self.gpu, program));
        let loaded: Vec<Loaded<'_>> = loaded.collect::<Result<_, _>>()?;
        let mut repeated: Vec<Cycles> = Vec::new();
        for _ in 0..=repetitions {
            if observer.is_stopped() {
                return Err(HardwareError::Interrupted);
            }
            repeated.push(self.repeat(&loaded)?);
            observer.repeated();
        }
        for program in &loaded {
            let mismatches = program.mismatches()?;
            if !mismatches.is_empty() {
                return Err(HardwareError::Mismatches(mismatches));
            }
        }
        Ok(samples(work, &repeated[1..]))
    }

    fn repeat(&self, loaded: &[Loaded<'_>]) -> Result<Cycles, HardwareError> {
        let run = |program: &Loaded<'_>| program.run(&self.instruments, self.empty_launch);
        let runs = loaded.iter().map(run).collect::<Result<Vec<Run>, _>>()?;
        let clocks: Vec<f64> = runs.iter().map(|run| run.hz).collect();
        let launches = runs.into_iter().map(|run| run.cycles).collect();
        Ok(Cycles { launches, hz: mean(&clocks) })
    }
}

/// Collects the figures of all repetitions. A latency level found in only some repetitions has fewer samples.
fn samples(work: &Work, repeated: &[Cycles]) -> Samples {
    let mut figures: Vec<MeasuredFigure> = Vec::new();
    for Figure { name, unit, value } in repeated.iter().flat_map(|cycles| work.figures(cycles)) {
        match figures.iter_mut().find(|figure| figure.name == name) {
            Some(figure) => figure.samples.push(value),
            None => figures.push(MeasuredFigure { name, unit, median: 0.0, samples: vec![value] }),
        }
    }
    for figure in &mut figures {
        figure.median = median(&figure.samples);
    }
    let clocks: Vec<f64> = repeated.iter().map(|cycles| cycles.hz / 1e6).collect();
    Samples { clock_mhz: median(&clocks), figures }
}
