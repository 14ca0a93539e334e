//! Products of matrices.

use crate::types::{Rounding, Space, Type};

/// `mma.sync`, `mma.sp` and `wmma.mma`: the product of A (m × k) and B (k × n), added to C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    /// m, n and k.
    pub shape: [u16; 3],
    pub form: MmaForm,
    pub d: Type,
    pub a: Element,
    pub b: Element,
    pub c: Type,
    pub combine: Combine,
    /// Rounding of double-precision sums.
    pub rounding: Rounding,
    /// Clamps integer sums to their range.
    pub saturate: bool,
}

/// How the lanes of a warp hold the matrices of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MmaForm {
    /// `mma`
    Dense,
    /// `mma.sp`: A holds half of its elements. Further sources: the metadata, which the lanes hold
    /// that this selector names.
    Sparse { selector: u8 },
    /// `mma.m8n8k4` of half precision: four products, each of two groups of four lanes.
    QuadPairs { a: Layout, b: Layout },
    /// `wmma.mma`: fragments of `wmma.load`.
    Wmma,
}

/// Order of a matrix: its elements follow each other by rows or by columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    Row,
    Column,
}

/// The terms of the sum over k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Products.
    #[default]
    Multiply,
    /// Bits that differ, `.xor.popc`.
    CountDifferent,
    /// Bits that are set in both, `.and.popc`.
    CountCommon,
}

/// `wmma.load` and `wmma.store`. Sources: the address, of a store the registers, and the elements
/// from one row (or column) to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WmmaAccess {
    pub operand: WmmaOperand,
    /// m, n and k of the product.
    pub shape: [u16; 3],
    /// Bits of an element.
    pub bits: u8,
    pub layout: Layout,
    pub space: Space,
    pub offset: i64,
}

/// The matrix of a product that `wmma.load` or `wmma.store` moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WmmaOperand {
    A,
    B,
    /// C or D.
    C,
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
    U4,
    S4,
    B1,
    E4m3,
    E5m2,
}

/// Every element with its name, without the dot, and its size in bits.
const ELEMENTS: [(Element, &str, u32); 11] = [
    (Element::F16, "f16", 16),
    (Element::Bf16, "bf16", 16),
    (Element::Tf32, "tf32", 32),
    (Element::F64, "f64", 64),
    (Element::U8, "u8", 8),
    (Element::S8, "s8", 8),
    (Element::U4, "u4", 4),
    (Element::S4, "s4", 4),
    (Element::B1, "b1", 1),
    (Element::E4m3, "e4m3", 8),
    (Element::E5m2, "e5m2", 8),
];

impl Element {
    /// The element with a name, which is written without its dot.
    pub fn named(name: &str) -> Option<Element> {
        ELEMENTS.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    /// Whether it is an integer of several bits.
    pub fn is_integer(self) -> bool {
        matches!(self, Element::U8 | Element::S8 | Element::U4 | Element::S4)
    }

    pub fn bits(self) -> u32 {
        ELEMENTS[self as usize].2
    }

    /// Whether A of this type can be multiplied with B of the other one by `mma`.
    fn pairs_with(self, b: Element) -> bool {
        let is_small_float = |element| matches!(element, Element::E4m3 | Element::E5m2);
        let is_alike = self.is_integer() && b.is_integer() && self.bits() == b.bits();
        self == b || is_alike || is_small_float(self) && is_small_float(b)
    }

    /// Types of D and C.
    fn results(self) -> &'static [Type] {
        match self {
            Element::F16 | Element::E4m3 | Element::E5m2 => &[Type::F16, Type::F32],
            Element::Bf16 | Element::Tf32 => &[Type::F32],
            Element::F64 => &[Type::F64],
            Element::U8 | Element::S8 | Element::U4 | Element::S4 | Element::B1 => &[Type::S32],
        }
    }
}

