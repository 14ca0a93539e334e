//! `mma` of every shape and type, with the places of the elements as the ISA gives them for each
//! ("Matrix Fragments for mma").

use half::{bf16, f16};

use super::coverage::tests;
use super::result;

tests!(products_of_every_shape_and_type);

/// Row and column of element `i` of a lane, whose group is `g` and number in the group `t`.
type Place = fn(g: usize, t: usize, i: usize) -> (usize, usize);

struct Shape {
    /// `m16n8k16` and so on.
    sizes: [usize; 3],
    /// Types of D, A, B and C.
    types: &'static [&'static str],
    a: Place,
    b: Place,
}

const SHAPES: [Shape; 8] = [
    Shape {
        sizes: [16, 8, 8],
        types: &["f32.f16.f16.f32", "f32.bf16.bf16.f32", "f16.f16.f16.f16"],
        a: |g, t, i| (if i < 2 { g } else { g + 8 }, t * 2 + i % 2),
        b: |g, t, i| (t * 2 + i, g),
    },
    Shape {
        sizes: [16, 8, 16],
        types: &["f32.f16.f16.f32", "f32.bf16.bf16.f32", "f16.f16.f16.f16"],
        a: |g, t, i| {
            let row = if i < 2 || (4..6).contains(&i) { g } else { g + 8 };
            (row, t * 2 + i % 2 + if i < 4 { 0 } else { 8 })
        },
        b: |g, t, i| (t * 2 + i % 2 + if i < 2 { 0 } else { 8 }, g),
    },
    Shape {
        sizes: [16, 8, 4],
        types: &["f32.tf32.tf32.f32"],
        a: |g, t, i| (if i == 0 { g } else { g + 8 }, t),
        b: |g, t, _| (t, g),
    },
    Shape {
        sizes: [16, 8, 8],
        types: &["f32.tf32.tf32.f32"],
        a: |g, t, i| (if i % 2 == 0 { g } else { g + 8 }, if i < 2 { t } else { t + 4 }),
        b: |g, t, i| (if i == 0 { t } else { t + 4 }, g),
    },
    Shape {
        sizes: [8, 8, 4],
        types: &["f64.f64.f64.f64"],
        a: |g, t, _| (g, t),
        b: |g, t, _| (t, g),
    },
    Shape {
        sizes: [8, 8, 16],
        types: &["s32.s8.s8.s32", "s32.u8.u8.s32", "s32.u8.s8.s32"],
        a: |g, t, i| (g, t * 4 + i),
        b: |g, t, i| (t * 4 + i, g),
    },
    Shape {
        sizes: [16, 8, 16],
        types: &["s32.s8.s8.s32", "s32.s8.u8.s32"],
        a: |g, t, i| (if i < 4 { g } else { g + 8 }, t * 4 + i % 4),
        b: |g, t, i| (t * 4 + i, g),
    },
    Shape {
        sizes: [16, 8, 32],
        types: &["s32.s8.s8.s32", "s32.u8.u8.s32"],
        a: |g, t, i| {
            let row = if i < 4 || (8..12).contains(&i) { g } else { g + 8 };
            (row, t * 4 + i % 4 + if i < 8 { 0 } else { 16 })
        },
        b: |g, t, i| (t * 4 + i % 4 + if i < 4 { 0 } else { 16 }, g),
    },
];

/// A small number for an element, which every type holds, and unsigned ones as well.
fn small(seed: usize, row: usize, column: usize) -> i32 {
    ((seed + row * 31 + column * 7) * 37 % 11) as i32
}

