//! The calibrated machine as a file: the text of the base with other values, each with its origin.

use std::fmt::Write as _;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// Reason why no file can be written.
#[derive(Debug, thiserror::Error)]
pub enum MachineFileError {
    #[error("the base is not TOML")]
    Syntax(#[from] toml_edit::TomlError),
    #[error("`{key}` cannot be set: `{part}` is not a table in the base")]
    NoTable { key: String, part: String },
}

/// Returns the text of the base machine under another name, with `values` by key, each with the
/// comment `c: origin`. Other comments stay.
///
/// # Errors
/// If the base is not a machine file.
pub fn calibrated_text(
    base: &str,
    name: &str,
    values: &[(String, toml::Value)],
    origin: &str,
) -> Result<String, MachineFileError> {
    let mut document: DocumentMut = base.parse()?;
    let keeps_name = document.get("name").is_none() && document.get("base").is_some();
    if !keeps_name {
        set_name(&mut document, name);
    }
    for (key, value) in values {
        set(&mut document, key, value, origin)?;
    }
    Ok(document.to_string())
}

/// Sets the name, and keeps the comment and blank lines around it.
fn set_name(document: &mut DocumentMut, name: &str) {
    match document.get_mut("name").and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = name.into();
            *old.decor_mut() = decor;
        }
        None => document["name"] = toml_edit::value(name),
    }
}

fn set(
    document: &mut DocumentMut,
    key: &str,
    value: &toml::Value,
    origin: &str,
) -> Result<(), MachineFileError> {
    let parts: Vec<&str> = key.split('.').collect();
    let (last, tables) = parts.split_last().expect("a key is not empty");
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (at, part) in tables.iter().enumerate() {
        let item = table.entry(part).or_insert_with(|| Item::Table(implicit_table()));
        if item.is_inline_table() {
            let within = parts[at + 1..].join(".");
            let inline = item.as_value_mut().expect("an inline table is a value");
            return set_inline(inline, &within, value, origin).ok_or_else(|| no_table(key, part));
        }
        table = item.as_table_like_mut().ok_or_else(|| no_table(key, part))?;
    }
    let mut value = edited(value);
    value.decor_mut().set_suffix(format!(" # c: {origin}"));
    match table.get_mut(last) {
        Some(item) => *item = Item::Value(value),
        None => drop(table.insert(last, Item::Value(value))),
    }
    Ok(())
}

fn no_table(key: &str, part: &str) -> MachineFileError {
    MachineFileError::NoTable { key: key.to_owned(), part: part.to_owned() }
}

/// A table whose heading appears only if it has values.
fn implicit_table() -> Table {
    let mut table = Table::new();
    table.set_implicit(true);
    table
}

/// Sets a value of an inline table, whose line ends with one comment for all its values.
fn set_inline(inline: &mut Value, key: &str, value: &toml::Value, origin: &str) -> Option<()> {
    let old = inline.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or("").trim();
    let mut comment = format!(" # c ({key}): {origin}");
    let old = old.trim_start_matches('#').trim();
    if !old.is_empty() {
        write!(comment, "; {old}").expect("a string takes any text");
    }
    let table = inline.as_inline_table_mut()?;
    let mut new = edited(value);
    if let Some(before) = table.get(key) {
        *new.decor_mut() = before.decor().clone();
    }
    table.insert(key, new);
    inline.decor_mut().set_suffix(comment);
    Some(())
}

fn edited(value: &toml::Value) -> Value {
    value.to_string().parse().expect("a number, text, a flag or a list")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "# A machine\nname = \"one\" # p: its name\n\n[sm]\ncount = 4 # p: 4\n\n\
                        [sm.units]\ninteger = { latency = 2, interval = 1 } # p: both\n";

    fn text(base: &str, values: &[(&str, toml::Value)]) -> String {
        let values: Vec<_> = values.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        calibrated_text(base, "mine", &values, "12 points").unwrap()
    }

    #[test]
    fn values_are_replaced_with_their_origin() {
        let text = text(
            BASE,
            &[
                ("sm.count", 5.into()),
                ("sm.units.integer.latency", 3.into()),
                ("l1.map", "x".into()),
            ],
        );
        assert_eq!(
            text,
            "# A machine\nname = \"mine\" # p: its name\n\n[sm]\ncount = 5 # c: 12 points\n\n\
             [sm.units]\ninteger = { latency = 3, interval = 1 } # c (latency): 12 points; p: both\n\n\
             [l1]\nmap = \"x\" # c: 12 points\n"
        );
    }

    #[test]
    fn a_file_with_a_base_takes_its_name_from_the_file() {
        let text = text("base = \"v100\"\n", &[("l1.latency", 9.into())]);
        assert_eq!(text, "base = \"v100\"\n\n[l1]\nlatency = 9 # c: 12 points\n");
    }

    #[test]
    fn a_base_of_another_shape_is_refused() {
        let refused = |base: &str| {
            let values = [("sm.count".to_owned(), 5.into())];
            calibrated_text(base, "mine", &values, "").unwrap_err().to_string()
        };
        assert_eq!(
            refused("sm = 3\n"),
            "`sm.count` cannot be set: `sm` is not a table in the base"
        );
        assert_eq!(refused("sm = ["), "the base is not TOML");
    }
}
