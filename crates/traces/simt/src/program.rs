//! A kernel and its callable functions, lowered for execution: operands become rows of the register file or
//! constants, and variables become addresses.

mod variables;

use std::collections::{BTreeMap, HashSet};

use warpmem_ptx::{
    Argument, Body, Bulk, Cache, Callee, Flow, FunctionId, Instruction, Module, Op, PtxError,
    Register, RegisterClass, Space, Special, TensorCopy, Value, VariableId,
};

use warpmem_trace::{Operands, Reg, Registers};

use crate::error::LaunchError;
use crate::image::{Image, function_address};
use crate::machine::{self, Code, Count, Generation};
use crate::registers::estimated_registers;
use crate::system::SystemCall;
use variables::{FrameLayout, Shared};

pub(crate) use variables::{FrameSlot, Private};

/// Distance between program counters, bytes.
pub(crate) const PC_STEP: u64 = 16;

/// Source of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    Predicate {
        row: u32,
        negated: bool,
    },
    Narrow(u32),
    Wide(u32),
    Constant(u64),
    Special(Special),
    /// Address of a byte of the CTA's shared memory in a cluster.
    Shared(u64),
    /// Address of a byte of the frame's local memory.
    Local(u64),
    /// Address of a byte of the frame's parameters.
    Param(u64),
}

/// Destination register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dest {
    Sink,
    Predicate(u32),
    Narrow(u32),
    Wide(u32),
}

/// Guard of an instruction: the row of its predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub row: u32,
    pub negated: bool,
}

/// A lowered instruction.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub op: Op,
    pub guard: Option<Guard>,
    pub dests: Box<[Dest]>,
    pub sources: Box<[Source]>,
    pub policy: Option<Source>,
    /// Machine instructions other than its memory access, barrier or exit.
    pub counts: Box<[Count]>,
    /// Of a branch: instructions that issue without lanes if all lanes take it.
    pub skipped: Box<[Count]>,
    /// Whether it only names the registers that it reads.
    pub renames: bool,
    /// Whether it is a branch to the end of the thread.
    pub ends_thread: bool,
    /// Registers written and read, for the trace.
    pub writes: Box<[Reg]>,
    pub reads: Box<[Reg]>,
    /// Register read ports in a kernel; instructions of functions compute theirs.
    pub operands: Operands,
    pub line: u32,
    pub location: Option<(u32, u32)>,
}

/// Code of a function.
#[derive(Clone, Debug)]
pub(crate) struct Routine {
    pub steps: Vec<Step>,
    pub flow: Flow,
    /// Rows of the register file by class, in the order predicate, narrow, wide.
    pub rows: [u32; 3],
    /// Bytes of local memory and of parameter memory per thread.
    pub local_bytes: u64,
    pub param_bytes: u64,
    /// Program counter of the first instruction.
    pub pc: u64,
    pub calls: Vec<CallPlan>,
    pub branch_tables: Vec<Vec<u32>>,
}

impl Routine {
    /// Returns the local memory of a thread that a call takes, bytes: the function's variables, and the
    /// parameters of its callees.
    pub fn private_bytes(&self) -> u64 {
        self.local_bytes.saturating_add(self.param_bytes)
    }
}

/// Copies of a call between frames.
#[derive(Clone, Debug)]
pub(crate) struct CallPlan {
    pub target: CallTarget,
    pub arguments: Vec<Passed>,
    pub results: Vec<Passed>,
}

/// Target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallTarget {
    Routine(usize),
    /// A routine whose address is in a register.
    Register,
    System(SystemCall),
}

/// An argument or result of the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed {
    /// A variable of the caller's frame.
    FrameSlot(FrameSlot),
    /// A register or constant: index of the call's source or destination.
    Value(usize),
}

/// A function's parameters and results in its frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signature {
    pub params: Vec<FrameSlot>,
    pub results: Vec<FrameSlot>,
}

/// A kernel with all its callable functions.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Routines; the kernel is the first.
    pub routines: Vec<Routine>,
    pub signatures: Vec<Signature>,
    /// Routine of each function of the module.
    pub routine_of: BTreeMap<FunctionId, usize>,
    /// Bytes of the shared variables.
    pub shared_bytes: u32,
    pub registers: u32,
    /// Whether threads rather than warps arrive at barriers of the CTA: from sm_70 on.
    pub threads_arrive: bool,
    /// Generation of its machine code.
    pub generation: Generation,
}

