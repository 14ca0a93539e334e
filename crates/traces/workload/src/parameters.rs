//! Parameters of a generator, and their values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::WorkloadError;
use crate::shell::quoted;
use warpmem_params::{DefaultValue, Kind, Param, Value, Whole, nearest};
use warpmem_support::files::claims::is_same;

pub use warpmem_params::Choice;

/// A parameter of a generator; on the command line `--name value`.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    param: Param,
    applies: Applies,
}

/// Condition under which a parameter applies; otherwise giving it is an error.
#[derive(Clone, Copy, Debug)]
enum Applies {
    Always,
    /// The path parameter of this name is given.
    Given(&'static str),
    /// The path parameter of this name is not given.
    NotGiven(&'static str),
    /// The choice of this name applies and is one of these.
    Chosen(&'static str, &'static [&'static str]),
}

/// Displayed in place of an absent path.
const NONE: &str = "none";

impl Parameter {
    /// Declares a whole number from `min` to `max`; `unit` is plural, or `-`.
    pub const fn count(
        name: &'static str,
        default: u64,
        (min, max): (u64, u64),
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        let kind = Kind::Whole(Whole { min, max });
        Parameter::always(name, kind, Value::Whole(default), unit, summary)
    }

    /// Declares a number with up to two decimal places from `min` to `max`, all in hundredths.
    pub const fn decimal(
        name: &'static str,
        default: u64,
        (min, max): (u64, u64),
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        let kind = Kind::Hundredths(Whole { min, max });
        Parameter::always(name, kind, Value::Hundredths(default), unit, summary)
    }

    /// Declares a choice among the names of `C`.
    pub const fn choice<C: Choice>(
        name: &'static str,
        default: &'static str,
        summary: &'static str,
    ) -> Parameter {
        Parameter::always(name, Kind::Choice(C::names), Value::Name(default), "-", summary)
    }

    /// Declares an input file; none by default.
    pub const fn path(name: &'static str, summary: &'static str) -> Parameter {
        Parameter::always(name, Kind::Text("a path"), Value::Text(NONE), "-", summary)
    }

    /// Declares a boolean; false by default.
    pub const fn flag(name: &'static str, summary: &'static str) -> Parameter {
        Parameter::always(name, Kind::Flag, Value::Flag(false), "-", summary)
    }

    const fn always(
        name: &'static str,
        kind: Kind,
        default: Value<'static>,
        unit: &'static str,
        summary: &'static str,
    ) -> Parameter {
        let default = DefaultValue::Value(default);
        let param = Param { name, kind, default, zero: None, unit, summary };
        Parameter { param, applies: Applies::Always }
    }

    /// Restricts the parameter to runs in which the path `path` is given.
    pub const fn only_given(self, path: &'static str) -> Parameter {
        Parameter { applies: Applies::Given(path), ..self }
    }

    /// Restricts the parameter to runs in which the path `path` is not given.
    pub const fn unless_given(self, path: &'static str) -> Parameter {
        Parameter { applies: Applies::NotGiven(path), ..self }
    }

    /// Restricts the parameter to runs in which the choice `choice` applies and is one of `names`.
    pub const fn only_with(
        self,
        choice: &'static str,
        names: &'static [&'static str],
    ) -> Parameter {
        Parameter { applies: Applies::Chosen(choice, names), ..self }
    }

    pub fn name(&self) -> &'static str {
        self.param.name
    }

    fn default_value(&self) -> Value<'static> {
        match self.param.default {
            DefaultValue::Value(value) => value,
            DefaultValue::None | DefaultValue::Machine(_) => unreachable!("all have a value"),
        }
    }

    /// Returns the default in command-line notation.
    pub fn default(&self) -> String {
        show(self.default_value())
    }

    /// Returns the valid values for messages.
    pub fn range(&self) -> String {
        match self.param.kind {
            Kind::Whole(Whole { min, max }) => {
                format!("{} to {}", show_count(min), show_count(max))
            }
            Kind::Choice(names) => names().join("|"),
            Kind::Flag => "false|true".to_owned(),
            kind => kind.to_string(),
        }
    }

    /// Returns the unit of the value, or `-`.
    pub fn unit(&self) -> &'static str {
        self.param.unit
    }

    /// Returns the names of a choice; empty for other parameters.
    pub fn choices(&self) -> Vec<&'static str> {
        self.param.kind.names()
    }

    /// Returns whether the value is the path of a file.
    pub fn is_path(&self) -> bool {
        matches!(self.param.kind, Kind::Text(_))
    }

    /// Returns whether the value is a boolean.
    pub fn is_flag(&self) -> bool {
        matches!(self.param.kind, Kind::Flag)
    }

    /// Returns the summary and the condition in one line.
    pub fn description(&self) -> String {
        match self.condition() {
            Some(condition) => format!("{}; {condition}", self.param.summary),
            None => self.param.summary.to_owned(),
        }
    }

    /// Returns the condition as text; `None` if the parameter always applies.
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

    fn parse<'a>(&self, text: &'a str) -> Result<Value<'a>, WorkloadError> {
        self.param.kind.parse(text).ok_or_else(|| WorkloadError::BadValue {
            parameter: self.param.name,
            value: text.to_owned(),
            nearest: nearest(text, self.choices().into_iter()),
            valid: self.range(),
        })
    }
}

/// Formats powers of two from 1024 on as `2^k`, anything else in decimal.
pub fn show_count(n: u64) -> String {
    if n >= 1024 && n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { n.to_string() }
}

/// A parameter and its value.
#[derive(Debug)]
struct Argument {
    parameter: Parameter,
    /// Valid value in command-line notation.
    text: String,
}

