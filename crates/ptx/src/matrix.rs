//! Products of matrices.

use crate::types::Type;

/// `mma.sync`: the product of A (m × k) and B (k × n), added to C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    pub m: u8,
    pub n: u8,
    pub k: u8,
    pub d: Type,
    pub a: Element,
    pub b: Element,
    pub c: Type,
    pub saturate: bool,
}

/// The type of an element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    U8,
    S8,
    E4m3,
    E5m2,
}

impl Element {
    /// The element with a name, which is written without its dot.
    pub fn named(name: &str) -> Option<Element> {
        Some(match name {
            "f16" => Element::F16,
            "bf16" => Element::Bf16,
            "tf32" => Element::Tf32,
            "f64" => Element::F64,
            "u8" => Element::U8,
            "s8" => Element::S8,
            "e4m3" => Element::E4m3,
            "e5m2" => Element::E5m2,
            _ => return None,
        })
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Element::U8 | Element::S8)
    }

    pub fn bits(self) -> u32 {
        match self {
            Element::U8 | Element::S8 | Element::E4m3 | Element::E5m2 => 8,
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 => 32,
            Element::F64 => 64,
        }
    }
}

impl Mma {
    /// Registers per lane that hold A, B, C and D.
    pub fn registers(&self) -> [usize; 4] {
        let of = |values: u32, bits: u32| {
            let register = if bits == 64 { 64 } else { 32 };
            (values * bits / register / 32) as usize
        };
        let (m, n, k) = (u32::from(self.m), u32::from(self.n), u32::from(self.k));
        let packed = |ty: Type| if ty == Type::F16 { 16 } else { ty.bits() };
        [
            of(m * k, self.a.bits()),
            of(k * n, self.b.bits()),
            of(m * n, packed(self.c)),
            of(m * n, packed(self.d)),
        ]
    }
}

/// The instructions of warpgroups, which are four warps (ISA, "Asynchronous Warpgroup Level Matrix
/// Multiply-Accumulate Instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wgmma {
    /// `wgmma.mma_async`. Sources: A's descriptor or four registers of it, B's descriptor, whether D
    /// is added, and D if it may be.
    Product(GroupProduct),
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group`: until at most so many groups are pending.
    Wait(u32),
}

/// The product of A (64 × k) in registers or shared memory and B (k × n) in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupProduct {
    pub n: u16,
    pub d: Type,
    pub a: Factor,
    pub b: Factor,
    /// A's quarter of each warp is in its registers, as that of an `mma` of 16 rows.
    pub a_in_registers: bool,
    /// Of integers: D is clamped to its range.
    pub saturate: bool,
}

/// A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Factor {
    pub element: Element,
    /// Its elements are negated.
    pub negated: bool,
    /// In shared memory, the elements that follow each other are of one k, not of one row of A or
    /// column of B ("M-major", "N-major").
    pub transposed: bool,
}

impl GroupProduct {
    /// Bytes of a row of A or a column of B.
    pub const ROW_BYTES: u32 = 32;

    /// Rows of B: as many as have room in [`GroupProduct::ROW_BYTES`].
    pub fn k(&self) -> u32 {
        GroupProduct::ROW_BYTES * 8 / self.a.element.bits()
    }

    /// Registers per lane that hold D.
    pub fn registers(&self) -> usize {
        usize::from(self.n) / if self.d == Type::F16 { 4 } else { 2 }
    }
}
