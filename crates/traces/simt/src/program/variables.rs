//! Placement of a program's variables: shared memory of the CTA, and the frames of its functions.

use std::collections::{BTreeMap, HashSet};

use warpmem_ptx::{Access, Body, Function, FunctionId, Instruction, Module, Op, Space, Value};
use warpmem_ptx::{Variable, VariableId};

/// Addresses of the shared variables of a program.
pub(super) struct Shared {
    pub addresses: BTreeMap<VariableId, u64>,
    pub bytes: u32,
}

impl Shared {
    /// Places the variables that the functions name, followed by those without a size, which all start where
    /// dynamic shared memory does.
    pub fn of(module: &Module, functions: &[FunctionId]) -> Shared {
        let bodies = functions.iter().filter_map(|&id| module.function(id).body.as_ref());
        let values = bodies.flat_map(|body| &body.instructions).flat_map(|i| &i.sources);
        let mut named: Vec<VariableId> = values
            .filter_map(|value| match value {
                Value::Variable(id, _) if module.variable(*id).space == Space::Shared => Some(*id),
                _ => None,
            })
            .collect();
        named.sort_unstable();
        named.dedup();
        let (mut addresses, mut end) = (BTreeMap::new(), 0u64);
        let is_sized = |id: &&VariableId| module.variable(**id).bytes > 0;
        for &id in named.iter().filter(is_sized) {
            let Variable { align, bytes, .. } = *module.variable(id);
            let address = end.next_multiple_of(align.max(1));
            addresses.insert(id, address);
            end = address + bytes;
        }
        let unsized_ones = named.iter().filter(|id| module.variable(**id).bytes == 0);
        let align = unsized_ones.clone().map(|&id| module.variable(id).align.max(1)).max();
        let dynamic = end.next_multiple_of(align.unwrap_or(1));
        addresses.extend(unsized_ones.map(|&id| (id, dynamic)));
        Shared { addresses, bytes: u32::try_from(dynamic).unwrap_or(u32::MAX) }
    }
}

/// Thread-private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Private {
    Local,
    Param,
}

/// A variable of a frame: its offset in the frame's part of a memory, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSlot {
    pub memory: Private,
    pub offset: u64,
    pub bytes: u64,
}

impl FrameSlot {
    /// Returns its first bytes, at most `bytes`.
    pub fn at_most(self, bytes: u64) -> FrameSlot {
        FrameSlot { bytes: self.bytes.min(bytes), ..self }
    }
}

/// Placement of a function's parameters and local variables in its frame. A device function's parameter is in
/// local memory if an instruction takes its address, which is a local-memory address (ISA, "mov").
pub(super) struct FrameLayout {
    pub slots: BTreeMap<VariableId, FrameSlot>,
    pub local_bytes: u64,
    pub param_bytes: u64,
    is_kernel: bool,
}

impl FrameLayout {
    pub fn of(module: &Module, function: &Function, body: &Body) -> FrameLayout {
        let is_kernel = function.is_kernel;
        let mut frame =
            FrameLayout { slots: BTreeMap::new(), local_bytes: 0, param_bytes: 0, is_kernel };
        let addressed = if is_kernel { HashSet::new() } else { addressed(body) };
        for &id in function.params.iter().chain(&function.results) {
            let memory = if addressed.contains(&id) { Private::Local } else { Private::Param };
            frame.add(module, id, memory);
        }
        for &id in &body.locals {
            let is_local = module.variable(id).space == Space::Local;
            frame.add(module, id, if is_local { Private::Local } else { Private::Param });
        }
        frame.local_bytes = frame.local_bytes.next_multiple_of(16);
        frame
    }

    fn add(&mut self, module: &Module, id: VariableId, memory: Private) {
        let &Variable { align, bytes, .. } = module.variable(id);
        let end = match memory {
            Private::Local => &mut self.local_bytes,
            Private::Param => &mut self.param_bytes,
        };
        let offset = end.next_multiple_of(align.max(1));
        *end = offset + bytes;
        self.slots.insert(id, FrameSlot { memory, offset, bytes });
    }

    /// Returns the operation of an instruction, with its resolved space: in a device function, an access to
    /// `.param` reaches local memory through a register address, and if the parameter is placed there.
    pub fn accessed(&self, instruction: &Instruction) -> Op {
        let is_local = || match instruction.sources[0] {
            Value::Variable(id, _) => {
                self.slots.get(&id).is_some_and(|slot| slot.memory == Private::Local)
            }
            _ => !self.is_kernel,
        };
        let space = |access: Access| match access.space {
            Space::Param if is_local() => Space::Local,
            space => space,
        };
        match instruction.op {
            Op::Load(access) => Op::Load(Access { space: space(access), ..access }),
            Op::Store(access) => Op::Store(Access { space: space(access), ..access }),
            op => op,
        }
    }
}

/// Returns the variables whose address an instruction takes. An access to `.param` by name takes none.
fn addressed(body: &Body) -> HashSet<VariableId> {
    let values = body.instructions.iter().flat_map(|instruction| {
        let is_access = match instruction.op {
            Op::Load(access) | Op::Store(access) => access.space == Space::Param,
            _ => false,
        };
        &instruction.sources[usize::from(is_access)..]
    });
    let variables = values.filter_map(|value| match value {
        Value::Variable(id, _) => Some(*id),
        _ => None,
    });
    variables.collect()
}
