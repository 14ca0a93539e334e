//! Maps: the region, on two axes of a small kernel and its machine, in which a paper's gain
//! appears.
//!
//! The kernel is generated for every value of the axes that are its parameters, and replayed on the
//! paper's machine with every value of the axes that are settings.

use super::text::{text_values, texts};
use super::{Claim, Direction, Mean, Ours, Runs, Shown};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A map of a paper's gain in IPC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Description of the kernel, and of how the gain depends on the axes. One paragraph.
    pub about: String,
    /// Scheme whose IPC is compared, and the scheme that it is compared with.
    pub of: String,
    pub over: String,
    /// Generator of the kernel, and its parameters other than the axes.
    pub kernel: String,
    #[serde(default, deserialize_with = "text_values")]
    pub(super) parameters: BTreeMap<String, String>,
    /// Overrides of the machine in every run, `key=value`, required by a metric of the axes.
    #[serde(default)]
    pub(super) set: Vec<String>,
    pub across: Axis,
    pub up: Axis,
}

/// One of the two axes: either a parameter of the kernel or a setting of the machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Label with the unit.
    pub label: String,
    #[serde(default)]
    pub(super) parameter: Option<String>,
    #[serde(default)]
    pub(super) setting: Option<String>,
    /// Values of a parameter, ascending; a setting has its own values.
    #[serde(default, deserialize_with = "texts")]
    pub(super) values: Vec<String>,
    /// Values of a quick run, if it has fewer.
    #[serde(default, deserialize_with = "texts")]
    pub(super) quick: Vec<String>,
    /// SQL expression over the columns of `runs` under `over`: the position of a workload on the
    /// axis.
    #[serde(default)]
    pub metric: Option<String>,
    /// Machine key that gives the position, in place of `metric`.
    #[serde(default)]
    pub key: Option<String>,
}

/// A point of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Values on the axes.
    pub across: String,
    pub up: String,
    /// Kernel replayed at the point.
    pub workload: String,
}

impl Map {
    /// Names the kernel at these values, in characters that names may contain.
    pub(super) fn workload(&self, across: &str, up: &str) -> String {
        let axes = [(&self.across, across), (&self.up, up)];
        let parts = axes.into_iter().filter_map(|(axis, value)| {
            Some(format!("{}-{value}", axis.parameter.as_ref()?).replace('^', "p"))
        });
        [self.kernel.clone()].into_iter().chain(parts).collect::<Vec<_>>().join(".")
    }

    /// Formats the settings of a point, as in configurations: ` @ queue=16`.
    pub fn settings(&self, place: &Place) -> String {
        let axes = [(&self.across, &place.across), (&self.up, &place.up)];
        let parts = axes
            .into_iter()
            .filter_map(|(axis, value)| Some(format!("{}={value}", axis.setting.as_ref()?)));
        let settings = parts.collect::<Vec<_>>().join(" & ");
        if settings.is_empty() { settings } else { format!(" @ {settings}") }
    }

    /// Returns the gain with these settings.
    pub fn gain(&self, settings: &str) -> Runs {
        Runs {
            of: format!("{}{settings}", self.of),
            over: Some(format!("{}{settings}", self.over)),
            with: BTreeMap::new(),
            metric: "ipc_thread".to_owned(),
            value: None,
            classes: Vec::new(),
            than: None,
            mean: Mean::Arithmetic,
        }
    }

    pub(super) fn claim(&self, settings: &str) -> Claim {
        Claim {
            what: format!("{} over {}{settings}", self.of, self.over),
            source: String::new(),
            results: Vec::new(),
            published: None,
            range: None,
            text: None,
            headline: false,
            experiment: None,
            workload: None,
            each: None,
            detail: false,
            shown: Shown::Change,
            unit: String::new(),
            direction: Direction::Up,
            note: None,
            ours: Ours::Runs(self.gain(settings)),
        }
    }
}
