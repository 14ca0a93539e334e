//! Arithmetic over the terms of a request: parsed once, then evaluated as a postfix program.
//!
//! ```text
//! or      = and { "or" and }
//! and     = not { "and" not }
//! not     = "not" not | compare
//! compare = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//! sum     = product { ( "+" | "-" ) product }
//! product = sign { ( "*" | "/" | "%" ) sign }
//! sign    = "-" sign | atom
//! atom    = number | term | function "(" or { "," or } ")" | "(" or ")"
//! ```

use super::operation::Operation;
use super::range::Range;
use super::terms::Term;
use warpmem_params::{Choice, did_you_mean, nearest};

/// Largest number of operations of an expression.
const MOST_OPERATIONS: usize = 256;

/// Largest number of operands that wait for their operation.
const MOST_OPERANDS: usize = 32;

/// Largest number of nested parentheses, functions and signs.
const DEEPEST: usize = 32;

/// Functions by name.
const FUNCTIONS: [(&str, Operation); 4] = [
    ("abs", Operation::Absolute),
    ("if", Operation::If),
    ("max", Operation::Maximum),
    ("min", Operation::Minimum),
];

/// An expression: operations in postfix order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression(Box<[Operation]>);

impl Expression {
    /// # Errors
    /// Says where the text is not an expression, and what is valid there.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut parser =
            Parser { tokens: tokens(text)?, next: 0, program: Vec::new(), waiting: 0, depth: 0 };
        parser.level(0)?;
        match parser.peek() {
            Some(token) => Err(format!("unexpected `{token}` after a complete expression")),
            None => Ok(Expression(parser.program.into())),
        }
    }

    /// Returns whether it reads a term.
    pub fn reads(&self, term: Term) -> bool {
        self.0.contains(&Operation::Term(term))
    }

    /// Returns the terms that it reads, each once.
    pub fn terms(&self) -> impl Iterator<Item = Term> {
        Term::NAMES.iter().map(|&(_, term)| term).filter(|&term| self.reads(term))
    }

    /// Returns the value for a request with these terms.
    pub fn value(&self, term: impl Fn(Term) -> i64) -> i64 {
        let mut stack = [0; MOST_OPERANDS];
        let mut height = 0;
        for operation in &self.0 {
            let base = height - operation.operands();
            stack[base] = operation.apply(&stack[base..height], &term);
            height = base + 1;
        }
        stack[0]
    }

    /// Returns the range of its values for terms of these ranges.
    pub fn range(&self, term: impl Fn(Term) -> Range) -> Range {
        let mut stack: Vec<Range> = Vec::new();
        for operation in &self.0 {
            let operands = stack.split_off(stack.len() - operation.operands());
            stack.push(operation.range(&operands, &term));
        }
        stack[0]
    }
}

/// An operator of two operands.
struct Operator {
    sign: &'static str,
    operation: Operation,
    /// Whether the result is the opposite of the operation's.
    negated: bool,
}

const fn operator(sign: &'static str, operation: Operation) -> Operator {
    Operator { sign, operation, negated: false }
}

const fn opposite(sign: &'static str, operation: Operation) -> Operator {
    Operator { sign, operation, negated: true }
}

/// Level of the comparisons, which do not chain.
const COMPARISONS: usize = 2;

/// The operators by level, the weakest first.
const LEVELS: [&[Operator]; 5] = [
    &[operator("or", Operation::Or)],
    &[operator("and", Operation::And)],
    &[
        operator("<", Operation::Less),
        operator("<=", Operation::LessOrEqual),
        opposite(">", Operation::LessOrEqual),
        opposite(">=", Operation::Less),
        operator("==", Operation::Equal),
        opposite("!=", Operation::Equal),
    ],
    &[operator("+", Operation::Add), operator("-", Operation::Subtract)],
    &[
        operator("*", Operation::Multiply),
        operator("/", Operation::Divide),
        operator("%", Operation::Remainder),
    ],
];

