//! Random programs with branches, loops, breaks, barriers and early exits: warps compute what each thread
//! would alone.
//!
//! A program is a tree. Warps execute it as PTX, with labels and guards; the reference evaluates it thread by
//! thread, walking the tree.

use proptest::prelude::*;

use super::{Machine, kernel};

/// Registers that programs use: %r1 to %r5. %r1 starts as the thread number, the others as values derived
/// from it.
const REGISTERS: usize = 5;
/// Maximum iterations of a loop.
const MAX_ITERATIONS: u32 = 6;

#[derive(Clone, Debug)]
enum Statement {
    /// d = f(a, b), optionally only where a predicate holds.
    Set {
        f: Function,
        d: usize,
        a: usize,
        b: usize,
        guard: Option<Condition>,
    },
    /// The thread's word becomes 31 times itself plus a register.
    Note(usize),
    If(Condition, Vec<Statement>, Vec<Statement>),
    /// A loop whose iterations are the low bits of a register.
    Loop(usize, Vec<Statement>),
    /// Leaves the innermost loop.
    Break(Condition),
    Exit(Condition),
    /// A barrier, optionally only where a predicate holds. All barriers are the same one, so that some
    /// threads can always continue.
    Barrier(Option<Condition>),
}

#[derive(Clone, Copy, Debug)]
enum Function {
    Add,
    Subtract,
    Multiply,
    Xor,
    ShiftRight,
    Max,
}

#[derive(Clone, Copy, Debug)]
struct Condition {
    less: bool,
    a: usize,
    b: usize,
}

fn condition() -> impl Strategy<Value = Condition> {
    let registers = (0..REGISTERS, 0..REGISTERS);
    (any::<bool>(), registers).prop_map(|(less, (a, b))| Condition { less, a, b })
}

fn function() -> impl Strategy<Value = Function> {
    use Function::{Add, Max, Multiply, ShiftRight, Subtract, Xor};
    prop::sample::select(vec![Add, Subtract, Multiply, Xor, ShiftRight, Max])
}

fn statement() -> impl Strategy<Value = Statement> {
    let set = (function(), 0..REGISTERS, 0..REGISTERS, 0..REGISTERS, prop::option::of(condition()))
        .prop_map(|(f, d, a, b, guard)| Statement::Set { f, d, a, b, guard });
    let simple = prop_oneof![
        6 => set,
        2 => (0..REGISTERS).prop_map(Statement::Note),
        1 => condition().prop_map(Statement::Break),
        1 => condition().prop_map(Statement::Exit),
        1 => prop::option::of(condition()).prop_map(Statement::Barrier),
    ];
    simple.prop_recursive(4, 40, 5, |inner| {
        let block = prop::collection::vec(inner, 0..5);
        prop_oneof![
            (condition(), block.clone(), block.clone())
                .prop_map(|(c, a, b)| Statement::If(c, a, b)),
            (0..REGISTERS, block).prop_map(|(n, body)| Statement::Loop(n, body)),
        ]
    })
}

/// Writes a program as PTX.
#[derive(Default)]
struct Writer {
    text: String,
    labels: usize,
    /// Next registers and predicates for counters and conditions.
    counters: usize,
    /// Labels after the open loops.
    ends: Vec<String>,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Sets %p1.
    fn test(&mut self, Condition { less, a, b }: Condition) {
        let compare = if less { "lt.u32" } else { "eq.u32" };
        self.line(&format!("setp.{compare} %p1, %r{}, %r{};", a + 1, b + 1));
    }

    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Set { f, d, a, b, guard } => {
                if let Some(guard) = guard {
                    self.test(*guard);
                }
                let name = match f {
                    Function::Add => "add.u32",
                    Function::Subtract => "sub.u32",
                    Function::Multiply => "mul.lo.u32",
                    Function::Xor => "xor.b32",
                    Function::ShiftRight => "shr.u32",
                    Function::Max => "max.u32",
                };
                let guard = if guard.is_some() { "@%p1 " } else { "" };
                self.line(&format!("{guard}{name} %r{}, %r{}, %r{};", d + 1, a + 1, b + 1));
            }
            Statement::Note(register) => {
                self.line("ld.global.u32 %r50, [%rd3];");
                self.line(&format!("mad.lo.u32 %r50, %r50, 31, %r{};", register + 1));
                self.line("st.global.u32 [%rd3], %r50;");
            }
            Statement::If(condition, first, second) => {
                let (other, end) = (self.label(), self.label());
                self.test(*condition);
                self.line(&format!("@!%p1 bra {other};"));
                self.block(first);
                self.line(&format!("bra {end};\n{other}:"));
                self.block(second);
                self.line(&format!("{end}:"));
            }
            Statement::Loop(register, body) => {
                let (head, end) = (self.label(), self.label());
                let counter = 10 + self.counters;
                self.counters += 1;
                self.line(&format!("and.b32 %r{counter}, %r{}, 7;", register + 1));
                self.line(&format!("min.u32 %r{counter}, %r{counter}, {MAX_ITERATIONS};\n{head}:"));
                self.line(&format!("setp.eq.u32 %p1, %r{counter}, 0;\n@%p1 bra {end};"));
                self.line(&format!("sub.u32 %r{counter}, %r{counter}, 1;"));
                self.ends.push(end.clone());
                self.block(body);
                self.ends.pop();
                self.line(&format!("bra {head};\n{end}:"));
            }
            Statement::Break(condition) => {
                if let Some(end) = self.ends.last().cloned() {
                    self.test(*condition);
                    self.line(&format!("@%p1 bra {end};"));
                }
            }
            Statement::Exit(condition) => {
                self.test(*condition);
                self.line("@%p1 exit;");
            }
            Statement::Barrier(None) => self.line("bar.sync 0;"),
            Statement::Barrier(Some(condition)) => {
                self.test(*condition);
                self.line("@%p1 barrier.sync 0;");
            }
        }
    }
}

