//! A parsed module: its variables, functions, and their decoded bodies.

use crate::cluster::ClusterLimit;
use crate::error::PtxError;
use crate::ids::{FunctionId, VariableId};
use crate::instruction::{Instruction, Value};
use crate::types::{Space, Type};

/// A module, with every name resolved.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// PTX version: major, minor.
    pub version: (u32, u32),
    /// Architecture, as `sm_75`.
    pub target: String,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Source files of debug lines, by the number of their `.file` directive.
    pub files: Vec<(u32, String)>,
}

/// A variable of a module or function, or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    /// Alignment in bytes.
    pub align: u64,
    /// Size in bytes; 0 for an array without a size, which the launch sets.
    pub bytes: u64,
    /// Element type.
    pub ty: Type,
    /// Texture, surface or sampler reference.
    pub reference: Option<Reference>,
    /// Whether it is defined in another module.
    pub external: bool,
    /// First bytes; the others are 0.
    pub initial: Vec<u8>,
    /// Addresses among the initial bytes.
    pub relocations: Vec<Relocation>,
}

/// An opaque variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Texture,
    Surface,
    Sampler,
}

/// Initial bytes that hold an address, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset in [`Variable::initial`].
    pub at: u64,
    pub target: Target,
    pub offset: i64,
    /// Whether the address is generic instead of relative to the target's own space.
    pub generic: bool,
    /// Lowest bit of the address that the first byte holds.
    pub shift: u32,
    /// Bytes of the address: 8 unless it is a part.
    pub bytes: u32,
}

/// An addressable object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Variable(VariableId),
    Function(FunctionId),
}

/// A kernel (`.entry`) or device function (`.func`).
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub is_kernel: bool,
    pub results: Vec<VariableId>,
    pub params: Vec<VariableId>,
    /// `.reqntid` or else `.maxntid`: the CTA sizes that a launch must or may have.
    pub threads: ThreadLimit,
    pub cluster: ClusterLimit,
    /// First line of its declaration.
    pub line: u32,
    /// `None` if it is declared here and defined elsewhere.
    pub body: Option<Body>,
}

/// CTA sizes that a kernel's declaration permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadLimit {
    #[default]
    None,
    /// `.maxntid`: maximum product.
    AtMost([u32; 3]),
    /// `.reqntid`: exact size.
    Exactly([u32; 3]),
}

/// Code of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub instructions: Vec<Instruction>,
    /// Registers of each class, in the order predicate, narrow, wide.
    pub registers: [u16; 3],
    /// Its `.local` and `.param` variables.
    pub locals: Vec<VariableId>,
    /// Its `.shared` variables.
    pub shared: Vec<VariableId>,
    pub calls: Vec<Call>,
    /// Targets of `brx.idx`, as instruction indices.
    pub branch_tables: Vec<Vec<u32>>,
    /// Unsupported statements; a kernel that can reach one cannot be launched.
    pub unsupported: Vec<PtxError>,
}

/// Operands of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub callee: Callee,
    /// `.param` variables or registers, as the call names them.
    pub results: Vec<Argument>,
    pub arguments: Vec<Argument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    Direct(FunctionId),
    /// Function whose address is the instruction's first source.
    Indirect,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    Param(VariableId),
    Value(Value),
    /// `_`: an unused result.
    Sink,
}

impl Variable {
    /// Returns type and name as declared: `.u64 a`, `.b8 b[24]`.
    pub fn declared(&self) -> String {
        let is_array = self.bytes != u64::from(self.ty.bytes());
        let array = if is_array { format!("[{}]", self.bytes) } else { String::new() };
        format!(".{} {}{array}", self.ty.name(), self.name)
    }
}

impl Module {
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.is_kernel)
    }

    /// Returns the kernel called `name`.
    pub fn kernel(&self, name: &str) -> Option<FunctionId> {
        let at = self.functions.iter().position(|f| f.is_kernel && f.name == name)?;
        Some(FunctionId(at as u32))
    }

    /// Replaces the functions that calls and addresses refer to.
    pub(crate) fn rename_functions(&mut self, new: impl Fn(FunctionId) -> FunctionId) {
        for relocation in self.variables.iter_mut().flat_map(|variable| &mut variable.relocations) {
            if let Target::Function(id) = &mut relocation.target {
                *id = new(*id);
            }
        }
        for body in self.functions.iter_mut().filter_map(|function| function.body.as_mut()) {
            for call in &mut body.calls {
                if let Callee::Direct(id) = &mut call.callee {
                    *id = new(*id);
                }
            }
            for value in body.instructions.iter_mut().flat_map(|i| i.sources.iter_mut()) {
                if let Value::Function(id) = value {
                    *id = new(*id);
                }
            }
        }
    }

    /// Returns the architecture's version: 75 for `sm_75`.
    pub fn sm_version(&self) -> u32 {
        let digits = self.target.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
    }
}
