//! SASS opcodes and their meaning for a memory system.

pub mod opcode;
mod opcode_table;
pub mod operation;
