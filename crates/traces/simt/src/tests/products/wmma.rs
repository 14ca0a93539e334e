//! `wmma` of every shape, type, layout and space: matrices are loaded, multiplied and stored, so that the
//! element positions in registers do not matter.

use super::{Matrix, bits_of, encoded, types_of};
use crate::tests::coverage::tests;
use crate::tests::{Machine, kernel_with};

tests!(products_of_every_shape_type_and_layout, matrices_can_be_in_every_space);

/// Shape, types of D, A, B and C, and the modifiers after `wmma.mma.sync.aligned`, with `#` for the layouts.
const FORMS: [([usize; 3], &str, &str); 26] = [
    ([16, 16, 16], "f32.f16.f16.f32", "#.m16n16k16.f32.f32"),
    ([16, 16, 16], "f16.f16.f16.f16", "#.m16n16k16.f16.f16"),
    ([16, 16, 16], "f32.f16.f16.f16", "#.m16n16k16.f32.f16"),
    ([16, 16, 16], "f16.f16.f16.f32", "#.m16n16k16.f16.f32"),
    ([32, 8, 16], "f32.f16.f16.f32", "#.m32n8k16.f32.f32"),
    ([32, 8, 16], "f16.f16.f16.f16", "#.m32n8k16.f16.f16"),
    ([8, 32, 16], "f32.f16.f16.f32", "#.m8n32k16.f32.f32"),
    ([8, 32, 16], "f16.f16.f16.f16", "#.m8n32k16.f16.f16"),
    ([16, 16, 16], "f32.bf16.bf16.f32", "#.m16n16k16.f32.bf16.bf16.f32"),
    ([32, 8, 16], "f32.bf16.bf16.f32", "#.m32n8k16.f32.bf16.bf16.f32"),
    ([8, 32, 16], "f32.bf16.bf16.f32", "#.m8n32k16.f32.bf16.bf16.f32"),
    ([16, 16, 16], "s32.s8.s8.s32", "#.m16n16k16.s32.s8.s8.s32"),
    ([32, 8, 16], "s32.s8.s8.s32", "#.m32n8k16.s32.s8.s8.s32"),
    ([8, 32, 16], "s32.s8.s8.s32", "#.m8n32k16.s32.s8.s8.s32"),
    ([16, 16, 16], "s32.u8.u8.s32", "#.m16n16k16.s32.u8.u8.s32.satfinite"),
    ([32, 8, 16], "s32.u8.u8.s32", "#.m32n8k16.s32.u8.u8.s32"),
    ([8, 32, 16], "s32.u8.u8.s32", "#.m8n32k16.s32.u8.u8.s32"),
    ([16, 16, 8], "f32.tf32.tf32.f32", "#.m16n16k8.f32.tf32.tf32.f32"),
    ([8, 8, 4], "f64.f64.f64.f64", "#.m8n8k4.f64.f64.f64.f64"),
    ([8, 8, 4], "f64.f64.f64.f64", "#.m8n8k4.rz.f64.f64.f64.f64"),
    ([8, 8, 32], "s32.s4.s4.s32", "#.m8n8k32.s32.s4.s4.s32"),
    ([8, 8, 32], "s32.u4.u4.s32", "#.m8n8k32.s32.u4.u4.s32"),
    ([8, 8, 128], "s32.b1.b1.s32", "xor.popc"),
    ([8, 8, 128], "s32.b1.b1.s32", "and.popc"),
    ([16, 16, 16], "f32.f16.f16.f32", "m16n16k16.#.f32.f32"),
    ([8, 8, 32], "s32.u4.u4.s32", "#.m8n8k32.satfinite.s32.u4.u4.s32"),
];

/// A matrix in memory.
struct Stored {
    by_rows: bool,
    /// Elements from one row, or column, to the next.
    stride: usize,
    rows: usize,
    columns: usize,
}

impl Stored {
    fn new(layout: &str, rows: usize, columns: usize, spare: usize) -> Stored {
        let by_rows = layout == "row";
        let stride = if by_rows { columns } else { rows } + spare;
        Stored { by_rows, stride, rows, columns }
    }

