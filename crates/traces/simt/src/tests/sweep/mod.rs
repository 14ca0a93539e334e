//! Every instruction and type, on random numbers in 256 threads, compared with plain computation.

pub(super) mod accesses;
pub(super) mod atomics;
pub(super) mod bits;
pub(super) mod comparisons;
pub(super) mod conversions;
pub(super) mod floats;
pub(super) mod integers;
pub(super) mod video;

use warpmem_ptx::{RegisterClass, Type};

use super::coverage::note;
use super::{Machine, silent_kernel};

/// Threads of a run.
pub(super) const THREADS: u32 = 256;

/// An instruction with a destination and up to three sources.
pub(super) struct Case<'a> {
    /// Opcode with modifiers.
    pub name: &'a str,
    pub dest: Type,
    pub sources: &'a [Type],
    /// Constant operands after the sources: `, 5`.
    pub constants: &'a str,
}

/// Code that leaves a result in the destination register.
pub(super) struct Code<'a> {
    /// Instruction under test.
    pub name: &'a str,
    pub text: &'a str,
    pub dest: Type,
    pub sources: &'a [Type],
}

impl Case<'_> {
    /// Executes the code; returns the sources and the result of each thread.
    pub fn run(&self) -> Vec<([u64; 3], u64)> {
        let Case { name, dest, sources, constants } = *self;
        let registers = sources.iter().enumerate().map(|(at, &ty)| register(ty, at));
        let operands: Vec<String> = std::iter::once(register(dest, 4)).chain(registers).collect();
        let text = format!("{name} {}{constants};\n", operands.join(", "));
        Code { name, text: &text, dest, sources }.run()
    }

    /// Checks that every result is the given function of the sources.
    pub fn check(&self, expected: impl Fn([u64; 3]) -> u64) {
        compare(self.name, self.dest, self.run(), expected);
    }
}

impl Code<'_> {
    fn run(&self) -> Vec<([u64; 3], u64)> {
        let mut machine = Machine::new(THREADS as usize);
        let sources: [Vec<u64>; 3] = std::array::from_fn(|at| match self.sources.get(at) {
            Some(&ty) => samples(ty, at as u64 + 1),
            None => vec![0; THREADS as usize],
        });
        let mut code = String::new();
        for (array, values) in sources.iter().enumerate() {
            machine.set(array, values);
        }
        for (at, &ty) in self.sources.iter().enumerate() {
            code += &format!("ld.global.u64 %rd{}, [%rd{}];\n", 20 + at, 1 + at);
            code += &into_register(ty, at);
        }
        code += self.text;
        code += &out_of_register(self.dest);
        code += "st.global.u64 [%rd3], %rd24;";
        note(self.name);
        machine
            .run(&silent_kernel("", &code), 1, THREADS)
            .unwrap_or_else(|error| panic!("{error}\n{code}"));
        let results = machine.get(2).into_iter().map(|bits| bits & mask(self.dest));
        let inputs = (0..THREADS as usize).map(|thread| sources.each_ref().map(|of| of[thread]));
        inputs.zip(results).collect()
    }

    pub fn check(&self, expected: impl Fn([u64; 3]) -> u64) {
        compare(self.name, self.dest, self.run(), expected);
    }
}

fn compare(
    name: &str,
    dest: Type,
    results: Vec<([u64; 3], u64)>,
    expected: impl Fn([u64; 3]) -> u64,
) {
    for (sources, got) in results {
        let expected = expected(sources) & mask(dest);
        assert_eq!(got, expected, "{name} {sources:x?}: {got:#x}, {expected:#x}");
    }
}

/// Checks an instruction whose destination and sources have one type.
pub(super) fn check_same(name: &str, ty: Type, sources: usize, expected: impl Fn([u64; 3]) -> u64) {
    Case { name, dest: ty, sources: &[ty; 3][..sources], constants: "" }.check(expected);
}

/// Returns the register of operand `at`; 4 is the destination.
fn register(ty: Type, at: usize) -> String {
    match ty.class() {
        RegisterClass::Predicate => format!("%p{}", 8 + at),
        RegisterClass::Narrow => format!("%r{}", 20 + at),
        RegisterClass::Wide => format!("%rd{}", 20 + at),
    }
}