impl Program {
    /// Returns whether no CTA can wait for a CTA of another cluster: the program has no atomics, fences or
    /// volatile accesses to memory that they share.
    pub fn has_independent_ctas(&self) -> bool {
        let mut steps = self.routines.iter().flat_map(|routine| &routine.steps);
        let mut calls = self.routines.iter().flat_map(|routine| &routine.calls);
        let calls_reach = |call: &CallPlan| match call.target {
            CallTarget::System(system) => system.reaches_other_ctas(),
            CallTarget::Routine(_) | CallTarget::Register => false,
        };
        steps.all(|step| !reaches_other_ctas(step.op)) && !calls.any(calls_reach)
    }

    /// Lowers a kernel. With `in_clusters`, the CTAs of a launch form clusters, and shared-memory addresses
    /// include the CTA.
    pub fn of(
        image: &Image,
        kernel: FunctionId,
        in_clusters: bool,
    ) -> Result<Program, LaunchError> {
        let module = image.module();
        let functions = reachable(module, kernel)?;
        let shared = Shared::of(module, &functions);
        let routine_of: BTreeMap<FunctionId, usize> =
            functions.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        let (mut routines, mut signatures, mut pc) = (Vec::new(), Vec::new(), 0);
        for &id in &functions {
            let function = module.function(id);
            let Some(body) = &function.body else { continue };
            let frame = FrameLayout::of(module, function, body);
            let lowering = Lowering {
                image,
                shared: &shared,
                in_clusters,
                frame: &frame,
                body,
                read: registers_read(body),
            };
            let flow = Flow::of(body);
            let code = machine::code_of(body, &flow, image.generation());
            let steps = body.instructions.iter().zip(code);
            let steps: Vec<Step> = steps.map(|(one, code)| lowering.step(one, code)).collect();
            let instructions = steps.len() as u64;
            signatures.push(Signature {
                params: function.params.iter().map(|id| frame.slots[id]).collect(),
                results: function.results.iter().map(|id| frame.slots[id]).collect(),
            });
            routines.push(Routine {
                steps,
                flow,
                rows: body.registers.map(u32::from),
                local_bytes: frame.local_bytes,
                param_bytes: frame.param_bytes,
                pc,
                calls: body.calls.iter().map(|call| lowering.call(call, &routine_of)).collect(),
                branch_tables: body.branch_tables.clone(),
            });
            pc += instructions * PC_STEP;
        }
        let registers = estimated_registers(module, kernel);
        Ok(Program {
            routines,
            signatures,
            routine_of,
            shared_bytes: shared.bytes,
            registers,
            threads_arrive: module.sm_version() >= 70,
            generation: image.generation(),
        })
    }

    /// Returns the instruction at a program counter.
    pub fn step_at(&self, pc: u64) -> Option<&Step> {
        let routine = self.routines.iter().rev().find(|routine| routine.pc <= pc)?;
        routine.steps.get(((pc - routine.pc) / PC_STEP) as usize)
    }

    /// Refuses a kernel with an unsupported operation.
    ///
    /// # Errors
    /// With the lines of all such operations.
    pub fn check_supported(
        &self,
        module: &Module,
        kernel: FunctionId,
        is_supported: impl Fn(Op) -> bool,
    ) -> Result<(), LaunchError> {
        let steps = self.routines.iter().flat_map(|routine| &routine.steps);
        let unsupported: Vec<PtxError> = steps
            .filter(|step| !is_supported(step.op))
            .map(|step| PtxError {
                line: step.line,
                text: format!("{:?}", step.op),
                reason: "the operation is not supported".into(),
            })
            .collect();
        match unsupported.is_empty() {
            true => Ok(()),
            false => {
                let kernel = module.function(kernel).name.clone();
                Err(LaunchError::Unsupported { kernel, unsupported })
            }
        }
    }
}

