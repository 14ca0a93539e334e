//! The TOML file of a converted machine, with the option of each value.

use super::super::Machine;
use super::super::error::Origin;
use super::{Conversion, Mapped, file_name};
use std::fmt::Write;

impl Conversion {
    /// Returns a machine file with the origin of each value and a list of the options left out.
    pub fn to_toml(&self) -> String {
        let mut text = self.heading();
        for (table, lines) in self.tables() {
            _ = writeln!(text, "\n[{table}]\n{}", lines.join("\n"));
        }
        if !self.left_out.is_empty() {
            _ = writeln!(text, "\n# Options without a counterpart:");
        }
        for left in &self.left_out {
            let (option, line, reason) = (&left.option, self.line(&left.origin), left.reason);
            _ = writeln!(text, "# {option}{line}: {reason}");
        }
        text
    }

    /// Returns the tables in the order of the machine's keys, with their lines.
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
            "# The comment of each value is its option. Keys not listed have the values of {base}.\n\
             base = \"{base}\"\nname = {name:?}\ndescription = {description:?}\n"
        )
    }

    /// Returns the last value set for a key.
    fn value_of(&self, key: &str) -> Option<&Mapped> {
        self.values.iter().rev().find(|mapped| mapped.key == key)
    }

    /// Formats the line of a value, if the files give it.
    fn place(&self, mapped: &Mapped) -> String {
        mapped.origin.as_ref().map_or_else(String::new, |origin| self.line(origin))
    }

    /// Formats a line as ` (line 7)`, with the file unless it is the first.
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
