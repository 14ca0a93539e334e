//! Generations of machine code.

use warpmem_trace::{OpClass, Registers};

use crate::recorder::WarpAssembler;

/// Generation of GPUs whose machine code a PTX instruction becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// sm_70 to sm_72, and older targets, whose machine code is not modelled separately.
    Volta,
    /// sm_75
    Turing,
    /// sm_80 to sm_89
    Ampere,
    /// sm_90 and later
    Hopper,
}

impl Generation {
    /// Returns the generation of an architecture, 75 for sm_75.
    pub fn of(sm_version: u32) -> Generation {
        match sm_version {
            90.. => Generation::Hopper,
            80.. => Generation::Ampere,
            75.. => Generation::Turing,
            _ => Generation::Volta,
        }
    }

    /// Records the instructions at the start of a kernel: the stack pointer, on Volta a shuffle that does
    /// nothing, and from Ampere on the descriptor of global memory.
    pub(crate) fn begin(self, records: &mut WarpAssembler, lanes: u32) {
        let classes: &[OpClass] = match self {
            Generation::Volta => &[OpClass::Integer, OpClass::Integer],
            Generation::Turing => &[OpClass::Integer],
            Generation::Ampere | Generation::Hopper => &[OpClass::Integer, OpClass::Uniform],
        };
        for &class in classes {
            records.compute(class, lanes, Registers::new(&[], &[]));
        }
    }

    /// Records the `NOP` with which ptxas precedes a barrier on Volta.
    pub(crate) fn begin_barrier(self, records: &mut WarpAssembler, lanes: u32) {
        if self == Generation::Volta {
            records.compute(OpClass::Other, lanes, Registers::new(&[], &[]));
        }
    }

    /// Returns whether a convergence barrier is cleared by an instruction of its own (`BMOV`) before `BSSY`.
    pub(super) fn clears_convergence_barriers(self) -> bool {
        self < Generation::Ampere
    }

    /// Returns whether instructions read parameters and launch dimensions only through `LDC` and `ULDC`.
    pub(super) fn loads_constants(self) -> bool {
        self == Generation::Hopper
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_have_generations() {
        let of = |versions: [u32; 8]| versions.map(Generation::of);
        use Generation::*;
        assert_eq!(
            of([50, 70, 75, 80, 86, 89, 90, 120]),
            [Volta, Volta, Turing, Ampere, Ampere, Ampere, Hopper, Hopper]
        );
    }
}