/// Lists the kernel and its callable functions, in discovery order.
fn reachable(module: &Module, kernel: FunctionId) -> Result<Vec<FunctionId>, LaunchError> {
    let name = || module.function(kernel).name.clone();
    let (mut found, mut at) = (vec![kernel], 0);
    let mut unsupported = Vec::new();
    while let Some(&id) = found.get(at) {
        at += 1;
        let function = module.function(id);
        let Some(body) = &function.body else {
            if SystemCall::named(&function.name).is_some() {
                continue;
            }
            return Err(LaunchError::Undefined { kernel: name(), function: function.name.clone() });
        };
        unsupported.extend(body.unsupported.iter().cloned());
        let direct = body.calls.iter().filter_map(|call| match call.callee {
            Callee::Direct(id) => Some(id),
            Callee::Indirect => None,
        });
        let values = body.instructions.iter().flat_map(|instruction| &instruction.sources);
        let taken = values.filter_map(|value| match value {
            Value::Function(id) => Some(*id),
            _ => None,
        });
        let tables = address_tables(module, body);
        for id in direct.chain(taken).chain(tables) {
            if !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found.retain(|&id| module.function(id).body.is_some());
    match unsupported.is_empty() {
        true => Ok(found),
        false => Err(LaunchError::Unsupported { kernel: name(), unsupported }),
    }
}

/// Lists the functions whose addresses are in variables, if the body calls by address.
fn address_tables(module: &Module, body: &Body) -> Vec<FunctionId> {
    if body.calls.iter().all(|call| call.callee != Callee::Indirect) {
        return Vec::new();
    }
    let relocations = module.variables.iter().flat_map(|variable| &variable.relocations);
    let targets = relocations.filter_map(|relocation| match relocation.target {
        warpmem_ptx::Target::Function(id) => Some(id),
        warpmem_ptx::Target::Variable(_) => None,
    });
    targets.collect()
}

/// Returns whether an instruction may wait for, or signal, a CTA of another cluster.
fn reaches_other_ctas(op: Op) -> bool {
    match op {
        Op::Atomic(atomic) | Op::Reduce(atomic) => !is_shared(atomic.space),
        Op::Load(access) | Op::Store(access) => {
            matches!(access.cache, Cache::Volatile | Cache::StrongGpu) && !is_shared(access.space)
        }
        Op::Bulk { f, .. } => matches!(f, Bulk::Reduce { .. }),
        Op::Tensor { f, .. } => matches!(f, TensorCopy::Reduce(_)),
        Op::Fence => true,
        _ => false,
    }
}

/// Returns whether only the CTAs of one cluster access a space; these run together.
fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::Cluster)
}

/// Lowers the instructions of one function.
struct Lowering<'a> {
    image: &'a Image,
    shared: &'a Shared,
    in_clusters: bool,
    frame: &'a FrameLayout,
    body: &'a Body,
    read: HashSet<Register>,
}

/// Returns the registers that instructions or calls of a function read.
fn registers_read(body: &Body) -> HashSet<Register> {
    let arguments = body.calls.iter().flat_map(|call| &call.arguments);
    let of_calls = arguments.filter_map(|argument| match argument {
        Argument::Value(value) => value.register(),
        Argument::Param(_) | Argument::Sink => None,
    });
    body.instructions.iter().flat_map(Instruction::reads).chain(of_calls).collect()
}

