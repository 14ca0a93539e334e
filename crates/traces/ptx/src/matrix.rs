//! Matrix products.

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
    /// Whether integer sums are clamped to their range.
    pub saturate: bool,
}

/// Distribution of a product's matrices over the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MmaForm {
    /// `mma`
    Dense,
    /// `mma.sp`: A holds half of its elements. An additional source is the metadata, held by the lanes that
    /// the selector names.
    Sparse { selector: u8 },
    /// `mma.m8n8k4` of half precision: four products, each of two groups of four lanes.
    QuadPairs { a: Layout, b: Layout },
    /// `wmma.mma`: fragments of `wmma.load`.
    Wmma,
}

/// Storage order of a matrix: consecutive elements form rows or columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    Row,
    Column,
}

/// Terms of the sum over k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Products.
    #[default]
    Multiply,
    /// Number of differing bits, `.xor.popc`.
    CountDifferent,
    /// Number of common set bits, `.and.popc`.
    CountCommon,
}

/// `wmma.load` and `wmma.store`. Sources: the address, the registers of a store, and the distance between
/// rows (or columns) in elements.
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

/// Matrix of a product that `wmma.load` or `wmma.store` moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WmmaOperand {
    A,
    B,
    /// C or D.
    C,
}

/// Element type of A or B.
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

/// Each element type with its name, without the dot, and its size in bits.
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
    /// Returns the element type called `name`, without the dot.
    pub fn named(name: &str) -> Option<Element> {
        ELEMENTS.iter().find(|entry| entry.1 == name).map(|entry| entry.0)
    }

    /// Returns whether it is an integer of several bits.
    pub fn is_integer(self) -> bool {
        matches!(self, Element::U8 | Element::S8 | Element::U4 | Element::S4)
    }

    pub fn bits(self) -> u32 {
        ELEMENTS[self as usize].2
    }

    /// Returns whether `mma` can multiply A of this type with B of type `b`.
    fn pairs_with(self, b: Element) -> bool {
        let is_small_float = |element| matches!(element, Element::E4m3 | Element::E5m2);
        let is_alike = self.is_integer() && b.is_integer() && self.bits() == b.bits();
        self == b || is_alike || is_small_float(self) && is_small_float(b)
    }

    /// Returns the types of D and C.
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
    /// Returns every m, n and k of an element's products (ISA, the tables of shapes of `wmma`, `mma` and
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

    /// Returns whether a product of this shape can have C and D of type `ty`.
    pub(crate) fn has_result(self, shape: [u16; 3], ty: Type) -> bool {
        let mut elements = ELEMENTS.iter().map(|entry| entry.0);
        elements
            .any(|element| self.shapes(element).contains(&shape) && element.results().contains(&ty))
    }

    /// Returns the registers per lane that hold `elements` elements of A or B.
    pub(crate) fn registers_of(self, elements: u32, element: Element) -> usize {
        match (self, element) {
            // For every shape: a smaller fragment repeats.
            (MmaForm::Wmma, Element::F16) => 8,
            (_, element) => registers_of(elements, element.bits()),
        }
    }
}

impl Mma {
    /// Returns whether the ISA has the product.
    pub(crate) fn is_known(&self) -> bool {
        let Mma { shape, form, d, a, b, c, combine, .. } = *self;
        let types_agree = match form {
            // Any pair of result types.
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

    /// Returns the registers per lane that hold A, B, C and D.
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

    /// Returns the number of lanes in each group of four that hold the metadata of a sparse A: 4 bits for
    /// every 4 elements, 2 for `.tf32`, or 8 for 4-bit elements.
    pub fn metadata_lanes(&self) -> u8 {
        let chunk = match self.a.bits() {
            32 => 2,
            4 => 8,
            _ => 4,
        };
        // Metadata of the two rows of a group.
        (2 * self.shape[2] / chunk * 4 / 32) as u8
    }

    /// Returns the number of machine instructions of the product, each computing a part of D.
    pub fn parts(&self) -> usize {
        const MAX: u16 = 16 * 8;
        usize::from((self.shape[0] * self.shape[1]).div_ceil(MAX))
    }
}

/// Returns the registers of a lane if a warp holds `values` values.
pub(crate) fn registers_of(values: u32, bits: u32) -> usize {
    (values * bits / bits.max(32) / 32) as usize
}

/// Instructions of warpgroups, which are four warps (ISA, "Asynchronous Warpgroup Level Matrix
/// Multiply-Accumulate Instructions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wgmma {
    /// `wgmma.mma_async`. Sources: A's descriptor or four registers, B's descriptor, the predicate that adds
    /// D, and D unless it is never added.
    Product(GroupProduct),
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group`: waits until at most this many groups are pending.
    Wait(u32),
}

/// Product of A (64 × k) in registers or shared memory and B (k × n) in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupProduct {
    pub n: u16,
    pub d: Type,
    pub a: Factor,
    pub b: Factor,
    /// Whether A is in registers; each warp holds its quarter as in an `mma` of 16 rows.
    pub a_in_registers: bool,
    /// Whether an integer D is clamped to its range.
    pub saturate: bool,
}

/// A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Factor {
    pub element: Element,
    /// Whether its elements are negated.
    pub negated: bool,
    /// Whether consecutive elements in shared memory share their k, instead of their row of A or column of B
    /// ("M-major", "N-major").
    pub transposed: bool,
}

impl Layout {
    /// Returns the layout called `name`, without the dot.
    pub(crate) fn named(name: &str) -> Option<Layout> {
        match name {
            "row" => Some(Layout::Row),
            "col" => Some(Layout::Column),
            _ => None,
        }
    }
}

impl WmmaOperand {
    /// Returns whether the elements that a product sums are consecutive in a matrix of this layout.
    pub(crate) fn is_natural(self, layout: Layout) -> bool {
        match self {
            WmmaOperand::A => layout == Layout::Row,
            WmmaOperand::B => layout == Layout::Column,
            WmmaOperand::C => true,
        }
    }

    /// Returns the rows and columns of the matrix.
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

    /// Returns the rows of B: the number of elements in [`GroupProduct::ROW_BYTES`].
    pub fn k(&self) -> u32 {
        GroupProduct::ROW_BYTES * 8 / self.a.element.bits()
    }

    /// Returns the registers per lane that hold D.
    pub fn registers(&self) -> usize {
        usize::from(self.n) / if self.d == Type::F16 { 4 } else { 2 }
    }
}
