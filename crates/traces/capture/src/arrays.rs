//! The buffers of a plan in device memory, and the launches with resolved addresses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use warpmem_ptx::Module;
use warpmem_simt::{DeviceMemory, Image, Launch, Params};
use warpmem_support::random::Random;

use crate::argument::Argument;
use crate::array_file::{self, ArrayFile};
use crate::buffer::BufferSpec;
use crate::element::Element;
use crate::error::CaptureError;
use crate::expectation::Mismatch;
use crate::plan::{Dimensions, Plan, PlannedBuffer, PlannedLaunch};

/// Writes the initial values of an allocation, given its address and its zeroed bytes.
pub type FirstValues<'f> = &'f mut dyn FnMut(u64, &mut [u8]) -> Result<(), CaptureError>;

/// Device memory that holds the buffers: the emulator's, or a GPU's.
pub trait Memory {
    /// Allocates `bytes` bytes, initialized by `fill`; returns their address.
    ///
    /// # Errors
    /// When memory does not suffice, or `fill` fails.
    fn place(&mut self, bytes: u64, fill: FirstValues<'_>) -> Result<u64, CaptureError>;

    /// Reads `bytes` bytes of an allocation.
    ///
    /// # Errors
    /// When they cannot be read.
    fn read(&self, address: u64, bytes: u64) -> Result<Cow<'_, [u8]>, CaptureError>;
}

impl Memory for DeviceMemory {
    fn place(&mut self, bytes: u64, fill: FirstValues<'_>) -> Result<u64, CaptureError> {
        let address = self.allocate(bytes)?;
        fill(address, self.bytes_mut(address, bytes).unwrap_or_default())?;
        Ok(address)
    }

    fn read(&self, address: u64, bytes: u64) -> Result<Cow<'_, [u8]>, CaptureError> {
        Ok(self.bytes(address, bytes).unwrap_or_default().into())
    }
}

/// The buffers of a plan in device memory.
#[derive(Default)]
pub struct Arrays {
    named: BTreeMap<String, Placed>,
    /// Texture handles by name.
    textures: BTreeMap<String, u64>,
    /// Buffers that belong to arguments, in order of launch and argument.
    own: Vec<Placed>,
}

/// A buffer in device memory.
struct Placed {
    address: u64,
    element: Element,
    shape: Vec<u64>,
    bytes: u64,
}

impl Arrays {
    /// Allocates and initializes the buffers of a plan.
    ///
    /// # Errors
    /// When a file cannot be read, a value does not fit its buffer's type, or memory does not suffice.
    pub fn allocate(plan: &Plan, memory: &mut dyn Memory) -> Result<Arrays, CaptureError> {
        let mut number = 0;
        let mut place = |spec: &BufferSpec, name: String| {
            let mut random = Random::numbered(plan.seed, number);
            number += 1;
            let mut sized = spec.sized(name.clone(), &plan.folder)?;
            let (element, shape, bytes) = (sized.element, sized.shape.clone(), sized.bytes);
            let mut fill = |address, to: &mut [u8]| sized.fill(address, to, &mut random);
            let address = memory.place(bytes, &mut fill).map_err(|error| match error {
                CaptureError::Launch(error) => {
                    CaptureError::Buffer { name, what: error.to_string() }
                }
                other => other,
            })?;
            Ok::<_, CaptureError>(Placed { address, element, shape, bytes })
        };
        let mut arrays = Arrays::default();
        for PlannedBuffer { name, spec, .. } in &plan.buffers {
            arrays.named.insert(name.clone(), place(spec, format!("buffer `{name}`"))?);
        }
        for launch in &plan.launches {
            for (at, argument) in launch.arguments.iter().enumerate() {
                for address in argument.addresses() {
                    if let Argument::Buffer(spec) = address {
                        let name = format!("argument {} of kernel `{}`", at + 1, launch.kernel);
                        arrays.own.push(place(spec, name)?);
                    }
                }
            }
        }
        Ok(arrays)
    }

    pub(crate) fn make_textures(
        &mut self,
        plan: &Plan,
        image: &Image,
        memory: &mut DeviceMemory,
    ) -> Result<(), CaptureError> {
        for (name, spec) in &plan.textures {
            let user = || format!("texture `{name}`");
            let placed = self.named.get(&spec.buffer);
            let placed = placed.ok_or_else(|| self.no_buffer(user(), &spec.buffer))?;
            let failed = |source| CaptureError::Texture { name: name.clone(), source };
            let texture = spec.over(placed.element, placed.address);
            let handle = memory.create_texture(texture).map_err(failed)?;
            if let Some(reference) = &spec.bind {
                image.bind(reference, memory, handle).map_err(failed)?;
            }
            self.textures.insert(name.clone(), handle);
        }
        Ok(())
    }

    /// Returns the address and size in bytes of each buffer.
    pub(crate) fn extents(&self) -> impl Iterator<Item = (u64, u64)> {
        self.named.values().chain(&self.own).map(|placed| (placed.address, placed.bytes))
    }

    /// Returns the address of the buffer `name`.
    pub fn address(&self, name: &str) -> Option<u64> {
        self.named.get(name).map(|placed| placed.address)
    }

