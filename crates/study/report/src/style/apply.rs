//! The names of a style file, applied to those of the results.

use super::file::{StyleFile, Table, check_labels};
use crate::palette;
use cpp_demangle::{DemangleOptions, Symbol};
use polars::prelude::*;
use std::collections::HashMap;
use warpmem_analysis::polars;
use warpmem_chart::{Look, Style};
use warpmem_params::nearest;

/// The shown names of a column in their order, with their labels.
#[derive(Clone, Debug)]
pub struct Naming {
    pub names: Vec<String>,
    labels: HashMap<String, String>,
    /// Whether the style determines the order.
    pub is_ordered: bool,
}

impl Naming {
    /// Keeps all names as they are, but mangled ones of kernels readable.
    fn plain(names: Vec<String>) -> Naming {
        let labels = demangled(&names);
        Naming { names, labels, is_ordered: false }
    }

    pub fn label(&self, name: &str) -> String {
        self.labels.get(name).cloned().unwrap_or_else(|| name.to_owned())
    }

    /// Returns the labels of the shown names.
    pub fn labelled(&self) -> Vec<String> {
        self.names.iter().map(|name| self.label(name)).collect()
    }

    /// Returns an expression that replaces the names in a column by their labels.
    pub fn renamed(&self, column: &str) -> Expr {
        let own = self.labels.iter().fold(col(column), |other, (name, label)| {
            when(col(column).eq(lit(name.as_str()))).then(lit(label.as_str())).otherwise(other)
        });
        own.alias(column)
    }
}

/// A style file, applied to results; without one, everything as it is.
#[derive(Clone, Copy)]
pub struct Selection<'a> {
    pub file: Option<&'a StyleFile>,
}

impl Selection<'_> {
    /// Selects and labels names; `notes` takes those that the file names in vain.
    ///
    /// # Errors
    /// If a name to show does not exist, or if labels are equal.
    pub fn naming(
        &self,
        table: Table,
        names: Vec<String>,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Naming> {
        let Some(file) = self.file else { return Ok(Naming::plain(names)) };
        let style = file.names(table);
        let mut shown = Vec::new();
        for name in &style.show {
            let found = find(name, &names).ok_or_else(|| absent(file, table, name, &names))?;
            shown.push(found.clone());
        }
        if shown.is_empty() {
            shown.clone_from(&names);
        }
        let first = known(file, table, "order", style.order.iter(), &names, notes);
        shown.sort_by_key(|name| {
            first.iter().position(|(_, other)| other == name).unwrap_or(first.len())
        });
        shown.dedup();
        let labels = known(file, table, "labels", style.labels.keys(), &names, notes);
        let given = labels.into_iter().map(|(key, name)| (name, style.labels[&key].clone()));
        let labels = demangled(&names).into_iter().chain(given);
        let is_ordered = !style.show.is_empty() || !style.order.is_empty();
        let naming = Naming { names: shown, labels: labels.collect(), is_ordered };
        let pairs: Vec<(String, String)> =
            naming.names.iter().cloned().zip(naming.labelled()).collect();
        let key = table.to_string();
        check_labels(&pairs).map_err(|error| file.error(&[&key], &error.to_string()))?;
        Ok(naming)
    }

    /// Returns the appearance of charts with these policies.
    pub fn style(&self, policies: &Naming, notes: &mut Vec<String>) -> Style {
        let usual = palette::looks(&policies.names);
        let mut looks: HashMap<String, Look> = usual.into_iter().collect();
        let Some(file) = self.file else {
            return Style { looks: looks.into_iter().collect(), ..Style::default() };
        };
        let colours = &file.names(Table::Policies).colours;
        let keys = colours.keys();
        for (key, name) in known(file, Table::Policies, "colours", keys, &policies.names, notes) {
            if let Some(look) = looks.remove(&name) {
                looks.insert(name, look.coloured(colours[&key].to_ascii_lowercase()));
            }
        }
        Style {
            looks: looks.into_iter().map(|(name, look)| (policies.label(&name), look)).collect(),
            font: file.font.clone(),
            column: file.content.column_width,
            page: file.content.page_width,
        }
    }
}

/// Returns the keys that name something, each with its full name; `notes` takes the others.
fn known<'a>(
    file: &StyleFile,
    table: Table,
    key: &str,
    given: impl Iterator<Item = &'a String>,
    names: &[String],
    notes: &mut Vec<String>,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in given {
        match find(name, names) {
            Some(full) => found.push((name.clone(), full.clone())),
            None => {
                let table = table.to_string();
                let place = match key {
                    "order" => file.place(&[&table, key]),
                    key => file.place(&[&table, key, name]),
                };
                notes.push(format!("{place}: the results have no `{name}`"));
            }
        }
    }
    found
}

/// Returns the labels of names that a C++ compiler mangled: the function and its template arguments;
/// with its parameters if another one has the same label.
fn demangled(names: &[String]) -> HashMap<String, String> {
    let readable = |name: &String, options: &DemangleOptions| {
        let symbol = Symbol::new(name.strip_prefix("_Z").map(|_| name.as_str())?).ok()?;
        symbol.demangle_with_options(options).ok()
    };
    let short = DemangleOptions::new().no_params().no_return_type();
    let label = |name: &String| readable(name, &short).unwrap_or_else(|| name.clone());
    let labels: Vec<String> = names.iter().map(label).collect();
    let is_unique = |label: &String| labels.iter().filter(|other| *other == label).count() == 1;
    let own = |(name, label): (&String, &String)| {
        let label = match is_unique(label) {
            true => label.clone(),
            false => readable(name, &DemangleOptions::new()).unwrap_or_else(|| name.clone()),
        };
        (label != *name).then(|| (name.clone(), label))
    };
    names.iter().zip(&labels).filter_map(own).collect()
}

/// Finds a name as it is spelled or, if a single one has it, without its parameters.
fn find<'a>(name: &str, names: &'a [String]) -> Option<&'a String> {
    let exact = names.iter().find(|known| *known == name);
    exact.or_else(|| {
        let mut bare = names.iter().filter(|known| palette::bare(known) == name);
        bare.next().filter(|_| bare.next().is_none())
    })
}

fn absent(file: &StyleFile, table: Table, name: &str, names: &[String]) -> anyhow::Error {
    let near = nearest(name, names.iter().map(String::as_str));
    let meant = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    let what = format!("the results have no `{name}`{meant}; they have {}", names.join(", "));
    file.error(&[&table.to_string(), "show"], &what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_readable_and_stay_different() {
        let names =
            ["_Z6vecaddPKfS0_Pfi", "_Z4scanIfEvPT_", "_Z3addPf", "_Z3addPd", "gather", "_Zx"];
        let labels = demangled(&names.map(str::to_owned));
        let label = |name: &str| labels.get(name).map(String::as_str);
        let expected = [
            Some("vecadd"),
            Some("scan<float>"),
            Some("add(float*)"),
            Some("add(double*)"),
            None,
            None,
        ];
        assert_eq!(names.map(label), expected);
    }
}