fn bits_of(ty: &str) -> u32 {
    match ty {
        "u8" | "s8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

fn encoded(ty: &str, value: i32) -> u64 {
    let float = value as f32;
    match ty {
        "u8" | "s8" => u64::from(value as u8),
        "f16" => f16::from_f32(float).to_bits().into(),
        "bf16" => bf16::from_f32(float).to_bits().into(),
        "f64" => f64::from(float).to_bits(),
        "s32" => u64::from(value as u32),
        _ => float.to_bits().into(),
    }
}

/// The registers of a matrix in a lane: of so many elements, those that lie there.
fn registers(ty: &str, elements: usize, element: impl Fn(usize) -> i32) -> Vec<u64> {
    let width = bits_of(ty).max(32);
    let each = (width / bits_of(ty)) as usize;
    let pack = |first: usize| {
        (0..each).fold(0, |word, at| {
            word | encoded(ty, element(first + at)) << (at as u32 * bits_of(ty))
        })
    };
    (0..elements).step_by(each).map(pack).collect()
}

/// The names of registers from a number on, and code that gives each lane its values.
fn given(ty: &str, first: usize, of_lane: impl Fn(usize) -> Vec<u64>) -> (Vec<String>, String) {
    let letter = if bits_of(ty) == 64 { "%rd" } else { "%r" };
    let names: Vec<String> =
        (0..of_lane(0).len()).map(|at| format!("{letter}{}", first + at)).collect();
    let mut code = String::new();
    for lane in 0..32 {
        code += &format!("setp.eq.u32 %p1, %r0, {lane};\n");
        for (name, value) in names.iter().zip(of_lane(lane)) {
            code += &format!("@%p1 mov.b{} {name}, {value};\n", bits_of(ty).max(32));
        }
    }
    (names, code)
}

fn check(shape: &Shape, types: &'static str) {
    let [m, n, k] = shape.sizes;
    let each: Vec<&'static str> = types.split('.').collect();
    let [d_type, a_type, b_type, c_type] = each[..] else { panic!("{types}") };
    let of_lane = |lane: usize| (lane / 4, lane % 4);
    let c_place = |lane: usize, i: usize| {
        let (g, t) = of_lane(lane);
        (if i < 2 { g } else { g + 8 }, t * 2 + i % 2)
    };
    let fragment = |seed: usize, ty: &'static str, count: usize, place: Place| {
        move |lane: usize| {
            registers(ty, count, |i| {
                let (row, column) = place(lane / 4, lane % 4, i);
                small(seed, row, column)
            })
        }
    };
    let (a, a_code) = given(a_type, 10, fragment(1, a_type, m * k / 32, shape.a));
    let (b, b_code) = given(b_type, 20, fragment(2, b_type, k * n / 32, shape.b));
    let c_of_lane = |lane: usize| {
        registers(c_type, m * n / 32, |i| {
            let (row, column) = c_place(lane, i);
            small(3, row, column)
        })
    };
    let (c, c_code) = given(c_type, 30, c_of_lane);
    let d: Vec<String> =
        c.iter().map(|name| name.replace("d3", "d4").replace("%r3", "%r4")).collect();
    let mma = format!(
        "mma.sync.aligned.m{m}n{n}k{k}.row.col.{types} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n",
        d.join(", "),
        a.join(", "),
        b.join(", "),
        c.join(", ")
    );
    for (number, register) in d.iter().enumerate() {
        let width = bits_of(d_type).max(32);
        let code = format!("{a_code}{b_code}{c_code}{mma}st.global.b{width} [%rd3], {register};\n");
        for (lane, &got) in result(&code, &[], &[]).iter().enumerate() {
            let elements = (width / bits_of(d_type)) as usize;
            let expected = (0..elements).fold(0, |word, at| {
                let (row, column) = c_place(lane, number * elements + at);
                let product = |i| small(1, row, i) * small(2, i, column);
                let value = small(3, row, column) + (0..k).map(product).sum::<i32>();
                word | encoded(d_type, value) << (at as u32 * bits_of(d_type))
            });
            assert_eq!(got, expected, "m{m}n{n}k{k} {types}, register {number}, lane {lane}");
        }
    }
}

#[test]
fn products_of_every_shape_and_type() {
    for shape in &SHAPES {
        shape.types.iter().for_each(|types| check(shape, types));
    }
}
