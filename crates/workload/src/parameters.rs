//! Parameters of a generator, and the values given to them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::WorkloadError;
use crate::shell::quoted;
use warpmem_files::destination::is_same;
use warpmem_params::nearest;

/// Values that have names.
pub trait Choice: Copy + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

/// One parameter of a generator; on the command line `--name value`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// One line.
    summary: &'static str,
    domain: Domain,
    applies: Applies,
}

#[derive(Clone, Copy, Debug)]
enum Domain {
    Count {
        default: u64,
        min: u64,
        max: u64,
        unit: &'static str,
    },
    /// In hundredths.
    Decimal {
        default: u64,
        min: u64,
        max: u64,
        unit: &'static str,
    },
    Choice {
        default: &'static str,
        names: fn() -> Vec<&'static str>,
    },
    Path,
}

/// When a parameter has an effect; otherwise it must not be given.
#[derive(Clone, Copy, Debug)]
enum Applies {
    Always,
    /// The path of this name is given.
    Given(&'static str),
    /// The path of this name is not given.
    NotGiven(&'static str),
    /// The choice of this name applies and is one of these.
    Chosen(&'static str, &'static [&'static str]),
}

/// Shown instead of a path if there is none.
const NONE: &str = "none";

impl Parameter {
    /// A whole number from `min` to `max`; `unit` in the plural, or `-`.
    pub const fn count(
        name: &'static str,
        default: u64,
        (min, max): (u64, u64),
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter::always(name, summary, Domain::Count { default, min, max, unit })
    }

    /// A number with up to two decimal places from `min` to `max`, all in hundredths.
    pub const fn decimal(
        name: &'static str,
        default: u64,
        (min, max): (u64, u64),
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter::always(name, summary, Domain::Decimal { default, min, max, unit })
    }

    /// One of the names of `C`.
    pub const fn choice<C: Choice>(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter::always(name, summary, Domain::Choice { default, names: names_of::<C> })
    }

    /// A file to read; none by default.
    pub const fn path(name: &'static str, summary: &'static str) -> Parameter {
        Parameter::always(name, summary, Domain::Path)
    }

    const fn always(name: &'static str, summary: &'static str, domain: Domain) -> Parameter {
        Parameter { name, summary, domain, applies: Applies::Always }
    }

    /// Applies only if the path `path` is given.
    pub const fn only_given(self, path: &'static str) -> Parameter {
        Parameter { applies: Applies::Given(path), ..self }
    }

    /// Applies only if the path `path` is not given.
    pub const fn unless_given(self, path: &'static str) -> Parameter {
        Parameter { applies: Applies::NotGiven(path), ..self }
    }

    /// Applies only if the choice `choice` applies and is one of `names`.
    pub const fn only_with(
        self,
        choice: &'static str,
        names: &'static [&'static str],
    ) -> Parameter {
        Parameter { applies: Applies::Chosen(choice, names), ..self }
    }

    /// The default value, as one would type it.
    pub fn default(&self) -> String {
        match self.domain {
            Domain::Count { default, .. } => show_count(default),
            Domain::Decimal { default, .. } => show_hundredths(default),
            Domain::Choice { default, .. } => default.to_owned(),
            Domain::Path => NONE.to_owned(),
        }
    }

    /// The valid values, for people.
    pub fn range(&self) -> String {
        match self.domain {
            Domain::Count { min, max, .. } => format!("{} to {}", show_count(min), show_count(max)),
            Domain::Decimal { min, max, .. } => {
                format!("{} to {}", show_hundredths(min), show_hundredths(max))
            }
            Domain::Choice { names, .. } => names().join("|"),
            Domain::Path => "a path".to_owned(),
        }
    }

    /// Unit of the value, or `-`.
    pub fn unit(&self) -> &'static str {
        match self.domain {
            Domain::Count { unit, .. } | Domain::Decimal { unit, .. } => unit,
            Domain::Choice { .. } | Domain::Path => "-",
        }
    }

    /// The names of a choice; empty for others.
    pub fn choices(&self) -> Vec<&'static str> {
        match self.domain {
            Domain::Choice { names, .. } => names(),
            Domain::Count { .. } | Domain::Decimal { .. } | Domain::Path => Vec::new(),
        }
    }

    /// Whether its value is the path of a file.
    pub fn is_path(&self) -> bool {
        matches!(self.domain, Domain::Path)
    }

    /// What it is and when it may be given, one line.
    pub fn description(&self) -> String {
        match self.condition() {
            Some(condition) => format!("{}; {condition}", self.summary),
            None => self.summary.to_owned(),
        }
    }

    /// When it may be given; empty if always.
    fn condition(&self) -> Option<String> {
        match self.applies {
            Applies::Always => None,
            Applies::Given(path) => Some(format!("only with --{path}")),
            Applies::NotGiven(path) => Some(format!("not with --{path}")),
            Applies::Chosen(choice, names) => {
                Some(format!("only with --{choice} {}", names.join(", ")))
            }
        }
    }

    fn parse(&self, text: &str) -> Result<Value, WorkloadError> {
        let refuse = |nearest| WorkloadError::BadValue {
            parameter: self.name,
            value: text.to_owned(),
            nearest,
            valid: self.range(),
        };
        match self.domain {
            Domain::Count { min, max, .. } => match parse_count(text) {
                Some(n) if (min..=max).contains(&n) => Ok(Value::Count(n)),
                _ => Err(refuse(None)),
            },
            Domain::Decimal { min, max, .. } => match parse_hundredths(text) {
                Some(n) if (min..=max).contains(&n) => Ok(Value::Decimal(n)),
                _ => Err(refuse(None)),
            },
            Domain::Path => match text {
                "" => Err(refuse(None)),
                NONE => Ok(Value::Path(None)),
                path => Ok(Value::Path(Some(path.into()))),
            },
            Domain::Choice { names, .. } => {
                let names = names();
                match names.iter().position(|&name| name == text) {
                    Some(index) => Ok(Value::Choice(index)),
                    None => Err(refuse(nearest(text, names.into_iter()))),
                }
            }
        }
    }
}

fn names_of<C: Choice>() -> Vec<&'static str> {
    C::NAMES.iter().map(|&(name, _)| name).collect()
}