    /// Returns the launches of a plan with encoded arguments.
    ///
    /// # Errors
    /// When an argument does not match its kernel's parameter.
    pub fn launches(&self, plan: &Plan, module: &Module) -> Result<Vec<Launch>, CaptureError> {
        let mut own = 0;
        let launches = plan.launches.iter().enumerate();
        launches.map(|(number, planned)| self.launch(number, planned, module, &mut own)).collect()
    }

    /// Returns a launch with encoded arguments. `own` counts the buffers that belong to arguments.
    fn launch(
        &self,
        number: usize,
        planned: &PlannedLaunch,
        module: &Module,
        own: &mut usize,
    ) -> Result<Launch, CaptureError> {
        let kernel = module.kernel(&planned.kernel).map(|id| module.function(id));
        let params = kernel.map_or(&[][..], |kernel| &kernel.params);
        let mut launch = Launch {
            kernel: planned.kernel.clone(),
            grid: planned.grid.0,
            block: planned.block.0,
            cluster: planned.cluster.map(|Dimensions(cluster)| cluster),
            dynamic_shared: planned.shared,
            workspace: 0,
            window: None,
            params: Params::default(),
        };
        // The launch itself reports a wrong count or an unknown kernel.
        let fits = params.len() == planned.arguments.len();
        for (at, argument) in planned.arguments.iter().enumerate() {
            let addresses = self.addresses(number, argument, own)?;
            let Some(&param) = params.get(at).filter(|_| fits) else {
                launch.params.0.push(Vec::new());
                continue;
            };
            let param = module.variable(param);
            let mut addresses = addresses.into_iter();
            let mut address = |_: &Argument| addresses.next().unwrap_or_default();
            let bytes = argument.bytes(param, &mut address);
            launch.params.0.push(bytes.map_err(|what| CaptureError::Argument {
                number: at + 1,
                kernel: planned.kernel.clone(),
                param: param.name.clone(),
                ty: param.ty.name().to_owned(),
                what,
            })?);
        }
        Ok(launch)
    }

    /// Returns the addresses of an argument's buffers.
    fn addresses(
        &self,
        launch: usize,
        argument: &Argument,
        own: &mut usize,
    ) -> Result<Vec<u64>, CaptureError> {
        let address = |argument: &Argument| match argument {
            Argument::Named(name, offset) => self.value_of(name, *offset, launch),
            _ => {
                *own += 1;
                Ok(self.own[*own - 1].address)
            }
        };
        argument.addresses().into_iter().map(address).collect()
    }

    /// Returns the address of a buffer, or the handle of a texture.
    fn value_of(&self, name: &str, offset: u64, launch: usize) -> Result<u64, CaptureError> {
        match (self.named.get(name), self.textures.get(name)) {
            (Some(placed), _) => Ok(placed.address + offset),
            (None, Some(&handle)) if offset == 0 => Ok(handle),
            _ => Err(self.no_buffer(format!("launch {launch} (counted from 0)"), name)),
        }
    }

    fn no_buffer(&self, user: String, name: &str) -> CaptureError {
        let names: Vec<&str> = self.named.keys().map(String::as_str).collect();
        let known = match names.is_empty() {
            true => "are none".into(),
            false => format!("are {}", names.join(", ")),
        };
        CaptureError::NoBuffer { user, name: name.to_owned(), known }
    }

    /// Writes the buffers that the plan outputs.
    pub(crate) fn write_outputs(
        &self,
        plan: &Plan,
        memory: &dyn Memory,
    ) -> Result<(), CaptureError> {
        for planned in &plan.buffers {
            let Some(output) = &planned.output else { continue };
            let placed = &self.named[&planned.name];
            let bytes = memory.read(placed.address, placed.bytes)?;
            array_file::write(&plan.folder.join(output), placed.element, &placed.shape, &bytes)?;
        }
        Ok(())
    }

    /// Lists the buffers that differ from the plan's expectations.
    ///
    /// # Errors
    /// When a buffer, or a file of expected values, cannot be read.
    pub fn mismatches(
        &self,
        plan: &Plan,
        memory: &dyn Memory,
    ) -> Result<Vec<Mismatch>, CaptureError> {
        let of_buffer = |planned| self.mismatch(plan, planned, memory).transpose();
        plan.buffers.iter().filter_map(of_buffer).collect()
    }

    fn mismatch(
        &self,
        plan: &Plan,
        planned: &PlannedBuffer,
        memory: &dyn Memory,
    ) -> Result<Option<Mismatch>, CaptureError> {
        let Some(expectation) = &planned.expectation else { return Ok(None) };
        let placed = &self.named[&planned.name];
        let bytes = memory.read(placed.address, placed.bytes)?;
        let path = plan.folder.join(&expectation.file);
        let mut file = ArrayFile::open(&path)?;
        let found = file.bytes(Some(placed.bytes))?;
        if found != placed.bytes {
            let what =
                format!("it has {found} bytes, buffer `{}` has {}", planned.name, placed.bytes);
            return Err(CaptureError::Array { path, what });
        }
        let mut expected = vec![0; bytes.len()];
        file.read_into(&mut expected)?;
        Ok(expectation.compare(&planned.name, placed.element, &bytes, &expected))
    }
}
