//! Logic, shifts, bit fields.

use warpmem_ptx::Type::{self, *};

use super::{Case, Code, check_same, integer, mask, named};
use crate::tests::coverage::tests;

tests!(
    logic,
    shifts,
    funnel_shifts,
    counts,
    fields,
    masks_and_extensions,
    byte_permutations,
    tables_of_three_operands,
    tables_with_a_predicate,
    nth_set_bits
);

/// The word of two words and a selector.
type Mode = fn(u64, u64) -> u64;

const BITS: [Type; 3] = [B16, B32, B64];
const WORDS: [Type; 4] = [U32, U64, S32, S64];

#[test]
fn logic() {
    for ty in [Pred, B16, B32, B64] {
        check_same(&named("and", ty), ty, 2, |[a, b, _]| a & b);
        check_same(&named("or", ty), ty, 2, |[a, b, _]| a | b);
        check_same(&named("xor", ty), ty, 2, |[a, b, _]| a ^ b);
        check_same(&named("not", ty), ty, 1, |[a, ..]| !a);
    }
    for ty in BITS {
        check_same(&named("cnot", ty), ty, 1, |[a, ..]| u64::from(a == 0));
    }
}

#[test]
fn shifts() {
    let by = |bits: u64| bits.min(127) as u32;
    for ty in BITS {
        let name = named("shl", ty);
        Case { name: &name, dest: ty, sources: &[ty, U32], constants: "" }.check(|[a, b, _]| {
            (u128::from(a).checked_shl(by(b)).unwrap_or(0) & u128::from(mask(ty))) as u64
        });
    }
    for ty in [B16, B32, B64, U16, U32, U64, S16, S32, S64] {
        let name = named("shr", ty);
        Case { name: &name, dest: ty, sources: &[ty, U32], constants: "" }
            .check(|[a, b, _]| (integer(ty, a) >> by(b)) as u64);
    }
}

#[test]
fn funnel_shifts() {
    for (limit, amount) in [("clamp", (|c| c.min(32)) as fn(u64) -> u64), ("wrap", |c| c & 31)] {
        check_same(&format!("shf.l.{limit}.b32"), B32, 3, |[a, b, c]| {
            ((u128::from(b << 32 | a) << amount(c)) >> 32) as u64
        });
        check_same(&format!("shf.r.{limit}.b32"), B32, 3, |[a, b, c]| (b << 32 | a) >> amount(c));
    }
}

#[test]
fn counts() {
    let unary = |name: &str, ty: Type, f: &dyn Fn(u64) -> u64| {
        Case { name: &named(name, ty), dest: U32, sources: &[ty], constants: "" }
            .check(|[a, ..]| f(a));
    };
    for ty in [B32, B64] {
        unary("popc", ty, &|a| (0..64).map(|bit| a >> bit & 1).sum());
        unary("clz", ty, &|a| {
            (0..ty.bits()).rev().take_while(|bit| a >> bit & 1 == 0).count() as u64
        });
        check_same(&named("brev", ty), ty, 1, |[a, ..]| {
            (0..ty.bits()).fold(0, |reversed, bit| reversed << 1 | a >> bit & 1)
        });
    }
    for ty in WORDS {
        let highest = |a: u64| {
            let sign = u64::from(integer(ty, a) < 0);
            (0..ty.bits()).rev().find(|bit| a >> bit & 1 != sign)
        };
        unary("bfind", ty, &|a| highest(a).map_or(u64::MAX, u64::from));
        unary("bfind.shiftamt", ty, &|a| {
            highest(a).map_or(u64::MAX, |bit| u64::from(ty.bits() - 1 - bit))
        });
    }
}

/// Bit by bit, as the ISA defines "bfe".
#[test]
fn fields() {
    for ty in WORDS {
        let name = named("bfe", ty);
        Case { name: &name, dest: ty, sources: &[ty, U32, U32], constants: "" }.check(
            |[a, start, length]| {
                let (start, length) = (start & 0xff, length & 0xff);
                let top = u64::from(ty.bits()) - 1;
                let sign = match ty.is_signed() && length > 0 {
                    true => a >> (start + length - 1).min(top) & 1,
                    false => 0,
                };
                let bit = |at: u64| {
                    if at < length && start + at <= top { a >> (start + at) & 1 } else { sign }
                };
                (0..u64::from(ty.bits())).fold(0, |field, at| field | bit(at) << at)
            },
        );
    }
    for ty in [B32, B64] {
        for (start, length) in
            [(0, 1), (3, 5), (0, 32), (31, 1), (28, 8), (40, 10), (5, 0), (0, 64), (260, 4)]
        {
            let (name, constants) = (named("bfi", ty), format!(", {start}, {length}"));
            Case { name: &name, dest: ty, sources: &[ty; 2], constants: &constants }.check(
                |[a, b, _]| {
                    let (start, length) = (start & 0xff, length & 0xff);
                    let inside = |bit: u32| bit >= start && bit < start + length;
                    let bit =
                        |at: u32| if inside(at) { a >> (at - start) & 1 } else { b >> at & 1 };
                    (0..ty.bits()).fold(0, |word, at| word | bit(at) << at)
                },
            );
        }
    }
}