impl Argument {
    fn value(&self) -> Value<'_> {
        self.parameter.param.kind.parse(&self.text).expect("it was checked")
    }

    /// Returns the value of a path that is given.
    fn path(&self) -> Option<&Path> {
        match self.value() {
            Value::Text(path) if path != NONE => Some(Path::new(path)),
            _ => None,
        }
    }
}

/// A value for every parameter of a generator: given or default.
#[derive(Debug)]
pub struct Arguments {
    values: Vec<Argument>,
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
        let names = || parameters().map(Parameter::name);
        if let Some(unknown) = given.keys().find(|key| !names().any(|name| name == *key)) {
            return Err(WorkloadError::UnknownParameter {
                generator,
                name: unknown.clone(),
                nearest: nearest(unknown, names()),
                valid: names().collect::<Vec<_>>().join(", "),
            });
        }
        let argument = |&parameter: &Parameter| {
            let text = match given.get(parameter.name()) {
                Some(text) => show(parameter.parse(text)?),
                None => parameter.default(),
            };
            Ok(Argument { parameter, text })
        };
        let values = parameters().map(argument).collect::<Result<_, WorkloadError>>()?;
        let arguments = Arguments { values, notes: RefCell::default() };
        match parameters().find(|p| given.contains_key(p.name()) && !arguments.applies(p)) {
            Some(idle) => Err(arguments.refuse_idle(idle)),
            None => Ok(arguments),
        }
    }

    /// Returns whether `parameter` applies given the other values.
    fn applies(&self, parameter: &Parameter) -> bool {
        match parameter.applies {
            Applies::Always => true,
            Applies::Given(path) => self.path(path).is_some(),
            Applies::NotGiven(path) => self.path(path).is_none(),
            Applies::Chosen(name, names) => {
                let choice = self.argument(name);
                self.applies(&choice.parameter) && names.contains(&choice.text.as_str())
            }
        }
    }

    fn refuse_idle(&self, parameter: &Parameter) -> WorkloadError {
        // If a choice does not apply, its reason also explains the parameters that depend on it.
        let reason = match parameter.applies {
            Applies::Chosen(choice, _) if !self.applies(&self.argument(choice).parameter) => {
                self.argument(choice).parameter.condition()
            }
            _ => parameter.condition(),
        };
        let when = reason.unwrap_or_default();
        WorkloadError::Inconsistent {
            message: format!("--{} cannot be given here; valid: {when}", parameter.name()),
        }
    }

    /// Returns the number `name`, which the generator must have declared.
    pub fn count(&self, name: &str) -> u64 {
        match self.argument(name).value() {
            Value::Whole(number) => number,
            _ => panic!("parameter `{name}` is not a whole number"),
        }
    }

    /// As [`Arguments::count`], for numbers whose declared maximum fits 32 bits.
    pub fn count32(&self, name: &str) -> u32 {
        u32::try_from(self.count(name)).expect("the declared maximum fits 32 bits")
    }

    /// Returns the decimal number `name` in hundredths, which the generator must have declared.
    pub fn hundredths(&self, name: &str) -> u64 {
        match self.argument(name).value() {
            Value::Hundredths(number) => number,
            _ => panic!("parameter `{name}` is not a decimal number"),
        }
    }

    /// Returns the choice `name`, which the generator must have declared as a choice of `C`.
    pub fn choice<C: Choice>(&self, name: &str) -> C {
        C::named(&self.argument(name).text)
            .unwrap_or_else(|| panic!("parameter `{name}` is not this choice"))
    }

    /// Returns the flag `name`, which the generator must have declared.
    pub fn flag(&self, name: &str) -> bool {
        match self.argument(name).value() {
            Value::Flag(flag) => flag,
            _ => panic!("parameter `{name}` is not a flag"),
        }
    }

    /// Returns the path `name`, if given; the generator must have declared it.
    pub fn path(&self, name: &str) -> Option<&Path> {
        let argument = self.argument(name);
        assert!(argument.parameter.is_path(), "parameter `{name}` is not a path");
        argument.path()
    }

    /// Returns whether `file` is among the paths.
    pub fn names(&self, file: &Path) -> bool {
        let paths = self.values.iter().filter_map(Argument::path);
        paths.into_iter().any(|path| is_same(path, file))
    }

    fn argument(&self, name: &str) -> &Argument {
        let found = self.values.iter().find(|argument| argument.parameter.name() == name);
        found.unwrap_or_else(|| panic!("parameter `{name}` is not declared"))
    }

    /// Formats all applicable values as command-line options in order of declaration.
    pub fn as_options(&self) -> String {
        let mut line = String::new();
        for argument @ Argument { parameter, text } in &self.values {
            let says_anything = !parameter.is_path() || argument.path().is_some();
            if self.applies(parameter) && says_anything {
                let text = quoted(text);
                write!(line, " --{} {text}", parameter.name()).expect("a string takes any text");
            }
        }
        line
    }

    /// Stores a note for the user.
    pub fn note(&self, note: String) {
        self.notes.borrow_mut().push(note);
    }

    /// Returns the notes.
    pub fn into_notes(self) -> Vec<String> {
        self.notes.into_inner()
    }
}

/// Formats a value in command-line notation.
fn show(value: Value<'_>) -> String {
    match value {
        Value::Whole(number) => show_count(number),
        other => other.to_string(),
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
    fn missing_parameters_have_their_defaults() {
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
    fn bad_values_are_refused_with_the_valid_ones() {
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
    fn options_round_trip() {
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
    fn inapplicable_parameters_are_refused() {
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
    fn descriptions_state_when_a_parameter_applies() {
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
