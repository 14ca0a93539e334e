//! Decodes statements into operations. Every modifier and operand must be known: leftovers are errors, so
//! that no instruction is mistaken for another.

mod arithmetic;
mod bits;
mod bulk;
mod cluster;
mod compare;
mod control;
mod convert;
mod matrix;
mod mbarrier;
mod memory;
mod mma;
mod modifiers;
mod operands;
mod synchronize;
mod tensor;
mod tensor_map;
mod texture;
mod video;
mod warpgroup;
mod wmma;

use crate::instruction::{Register, Value};
use crate::module::Call;
use crate::op::Op;
use crate::operand::Operand;
use modifiers::Modifiers;
use operands::Operands;

/// An instruction as written.
pub(crate) struct Statement<'a> {
    pub opcode: &'a str,
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
}

/// A decoded instruction, without its guard.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub op: Op,
    pub dests: Vec<Option<Register>>,
    pub sources: Vec<Value>,
    pub policy: Option<Value>,
}

/// Result of a decoder; the error names the unknown part.
type Result<T> = std::result::Result<T, String>;

/// Numbers the labels of a function.
pub(crate) type LabelNumber<'f, 'a> = &'f mut dyn FnMut(&'a str) -> u32;

/// State of decoding one statement.
struct Decoder<'a> {
    opcode: &'a str,
    modifiers: Modifiers<'a>,
    operands: Operands<'a>,
}

/// Decodes a statement; appends the operands of a call to `calls`.
pub(crate) fn decode<'a>(
    statement: Statement<'a>,
    calls: &mut Vec<Call>,
    label: LabelNumber<'_, 'a>,
) -> Result<Decoded> {
    let Statement { opcode, modifiers, operands } = statement;
    let mut decoder = Decoder {
        opcode,
        modifiers: Modifiers::new(opcode, modifiers),
        operands: Operands::new(operands),
    };
    let op = decoder.op(calls, label)?;
    decoder.modifiers.finish()?;
    decoder.operands.finish(op)
}

/// Decoder of an opcode.
#[derive(Clone, Copy)]
enum Group {
    Arithmetic,
    Bits,
    Video,
    Compare,
    Convert,
    Memory,
    Cluster,
    Synchronize,
    Matrix,
    Texture,
    Control,
}

/// All opcodes.
const OPCODES: [(Group, &[&str]); 11] = [
    (
        Group::Arithmetic,
        &[
            "add", "sub", "mul", "mad", "fma", "mul24", "mad24", "div", "rem", "min", "max", "abs",
            "neg", "sad", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign",
            "addc", "subc", "madc", "dp4a", "dp2a",
        ],
    ),
    (
        Group::Bits,
        &[
            "and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "lop3", "prmt", "bfe", "bfi",
            "bfind", "brev", "clz", "popc", "bmsk", "szext", "fns",
        ],
    ),
    (
        Group::Video,
        &[
            "vadd",
            "vsub",
            "vabsdiff",
            "vmin",
            "vmax",
            "vshl",
            "vshr",
            "vset",
            "vmad",
            "vadd2",
            "vsub2",
            "vavrg2",
            "vabsdiff2",
            "vmin2",
            "vmax2",
            "vset2",
            "vadd4",
            "vsub4",
            "vavrg4",
            "vabsdiff4",
            "vmin4",
            "vmax4",
            "vset4",
        ],
    ),
    (Group::Compare, &["setp", "set", "selp", "slct", "testp"]),
    (Group::Convert, &["mov", "cvt", "cvta", "isspacep"]),
    (
        Group::Memory,
        &[
            "ld",
            "ldu",
            "st",
            "atom",
            "red",
            "prefetch",
            "prefetchu",
            "applypriority",
            "discard",
            "createpolicy",
            "tensormap",
        ],
    ),
    (Group::Cluster, &["mapa", "getctarank"]),
    (
        Group::Synchronize,
        &[
            "membar",
            "fence",
            "bar",
            "barrier",
            "mbarrier",
            "cp",
            "vote",
            "shfl",
            "match",
            "redux",
            "activemask",
            "elect",
            "nanosleep",
            "griddepcontrol",
            "setmaxnreg",
            "pmevent",
        ],
    ),
    (Group::Matrix, &["ldmatrix", "stmatrix", "movmatrix", "mma", "wmma", "wgmma"]),
    (Group::Texture, &["tex"]),
    (Group::Control, &["bra", "brx", "call", "ret", "exit", "trap", "brkpt"]),
];

/// Returns the opcodes that are decoded.
pub fn opcodes() -> impl Iterator<Item = &'static str> {
    OPCODES.iter().flat_map(|(_, names)| names.iter().copied())
}

impl<'a> Decoder<'a> {
    fn op(&mut self, calls: &mut Vec<Call>, label: LabelNumber<'_, 'a>) -> Result<Op> {
        let group = OPCODES.iter().find(|(_, names)| names.contains(&self.opcode));
        let Some((group, _)) = group else {
            return Err(format!("instruction `{}` is not supported", self.opcode));
        };
        match group {
            Group::Arithmetic => self.arithmetic(),
            Group::Bits => self.bits(),
            Group::Video => self.video(),
            Group::Compare => self.compare(),
            Group::Convert => self.convert(),
            Group::Memory => self.memory(),
            Group::Cluster => self.cluster_address(),
            Group::Synchronize => self.synchronize(),
            Group::Matrix => self.matrix(),
            Group::Texture => self.texture(),
            Group::Control => self.control(calls, label),
        }
    }
}