/// Writes code that moves a source from its 64-bit register to one of its type.
fn into_register(ty: Type, at: usize) -> String {
    let n = 20 + at;
    match ty.class() {
        RegisterClass::Predicate => {
            format!("setp.ne.u64 {}, %rd{n}, 0;\n", register(ty, at))
        }
        RegisterClass::Narrow => format!("cvt.u32.u64 %r{n}, %rd{n};\n"),
        RegisterClass::Wide => String::new(),
    }
}

/// Writes code that moves the result to %rd24.
fn out_of_register(ty: Type) -> String {
    match ty.class() {
        RegisterClass::Predicate => "selp.u64 %rd24, 1, 0, %p12;\n".into(),
        RegisterClass::Narrow => "cvt.u64.u32 %rd24, %r24;\n".into(),
        RegisterClass::Wide => String::new(),
    }
}

/// Returns ones in the bits of a type.
pub(super) fn mask(ty: Type) -> u64 {
    u64::MAX >> (u64::BITS - ty.bits())
}

/// Returns the number encoded by bits of an integer type.
pub(super) fn integer(ty: Type, bits: u64) -> i128 {
    let bits = bits & mask(ty);
    match ty.is_signed() && bits >> (ty.bits() - 1) == 1 {
        true => i128::from(bits) - (1 << ty.bits()),
        false => bits.into(),
    }
}

/// Returns the name of an instruction with its type.
pub(super) fn named(opcode: &str, ty: Type) -> String {
    format!("{opcode}.{}", ty.name())
}

/// Returns numbers of a type: edge cases, small ones, and random bits; the same in every run.
pub(super) fn samples(ty: Type, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ ty as u64;
    let mut noise = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let edges = edges(ty);
    let value = |at: u32| match at % 4 {
        0 => edges[(noise() % edges.len() as u64) as usize],
        1 => moderate(ty, noise()),
        _ => noise(),
    };
    (0..THREADS).map(value).map(|bits| bits & mask(ty)).collect()
}

fn edges(ty: Type) -> Vec<u64> {
    let halves = |of: &[u64]| of.iter().zip(of.iter().rev()).map(|(a, b)| a << 16 | b).collect();
    const HALF: [u64; 9] = [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x7bff];
    const BRAIN: [u64; 9] = [0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 1, 0x7f7f];
    match ty {
        Type::F16 => HALF.into(),
        Type::Bf16 => BRAIN.into(),
        Type::F16x2 => halves(&HALF),
        Type::Bf16x2 => halves(&BRAIN),
        Type::F32 | Type::Tf32 => {
            let values = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-40];
            let more = [f32::MAX, f32::MIN_POSITIVE, 2.5, -0.5];
            values.iter().chain(&more).map(|value| value.to_bits().into()).collect()
        }
        Type::F64 => {
            let values = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310];
            let more = [f64::MAX, f64::MIN_POSITIVE, 2.5, -0.5];
            values.iter().chain(&more).map(|value| value.to_bits()).collect()
        }
        _ => {
            let top = 1 << (ty.bits() - 1);
            vec![0, 1, u64::MAX, top, top - 1, top + 1, 31, 32, 2]
        }
    }
}

/// Returns a small integer, or a number whose magnitude is between 1/16 and 16.
fn moderate(ty: Type, noise: u64) -> u64 {
    let near_one = |mantissa: u32, bias: u64| {
        let exponent = bias - 4 + noise % 8;
        (noise >> 20 & 1) << 63 | exponent << mantissa | noise >> 32 & ((1 << mantissa) - 1)
    };
    let half = |mantissa: u32, bias: u64| near_one(mantissa, bias) & 0x7fff | noise >> 5 & 0x8000;
    match ty {
        Type::F16 => half(10, 15),
        Type::Bf16 => half(7, 127),
        Type::F16x2 => (half(10, 15) * 0x1_0001) ^ 0x8003,
        Type::Bf16x2 => (half(7, 127) * 0x1_0001) ^ 0x8003,
        Type::F32 | Type::Tf32 => near_one(23, 127) & 0x7fff_ffff | noise >> 5 & 0x8000_0000,
        Type::F64 => {
            let exponent = 1023 - 4 + noise % 8;
            noise & 0x800f_ffff_ffff_ffff | exponent << 52
        }
        _ => noise % 64,
    }
}