/// Powers of two from 1024 on as `2^k`, anything else in decimal.
pub fn show_count(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// `4096`, `4_096` or `2^12`.
pub fn parse_count(text: &str) -> Option<u64> {
    match text.split_once('^') {
        Some((base, exponent)) => base.parse::<u64>().ok()?.checked_pow(exponent.parse().ok()?),
        None => text.replace('_', "").parse().ok(),
    }
}

/// With as few decimals as possible.
fn show_hundredths(n: u64) -> String {
    let (whole, hundredths) = (n / 100, n % 100);
    match hundredths {
        0 => whole.to_string(),
        tenths if tenths % 10 == 0 => format!("{whole}.{}", tenths / 10),
        _ => format!("{whole}.{hundredths:02}"),
    }
}

/// `2`, `2.5` or `2.25`.
fn parse_hundredths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 2 {
        return None;
    }
    let hundredths = decimals.parse::<u64>().ok()? * if decimals.len() == 1 { 10 } else { 1 };
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(hundredths)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Count(u64),
    /// In hundredths.
    Decimal(u64),
    /// Index among the names.
    Choice(usize),
    Path(Option<PathBuf>),
}

/// A value for every parameter of a generator: given, or the default.
#[derive(Debug)]
pub struct Arguments {
    values: Vec<(Parameter, Value)>,
    notes: RefCell<Vec<String>>,
}

impl Arguments {
    /// Checks `given` (name → text) against `groups` of parameters.
    pub fn resolve(
        generator: &'static str,
        groups: &[&[Parameter]],
        given: &BTreeMap<String, String>,
    ) -> Result<Arguments, WorkloadError> {
        let parameters = || groups.iter().copied().flatten();
        let names = || parameters().map(|p| p.name);
        if let Some(unknown) = given.keys().find(|key| !names().any(|name| name == *key)) {
            return Err(WorkloadError::UnknownParameter {
                generator,
                name: unknown.clone(),
                nearest: nearest(unknown, names()),
                valid: names().collect::<Vec<_>>().join(", "),
            });
        }
        let value = |parameter: &Parameter| match given.get(parameter.name) {
            Some(text) => parameter.parse(text),
            None => parameter.parse(&parameter.default()),
        };
        let values = parameters().map(|p| value(p).map(|v| (*p, v))).collect::<Result<_, _>>()?;
        let arguments = Arguments { values, notes: RefCell::default() };
        match parameters().find(|p| given.contains_key(p.name) && !arguments.applies(p)) {
            Some(idle) => Err(arguments.refuse_idle(idle)),
            None => Ok(arguments),
        }
    }

    /// Whether the value of `parameter` has an effect with the other values.
    fn applies(&self, parameter: &Parameter) -> bool {
        match parameter.applies {
            Applies::Always => true,
            Applies::Given(path) => self.path(path).is_some(),
            Applies::NotGiven(path) => self.path(path).is_none(),
            Applies::Chosen(name, names) => {
                let (choice, value) = self.entry(name);
                self.applies(choice) && names.contains(&show(choice, value).as_str())
            }
        }
    }