    fn has_spare(&self) -> bool {
        self.stride > if self.by_rows { self.columns } else { self.rows }
    }

    fn index(&self, row: usize, column: usize) -> usize {
        if self.by_rows { row * self.stride + column } else { column * self.stride + row }
    }

    /// Returns the elements that the matrix spans.
    fn span(&self) -> usize {
        self.index(self.rows - 1, self.columns - 1) + 1
    }

    /// Returns the words of a matrix; the padding between its rows holds a value that the matrix never
    /// contains.
    fn words(&self, ty: &str, matrix: &Matrix) -> Vec<u64> {
        let bits = bits_of(ty);
        let mut words = vec![0x5555_5555_5555_5555; (self.span() * bits).div_ceil(64)];
        for row in 0..self.rows {
            for column in 0..self.columns {
                let at = self.index(row, column) * bits;
                let (word, shift) = (&mut words[at / 64], at % 64);
                *word &= !(u64::MAX >> (64 - bits) << shift);
                *word |= encoded(ty, matrix.at(row, column)) << shift;
            }
        }
        words
    }
}

/// Returns the registers of A, B, C and D of a shape and types.
fn registers([m, n, k]: [usize; 3], [of_d, of_a, of_b, of_c]: [&str; 4]) -> [usize; 4] {
    let of = |ty: &str, elements: usize| elements / 32 * bits_of(ty) / bits_of(ty).max(32);
    let of_factor = |ty: &str, elements: usize| if ty == "f16" { 8 } else { of(ty, elements) };
    [of_factor(of_a, m * k), of_factor(of_b, k * n), of(of_c, m * n), of(of_d, m * n)]
}

/// Words of the area that contains the matrices, and bytes and words of an operand in it.
const AREA: usize = 1024;
const BYTES: usize = 2048;
const WORDS: usize = BYTES / 8;

/// Location of the matrices: the modifier of the instructions, and whether the area is in shared memory.
#[derive(Clone, Copy)]
struct Place {
    modifier: &'static str,
    is_shared: bool,
}

