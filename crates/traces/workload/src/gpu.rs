//! The device that a generator drives: arrays to fill, kernels to launch, and the resulting trace.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use warpmem_trace::{
    Codec, CtaBuilder, KernelInfo, Provenance, TraceSummary, TraceWriter, WARP_SIZE, WriterOptions,
};

use super::warp::memory::{Array, Memory};
use super::warp::word::Word;
use super::warp::{Position, Warp};
use super::{WorkloadError, stop};
use warpmem_trace::Ranges;

/// Progress of a generator.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub kernel: &'a str,
    /// Kernels finished before this one.
    pub kernels_done: u32,
    /// Finished CTAs of this kernel, and its total.
    pub ctas_done: u64,
    pub ctas: u64,
}

/// Called after every finished CTA; `Break` abandons the trace.
pub type ProgressCallback<'a> = dyn FnMut(&Progress) -> ControlFlow<()> + 'a;

/// `kernel<<<grid, block, shared_bytes>>>`, with the resources that the compiler reports.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub name: &'static str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub registers_per_thread: u32,
    pub shared_bytes: u32,
}

impl Launch {
    fn info(&self) -> KernelInfo {
        KernelInfo {
            name: self.name.to_owned(),
            grid: self.grid,
            block: self.block,
            registers_per_thread: self.registers_per_thread,
            shared_bytes: self.shared_bytes,
            ..KernelInfo::default()
        }
    }

    fn ctas(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// Returns the coordinates of CTA `index`: x first, the order of the hardware's CTA scheduler.
    fn cta(&self, index: u64) -> [u32; 3] {
        let [width, height, _] = self.grid.map(u64::from);
        [index % width, index / width % height, index / width / height].map(|n| n as u32)
    }
}

/// Device memory, and the trace being written.
pub struct Gpu<'a> {
    memory: Rc<RefCell<Memory>>,
    writer: TraceWriter,
    /// Launches to include in the trace.
    recorded: Ranges,
    launches: u32,
    progress: &'a mut ProgressCallback<'a>,
}

impl<'a> Gpu<'a> {
    pub fn create(
        output: &Path,
        provenance: Provenance,
        recorded: Ranges,
        progress: &'a mut ProgressCallback<'a>,
    ) -> Result<Gpu<'a>, WorkloadError> {
        // With random addresses, deflate would take longer than everything else
        // (docs/lab/trace-format.md).
        let options = WriterOptions { codec: Codec::Zstd, level: 1, ..WriterOptions::default() };
        let writer = TraceWriter::create(output, provenance, options)?;
        Ok(Gpu { memory: Rc::default(), writer, recorded, launches: 0, progress })
    }

    /// Completes the trace and renames it to its final name.
    pub fn finish(self) -> Result<TraceSummary, WorkloadError> {
        self.recorded.check("kernels", self.launches.into())?;
        Ok(self.writer.finish()?)
    }

    /// Returns whether the trace contains all its launches.
    pub fn is_complete(&self) -> bool {
        self.recorded.end().is_some_and(|end| u64::from(self.launches) >= end)
    }

    /// `cudaMalloc` and `cudaMemset(0)`.
    pub fn zeros<T: Word>(&mut self, len: u64) -> Array<T> {
        stop::check();
        self.memory.borrow_mut().allocate(len)
    }

    /// `cudaMalloc` and `cudaMemcpy` to the new array.
    pub fn upload<T: Word>(&mut self, words: &[T]) -> Array<T> {
        let array = self.zeros(words.len() as u64);
        self.copy_to(array, words);
        array
    }

    /// `cudaMemcpy` from the host to the start of `array`.
    pub fn copy_to<T: Word>(&mut self, array: Array<T>, words: &[T]) {
        assert!(words.len() as u64 <= array.len(), "more words than the array holds");
        self.memory.borrow_mut().fill(array, words);
        #[cfg(test)]
        self.memory.borrow_mut().journal.upload(array.address(0), words);
        if !self.is_complete() {
            self.writer.memcpy(array.address(0), size_of_val(words) as u64);
        }
    }

    /// Borrows the device memory.
    #[cfg(test)]
    pub fn memory(&self) -> std::cell::RefMut<'_, Memory> {
        self.memory.borrow_mut()
    }

    /// `cudaMemcpy` back to the host.
    pub fn download<T: Word>(&self, array: Array<T>) -> Vec<T> {
        self.memory.borrow().words(array)
    }

    /// Runs `kernel` once per warp of the grid, CTA by CTA; the warps of a CTA run one after the
    /// other up to each barrier.
    ///
    /// # Errors
    /// [`WorkloadError::Interrupted`] if progress stops the run, or if the trace [is
    /// complete](Gpu::is_complete).
    #[expect(clippy::needless_pass_by_value, reason = "a closure is written where it is passed")]
    pub fn launch(
        &mut self,
        launch: &Launch,
        kernel: impl AsyncFn(&Warp),
    ) -> Result<(), WorkloadError> {
        if self.is_complete() {
            return Err(WorkloadError::Interrupted);
        }
        let is_recorded = self.recorded.contains(self.launches.into());
        if is_recorded {
            self.writer.begin_kernel(launch.info())?;
        }
        let shared = Rc::new(RefCell::new(Memory::shared(launch.shared_bytes)));
        let threads: u32 = launch.block.iter().product();
        let warps: Vec<Warp> = (0..threads.div_ceil(WARP_SIZE as u32))
            .map(|index| {
                Warp::new(index, self.memory.clone(), (shared.clone(), launch.shared_bytes))
            })
            .collect();
        let mut running: Vec<_> = warps.iter().map(|_| Box::pin(None)).collect();
        let mut cta = CtaBuilder::new();
        for index in 0..launch.ctas() {
            let position =
                Position { grid: launch.grid, block: launch.block, cta: launch.cta(index) };
            run_cta(&warps, &mut running, position, |warp| kernel(warp));
            if is_recorded {
                cta.begin(position.cta);
                warps.iter().for_each(|warp| warp.finish(&mut self.writer, &mut cta));
                self.writer.cta(&cta)?;
            } else {
                warps.iter().for_each(Warp::discard);
            }
            self.report(launch, index + 1)?;
        }
        if is_recorded {
            self.writer.end_kernel()?;
        }
        self.launches += 1;
        Ok(())
    }

    fn report(&mut self, launch: &Launch, ctas_done: u64) -> Result<(), WorkloadError> {
        let progress = Progress {
            kernel: launch.name,
            kernels_done: self.launches,
            ctas_done,
            ctas: launch.ctas(),
        };
        match (self.progress)(&progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(WorkloadError::Interrupted),
        }
    }
}

/// Runs a CTA. A warp is a coroutine that suspends at barriers: each round over the warps advances
/// every one to its next barrier. `running` has one entry per warp and is reused for every CTA.
fn run_cta<'w, F: Future<Output = ()>>(
    warps: &'w [Warp],
    running: &mut [Pin<Box<Option<F>>>],
    position: Position,
    kernel: impl Fn(&'w Warp) -> F,
) {
    for (warp, place) in warps.iter().zip(&mut *running) {
        warp.start(position);
        place.set(Some(kernel(warp)));
    }
    let mut context = Context::from_waker(Waker::noop());
    while running.iter().any(|place| place.is_some()) {
        for place in &mut *running {
            let Some(warp) = place.as_mut().as_pin_mut() else { continue };
            if let Poll::Ready(()) = warp.poll(&mut context) {
                place.set(None);
            }
        }
    }
}
