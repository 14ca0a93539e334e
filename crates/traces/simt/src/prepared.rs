//! A launch that is ready to execute.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpmem_ptx::FunctionId;

use crate::bounds::{MAX_LOCAL, MAX_SHARED};
use crate::cluster_shape::ClusterShape;
use crate::error::LaunchError;
use crate::execute::is_supported;
use crate::image::Image;
use crate::launch::Launch;
use crate::program::{Program, Routine};

/// Lowered kernels of an image, separately for cluster launches; each is built once.
#[derive(Debug, Default)]
pub struct Programs(BTreeMap<(FunctionId, bool), Arc<Program>>);

impl Programs {
    fn program(
        &mut self,
        image: &Image,
        kernel: FunctionId,
        in_clusters: bool,
    ) -> Result<Arc<Program>, LaunchError> {
        let key = (kernel, in_clusters);
        if let Some(program) = self.0.get(&key) {
            return Ok(Arc::clone(program));
        }
        let program = Program::of(image, kernel, in_clusters)?;
        program.check_supported(image.module(), kernel, is_supported)?;
        let program = Arc::new(program);
        self.0.insert(key, Arc::clone(&program));
        Ok(program)
    }
}

/// A kernel, its arguments in parameter memory, and its launch configuration.
pub(crate) struct Prepared<'a> {
    pub image: &'a Image,
    pub launch: &'a Launch,
    pub program: Arc<Program>,
    pub params: Vec<u8>,
    pub shared_bytes: u32,
    pub cluster: ClusterShape,
}

impl<'a> Prepared<'a> {
    pub fn new(
        image: &'a Image,
        launch: &'a Launch,
        programs: &mut Programs,
    ) -> Result<Prepared<'a>, LaunchError> {
        let module = image.module();
        let id = find(image, &launch.kernel)?;
        let kernel = module.function(id);
        launch.check_dimensions()?;
        launch.check_threads(kernel)?;
        let cluster = ClusterShape::of(launch, kernel)?;
        let params = launch.params.memory(module, kernel)?;
        let program = programs.program(image, id, cluster.ctas() > 1)?;
        check_local(&program, params.len() as u64, &launch.kernel)?;
        let shared_bytes = program.shared_bytes.saturating_add(launch.dynamic_shared);
        match shared_bytes <= MAX_SHARED {
            true => Ok(Prepared { image, launch, program, params, shared_bytes, cluster }),
            false => {
                Err(LaunchError::Shared { kernel: launch.kernel.clone(), bytes: shared_bytes })
            }
        }
    }
}

/// Fails if a function of the kernel needs more local memory than a thread can have. Nested calls are checked
/// when made.
fn check_local(program: &Program, params: u64, kernel: &str) -> Result<(), LaunchError> {
    // The kernel's own parameters, of the first routine, are constants.
    let constants = std::iter::once(params).chain(std::iter::repeat(0));
    let routines = program.routines.iter().map(Routine::private_bytes).zip(constants);
    let bytes = routines.map(|(bytes, constants)| bytes.saturating_sub(constants)).max();
    let bytes = bytes.unwrap_or(0);
    match bytes <= MAX_LOCAL {
        true => Ok(()),
        false => Err(LaunchError::Local { kernel: kernel.to_owned(), bytes }),
    }
}

fn find(image: &Image, name: &str) -> Result<FunctionId, LaunchError> {
    let module = image.module();
    module.kernel(name).ok_or_else(|| {
        let names: Vec<&str> = module.kernels().map(|kernel| kernel.name.as_str()).collect();
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        LaunchError::NoKernel { name: name.to_owned(), known }
    })
}