/// Splits a text into names, numbers and signs.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match first {
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            '<' | '>' | '=' | '!' if rest[1..].starts_with('=') => 2,
            '<' | '>' | '+' | '-' | '*' | '/' | '%' | '(' | ')' | ',' => 1,
            other => return Err(format!("`{other}` is no part of an expression")),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    /// Index of the next token.
    next: usize,
    program: Vec<Operation>,
    /// Number of operands that wait for their operation.
    waiting: usize,
    /// Number of nested parentheses, functions and signs.
    depth: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).copied()
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.peek() == Some(sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        match self.peek() {
            _ if self.take(sign) => Ok(()),
            Some(token) => Err(format!("expected `{sign}` before `{token}`")),
            None => Err(format!("expected `{sign}` at the end")),
        }
    }

    fn push(&mut self, operation: Operation) -> Result<(), String> {
        if self.program.len() == MOST_OPERATIONS {
            return Err(format!("more than {MOST_OPERATIONS} operations"));
        }
        self.waiting = self.waiting + 1 - operation.operands();
        if self.waiting > MOST_OPERANDS {
            return Err(format!("more than {MOST_OPERANDS} operands wait for their operation"));
        }
        self.program.push(operation);
        Ok(())
    }

    /// Parses with one more level of nesting, which bounds the recursion.
    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("nested deeper than {DEEPEST}"));
        }
        parse(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Parses operators of this level and stronger ones.
    fn level(&mut self, level: usize) -> Result<(), String> {
        let Some(operators) = LEVELS.get(level) else { return self.sign() };
        if level == COMPARISONS && self.take("not") {
            self.nested(|parser| parser.level(COMPARISONS))?;
            return self.push(Operation::Not);
        }
        self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator.sign)) {
            self.level(level + 1)?;
            self.push(operator.operation)?;
            if operator.negated {
                self.push(Operation::Not)?;
            }
            if level == COMPARISONS {
                break;
            }
        }
        Ok(())
    }

    fn sign(&mut self) -> Result<(), String> {
        if self.take("-") {
            self.nested(Self::sign)?;
            return self.push(Operation::Negate);
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<(), String> {
        let Some(token) = self.peek() else {
            return Err("the expression is not complete".to_owned());
        };
        self.next += 1;
        if token == "(" {
            self.nested(|parser| parser.level(0))?;
            return self.expect(")");
        }
        if let Ok(number) = token.parse() {
            return self.push(Operation::Number(number));
        }
        if let Some(term) = Term::named(token) {
            return self.push(Operation::Term(term));
        }
        match FUNCTIONS.iter().find(|(name, _)| *name == token) {
            Some(&(_, function)) => self.call(function),
            None => Err(unknown(token)),
        }
    }

    fn call(&mut self, function: Operation) -> Result<(), String> {
        self.expect("(")?;
        for operand in 0..function.operands() {
            if operand > 0 {
                self.expect(",")?;
            }
            self.nested(|parser| parser.level(0))?;
        }
        self.expect(")")?;
        self.push(function)
    }
}

fn unknown(token: &str) -> String {
    let functions = FUNCTIONS.iter().map(|&(name, _)| name);
    let names: Vec<&str> = Term::names().into_iter().chain(functions).collect();
    let nearest = did_you_mean(nearest(token, names.iter().copied()));
    format!("unknown `{token}`{nearest}; valid: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values of the terms: age 5, hit 1, others 0.
    fn term(term: Term) -> i64 {
        match term {
            Term::Age => 5,
            Term::Hit => 1,
            _ => 0,
        }
    }

    fn value(text: &str) -> i64 {
        Expression::parse(text).unwrap().value(term)
    }

    fn error(text: &str) -> String {
        Expression::parse(text).unwrap_err()
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        assert_eq!(value("1+2*3"), 7);
        assert_eq!(value("(1+2)*3"), 9);
        assert_eq!(value("10-4-3"), 3);
        assert_eq!(value("-2*3"), -6);
        assert_eq!(value("2*age-hit"), 9);
        assert_eq!(value("1+1 == 2 and not 0"), 1);
        assert_eq!(value("not age < 5 or 0"), 1);
        assert_eq!(value("0 and 0 or 1"), 1);
    }

    #[test]
    fn comparisons_are_0_or_1() {
        let all = ["<", "<=", ">", ">=", "==", "!="];
        let against = |number: i64| all.map(|sign| value(&format!("age {sign} {number}")));
        assert_eq!(against(4), [0, 0, 1, 1, 0, 1]);
        assert_eq!(against(5), [0, 1, 0, 1, 1, 0]);
        assert_eq!(against(6), [1, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn functions_and_divisions() {
        assert_eq!(value("if(hit, 7, 8) + if(write, 7, 8)"), 15);
        assert_eq!(value("min(3, age) + max(3, age) + abs(-4)"), 12);
        assert_eq!((value("-7/2"), value("-7%2")), (-3, -1));
        assert_eq!((value("7/write"), value("7%write")), (0, 0));
    }

    #[test]
    fn results_stay_within_64_bits() {
        let most = i64::MAX;
        assert_eq!(value(&format!("{most}+1")), most);
        assert_eq!(value(&format!("-{most}-2")), i64::MIN);
        assert_eq!(value(&format!("abs(-{most}-2)")), most);
        assert_eq!(value(&format!("(-{most}-2)/-1")), most);
        assert_eq!(value(&format!("(-{most}-2)%-1")), 0);
    }

    #[test]
    fn errors_name_the_place() {
        assert_eq!(error("1+"), "the expression is not complete");
        assert_eq!(error("(1"), "expected `)` at the end");
        assert_eq!(error("min(1)"), "expected `,` before `)`");
        assert_eq!(error("1 2"), "unexpected `2` after a complete expression");
        assert_eq!(error("1 < 2 < 3"), "unexpected `<` after a complete expression");
        assert_eq!(error("hit & 1"), "`&` is no part of an expression");
        assert!(
            error("agee").starts_with("unknown `agee` (did you mean `age`?); valid: hit, age,")
        );
        assert!(error("9223372036854775808").starts_with("unknown `9223372036854775808`"));
    }

    #[test]
    fn sizes_are_bounded() {
        let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Expression::parse(&nested(DEEPEST)).is_ok());
        assert_eq!(error(&nested(DEEPEST + 1)), "nested deeper than 32");
        assert_eq!(error(&"1+".repeat(130)), "more than 256 operations");
        let waiting = |count: usize| format!("{}1{}", "1+(".repeat(count), ")".repeat(count));
        assert!(Expression::parse(&waiting(MOST_OPERANDS - 1)).is_ok());
        assert_eq!(
            error(&waiting(MOST_OPERANDS)),
            "more than 32 operands wait for their operation"
        );
    }

    /// Returns random expressions of few terms.
    fn expressions() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            (-9i64..300).prop_map(|number| number.to_string()),
            proptest::sample::select(vec!["hit", "age", "position", "streak"])
                .prop_map(str::to_owned),
        ];
        let signs = ["+", "-", "*", "/", "%", "<", "<=", "==", "!=", "and", "or"];
        leaf.prop_recursive(4, 30, 3, move |inner| {
            let sign = proptest::sample::select(signs.to_vec());
            prop_oneof![
                (inner.clone(), sign, inner.clone())
                    .prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(a, b, c)| format!("if({a}, min({b}, {c}), -abs({c}))")),
            ]
        })
    }

    proptest! {
        /// The range of an expression holds its value for all terms within theirs.
        #[test]
        fn values_lie_in_the_range(text in expressions(), age in 0i64..=255, hit in 0i64..=1) {
            let expression = Expression::parse(&text).unwrap();
            let of = |term| match term { Term::Age => age, Term::Hit => hit, _ => 3 };
            let range = expression.range(|term| match term {
                Term::Age => Range { low: 0, high: 255 },
                Term::Hit => Range { low: 0, high: 1 },
                _ => Range { low: 0, high: 7 },
            });
            let value = expression.value(of);
            prop_assert!((range.low..=range.high).contains(&value), "{value} in {range:?}");
        }

        /// No text ends the program.
        #[test]
        fn any_text_is_an_expression_or_an_error(text in "[a-z0-9()<=!+*/%, -]{0,40}") {
            let _ = Expression::parse(&text);
        }
    }
}