impl Lowering<'_> {
    fn step(&self, instruction: &Instruction, code: Code) -> Step {
        let guard = instruction
            .guard
            .map(|guard| Guard { row: guard.predicate.index.into(), negated: guard.negated });
        let numbers = |registers: &mut dyn Iterator<Item = Register>| {
            let mut numbers: Vec<Reg> =
                registers.map(|register| Reg(self.number(register))).collect();
            numbers.dedup();
            numbers.into_boxed_slice()
        };
        let reads = numbers(&mut code.reads.iter().copied());
        // Compilers leave the elimination of unused old values to the assembler.
        let is_atomic = matches!(instruction.op, Op::Atomic(_));
        let is_used = |register: &Register| !is_atomic || self.read.contains(register);
        Step {
            op: self.frame.accessed(instruction),
            guard,
            dests: instruction.dests.iter().map(|dest| dest_of(dest.filter(is_used))).collect(),
            sources: instruction.sources.iter().map(|&value| self.source(value)).collect(),
            policy: instruction.policy.map(|value| self.source(value)),
            writes: numbers(&mut instruction.writes().filter(is_used)),
            operands: Registers::new(&[], &reads).operands,
            reads,
            counts: code.counts.into(),
            skipped: code.skipped.into(),
            renames: code.renames,
            ends_thread: self.ends_thread(instruction),
            line: instruction.line,
            location: instruction.location,
        }
    }

    /// Returns whether an instruction branches to the end of the thread, where it is a predicated exit.
    fn ends_thread(&self, instruction: &Instruction) -> bool {
        match instruction.op {
            Op::Branch(target) => machine::ends_thread(&self.body.instructions[target as usize..]),
            _ => false,
        }
    }

    /// Returns the trace number of a register: narrow ones first, then wide ones, then predicates.
    fn number(&self, register: Register) -> u16 {
        let [_, narrow, wide] = self.body.registers;
        let first = match register.class {
            RegisterClass::Narrow => 0,
            RegisterClass::Wide => narrow,
            RegisterClass::Predicate => narrow.saturating_add(wide),
        };
        first.saturating_add(register.index)
    }

    fn source(&self, value: Value) -> Source {
        match value {
            Value::Register(register) => {
                let row = register.index.into();
                match register.class {
                    RegisterClass::Predicate => Source::Predicate { row, negated: false },
                    RegisterClass::Narrow => Source::Narrow(row),
                    RegisterClass::Wide => Source::Wide(row),
                }
            }
            Value::Not(register) => Source::Predicate { row: register.index.into(), negated: true },
            Value::Bits(bits) => Source::Constant(bits),
            Value::Special(special) => Source::Special(special),
            Value::Function(id) => Source::Constant(function_address(id)),
            Value::Variable(id, offset) => self.variable(id, offset),
        }
    }

    fn variable(&self, id: VariableId, offset: i64) -> Source {
        let variable = self.image.module().variable(id);
        let at = |base: u64| base.wrapping_add_signed(offset);
        match variable.space {
            Space::Shared if self.in_clusters => Source::Shared(at(self.shared.addresses[&id])),
            Space::Shared => Source::Constant(at(self.shared.addresses[&id])),
            Space::Local | Space::Param => {
                let FrameSlot { memory, offset, .. } = self.frame.slots[&id];
                match memory {
                    Private::Local => Source::Local(at(offset)),
                    Private::Param => Source::Param(at(offset)),
                }
            }
            _ => Source::Constant(at(self.image.address(id).unwrap_or_default())),
        }
    }

    fn call(&self, call: &warpmem_ptx::Call, routine_of: &BTreeMap<FunctionId, usize>) -> CallPlan {
        let indirect = usize::from(call.callee == Callee::Indirect);
        CallPlan {
            target: match call.callee {
                Callee::Direct(id) => self.target(id, routine_of),
                Callee::Indirect => CallTarget::Register,
            },
            arguments: self.passed(&call.arguments, indirect),
            results: self.passed(&call.results, 0),
        }
    }

    fn target(&self, id: FunctionId, routine_of: &BTreeMap<FunctionId, usize>) -> CallTarget {
        let system = || SystemCall::named(&self.image.module().function(id).name);
        match routine_of.get(&id) {
            Some(&routine) => CallTarget::Routine(routine),
            None => system().map_or(CallTarget::Register, CallTarget::System),
        }
    }

    /// Converts arguments; `first` is the index of the first register or constant among the call's operands.
    fn passed(&self, arguments: &[Argument], first: usize) -> Vec<Passed> {
        let mut values = first..;
        let passed = |argument: &Argument| match *argument {
            Argument::Param(id) => Passed::FrameSlot(self.frame.slots[&id]),
            Argument::Value(_) | Argument::Sink => Passed::Value(values.next().unwrap_or(first)),
        };
        arguments.iter().map(passed).collect()
    }
}

fn dest_of(register: Option<Register>) -> Dest {
    let Some(register) = register else { return Dest::Sink };
    let row = register.index.into();
    match register.class {
        RegisterClass::Predicate => Dest::Predicate(row),
        RegisterClass::Narrow => Dest::Narrow(row),
        RegisterClass::Wide => Dest::Wide(row),
    }
}
