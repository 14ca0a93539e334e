//! Preparation and execution of a launch.

use crate::bounds::{Counts, Limits, Progress};
use crate::error::LaunchError;
use crate::grid::Grid;
use crate::image::Image;
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::prepared::{Prepared, Programs};
use crate::recorder::TraceRecorder;
use crate::{independent, round_robin};

/// A kernel that is ready to launch.
pub struct Run<'a>(Prepared<'a>);

impl<'a> Run<'a> {
    /// Prepares a launch.
    ///
    /// # Errors
    /// When the kernel does not exist or needs unsupported features, or the launch does not match it.
    pub fn new(image: &'a Image, launch: &'a Launch) -> Result<Run<'a>, LaunchError> {
        Run::again(image, launch, &mut Programs::default())
    }

    /// Prepares a launch as [`Run::new`] does, reusing the lowered kernels of an image.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn again(
        image: &'a Image,
        launch: &'a Launch,
        programs: &mut Programs,
    ) -> Result<Run<'a>, LaunchError> {
        Prepared::new(image, launch, programs).map(Run)
    }

    /// Returns the registers per thread, estimated from the maximum live values.
    pub fn registers(&self) -> u32 {
        self.0.program.registers
    }

    /// Returns the shared memory of a CTA, bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.0.shared_bytes
    }

    /// Returns the CTAs of a cluster, if it has several.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let shape = self.0.cluster;
        (shape.ctas() > 1).then_some(shape.sides)
    }

    /// Executes the kernel; without a recorder, its records are discarded.
    ///
    /// # Errors
    /// When a thread performs an illegal action, the kernel deadlocks or exceeds a limit, the recorder fails,
    /// or `progress` stops it.
    pub fn execute(
        &self,
        memory: &mut DeviceMemory,
        recorder: Option<&mut TraceRecorder<'_>>,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<Counts, LaunchError> {
        let (prepared, counts) = (&self.0, Counts::default());
        let mut grid = Grid { prepared, memory, recorder, limits, progress, counts };
        match prepared.program.has_independent_ctas() {
            true => independent::execute(&mut grid)?,
            false => round_robin::execute(&mut grid)?,
        }
        Ok(grid.counts)
    }
}
