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
    /// The architecture, as `sm_75`.
    pub target: String,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Source files that lines refer to, by the number of their `.file` directive.
    pub files: Vec<(u32, String)>,
}

/// A variable of a module or function, or a parameter.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: Space,
    /// Alignment of its first byte.
    pub align: u64,
    /// Bytes; 0 for an array without a size, which the launch decides.
    pub bytes: u64,
    /// The type of an element.
    pub ty: Type,
    /// Texture, surface or sampler reference of the module.
    pub reference: Option<Reference>,
    /// It is defined in another module.
    pub external: bool,
    /// Its first bytes; the others are 0.
    pub initial: Vec<u8>,
    /// Addresses among its initial bytes.
    pub relocations: Vec<Relocation>,
}

/// An opaque variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Texture,
    Surface,
    Sampler,
}

/// Initial bytes that are an address, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where they begin in [`Variable::initial`].
    pub at: u64,
    pub target: Target,
    pub offset: i64,
    /// The address is a generic one, not that in the target's own space.
    pub generic: bool,
    /// The bit of the address that is the lowest of the first byte.
    pub shift: u32,
    /// Bytes of the address: 8 unless it is a part.
    pub bytes: u32,
}

/// What has an address.
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
    /// `.reqntid` or else `.maxntid`: the threads of a CTA that a launch must or may have.
    pub threads: ThreadLimit,
    pub cluster: ClusterLimit,
    /// The first line of its declaration.
    pub line: u32,
    /// `None`: declared, and defined elsewhere.
    pub body: Option<Body>,
}

/// What a kernel says of the size of its CTAs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadLimit {
    #[default]
    None,
    /// `.maxntid`: at most the product.
    AtMost([u32; 3]),
    /// `.reqntid`: exactly these.
    Exactly([u32; 3]),
}

/// The code of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub instructions: Vec<Instruction>,
    /// Registers of each class, in the order predicate, narrow, wide.
    pub registers: [u16; 3],
    /// `.local` variables and `.param` variables that are declared in it.
    pub locals: Vec<VariableId>,
    /// `.shared` variables that are declared in it.
    pub shared: Vec<VariableId>,
    pub calls: Vec<Call>,
    /// Targets of `brx.idx`, as indices of instructions.
    pub branch_tables: Vec<Vec<u32>>,
    /// Statements that are not understood; a kernel that can reach one cannot be launched.
    pub unsupported: Vec<PtxError>,
}

/// A call's operands.
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
    /// The function whose address is the first source of the instruction.
    Indirect,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    Param(VariableId),
    Value(Value),
    /// `_`: a result that is not used.
    Sink,
}

impl Variable {
    /// Its type and name as the module declares them: `.u64 a`, `.b8 b[24]`.
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

    /// The kernel of a name.
    pub fn kernel(&self, name: &str) -> Option<FunctionId> {
        let at = self.functions.iter().position(|f| f.is_kernel && f.name == name)?;
        Some(FunctionId(at as u32))
    }

    /// Puts other functions in the place of those that calls and addresses name.
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

    /// The version of the architecture: 75 of `sm_75`.
    pub fn sm_version(&self) -> u32 {
        let digits = self.target.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
    }
}
