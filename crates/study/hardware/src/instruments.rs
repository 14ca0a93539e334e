//! Instruments of a measurement: the SM clock, empty caches, and the time of an empty launch.

use std::path::PathBuf;

use warpmem_capture::PtxModule;
use warpmem_simt::{Launch, Params};

use crate::device::DeviceInfo;
use crate::driver::{Allocation, DriverError, Event, Gpu, Module};
use crate::error::HardwareError;
use crate::statistics::median;

/// Helper kernels and their memory.
pub struct Instruments<'g> {
    gpu: &'g Gpu,
    module: Module<'g>,
    /// Buffer of twice the L2 capacity.
    scratch: Allocation<'g>,
    scratch_bytes: u64,
    /// Results of the spins before and after a measurement, 16 bytes each.
    spins: [Allocation<'g>; 2],
    sink: Allocation<'g>,
    threads: u32,
    sms: u32,
}

/// Size of a spin's result, bytes: its nanoseconds and its cycles.
const SPIN_BYTES: usize = 16;
/// Length of a spin, long enough that late clock reads at its ends hardly matter.
const SPIN_NANOSECONDS: u64 = 50_000;
/// Added length of the first spin for each timed launch: time for the host to queue the launch, so that no
/// launch waits for the host. Drivers queue about a thousand launches.
const HOST_NANOSECONDS: u64 = 20_000;
const MAX_QUEUED: u64 = 256;
const THREADS_OF_CTA: u32 = 256;

impl<'g> Instruments<'g> {
    /// Loads the helper kernels.
    ///
    /// # Errors
    /// When the driver rejects the kernels, or memory does not suffice.
    pub fn new(gpu: &'g Gpu, device: &DeviceInfo) -> Result<Instruments<'g>, HardwareError> {
        let text = include_str!("ptx/instruments.ptx");
        let parsed = PtxModule::of_text(PathBuf::from("instruments.ptx"), text.to_owned())?;
        let scratch_bytes = 2 * device.l2_bytes;
        let scratch = gpu.allocate(scratch_bytes as usize)?;
        scratch.write(&vec![0; scratch_bytes as usize])?;
        Ok(Instruments {
            gpu,
            module: Module::load(gpu, text, parsed.module)?,
            scratch,
            scratch_bytes,
            spins: [gpu.allocate(SPIN_BYTES)?, gpu.allocate(SPIN_BYTES)?],
            sink: gpu.allocate(4)?,
            threads: device.threads_per_sm,
            sms: device.sms,
        })
    }

    fn launch(
        &self,
        kernel: &str,
        grid: u32,
        block: u32,
        words: &[u64],
    ) -> Result<(), DriverError> {
        let params = words.iter().map(|word| word.to_le_bytes().to_vec()).collect();
        let launch = Launch {
            kernel: kernel.to_owned(),
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            params: Params(params),
            ..Launch::default()
        };
        self.module.function(kernel)?.launch(&launch)
    }

    /// Begins a measurement of `launches` timed launches: starts the clock measurement and evicts the
    /// measured data from L2.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn begin(&self, launches: usize) -> Result<(), DriverError> {
        let queued = MAX_QUEUED.min(launches as u64);
        self.spin(0, SPIN_NANOSECONDS + queued * HOST_NANOSECONDS)?;
        let ctas = self.sms * (self.threads / THREADS_OF_CTA).max(1);
        let vectors = self.scratch_bytes / 16;
        let words = [self.scratch.address(), vectors, self.sink.address()];
        self.launch("flush", ctas, THREADS_OF_CTA, &words)
    }

    /// Ends a measurement: waits for its work and returns the SM clock, Hz.
    ///
    /// # Errors
    /// When a kernel failed, or the clock readings are inconsistent.
    pub fn end(&self) -> Result<f64, HardwareError> {
        self.spin(1, SPIN_NANOSECONDS)?;
        self.gpu.synchronize()?;
        let [before, after] = [self.clock(0)?, self.clock(1)?];
        Ok((before + after) / 2.0)
    }

    fn spin(&self, which: usize, nanoseconds: u64) -> Result<(), DriverError> {
        self.launch("spin", 1, 1, &[nanoseconds, self.spins[which].address()])
    }

    fn clock(&self, which: usize) -> Result<f64, HardwareError> {
        let bytes = self.spins[which].read(SPIN_BYTES)?;
        let mut words = bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word));
        let nanoseconds = words.next().unwrap_or_default();
        let cycles = words.next().unwrap_or_default();
        match nanoseconds >= SPIN_NANOSECONDS && cycles > 0 {
            true => Ok(cycles as f64 / nanoseconds as f64 * 1e9),
            false => Err(HardwareError::Clock { nanoseconds, cycles }),
        }
    }

    /// Measures the nanoseconds between the events around an empty kernel, an overhead that every timed
    /// launch includes.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn empty_launch(&self) -> Result<f64, HardwareError> {
        const TIMES: usize = 11;
        let [begin, end] = [Event::new(self.gpu)?, Event::new(self.gpu)?];
        let mut samples = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            self.spin(0, SPIN_NANOSECONDS)?;
            begin.record()?;
            self.launch("nothing", 1, 1, &[])?;
            end.record()?;
            self.gpu.synchronize()?;
            samples.push(end.since(&begin)?);
        }
        Ok(median(&samples))
    }
}
