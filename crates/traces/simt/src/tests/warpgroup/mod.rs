//! Warpgroup matrix products. The matrices hold small integers, whose sums are exact, in the shared-memory
//! layouts of the ISA ("Canonical Layouts").

mod faults;
mod groups;
mod layout;
pub(super) mod layouts;
mod records;
pub(super) mod values;

use half::{bf16, f16};

use self::layout::Layout;
use super::{Machine, kernel_with};

/// Threads of a warpgroup, and rows of its products.
const THREADS: usize = 128;
const ROWS: usize = 64;
/// Bytes of a row of A and of a column of B.
const ROW_BYTES: usize = 32;
/// Words of 8 bytes of the operands in shared memory, which are the first array.
const WORDS: usize = 1 << 13;

/// A or B.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    ty: &'static str,
    negated: bool,
    /// Layout in shared memory; `None` if in registers.
    layout: Option<Layout>,
}

/// A product of one instruction.
#[derive(Clone, Debug)]
struct Product {
    n: usize,
    d: &'static str,
    a: Matrix,
    b: Matrix,
    /// Operand that adds D: a constant, `%p4`, which is true, or `%p5`, which is false.
    scale_of_d: &'static str,
    saturate: bool,
    seed: usize,
}

impl Product {
    /// Creates D = A B + D of these types, with A and B contiguous by rows of k, without a swizzle.
    fn new(n: usize, d: &'static str, a: &'static str, b: &'static str) -> Product {
        let at = |ty: &'static str, start: usize| Matrix {
            ty,
            negated: false,
            layout: Some(Layout::packed(false, 0, start)),
        };
        let (a, b) = (at(a, 0), at(b, 0x4000));
        Product { n, d, a, b, scale_of_d: "%p4", saturate: false, seed: n }
    }

    fn with_layouts(mut self, a: Option<Layout>, b: Layout) -> Product {
        (self.a.layout, self.b.layout) = (a, Some(b));
        self
    }

    fn k(&self) -> usize {
        ROW_BYTES * 8 / bits_of(self.a.ty)
    }

    fn a_at(&self, row: usize, k: usize) -> i32 {
        small(self.a.ty, self.seed + 1, row, k)
    }

    fn b_at(&self, k: usize, column: usize) -> i32 {
        small(self.b.ty, self.seed + 2, k, column)
    }

    fn c_at(&self, row: usize, column: usize) -> i32 {
        small("f32", self.seed + 3, row, column)
    }

    /// Returns an element of D, by the definition of the product.
    fn expected(&self, row: usize, column: usize) -> i32 {
        let sign = |matrix: &Matrix| if matrix.negated { -1 } else { 1 };
        let products = (0..self.k()).map(|k| self.a_at(row, k) * self.b_at(k, column));
        let is_added = matches!(self.scale_of_d, "1" | "%p4" | "!%p5");
        let before = if is_added { self.c_at(row, column) } else { 0 };
        before + sign(&self.a) * sign(&self.b) * products.sum::<i32>()
    }

    /// Returns the registers of D in a thread.
    fn registers(&self) -> usize {
        ROWS * self.n / THREADS / (32 / bits_of(self.d))
    }

    /// Writes the instruction, with D in `%d0` and following, A in `%a0` to `%a3`.
    fn instruction(&self) -> String {
        let Product { n, d, a, b, .. } = self;
        let k = self.k();
        let satfinite = if self.saturate { ".satfinite" } else { "" };
        let results: Vec<String> = (0..self.registers()).map(|at| format!("%d{at}")).collect();
        let first = match a.layout {
            None => "{%a0, %a1, %a2, %a3}".to_owned(),
            Some(_) => "%q0".to_owned(),
        };
        let is_float = d != &"s32";
        let sign = |matrix: &Matrix| if matrix.negated { ", -1" } else { ", 1" };
        let mut rest = if is_float { [sign(a), sign(b)].concat() } else { String::new() };
        if bits_of(a.ty) == 16 {
            let layouts = [a.layout, b.layout].into_iter().flatten();
            layouts.for_each(|layout| rest += if layout.mn_major { ", 1" } else { ", 0" });
        }
        format!(
            "wgmma.mma_async.sync.aligned.m64n{n}k{k}{satfinite}.{d}.{}.{} {{{}}}, {first}, %q1, {}{rest};\n",
            a.ty,
            b.ty,
            results.join(", "),
            self.scale_of_d
        )
    }

    /// Returns the operands in shared memory.
    fn shared(&self) -> Vec<u64> {
        let mut bytes = vec![0xa5; 8 * WORDS];
        let mut put = |matrix: &Matrix, rows: usize, value: &dyn Fn(usize, usize) -> i32| {
            let Some(layout) = matrix.layout else { return };
            let size = bits_of(matrix.ty) / 8;
            for row in 0..rows {
                for k in 0..self.k() {
                    let at = layout.address(size, row, k);
                    let bits = encoded(matrix.ty, value(row, k));
                    bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
        };
        put(&self.a, ROWS, &|row, k| self.a_at(row, k));
        put(&self.b, self.n, &|column, k| self.b_at(k, column));
        bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
    }

    /// Returns the initial words of D and A, thread by thread.
    fn registers_before(&self) -> Vec<u32> {
        let words = |ty: &str, count: usize, value: &dyn Fn(usize) -> i32| -> Vec<u32> {
            let each = 32 / bits_of(ty);
            let word = |first: usize| {
                let part = |at: usize| encoded(ty, value(first + at)) << (at * bits_of(ty));
                (0..each).fold(0, |word, at| word | part(at))
            };
            (0..count).map(|register| word(register * each)).collect()
        };
        let of_thread = |thread: usize| {
            let mut all = words(self.d, self.registers(), &|at| {
                let (row, column) = place_of_d(thread, at);
                self.c_at(row, column)
            });
            all.extend(words(self.a.ty, 4, &|at| {
                let (row, k) = place_of_a(self.a.ty, thread, at);
                self.a_at(row, k)
            }));
            all
        };
        (0..THREADS).flat_map(of_thread).collect()
    }

    /// Executes a kernel on these words of shared memory; returns the words of D, thread by thread.
    fn run(&self, shared: &[u64], kernel: &str, threads: usize) -> Vec<u32> {
        let mut machine = self.machine(shared);
        machine.run(kernel, 1, threads as u32).unwrap_or_else(|error| panic!("{error}\n{self:?}"));
        let words = machine.get(2).into_iter().flat_map(|word| [word as u32, (word >> 32) as u32]);
        words.take(THREADS * self.registers()).collect()
    }

    fn machine(&self, shared: &[u64]) -> Machine {
        let mut machine = Machine::new(WORDS.max(THREADS * 132));
        machine.set(0, shared);
        let registers = self.registers_before();
        let pairs = registers.chunks(2);
        let words = pairs.map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        machine.set(1, &words.collect::<Vec<_>>());
        machine
    }

    /// Writes a kernel with the product between `before` and `after`.
    fn kernel(&self, before: &str, after: &str) -> String {
        let stores =
            (0..self.registers()).map(|at| format!("st.global.u32 [%q3+{}], %d{at};\n", 4 * at));
        let code = format!(
            "{}{before}wgmma.fence.sync.aligned;\n{}wgmma.commit_group.sync.aligned;\n\
             wgmma.wait_group.sync.aligned 0;\n{after}{}",
            self.prologue(),
            self.instruction(),
            stores.collect::<String>()
        );
        group_kernel(&code)
    }

    /// Writes code that fills shared memory, the registers of D and A, and the descriptors.
    fn prologue(&self) -> String {
        let registers = self.registers();
        let (of_d, of_all) = (4 * registers, 4 * (registers + 4));
        let mut code = fill(WORDS);
        code += &format!(
            "ld.param.u64 %q2, [b];\nld.param.u64 %q3, [c];\nmul.wide.u32 %q4, %r0, {of_all};\n\
             add.u64 %q2, %q2, %q4;\nmul.wide.u32 %q4, %r0, {of_d};\nadd.u64 %q3, %q3, %q4;\n"
        );
        for at in 0..registers {
            code += &format!("ld.global.u32 %d{at}, [%q2+{}];\n", 4 * at);
        }
        for at in 0..4 {
            code += &format!("ld.global.u32 %a{at}, [%q2+{}];\n", of_d + 4 * at);
        }
        let descriptor = |matrix: &Matrix| matrix.layout.map_or(0, |layout| layout.descriptor());
        code + &format!(
            "mov.b64 %q0, {};\nmov.b64 %q1, {};\nsetp.eq.u32 %p4, 0, 0;\nsetp.ne.u32 %p5, 0, 0;\n",
            descriptor(&self.a),
            descriptor(&self.b)
        )
    }

    /// Checks every element of D against the definition.
    fn check(&self) {
        self.check_words(&self.run(&self.shared(), &self.kernel("", ""), THREADS));
    }

    fn check_words(&self, words: &[u32]) {
        let each = 32 / bits_of(self.d);
        for (number, &word) in words.iter().enumerate() {
            let (thread, register) = (number / self.registers(), number % self.registers());
            let expected = (0..each).fold(0, |word, at| {
                let (row, column) = place_of_d(thread, register * each + at);
                word | encoded(self.d, self.expected(row, column)) << (at * bits_of(self.d))
            });
            assert_eq!(word, expected, "thread {thread}, register {register} of {self:?}");
        }
    }
}

/// Returns row and column of an element of D held by a thread of the warpgroup.
fn place_of_d(thread: usize, at: usize) -> (usize, usize) {
    let row = 16 * (thread / 32) + thread % 32 / 4 + if at % 4 < 2 { 0 } else { 8 };
    (row, 8 * (at / 4) + 2 * (thread % 4) + at % 2)
}

/// Returns row and k of an element of A in a thread's four registers.
fn place_of_a(ty: &str, thread: usize, at: usize) -> (usize, usize) {
    let each = 32 / bits_of(ty);
    let (register, part) = (at / each, at % each);
    let row = 16 * (thread / 32) + thread % 32 / 4 + [0, 8, 0, 8][register];
    (row, each * (thread % 4) + part + [0, 0, 4, 4][register] * each)
}

/// Wraps code into a kernel with registers for products, and shared memory for operands.
fn group_kernel(code: &str) -> String {
    let declarations = format!(".shared .align 1024 .b8 operands[{}];", 8 * WORDS);
    let registers = ".reg .b32 %d<128>;\n.reg .b32 %a<4>;\n.reg .b64 %q<8>;\n";
    kernel_with(&declarations, &format!("{registers}{code}"))
}

/// Writes code by which 128 threads copy the first array to shared memory.
fn fill(words: usize) -> String {
    format!(
        "ld.param.u64 %rd1, [a];\nmul.wide.u32 %rd4, %r0, 8;\nadd.u64 %rd1, %rd1, %rd4;\nmov.u32 %r1, %r0;\n\
         FILL: setp.ge.u32 %p1, %r1, {words};\n@%p1 bra FILLED;\n\
         ld.global.u64 %rd4, [%rd1];\nshl.b32 %r2, %r1, 3;\nmov.u32 %r3, operands;\nadd.u32 %r3, %r3, %r2;\n\
         st.shared.u64 [%r3], %rd4;\nadd.u32 %r1, %r1, {THREADS};\nadd.u64 %rd1, %rd1, {};\nbra FILL;\n\
         FILLED: bar.sync 0;\n",
        8 * THREADS
    )
}

fn bits_of(ty: &str) -> usize {
    match ty {
        "u8" | "s8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        _ => 32,
    }
}

/// Returns a small number for an element that its type can hold.
fn small(ty: &str, seed: usize, row: usize, column: usize) -> i32 {
    let mixed = (seed * 7919 + row * 104_729 + column * 1_299_709).wrapping_mul(0x9e37_79b9) >> 13;
    let number = (mixed % 11) as i32;
    if ty == "u8" { number } else { number - 5 }
}

/// Returns the bits of a small number in a type.
fn encoded(ty: &str, value: i32) -> u32 {
    let float = value as f32;
    match ty {
        "u8" | "s8" => u32::from(value as u8),
        "s32" => value as u32,
        "f16" => f16::from_f32(float).to_bits().into(),
        "bf16" => bf16::from_f32(float).to_bits().into(),
        "e4m3" => eight_bits(3, 7, value),
        "e5m2" => eight_bits(2, 15, value),
        // Bits that the hardware ignores.
        "tf32" => float.to_bits() | 0x1abc,
        _ => float.to_bits(),
    }
}

/// Encodes a number with this many mantissa bits and this bias.
fn eight_bits(mantissa: u32, bias: i32, value: i32) -> u32 {
    let is_it = |bits: &u32| {
        let (exponent, part) = ((bits & 0x7f) >> mantissa, bits & ((1 << mantissa) - 1));
        let fraction = f64::from(part) / f64::from(1 << mantissa);
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(1 - bias),
            _ => (1.0 + fraction) * 2f64.powi(exponent as i32 - bias),
        };
        let signed = if bits & 0x80 == 0 { magnitude } else { -magnitude };
        signed == f64::from(value)
    };
    (0..=255).find(is_it).unwrap_or_else(|| panic!("{value} has no bits"))
}
