//! A converted machine as a TOML file, each value with its option.

use super::super::Machine;
use super::super::error::Origin;
use super::{Conversion, Mapped, file_name};
use std::fmt::Write;

impl Conversion {
    /// A machine file that says where each value comes from and lists the options left out.
    pub fn to_toml(&self) -> String {
        let mut text = self.heading();
        for (table, lines) in self.tables() {
            _ = writeln!(text, "\n[{table}]\n{}", lines.join("\n"));
        }
        if !self.left_out.is_empty() {
            _ = writeln!(text, "\n# Options that this machine does not have:");
        }
        for left in &self.left_out {
            let (option, line, reason) = (&left.option, self.line(&left.origin), left.reason);
            _ = writeln!(text, "# {option}{line}: {reason}");
        }
        text
    }

    /// Tables in the order of a machine's keys, each with its lines.
    fn tables(&self) -> Vec<(String, Vec<String>)> {
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        for key in Machine::keys() {
            let Some(mapped) = self.value_of(&key.path) else { continue };
            let Some((table, name)) = key.path.rsplit_once('.') else { continue };
            let (value, source) = (&mapped.value, &mapped.source);
            let line = format!("{name} = {value} # {source}{}", self.place(mapped));
            match tables.iter_mut().find(|(known, _)| known == table) {
                Some((_, lines)) => lines.push(line),
                None => tables.push((table.to_owned(), vec![line])),
            }
        }
        tables
    }

    fn heading(&self) -> String {
        let Conversion { base, name, description, .. } = self;
        format!(
            "# Each value has its option beside it. Keys that are not here have the values of {base}.\n\
             base = \"{base}\"\nname = {name:?}\ndescription = {description:?}\n"
        )
    }

    /// The value of a key: the last that was given to it.
    fn value_of(&self, key: &str) -> Option<&Mapped> {
        self.values.iter().rev().find(|mapped| mapped.key == key)
    }

    /// The line of a value, if the files give it.
    fn place(&self, mapped: &Mapped) -> String {
        mapped.origin.as_ref().map_or_else(String::new, |origin| self.line(origin))
    }

    /// ` (line 7)`, with the file unless it is the first.
    fn line(&self, origin: &Origin) -> String {
        match origin {
            Origin::File { path, line } if Some(path) == self.files.first() => {
                format!(" (line {line})")
            }
            Origin::File { path, line } => format!(" ({}, line {line})", file_name(path)),
            Origin::Override(_) => String::new(),
        }
    }
}
