//! Parameters and results that a function declares as registers.

use crate::ids::VariableId;
use crate::instruction::Register;
use crate::types::Type;

/// A register parameter or result, or a vector of them, each passed as a `.param` variable.
pub(super) struct RegisterParam<'a> {
    pub name: &'a str,
    pub ty: Type,
    pub variables: Vec<VariableId>,
    pub is_result: bool,
}

/// A register parameter or result, and the `.param` variable that passes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub register: Register,
    pub variable: VariableId,
    pub ty: Type,
}
