//! A program on a device: compiled, with its buffers allocated, ready for repeated runs.

use warpmem_capture::{Arrays, Memory, Mismatch};
use warpmem_simt::Launch;

use crate::driver::{Event, Function, Gpu, Module};
use crate::error::HardwareError;
use crate::instruments::Instruments;
use crate::memory::Buffers;
use crate::work::Program;

pub struct Loaded<'g> {
    gpu: &'g Gpu,
    program: &'g Program,
    module: Module<'g>,
    buffers: Buffers<'g>,
    arrays: Arrays,
    launches: Vec<Launch>,
}

/// Times of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Cycles of each launch.
    pub cycles: Vec<f64>,
    /// SM clock, Hz.
    pub hz: f64,
}

impl<'g> Loaded<'g> {
    /// Compiles the program and allocates its buffers.
    ///
    /// # Errors
    /// When the driver rejects the PTX, an argument does not match its kernel, or memory does not suffice.
    pub fn new(gpu: &'g Gpu, program: &'g Program) -> Result<Loaded<'g>, HardwareError> {
        let parsed = &program.module;
        let module = Module::load(gpu, &parsed.text, parsed.module.clone())?;
        let mut buffers = Buffers::new(gpu);
        let arrays = Arrays::allocate(&program.plan, &mut buffers)?;
        let launches = arrays.launches(&program.plan, &parsed.module)?;
        Ok(Loaded { gpu, program, module, buffers, arrays, launches })
    }

    /// Runs all launches, starting from the initial values and from empty caches.
    ///
    /// # Errors
    /// When a launch is refused or fails.
    pub fn run(
        &self,
        instruments: &Instruments<'_>,
        empty_launch: f64,
    ) -> Result<Run, HardwareError> {
        self.buffers.reset()?;
        let functions: Result<Vec<Function<'_>>, _> =
            self.launches.iter().map(|launch| self.module.function(&launch.kernel)).collect();
        let events: Result<Vec<[Event<'_>; 2]>, _> = self
            .launches
            .iter()
            .map(|_| Ok([Event::new(self.gpu)?, Event::new(self.gpu)?]))
            .collect();
        let events: Vec<[Event<'_>; 2]> = events.map_err(HardwareError::Driver)?;
        let timed_by_events = if self.program.timer.is_some() { 0 } else { events.len() };
        instruments.begin(timed_by_events)?;
        for ((launch, function), [begin, end]) in self.launches.iter().zip(functions?).zip(&events)
        {
            begin.record()?;
            function.launch(launch)?;
            end.record()?;
        }
        let hz = instruments.end()?;
        let cycles = match self.program.timer {
            Some(buffer) => self.timer(buffer)?,
            None => self.between(&events, empty_launch, hz)?,
        };
        Ok(Run { cycles, hz })
    }

    /// Reads the cycles that the launches themselves wrote.
    fn timer(&self, buffer: &str) -> Result<Vec<f64>, HardwareError> {
        let bytes = self.buffer(buffer, 8 * self.launches.len() as u64)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word) as f64).collect())
    }

    /// Returns the cycles between the events around each launch.
    fn between(
        &self,
        events: &[[Event<'_>; 2]],
        empty_launch: f64,
        hz: f64,
    ) -> Result<Vec<f64>, HardwareError> {
        let cycles = |[begin, end]: &[Event<'_>; 2]| {
            let nanoseconds = end.since(begin)? - empty_launch;
            Ok(nanoseconds.max(0.0) * hz / 1e9)
        };
        events.iter().map(cycles).collect()
    }

    /// Reads the first bytes of the buffer `name`; empty if there is none.
    pub fn buffer(&self, name: &str, bytes: u64) -> Result<Vec<u8>, HardwareError> {
        let Some(address) = self.arrays.address(name) else { return Ok(Vec::new()) };
        Ok(self.buffers.read(address, bytes)?.into_owned())
    }

    /// Lists the buffers whose contents differ from the launch file's expectations.
    ///
    /// # Errors
    /// When a buffer, or a file of expected values, cannot be read.
    pub fn mismatches(&self) -> Result<Vec<Mismatch>, HardwareError> {
        Ok(self.arrays.mismatches(&self.program.plan, &self.buffers)?)
    }
}
