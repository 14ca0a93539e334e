//! Registrations that a program makes before it runs: fat binaries, and the host functions and variables that
//! denote their kernels and variables.

use std::collections::BTreeMap;

/// Number by which the program refers to a fat binary.
pub type FatBinaryId = usize;

/// A variable or texture reference of a fat binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub binary: FatBinaryId,
    pub name: String,
    /// Whether a texture reference reads integers as fractions.
    pub is_normalised: bool,
}

/// All registrations.
#[derive(Debug, Default)]
pub struct Registry {
    /// Containers or PTX of each binary, several where device code is linked; `None` if unregistered.
    binaries: Vec<Option<Vec<Vec<u8>>>>,
    /// Kernels, by the address of the host function.
    kernels: BTreeMap<usize, (FatBinaryId, String)>,
    /// Symbols, by the address of the host variable.
    symbols: BTreeMap<usize, Symbol>,
    /// Managed variables, each with the location where the host stores its address.
    managed: Vec<(usize, Symbol)>,
}

impl Registry {
    pub fn add_binary(&mut self, containers: Vec<Vec<u8>>) -> FatBinaryId {
        self.binaries.push(Some(containers));
        self.binaries.len() - 1
    }

    pub fn remove_binary(&mut self, id: FatBinaryId) {
        if let Some(binary) = self.binaries.get_mut(id) {
            *binary = None;
        }
        self.kernels.retain(|_, (binary, _)| *binary != id);
        self.symbols.retain(|_, symbol| symbol.binary != id);
        self.managed.retain(|(_, symbol)| symbol.binary != id);
    }

    pub fn add_kernel(&mut self, function: usize, binary: FatBinaryId, name: String) {
        self.kernels.insert(function, (binary, name));
    }

    pub fn add_symbol(&mut self, variable: usize, symbol: Symbol) {
        self.symbols.insert(variable, symbol);
    }

    pub fn add_managed(&mut self, pointer: usize, symbol: Symbol) {
        self.managed.push((pointer, symbol));
    }

    pub fn binary(&self, id: FatBinaryId) -> Option<&[Vec<u8>]> {
        self.binaries.get(id)?.as_deref()
    }

    pub fn kernel(&self, function: usize) -> Option<&(FatBinaryId, String)> {
        self.kernels.get(&function)
    }

    pub fn symbol(&self, variable: usize) -> Option<&Symbol> {
        self.symbols.get(&variable)
    }

    /// Returns the managed variables of a binary: where the host stores each address, and the name.
    pub fn managed(&self, id: FatBinaryId) -> impl Iterator<Item = (usize, &str)> {
        let of_binary = self.managed.iter().filter(move |(_, symbol)| symbol.binary == id);
        of_binary.map(|(pointer, symbol)| (*pointer, symbol.name.as_str()))
    }
}