fn check(
    (shape, types, modifiers): ([usize; 3], &'static str, &str),
    layouts: [&str; 4],
    spare: bool,
    place: Place,
) {
    let [m, n, k] = shape;
    let [of_d, of_a, of_b, of_c] = types_of(types);
    // Rows start at a multiple of 16 bytes.
    let spare = |ty: &str| if spare { 128 / bits_of(ty) } else { 0 };
    let stored = |at: usize, ty: &str, rows: usize, columns: usize| {
        Stored::new(layouts[at], rows, columns, spare(ty))
    };
    let operands = [
        (of_a, stored(0, of_a, m, k), Matrix::random(of_a, m, k, 1)),
        (of_b, stored(1, of_b, k, n), Matrix::random(of_b, k, n, 2)),
        (of_c, stored(2, of_c, m, n), Matrix::random(of_c, m, n, 3)),
    ];
    let d = stored(3, of_d, m, n);
    let mut words = vec![0x5555_5555_5555_5555; AREA];
    for (at, (ty, stored, matrix)) in operands.iter().enumerate() {
        let of_matrix = stored.words(ty, matrix);
        words[WORDS * at..][..of_matrix.len()].copy_from_slice(&of_matrix);
    }
    let counts = registers(shape, types_of(types));
    let list = |at: usize| {
        let letter = if of_d == "f64" { "rd" } else { "r" };
        let first = 5 + counts[..at].iter().sum::<usize>();
        let names: Vec<String> =
            (first..first + counts[at]).map(|number| format!("%{letter}{number}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let Place { modifier, is_shared } = place;
    let base = match (is_shared, modifier) {
        (false, _) => "ld.param.u64 %rd50, [a];\n".into(),
        (_, "") => format!("{}cvta.shared.u64 %rd50, area;\n", copy(0..AREA, "global", "shared")),
        _ => format!("{}mov.u64 %rd50, area;\n", copy(0..AREA, "global", "shared")),
    };
    let shape = format!("m{m}n{n}k{k}{modifier}");
    let load = |at: usize, name: &str| {
        let (ty, stored, _) = &operands[at];
        let (layout, list, offset) = (layouts[at], list(at), BYTES * at);
        let stride =
            if stored.has_spare() { format!(", {}", stored.stride) } else { String::new() };
        format!(
            "wmma.load.{name}.sync.aligned.{layout}.{shape}.{ty} {list}, [%rd50+{offset}]{stride};\n"
        )
    };
    let of_factors = format!("{}.{}", layouts[0], layouts[1]);
    let product = match modifiers.ends_with("popc") {
        true => format!("{modifiers}.sync.aligned.{of_factors}.m8n8k128.s32.b1.b1.s32"),
        false => format!("sync.aligned.{}", modifiers.replace('#', &of_factors)),
    };
    let code = [
        base,
        load(0, "a") + &load(1, "b") + &load(2, "c"),
        format!("wmma.mma.{product} {}, {}, {}, {};\n", list(3), list(0), list(1), list(2)),
        "mov.b32 %r4, ".to_owned() + &d.stride.to_string() + ";\n",
        format!(
            "wmma.store.d.sync.aligned.{}.{shape}.{of_d} [%rd50+{}], {}, %r4;\n",
            layouts[3],
            3 * BYTES,
            list(3)
        ),
        if is_shared { copy(3 * WORDS..AREA, "shared", "global") } else { String::new() },
    ]
    .concat();
    let mut machine = Machine::new(AREA);
    machine.set(0, &words);
    let declaration = ".shared .align 16 .b8 area[8192];";
    let kernel = kernel_with(declaration, &code);
    machine.run(&kernel, 1, 32).unwrap_or_else(|error| panic!("{error}\n{code}"));
    let combine = match modifiers {
        "xor.popc" => |a: i32, b: i32| a ^ b,
        "and.popc" => |a: i32, b: i32| a & b,
        _ => |a: i32, b: i32| a * b,
    };
    let [a, b, c] = operands.map(|(_, _, matrix)| matrix);
    let expected = d.words(of_d, &a.product(&b, &c, combine));
    assert_eq!(machine.get(0)[3 * WORDS..][..expected.len()], expected, "{code}");
}

/// Copies words between the first array and the area in shared memory.
fn copy(words: std::ops::Range<usize>, from: &str, to: &str) -> String {
    let base = |space: &str| if space == "global" { "%rd1" } else { "%rd54" };
    let each = words.step_by(32).map(|at| {
        format!(
            "ld.{from}.u64 %rd53, [{}+{2}];\nst.{to}.u64 [{}+{2}], %rd53;\n",
            base(from),
            base(to),
            8 * at
        )
    });
    let each: String = each.collect();
    format!("mov.u64 %rd54, area;\nadd.u64 %rd54, %rd54, %rd0;\n{each}bar.sync 0;\n")
}

#[test]
fn products_of_every_shape_type_and_layout() {
    let global = Place { modifier: ".global", is_shared: false };
    for form in FORMS {
        // Elements of less than 8 bits have one layout.
        let is_small = bits_of(types_of(form.1)[1]) < 8;
        for bits in 0..16 {
            let layout = |at: usize| if bits >> at & 1 == 0 { "row" } else { "col" };
            let layouts = [layout(0), layout(1), layout(2), layout(3)];
            if !is_small || layouts[..2] == ["row", "col"] {
                check(form, layouts, bits % 3 == 0, global);
            }
        }
    }
}

#[test]
fn matrices_can_be_in_every_space() {
    for form in FORMS {
        let is_small = bits_of(types_of(form.1)[1]) < 8;
        for (modifier, is_shared) in
            [(".shared", true), (".shared::cta", true), ("", true), ("", false)]
        {
            let place = Place { modifier, is_shared };
            check(form, ["row", "col", "row", "col"], true, place);
            if !is_small {
                check(form, ["col", "row", "col", "row"], false, place);
            }
        }
    }
}
