//! Multi-word numbers, computed with the carry flag, compared with wide arithmetic.

use proptest::collection::vec;
use proptest::prelude::*;

use super::coverage::tests;
use super::{Machine, kernel, result};

tests!(the_flag_after_a_subtraction_means_no_borrow);

/// Element of the arrays a and b of each thread, and of the result.
type Number = u128;

/// Code that computes 128 bits of d, and one more word, from a and b, in words of a type.
struct Words {
    ty: &'static str,
    /// First registers of a, b and d, and the words of each.
    register: &'static str,
    count: usize,
}

const WORDS: [Words; 2] =
    [Words { ty: "u32", register: "%r", count: 4 }, Words { ty: "u64", register: "%rd", count: 2 }];

impl Words {
    /// Moves a, b or d between registers from `first` and 16 bytes of the thread at an address.
    fn access(&self, opcode: &str, base: &str, first: usize) -> String {
        let Words { ty, register, count } = self;
        let bytes = 16 / count;
        let access = |at: usize| {
            let (address, word) =
                (format!("[{base}+{}]", at * bytes), format!("{register}{}", first + at));
            match opcode {
                "ld" => format!("ld.global.{ty} {word}, {address};\n"),
                _ => format!("st.global.{ty} {address}, {word};\n"),
            }
        };
        (0..*count).map(access).collect()
    }

    /// Writes an operation word by word: the first instruction begins a carry chain, the others continue it.
    fn chain(&self, begins: &str, continues: &str) -> String {
        let Words { ty, register, count } = self;
        let one = |at: usize| {
            let opcode = if at == 0 { begins } else { continues };
            let [d, a, b] = [30, 10, 20].map(|first| format!("{register}{}", first + at));
            format!("{opcode}.{ty} {d}, {a}, {b};\n")
        };
        (0..*count).map(one).collect()
    }

    /// Executes code between loading a and b and storing d and the 64 bits of %rd4.
    fn run(&self, code: &str, numbers: &[(Number, Number)]) -> Vec<(Number, u64)> {
        let halves = |of: fn(&(Number, Number)) -> Number| -> Vec<u64> {
            numbers.iter().map(of).flat_map(|n| [n as u64, (n >> 64) as u64]).collect()
        };
        let mut machine = Machine::new(128);
        machine.set(0, &halves(|pair| pair.0));
        machine.set(1, &halves(|pair| pair.1));
        let text = format!(
            "add.u64 %rd1, %rd1, %rd0;\nadd.u64 %rd2, %rd2, %rd0;\nmul.wide.u32 %rd0, %r0, 24;\nadd.u64 %rd3, %rd3, %rd0;\n\
             {}{}{code}{}st.global.u64 [%rd3+16], %rd4;\n",
            self.access("ld", "%rd1", 10),
            self.access("ld", "%rd2", 20),
            self.access("st", "%rd3", 30),
        );
        machine.run(&kernel(&text), 1, 32).unwrap();
        let got = machine.get(2);
        // The third array's address advances by 8 bytes per thread, and then by 24.
        let word = |thread: usize, at: usize| got[4 * thread + at];
        (0..numbers.len())
            .map(|t| (Number::from(word(t, 1)) << 64 | Number::from(word(t, 0)), word(t, 2)))
            .collect()
    }
}

fn numbers() -> impl Strategy<Value = Vec<(Number, Number)>> {
    // Words of zeros and ones create chains of carries.
    let word = prop_oneof![Just(0), Just(u32::MAX), Just(1), any::<u32>()];
    let number = vec(word, 4)
        .prop_map(|words| words.iter().fold(0, |number, &word| number << 32 | Number::from(word)));
    vec((number.clone(), number), 32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sums_and_differences_of_128_bits(numbers in numbers()) {
        for words in &WORDS {
            let sum = words.chain("add.cc", "addc.cc") + "addc.u64 %rd4, 0, 0;\n";
            let difference = words.chain("sub.cc", "subc.cc") + "subc.u64 %rd4, 0, 0;\n";
            let (sums, differences) = (words.run(&sum, &numbers), words.run(&difference, &numbers));
            for (&(a, b), (sum, difference)) in numbers.iter().zip(sums.into_iter().zip(differences)) {
                let (expected, carry) = a.overflowing_add(b);
                prop_assert_eq!(sum, (expected, u64::from(carry)));
                let (expected, borrow) = a.overflowing_sub(b);
                prop_assert_eq!(difference, (expected, if borrow { u64::MAX } else { 0 }));
            }
        }
    }

    /// The low 128 bits of 64-bit products, in 32-bit words.
    #[test]
    fn products_of_64_bits(numbers in numbers()) {
        let code = "mul.lo.u32 %r30, %r10, %r20;\nmul.hi.u32 %r31, %r10, %r20;\n\
            mov.u32 %r32, 0;\nmov.u32 %r33, 0;\n\
            mad.lo.cc.u32 %r31, %r10, %r21, %r31;\nmadc.hi.cc.u32 %r32, %r10, %r21, %r32;\naddc.u32 %r33, 0, 0;\n\
            mad.lo.cc.u32 %r31, %r11, %r20, %r31;\nmadc.hi.cc.u32 %r32, %r11, %r20, %r32;\naddc.u32 %r33, %r33, 0;\n\
            mad.lo.cc.u32 %r32, %r11, %r21, %r32;\nmadc.hi.u32 %r33, %r11, %r21, %r33;\nmov.u64 %rd4, 0;\n";
        for (&(a, b), (product, _)) in numbers.iter().zip(WORDS[0].run(code, &numbers)) {
            let low = |number: Number| Number::from(number as u64);
            prop_assert_eq!(product, low(a) * low(b));
        }
    }
}

#[test]
fn the_flag_after_a_subtraction_means_no_borrow() {
    for (writes, reads, expected) in [
        ("sub.cc.u32 %r2, 7, 5;", "addc.u32 %r1, 0, 0;", 1),
        ("sub.cc.u32 %r2, 5, 7;", "addc.u32 %r1, 0, 0;", 0),
        ("sub.cc.u64 %rd5, 5, 5;", "addc.u32 %r1, 0, 0;", 1),
        ("add.cc.u32 %r2, -1, 7;", "subc.u32 %r1, 0, 0;", 0),
        ("add.cc.u32 %r2, 1, 7;", "subc.u32 %r1, 0, 0;", u64::from(u32::MAX)),
        ("sub.cc.u32 %r2, 5, 7;", "subc.u32 %r1, 0, 0;", u64::from(u32::MAX)),
        ("sub.cc.u32 %r2, 5, 7;", "madc.lo.u32 %r1, 2, 3, 0;", 6),
        ("sub.cc.u32 %r2, 7, 5;", "madc.lo.u32 %r1, 2, 3, 0;", 7),
    ] {
        let code = format!("{writes}\n{reads}\nst.global.u32 [%rd3], %r1;");
        assert_eq!(result(&code, &[], &[]), [expected; 32], "{writes} {reads}");
    }
}
