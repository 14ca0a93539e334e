//! A kernel that is launched.

use crate::bounds::{Counts, Limits, Progress};
use crate::error::LaunchError;
use crate::grid::Grid;
use crate::image::Image;
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::prepared::{Prepared, Programs};
use crate::recorder::Recorder;
use crate::{independent, turns};

/// A kernel that is ready to be launched.
pub struct Run<'a>(Prepared<'a>);

impl<'a> Run<'a> {
    /// Prepares a launch.
    ///
    /// # Errors
    /// When there is no such kernel, it needs what is not supported, or the launch does not fit it.
    pub fn new(image: &'a Image, launch: &'a Launch) -> Result<Run<'a>, LaunchError> {
        Run::again(image, launch, &mut Programs::default())
    }

    /// As [`Run::new`], of an image whose kernels are launched again and again.
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

    /// Registers of a thread: an estimate from the values that are live at once.
    pub fn registers(&self) -> u32 {
        self.0.program.registers
    }

    /// Bytes of shared memory of a CTA.
    pub fn shared_bytes(&self) -> u32 {
        self.0.shared_bytes
    }

    /// CTAs of a cluster, if it has several.
    pub fn cluster(&self) -> Option<[u32; 3]> {
        let shape = self.0.cluster;
        (shape.ctas() > 1).then_some(shape.sides)
    }

    /// Executes the kernel.
    ///
    /// # Errors
    /// When a thread does what is not allowed, the kernel cannot go on or goes beyond a limit, the
    /// recorder fails, or `progress` says that it is to stop.
    pub fn execute<R: Recorder>(
        &self,
        memory: &mut DeviceMemory,
        recorder: &mut R,
        limits: Limits,
        progress: &dyn Progress,
    ) -> Result<Counts, LaunchError> {
        let (prepared, counts) = (&self.0, Counts::default());
        let mut grid = Grid { prepared, memory, recorder, limits, progress, counts };
        match prepared.program.has_independent_ctas() {
            true => independent::execute(&mut grid)?,
            false => turns::execute(&mut grid)?,
        }
        Ok(grid.counts)
    }
}
