//! Indices of the parts of a module.

/// Index of a variable in [`Module::variables`](crate::Module::variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// Index of a function in [`Module::functions`](crate::Module::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);