/// One thread.
struct Thread {
    registers: [u32; REGISTERS],
    word: u32,
}

/// Exit of a statement.
#[derive(PartialEq)]
enum End {
    Next,
    Broke,
    Exited,
}

impl Thread {
    fn holds(&self, Condition { less, a, b }: Condition) -> bool {
        let (a, b) = (self.registers[a], self.registers[b]);
        if less { a < b } else { a == b }
    }

    fn block(&mut self, statements: &[Statement], in_loop: bool) -> End {
        for statement in statements {
            let end = self.statement(statement, in_loop);
            if end != End::Next {
                return end;
            }
        }
        End::Next
    }

    fn statement(&mut self, statement: &Statement, in_loop: bool) -> End {
        match statement {
            Statement::Set { f, d, a, b, guard } => {
                if guard.is_none_or(|guard| self.holds(guard)) {
                    let (a, b) = (self.registers[*a], self.registers[*b]);
                    self.registers[*d] = match f {
                        Function::Add => a.wrapping_add(b),
                        Function::Subtract => a.wrapping_sub(b),
                        Function::Multiply => a.wrapping_mul(b),
                        Function::Xor => a ^ b,
                        Function::ShiftRight => a.checked_shr(b).unwrap_or(0),
                        Function::Max => a.max(b),
                    };
                }
            }
            Statement::Note(register) => {
                self.word = self.word.wrapping_mul(31).wrapping_add(self.registers[*register]);
            }
            Statement::If(condition, first, second) => {
                let taken = if self.holds(*condition) { first } else { second };
                return self.block(taken, in_loop);
            }
            Statement::Loop(register, body) => {
                for _ in 0..(self.registers[*register] & 7).min(MAX_ITERATIONS) {
                    match self.block(body, true) {
                        End::Next => {}
                        End::Broke => break,
                        End::Exited => return End::Exited,
                    }
                }
            }
            Statement::Break(condition) if in_loop && self.holds(*condition) => return End::Broke,
            Statement::Exit(condition) if self.holds(*condition) => return End::Exited,
            Statement::Break(_) | Statement::Exit(_) | Statement::Barrier(_) => {}
        }
        End::Next
    }
}

proptest! {
    #[test]
    fn warps_compute_the_results_of_single_threads(program in prop::collection::vec(statement(), 1..10)) {
        let mut writer = Writer::default();
        writer.line("mov.u32 %r1, %r0;");
        for register in 2..=REGISTERS {
            writer.line(&format!("mul.lo.u32 %r{register}, %r{}, 0x9E3779B1;", register - 1));
            writer.line(&format!("shr.u32 %r{register}, %r{register}, {};", 29 - register));
        }
        writer.block(&program);
        prop_assume!(writer.counters <= 40);
        let mut machine = Machine::new(64);
        machine.run(&kernel(&writer.text), 1, 64).unwrap_or_else(|error| panic!("{error}\n{}", writer.text));
        let got = machine.get(2);
        for (number, &got) in (0u32..).zip(&got) {
            let mut registers = [number; REGISTERS];
            for at in 1..REGISTERS {
                registers[at] = registers[at - 1].wrapping_mul(0x9E37_79B1) >> (28 - at);
            }
            let mut thread = Thread { registers, word: 0 };
            thread.block(&program, false);
            prop_assert_eq!(got as u32, thread.word, "thread {}\n{}", number, &writer.text);
        }
    }
}