    fn refuse_idle(&self, parameter: &Parameter) -> WorkloadError {
        // If a choice does not apply, the reason for this also explains the parameters that depend
        // on it.
        let reason = match parameter.applies {
            Applies::Chosen(choice, _) if !self.applies(self.entry(choice).0) => {
                self.entry(choice).0.condition()
            }
            _ => parameter.condition(),
        };
        let when = reason.unwrap_or_default();
        WorkloadError::Inconsistent {
            message: format!("--{} cannot be given here; valid: {when}", parameter.name),
        }
    }

    /// The value of the number `name`, which the generator must have declared.
    pub fn count(&self, name: &str) -> u64 {
        match *self.value(name) {
            Value::Count(n) => n,
            _ => panic!("parameter `{name}` is not a whole number"),
        }
    }

    /// As [`Arguments::count`], for numbers whose declared maximum fits 32 bits.
    pub fn count32(&self, name: &str) -> u32 {
        u32::try_from(self.count(name)).expect("the declared maximum fits 32 bits")
    }

    /// Hundredths of the decimal number `name`, which the generator must have declared.
    pub fn hundredths(&self, name: &str) -> u64 {
        match *self.value(name) {
            Value::Decimal(n) => n,
            _ => panic!("parameter `{name}` is not a decimal number"),
        }
    }

    /// The value of the choice `name`, which the generator must have declared as a choice of `C`.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        match *self.value(name) {
            Value::Choice(index) => C::NAMES[index].1,
            _ => panic!("parameter `{name}` is not a choice"),
        }
    }

    /// The path `name`, which the generator must have declared, if it is given.
    pub fn path(&self, name: &str) -> Option<&Path> {
        match self.value(name) {
            Value::Path(path) => path.as_deref(),
            _ => panic!("parameter `{name}` is not a path"),
        }
    }

    /// Whether `file` is among the paths.
    pub fn names(&self, file: &Path) -> bool {
        let is_it = |value: &Value| matches!(value, Value::Path(Some(path)) if is_same(path, file));
        self.values.iter().any(|entry| is_it(&entry.1))
    }

    fn value(&self, name: &str) -> &Value {
        self.entry(name).1
    }

    fn entry(&self, name: &str) -> (&Parameter, &Value) {
        match self.values.iter().find(|(p, _)| p.name == name) {
            Some((parameter, value)) => (parameter, value),
            None => panic!("parameter `{name}` is not declared"),
        }
    }

    /// All values that have an effect, as command-line options in the order of declaration.
    pub fn as_options(&self) -> String {
        let mut line = String::new();
        for (parameter, value) in &self.values {
            if self.applies(parameter) && *value != Value::Path(None) {
                let text = quoted(&show(parameter, value));
                write!(line, " --{} {text}", parameter.name).expect("a string takes any text");
            }
        }
        line
    }

    /// Keeps a note for the person who gave the arguments.
    pub fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    /// The notes.
    pub fn into_notes(self) -> Vec<String> {
        self.notes.into_inner()
    }
}

