//! The TOML file of a style, and its errors.

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use toml::de::DeTable;
use warpmem_chart::Font;

/// Widths of charts that can be printed, inches.
const WIDTHS: std::ops::RangeInclusive<f64> = 1.5..=24.0;

/// A style file that was read.
#[derive(Clone, Debug)]
pub struct StyleFile {
    path: PathBuf,
    text: String,
    pub content: Content,
    pub font: Option<Font>,
}

/// The keys of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Content {
    /// Font family of text in charts.
    pub font: Option<String>,
    /// File of the font, relative to the style file.
    pub font_file: Option<PathBuf>,
    /// Widths of charts in files, inches.
    pub column_width: Option<f64>,
    pub page_width: Option<f64>,
    pub policies: Names,
    pub workloads: Names,
}

/// Names of policies or of workloads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Names {
    /// Names shown, in this order; all if empty.
    pub show: Vec<String>,
    /// Names that come first, in this order.
    pub order: Vec<String>,
    /// Labels by name.
    pub labels: BTreeMap<String, String>,
    /// Colours by name, `#rrggbb`; of policies only.
    pub colours: BTreeMap<String, String>,
}

/// Kind of the names in a table of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Policies,
    Workloads,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::Policies => "policies",
            Table::Workloads => "workloads",
        })
    }
}

impl StyleFile {
    /// Reads a style.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or has an unknown key or an invalid value: file,
    /// line and key.
    pub fn read(path: &Path) -> anyhow::Result<StyleFile> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("failed to read the style {}", path.display()))?;
        let content: Content = toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            anyhow!("{}:{}: {}", path.display(), line(&text, at), error.message())
        })?;
        let mut file = StyleFile { path: path.to_owned(), text, content, font: None };
        file.check()?;
        file.font = file.font()?;
        Ok(file)
    }

    fn check(&self) -> anyhow::Result<()> {
        let Content { column_width, page_width, policies, workloads, .. } = &self.content;
        for (key, width) in [("column_width", column_width), ("page_width", page_width)] {
            if let Some(width) = width.filter(|width| !WIDTHS.contains(width)) {
                let (least, most) = (WIDTHS.start(), WIDTHS.end());
                let what = format!("expected {least} to {most} inches, found {width}");
                return Err(self.error(&[key], &what));
            }
        }
        if let Some(name) = workloads.colours.keys().next() {
            let keys = ["workloads", "colours", name];
            return Err(self.error(&keys, "only policies have colours"));
        }
        for (name, colour) in &policies.colours {
            if !is_colour(colour) {
                let what = format!("expected a colour as `#0072b2`, found `{colour}`");
                return Err(self.error(&["policies", "colours", name], &what));
            }
        }
        Ok(())
    }

    fn font(&self) -> anyhow::Result<Option<Font>> {
        let Content { font, font_file, .. } = &self.content;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        match (font, font_file) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                Err(self.error(&["font_file"], "the file names the font: remove `font`"))
            }
            (None, Some(file)) => Font::of_file(&folder.join(file))
                .map(Some)
                .map_err(|error| self.error(&["font_file"], &error.to_string())),
            (Some(family), None) => Font::installed(family).map(Some).map_err(|error| {
                self.error(&["font"], &format!("{error}; `font_file` names the file of a font"))
            }),
        }
    }

    /// Composes an error about the value of a key.
    pub fn error(&self, keys: &[&str], what: &str) -> anyhow::Error {
        anyhow!("{}: {what}", self.place(keys))
    }

    /// Describes the place of a key: `style.toml:7: policies.colours.fcfs`.
    pub fn place(&self, keys: &[&str]) -> String {
        let line = self.line(keys).map_or_else(String::new, |line| format!(":{line}"));
        format!("{}{line}: {}", self.path.display(), keys.join("."))
    }

    fn line(&self, keys: &[&str]) -> Option<usize> {
        let table = DeTable::parse(&self.text).ok()?;
        let (last, before) = keys.split_last()?;
        let inner = before.iter().try_fold(table.get_ref(), |table, key| {
            table.get(*key).and_then(|value| value.get_ref().as_table())
        })?;
        let (key, _) = inner.get_key_value(*last)?;
        Some(line(&self.text, key.span().start))
    }

    pub fn names(&self, table: Table) -> &Names {
        match table {
            Table::Policies => &self.content.policies,
            Table::Workloads => &self.content.workloads,
        }
    }
}

/// Returns the line of a byte of the text, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

fn is_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Fails if two names have the same label.
pub fn check_labels(labels: &[(String, String)]) -> anyhow::Result<()> {
    for (at, (name, label)) in labels.iter().enumerate() {
        if let Some((other, _)) = labels[..at].iter().find(|(_, known)| known == label) {
            bail!("`{other}` and `{name}` have the same label, `{label}`");
        }
    }
    Ok(())
}
