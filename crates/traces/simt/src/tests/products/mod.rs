//! Products of matrices held by a warp, compared with plain products of small integers, whose sums are exact.

pub(super) mod dense;
pub(super) mod quad_pairs;
pub(super) mod sparse;
mod traces;
pub(super) mod wmma;

use half::{bf16, f16};

use super::{Machine, kernel};

/// A matrix, by rows.
#[derive(Clone, Debug, PartialEq)]
struct Matrix {
    columns: usize,
    values: Vec<i32>,
}

impl Matrix {
    fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> i32) -> Matrix {
        let values = (0..rows * columns).map(|at| value(at / columns, at % columns)).collect();
        Matrix { columns, values }
    }

    /// Creates a random matrix of numbers that the type can hold, from 0 to 4 or -4 to 4.
    fn random(ty: &str, rows: usize, columns: usize, seed: u64) -> Matrix {
        Matrix::new(rows, columns, |row, column| {
            let number = seed << 32 | (row << 16 | column) as u64;
            let hash = (number ^ 0x5bd1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            match ty {
                "b1" => (hash % 2) as i32,
                "u4" | "u8" => (hash % 5) as i32,
                _ => (hash % 9) as i32 - 4,
            }
        })
    }

    fn at(&self, row: usize, column: usize) -> i32 {
        self.values[row * self.columns + column]
    }

    /// Returns C plus the sum over k of the terms of A and B.
    fn product(&self, b: &Matrix, c: &Matrix, combine: impl Fn(i32, i32) -> i32) -> Matrix {
        Matrix::new(c.values.len() / c.columns, c.columns, |row, column| {
            let sum: i32 =
                (0..self.columns).map(|k| combine(self.at(row, k), b.at(k, column))).sum();
            c.at(row, column) + sum
        })
    }
}

fn bits_of(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "u8" | "s8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

fn encoded(ty: &str, value: i32) -> u64 {
    let (float, bits) = (value as f32, bits_of(ty));
    match ty {
        "f16" => f16::from_f32(float).to_bits().into(),
        "bf16" => bf16::from_f32(float).to_bits().into(),
        "f64" => f64::from(float).to_bits(),
        "f32" | "tf32" => float.to_bits().into(),
        "e5m2" => u64::from(f16::from_f32(float).to_bits() >> 8),
        "e4m3" => {
            // Sign, exponent with a bias of 7, 3 bits of fraction.
            let (sign, magnitude) = (u64::from(value < 0) << 7, value.unsigned_abs());
            match magnitude.checked_ilog2() {
                None => sign,
                Some(log) => sign | u64::from((7 + log) << 3 | (magnitude << 3 >> log & 7)),
            }
        }
        _ => value as u64 & (u64::MAX >> (64 - bits)),
    }
}

/// Packs a lane's elements into registers, neighbours together.
fn packed(ty: &str, elements: impl Iterator<Item = i32>) -> Vec<u64> {
    let bits = bits_of(ty);
    let elements: Vec<u64> = elements.map(|value| encoded(ty, value)).collect();
    let pack =
        |part: &[u64]| part.iter().rev().fold(0, |word, &element| word << (bits % 64) | element);
    elements.chunks((bits.max(32) / bits).max(1)).map(pack).collect()
}

/// Registers of an operand: of each lane, in order.
struct Operand {
    ty: &'static str,
    lanes: Vec<Vec<u64>>,
}

impl Operand {
    /// Distributes a matrix so that lane l holds row and column `place(l, i)` as element i.
    fn new(
        ty: &'static str,
        matrix: &Matrix,
        place: impl Fn(usize, usize) -> (usize, usize),
        elements: usize,
    ) -> Operand {
        let of_lane = |lane| {
            let places = (0..elements).map(|element| place(lane, element));
            packed(ty, places.map(|(row, column)| matrix.at(row, column)))
        };
        Operand { ty, lanes: (0..32).map(of_lane).collect() }
    }

    fn registers(&self) -> usize {
        self.lanes[0].len()
    }
}

/// Executes an instruction with D, these operands and the trailing text; checks D.
fn check(instruction: &str, operands: &[Operand], tail: &str, d: &Operand) {
    let (mut code, mut words, mut first) = (String::new(), Vec::new(), 1);
    let mut lists = Vec::new();
    let list = |operand: &Operand, first: usize| {
        let letter = if bits_of(operand.ty) == 64 { "rd" } else { "r" };
        (first..first + operand.registers()).map(|at| format!("%{letter}{at}")).collect::<Vec<_>>()
    };
    for operand in operands {
        let width = bits_of(operand.ty).max(32);
        let names = list(operand, first + 4);
        for (register, name) in names.iter().enumerate() {
            code += &format!("ld.global.b{width} {name}, [%rd1+{}];\n", 8 * words.len());
            words.extend(operand.lanes.iter().map(|registers| registers[register]));
        }
        first += names.len();
        let is_metadata = operand.ty == "b32";
        let list = names.join(", ");
        lists.push(if is_metadata { list } else { format!("{{{list}}}") });
    }
    let results = list(d, first + 4);
    code += &format!("{instruction} {{{}}}, {}{tail};\n", results.join(", "), lists.join(", "));
    for (register, name) in results.iter().enumerate() {
        let width = bits_of(d.ty).max(32);
        code += &format!("st.global.b{width} [%rd3+{}], {name};\n", 256 * register);
    }
    let mut machine = Machine::new(words.len().max(32 * d.registers()));
    machine.set(0, &words);
    machine.run(&kernel(&code), 1, 32).unwrap_or_else(|error| panic!("{error}\n{code}"));
    let found = machine.get(2);
    for (lane, expected) in d.lanes.iter().enumerate() {
        for (register, &expected) in expected.iter().enumerate() {
            let found = found[32 * register + lane];
            assert_eq!(found, expected, "{instruction}, register {register}, lane {lane}");
        }
    }
}

/// Returns the types of D, A, B and C.
fn types_of(types: &'static str) -> [&'static str; 4] {
    let each: Vec<&'static str> = types.split('.').collect();
    each.try_into().unwrap_or_else(|_| panic!("{types}"))
}

/// Returns row and column of element `i` of C or D in a lane, for all products but those of quad pairs.
fn place_of_result(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = (lane / 4, lane % 4);
    (if i < 2 { g } else { g + 8 }, t * 2 + i % 2)
}