/// A value as one would type it.
fn show(parameter: &Parameter, value: &Value) -> String {
    match value {
        Value::Count(n) => show_count(*n),
        Value::Decimal(n) => show_hundredths(*n),
        Value::Choice(index) => parameter.choices()[*index].to_owned(),
        Value::Path(path) => path.as_ref().map_or(NONE.to_owned(), |p| p.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Colour {
        Red,
        Green,
    }

    impl Choice for Colour {
        const NAMES: &'static [(&'static str, Colour)] =
            &[("red", Colour::Red), ("green", Colour::Green)];
    }

    const PARAMETERS: &[Parameter] = &[
        Parameter::count("nodes", 1 << 12, (1, 1 << 20), "vertices", "Vertices")
            .unless_given("file"),
        Parameter::choice::<Colour>("colour", "red", "Colour").unless_given("file"),
        Parameter::decimal("depth", 50, (25, 200), "-", "Depth").only_with("colour", &["green"]),
        Parameter::path("file", "File"),
        Parameter::choice::<Colour>("ink", "green", "Colour").only_given("file"),
    ];

    fn resolve(given: &[(&str, &str)]) -> Result<Arguments, String> {
        let given = given.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        Arguments::resolve("paint", &[PARAMETERS], &given).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let arguments = resolve(&[]).unwrap();
        assert_eq!(arguments.count("nodes"), 4096);
        assert_eq!(arguments.choice::<Colour>("colour"), Colour::Red);
    }

    #[test]
    fn numbers_may_be_powers_or_grouped() {
        for (text, value) in [("2^18", 1 << 18), ("10^3", 1000), ("65536", 65536), ("1_000", 1000)]
        {
            assert_eq!(resolve(&[("nodes", text)]).unwrap().count("nodes"), value);
        }
    }

    #[test]
    fn bad_values_are_refused_with_what_is_valid() {
        for text in ["0", "2^21", "2^99", "2^", "-1", "many", "", "1.5"] {
            assert_eq!(
                resolve(&[("nodes", text)]).unwrap_err(),
                format!("`{text}` is not a value of --nodes; valid: 1 to 2^20")
            );
        }
        assert_eq!(
            resolve(&[("colour", "gren")]).unwrap_err(),
            "`gren` is not a value of --colour (did you mean `green`?); valid: red|green"
        );
    }

    #[test]
    fn unknown_parameters_are_refused_with_the_nearest_name() {
        assert_eq!(
            resolve(&[("node", "1")]).unwrap_err(),
            "paint has no parameter `node` (did you mean `nodes`?); valid: nodes, colour, depth, file, ink"
        );
    }

    #[test]
    fn decimals_are_kept_in_hundredths() {
        let depth = |text| resolve(&[("colour", "green"), ("depth", text)]);
        for (text, hundredths, shown) in
            [("0.5", 50, "0.5"), ("2", 200, "2"), ("0.25", 25, "0.25"), ("1.05", 105, "1.05")]
        {
            let arguments = depth(text).unwrap();
            assert_eq!(arguments.hundredths("depth"), hundredths);
            assert_eq!(
                arguments.as_options(),
                format!(" --nodes 2^12 --colour green --depth {shown}")
            );
        }
        for text in ["0.24", "2.01", "0.333", ".5", "1.", "-1", "+1", "1e0", "0.+5", ""] {
            assert_eq!(
                depth(text).unwrap_err(),
                format!("`{text}` is not a value of --depth; valid: 0.25 to 2")
            );
        }
    }

    #[test]
    fn options_name_every_value_that_says_anything_and_resolve_to_themselves() {
        for (given, options) in [
            (
                &[("nodes", "4096"), ("colour", "green")][..],
                " --nodes 2^12 --colour green --depth 0.5",
            ),
            (&[("nodes", "1000"), ("file", "none")], " --nodes 1000 --colour red"),
            (&[("file", "a/b-1.mtx.gz")], " --file a/b-1.mtx.gz --ink green"),
            (&[("file", "it's mine.el")], r" --file 'it'\''s mine.el' --ink green"),
        ] {
            assert_eq!(resolve(given).unwrap().as_options(), options);
        }
        let arguments = resolve(&[("file", "it's mine.el")]).unwrap();
        assert_eq!(arguments.path("file"), Some(Path::new("it's mine.el")));
        assert_eq!(resolve(&[]).unwrap().path("file"), None);
    }

    #[test]
    fn what_would_say_nothing_is_refused() {
        let refusal = |given: &[(&str, &str)]| resolve(given).unwrap_err();
        let file = ("file", "a.mtx");
        for (given, message) in [
            (&[file, ("nodes", "1")][..], "--nodes cannot be given here; valid: not with --file"),
            (&[file, ("colour", "red")], "--colour cannot be given here; valid: not with --file"),
            (&[file, ("depth", "1")], "--depth cannot be given here; valid: not with --file"),
            (&[("ink", "red")], "--ink cannot be given here; valid: only with --file"),
            (&[("depth", "1")], "--depth cannot be given here; valid: only with --colour green"),
        ] {
            assert_eq!(refusal(given), message);
        }
        assert_eq!(refusal(&[("file", "")]), "`` is not a value of --file; valid: a path");
    }

    #[test]
    fn descriptions_say_when_a_parameter_applies() {
        let described: Vec<String> = PARAMETERS.iter().map(Parameter::description).collect();
        assert_eq!(
            described,
            [
                "Vertices; not with --file",
                "Colour; not with --file",
                "Depth; only with --colour green",
                "File",
                "Colour; only with --file"
            ]
        );
    }

    #[test]
    fn notes_are_kept_in_order() {
        let arguments = resolve(&[]).unwrap();
        arguments.note("one".to_owned());
        arguments.note("two".to_owned());
        assert_eq!(arguments.into_notes(), ["one", "two"]);
    }
}