#[test]
fn masks_and_extensions() {
    for (limit, wraps) in [("clamp", false), ("wrap", true)] {
        let limited = |value: u64| if wraps { value & 31 } else { value.min(32) };
        check_same(&format!("bmsk.{limit}.b32"), B32, 2, |[a, b, _]| {
            let (first, count) = (limited(a), limited(b));
            (0..32)
                .filter(|&bit| first <= bit && bit < first + count)
                .fold(0, |m, bit| m | 1 << bit)
        });
        for ty in [U32, S32] {
            check_same(&named(&format!("szext.{limit}"), ty), ty, 2, |[a, b, _]| {
                let count = limited(b);
                let low = a & ((1 << count) - 1);
                let negative = ty == S32 && count > 0 && low >> (count - 1) & 1 == 1;
                if negative { low | u64::MAX << count } else { low }
            });
        }
    }
}

#[test]
fn byte_permutations() {
    let modes: [(&str, Mode); 6] = [
        (".f4e", |n, at| n + at),
        (".b4e", |n, at| (8 + n - at) % 8),
        (".rc8", |n, _| n),
        (".ecl", |n, at| n.max(at)),
        (".ecr", |n, at| n.min(at)),
        (".rc16", |n, at| n % 2 * 2 + at % 2),
    ];
    let byte = |a: u64, b: u64, at: u64| (b << 32 | a) >> (8 * at) & 0xff;
    for (mode, select) in modes {
        check_same(&format!("prmt.b32{mode}"), B32, 3, |[a, b, c]| {
            (0..4).fold(0, |word, at| word | byte(a, b, select(c & 3, at)) << (8 * at))
        });
    }
    check_same("prmt.b32", B32, 3, |[a, b, c]| {
        (0..4).fold(0, |word, at| {
            let selector = c >> (4 * at) & 0xf;
            let byte = byte(a, b, selector & 7);
            let byte = if selector < 8 { byte } else { (byte >> 7) * 0xff };
            word | byte << (8 * at)
        })
    });
}

#[test]
fn tables_of_three_operands() {
    for table in [0u64, 0x80, 0xfe, 0x96, 0xca, 0x17, 0xff] {
        let constants = format!(", {table}");
        Case { name: "lop3.b32", dest: B32, sources: &[B32; 3], constants: &constants }
            .check(|words| looked_up(table, words));
    }
}

/// Computes `fns` as the ISA defines it.
fn find_nth_bit(mask: u64, base: i64, offset: i64) -> u64 {
    let is_set = |at: i64| mask >> at & 1 == 1;
    if offset == 0 {
        return if (0..32).contains(&base) && is_set(base) {
            base as u64
        } else {
            u64::from(u32::MAX)
        };
    }
    let (mut at, mut count) = (base, offset.abs() - 1);
    while (0..32).contains(&at) {
        if is_set(at) {
            if count == 0 {
                return at as u64;
            }
            count -= 1;
        }
        at += offset.signum();
    }
    u64::from(u32::MAX)
}

#[test]
fn nth_set_bits() {
    for (first, count) in [(0, 1), (5, 3), (31, -4), (20, -1), (9, 0), (31, 1), (32, 1), (3, -9)] {
        let name = "fns.b32";
        let text = format!("{name} %r24, %r20, {first}, {count};\n");
        Code { name, text: &text, dest: B32, sources: &[B32] }
            .check(|[mask, ..]| find_nth_bit(mask, first, count));
    }
    let text =
        "rem.u32 %r21, %r21, 40;\nrem.s32 %r22, %r22, 12;\nfns.b32 %r24, %r20, %r21, %r22;\n";
    Code { name: "fns.b32", text, dest: B32, sources: &[B32, U32, S32] }
        .check(|[a, b, c]| find_nth_bit(a, (b % 40) as i64, (integer(S32, c) % 12) as i64));
}

fn looked_up(table: u64, [a, b, c]: [u64; 3]) -> u64 {
    (0..32).fold(0, |word, bit| {
        let row = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
        word | (table >> row & 1) << bit
    })
}

/// Combines whether a word is not 0 with another predicate.
type Combine = fn(bool, bool) -> bool;

/// Checks the word and the predicate of a table, combined with a predicate that holds if a is odd.
#[test]
fn tables_with_a_predicate() {
    let odd = "and.b32 %r30, %r20, 1;\nsetp.ne.u32 %p1, %r30, 0;\nmov.pred %p2, !%p1;\n";
    let of: [(&str, &str, Combine); 4] = [
        ("or", "%p1", |not_zero, is_odd| not_zero || is_odd),
        ("and", "%p1", |not_zero, is_odd| not_zero && is_odd),
        ("and", "!%p1", |not_zero, is_odd| not_zero && !is_odd),
        ("or", "0", |not_zero, _| not_zero),
    ];
    for (combine, predicate, expected) in of {
        for (table, d) in [(0xc0, "%r24"), (0x96, "%r24"), (0x80, "_")] {
            let name = format!("lop3.{combine}.b32");
            let operands = format!("%r20, %r21, %r22, {table}, {predicate}");
            let text = format!("{odd}mov.u32 %r24, 0;\n{name} {d}|%p12, {operands};\n");
            Code { name: &name, text: &text, dest: Pred, sources: &[B32; 3] }.check(|words| {
                u64::from(expected(looked_up(table, words) != 0, words[0] & 1 == 1))
            });
            Code { name: &name, text: &text, dest: B32, sources: &[B32; 3] }
                .check(|words| if d == "_" { 0 } else { looked_up(table, words) });
        }
    }
}
