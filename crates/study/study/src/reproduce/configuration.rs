//! Configurations by name: `+BLP @ min_warps=8 & banks=8` is a scheme with settings.

use super::text::texts;
use serde::Deserialize;
use std::collections::BTreeMap;
use warpmem_params::{did_you_mean, nearest};

/// An unknown name in a description.
#[derive(Debug, thiserror::Error)]
#[error("`{reference}`: no {what} `{name}`{}; there are {valid}", did_you_mean(.nearest.as_deref()))]
pub struct ConfigurationError {
    pub reference: String,
    /// Kind of name: a scheme, a setting, or a value of one.
    pub what: &'static str,
    pub name: String,
    pub nearest: Option<String>,
    pub valid: String,
}

/// A setting of the machine in addition to a scheme.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Overrides, `key=value` each; `{}` stands for the value.
    pub set: Vec<String>,
    /// Swept values; none if the setting is only on or off.
    #[serde(default, deserialize_with = "texts")]
    pub values: Vec<String>,
    /// Values of a quick run, if it has fewer.
    #[serde(default, deserialize_with = "texts")]
    pub(super) quick: Vec<String>,
    /// Axis label of a figure: the quantity and its unit.
    #[serde(default)]
    pub label: String,
}

impl Setting {
    /// Returns the setting's overrides for one of its values; none if it has no such value.
    fn overrides(&self, value: Option<&str>) -> Option<Vec<String>> {
        let is_known = match value {
            None => self.values.is_empty(),
            Some(value) => self.values.iter().any(|known| known == value),
        };
        let fill = |text: &String| text.replace("{}", value.unwrap_or(""));
        is_known.then(|| self.set.iter().map(fill).collect())
    }
}

/// A machine of the paper's experiments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Name as written in the description, with single blanks.
    pub name: String,
    /// Overrides of the paper's machine, `key=value` each, policies included. No key occurs twice.
    pub overrides: Vec<String>,
}

impl Configuration {
    /// Resolves the machine that `reference` names: a scheme, then `@` and settings separated by
    /// `&`. Later settings override earlier ones.
    ///
    /// # Errors
    /// If there is no such scheme or setting.
    pub(super) fn resolve(
        schemes: &BTreeMap<String, Vec<String>>,
        known: &BTreeMap<String, Setting>,
        reference: &str,
    ) -> Result<Configuration, ConfigurationError> {
        let (scheme, settings) = reference.split_once('@').unwrap_or((reference, ""));
        let scheme = scheme.trim();
        let settings: Vec<&str> = settings.split('&').map(str::trim).collect();
        let settings: Vec<&str> = settings.into_iter().filter(|name| !name.is_empty()).collect();
        let missing = |what, name: &str, valid: Vec<&str>| ConfigurationError {
            reference: reference.to_owned(),
            what,
            name: name.to_owned(),
            nearest: nearest(name, valid.iter().copied()).map(str::to_owned),
            valid: valid.join(", "),
        };
        let names = || schemes.keys().map(String::as_str).collect();
        let of_scheme = schemes.get(scheme);
        let mut overrides = of_scheme.ok_or_else(|| missing("scheme", scheme, names()))?.clone();
        for setting in &settings {
            let (name, value) = match setting.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (*setting, None),
            };
            let names = || known.keys().map(String::as_str).collect();
            let found = known.get(name).ok_or_else(|| missing("setting", name, names()))?;
            let values = || found.values.iter().map(String::as_str).collect();
            let of_setting = found.overrides(value);
            let of_setting =
                of_setting.ok_or_else(|| missing("value", value.unwrap_or(""), values()))?;
            of_setting.into_iter().for_each(|text| replace(&mut overrides, text));
        }
        let name = match settings.is_empty() {
            true => scheme.to_owned(),
            false => format!("{scheme} @ {}", settings.join(" & ")),
        };
        Ok(Configuration { name, overrides })
    }

    /// Adds one more `key=value`, which replaces another value of the key.
    pub fn with(mut self, text: String) -> Configuration {
        replace(&mut self.overrides, text);
        self
    }
}

/// Sets `key=value`, replacing another value of the key.
fn replace(overrides: &mut Vec<String>, text: String) {
    let key = |text: &str| text.split_once('=').map(|(key, _)| key.to_owned());
    overrides.retain(|other| key(other) != key(&text));
    overrides.push(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::Paper;

    fn paper() -> Paper {
        let text = r#"
            title = "T"
            machine = "li2015"
            [workloads]
            quick = ["vecadd"]
            [schemes]
            "A+B" = ["policy.warp_scheduler=lrr", "dram.read_queue=64"]
            [settings.queue]
            set = ["dram.read_queue={}"]
            values = [16, 128]
            [settings.wide]
            set = ["network.flit_bytes=64"]
        "#;
        Paper::from_text("t", text).unwrap()
    }

    fn resolve(reference: &str) -> Result<Configuration, ConfigurationError> {
        let paper = paper();
        Configuration::resolve(&paper.schemes, &paper.settings, reference)
    }

    fn overrides(reference: &str) -> Vec<String> {
        resolve(reference).unwrap().overrides
    }

    #[test]
    fn settings_override_their_scheme() {
        assert_eq!(overrides("A+B"), ["policy.warp_scheduler=lrr", "dram.read_queue=64"]);
        let both = ["policy.warp_scheduler=lrr", "dram.read_queue=16", "network.flit_bytes=64"];
        assert_eq!(overrides("A+B@queue=16&wide"), both);
        let name = resolve(" A+B@queue=16&wide ").unwrap().name;
        assert_eq!(name, "A+B @ queue=16 & wide");
    }

    #[test]
    fn unknown_name_error_lists_the_known_ones() {
        let refusal = |text| resolve(text).unwrap_err().to_string();
        assert_eq!(refusal("A-B"), "`A-B`: no scheme `A-B` (did you mean `A+B`?); there are A+B");
        let setting = refusal("A+B @ quene=16");
        assert!(setting.contains("no setting `quene` (did you mean `queue`?)"), "{setting}");
        let value = refusal("A+B @ queue=17");
        assert!(value.contains("no value `17`"), "{value}");
        assert!(refusal("A+B @ queue").contains("there are 16, 128"));
        assert!(refusal("A+B @ wide=1").contains("no value `1`"));
    }
}