impl MmaForm {
    /// Every m, n and k of the products of an element (ISA, the tables of shapes of `wmma`, `mma` and
    /// `mma.sp`).
    pub fn shapes(self, element: Element) -> &'static [[u16; 3]] {
        use Element::*;
        match (self, element) {
            (MmaForm::Dense, F16 | Bf16) => &[[16, 8, 8], [16, 8, 16]],
            (MmaForm::Dense, Tf32) => &[[16, 8, 4], [16, 8, 8]],
            (MmaForm::Dense, F64) => &[[8, 8, 4], [16, 8, 4], [16, 8, 8], [16, 8, 16]],
            (MmaForm::Dense, E4m3 | E5m2) => &[[16, 8, 16], [16, 8, 32]],
            (MmaForm::Dense, U8 | S8) => &[[8, 8, 16], [16, 8, 16], [16, 8, 32]],
            (MmaForm::Dense, U4 | S4) => &[[8, 8, 32], [16, 8, 32], [16, 8, 64]],
            (MmaForm::Dense, B1) => &[[8, 8, 128], [16, 8, 128], [16, 8, 256]],
            (MmaForm::QuadPairs { .. }, F16) => &[[8, 8, 4]],
            (MmaForm::Sparse { .. }, F16 | Bf16) => &[[16, 8, 16], [16, 8, 32]],
            (MmaForm::Sparse { .. }, Tf32) => &[[16, 8, 8], [16, 8, 16]],
            (MmaForm::Sparse { .. }, E4m3 | E5m2) => &[[16, 8, 64]],
            (MmaForm::Sparse { .. }, U8 | S8) => &[[16, 8, 32], [16, 8, 64]],
            (MmaForm::Sparse { .. }, U4 | S4) => &[[16, 8, 64], [16, 8, 128]],
            (MmaForm::Wmma, F16 | Bf16 | U8 | S8) => &[[16, 16, 16], [32, 8, 16], [8, 32, 16]],
            (MmaForm::Wmma, Tf32) => &[[16, 16, 8]],
            (MmaForm::Wmma, F64) => &[[8, 8, 4]],
            (MmaForm::Wmma, U4 | S4) => &[[8, 8, 32]],
            (MmaForm::Wmma, B1) => &[[8, 8, 128]],
            (MmaForm::QuadPairs { .. } | MmaForm::Sparse { .. } | MmaForm::Wmma, _) => &[],
        }
    }

    /// Whether a product of this shape has C and D of a type.
    pub(crate) fn has_result(self, shape: [u16; 3], ty: Type) -> bool {
        let mut elements = ELEMENTS.iter().map(|entry| entry.0);
        elements
            .any(|element| self.shapes(element).contains(&shape) && element.results().contains(&ty))
    }

    /// Registers of a lane that hold a number of elements of A or B.
    pub(crate) fn registers_of(self, elements: u32, element: Element) -> usize {
        match (self, element) {
            // Of every shape: a smaller fragment repeats.
            (MmaForm::Wmma, Element::F16) => 8,
            (_, element) => registers_of(elements, element.bits()),
        }
    }
}

impl Mma {
    /// Whether the ISA has the product.
    pub(crate) fn is_known(&self) -> bool {
        let Mma { shape, form, d, a, b, c, combine, .. } = *self;
        let types_agree = match form {
            // Every pair of results.
            MmaForm::Wmma => a == b,
            MmaForm::QuadPairs { .. } => a == b && (d == c || d == Type::F32),
            MmaForm::Dense | MmaForm::Sparse { .. } => a.pairs_with(b) && d == c,
        };
        let has_results = a.results().contains(&d) && a.results().contains(&c);
        let counts = combine != Combine::Multiply;
        form.shapes(a).contains(&shape)
            && types_agree
            && has_results
            && counts == (a == Element::B1)
            && (!self.saturate || a.is_integer())
            && (self.rounding == Rounding::Nearest || a == Element::F64)
    }

    /// Registers per lane that hold A, B, C and D.
    pub fn registers(&self) -> [usize; 4] {
        let [m, n, k] = self.shape.map(u32::from);
        let (products, stored_k) = match self.form {
            MmaForm::QuadPairs { .. } => (4, k),
            MmaForm::Sparse { .. } => (1, k / 2),
            MmaForm::Dense | MmaForm::Wmma => (1, k),
        };
        let factor = |values, element| self.form.registers_of(products * values, element);
        let result = |ty: Type| registers_of(products * m * n, ty.bits());
        [factor(m * stored_k, self.a), factor(k * n, self.b), result(self.c), result(self.d)]
    }

    /// Lanes of each group of four that hold the metadata of a sparse A: 4 bits for every 4 elements,
    /// 2 of `.tf32`, or 8 of 4 bits.
    pub fn metadata_lanes(&self) -> u8 {
        let chunk = match self.a.bits() {
            32 => 2,
            4 => 8,
            _ => 4,
        };
        // Of the two rows of a group.
        (2 * self.shape[2] / chunk * 4 / 32) as u8
    }

    /// Machine instructions that compute it, each a part of D.
    pub fn parts(&self) -> usize {
        const MOST: u16 = 16 * 8;
        usize::from((self.shape[0] * self.shape[1]).div_ceil(MOST))
    }
}

/// Registers of a lane if a warp holds a number of values.
pub(crate) fn registers_of(values: u32, bits: u32) -> usize {
    (values * bits / bits.max(32) / 32) as usize
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

impl Layout {
    /// The layout with a name, which is written without its dot.
    pub(crate) fn named(name: &str) -> Option<Layout> {
        match name {
            "row" => Some(Layout::Row),
            "col" => Some(Layout::Column),
            _ => None,
        }
    }
}

impl WmmaOperand {
    /// Whether the elements of a matrix of this layout that a product sums follow each other.
    pub(crate) fn is_natural(self, layout: Layout) -> bool {
        match self {
            WmmaOperand::A => layout == Layout::Row,
            WmmaOperand::B => layout == Layout::Column,
            WmmaOperand::C => true,
        }
    }

    /// Rows and columns of the matrix.
    pub fn size(self, [m, n, k]: [u16; 3]) -> [u16; 2] {
        match self {
            WmmaOperand::A => [m, k],
            WmmaOperand::B => [k, n],
            WmmaOperand::C => [m, n],
        }
    }
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
