//! SASS opcodes, and what they are to a memory system.

pub mod opcode;
mod opcode_table;
pub mod operation;
