//! The types of PTX (ISA, section "Types"), and the register classes that hold them.

/// Type of an instruction, register or variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
    E4m3x2,
    E5m2x2,
    U16x2,
    S16x2,
    /// Held by two 64-bit registers.
    B128,
}

use Type::*;

/// Each type with its name, without the dot, and its size in bits.
const TYPES: [(Type, &str, u32); 25] = [
    (Pred, "pred", 1),
    (B8, "b8", 8),
    (B16, "b16", 16),
    (B32, "b32", 32),
    (B64, "b64", 64),
    (U8, "u8", 8),
    (U16, "u16", 16),
    (U32, "u32", 32),
    (U64, "u64", 64),
    (S8, "s8", 8),
    (S16, "s16", 16),
    (S32, "s32", 32),
    (S64, "s64", 64),
    (F16, "f16", 16),
    (F16x2, "f16x2", 32),
    (Bf16, "bf16", 16),
    (Bf16x2, "bf16x2", 32),
    (Tf32, "tf32", 32),
    (F32, "f32", 32),
    (F64, "f64", 64),
    (E4m3x2, "e4m3x2", 16),
    (E5m2x2, "e5m2x2", 16),
    (U16x2, "u16x2", 32),
    (S16x2, "s16x2", 32),
    (B128, "b128", 128),
];

impl Type {
    /// Returns all types.
    pub fn all() -> impl Iterator<Item = Type> {
        TYPES.iter().map(|entry| entry.0)
    }

    /// Returns the type called `name`, without the dot.
    pub fn named(name: &str) -> Option<Type> {
        TYPES.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    pub fn name(self) -> &'static str {
        TYPES[self as usize].1
    }

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        TYPES[self as usize].2
    }

    /// Returns the size in memory, bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, S8 | S16 | S32 | S64 | S16x2)
    }

    /// Returns whether it is a scalar signed or unsigned integer.
    pub fn is_integer(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
    }

    /// Returns whether it is untyped bits.
    pub fn is_bits(self) -> bool {
        matches!(self, B8 | B16 | B32 | B64)
    }

    /// Returns whether it is a scalar floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | Tf32 | F32 | F64)
    }

    /// Returns its parts in registers: the type of each, and their number.
    pub fn parts(self) -> (Type, u8) {
        if self == B128 { (B64, 2) } else { (self, 1) }
    }

    /// Returns the class of the registers that hold a value.
    pub fn class(self) -> RegisterClass {
        match self.bits() {
            1 => RegisterClass::Predicate,
            64 | 128 => RegisterClass::Wide,
            _ => RegisterClass::Narrow,
        }
    }
}

/// Storage class of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegisterClass {
    /// One bit per thread.
    Predicate,
    /// Up to 32 bits per thread.
    Narrow,
    /// 64 bits per thread.
    Wide,
}

/// Address space of variables and memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Generic address: a window of another space, or else global.
    Generic,
    Global,
    Constant,
    Shared,
    /// Shared memory of the CTAs of a cluster, including the CTA's own.
    Cluster,
    Local,
    /// Parameters of kernels and functions.
    Param,
}

impl Space {
    /// Returns the space called `name`, without the dot.
    pub fn named(name: &str) -> Option<Space> {
        Some(match name {
            "global" => Space::Global,
            "const" => Space::Constant,
            "shared" | "shared::cta" => Space::Shared,
            "shared::cluster" => Space::Cluster,
            "local" => Space::Local,
            "param" | "param::entry" | "param::func" => Space::Param,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Constant => "const",
            Space::Shared => "shared",
            Space::Cluster => "shared::cluster",
            Space::Local => "local",
            Space::Param => "param",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    Nearest,
    /// To nearest, ties away from zero.
    NearestAway,
    Zero,
    Down,
    Up,
}

/// Comparison. The unsigned names (`lo`, `ls`, `hi`, `hs`) belong to unsigned types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Unordered variants: also true if an operand is NaN.
    EqualUnordered,
    NotEqualUnordered,
    LessUnordered,
    LessOrEqualUnordered,
    GreaterUnordered,
    GreaterOrEqualUnordered,
    /// Neither operand is NaN.
    Number,
    /// At least one operand is NaN.
    NotANumber,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_name() {
        for (at, &(ty, name, bits)) in TYPES.iter().enumerate() {
            assert_eq!(ty as usize, at);
            assert_eq!((Type::named(name), ty.name(), ty.bits()), (Some(ty), name, bits));
        }
        assert_eq!(Type::named("q32"), None);
    }
}
