//! Manifest of the traces of a suite on disk.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{SuiteError, check_names, parse, read};

/// Traces and their names, as listed in a TOML file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, rename = "workload")]
    pub workloads: Vec<Listed>,
}

/// A listed trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Name in tables.
    pub name: String,
    /// Path relative to the folder of the manifest.
    pub trace: PathBuf,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Command that made the trace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// Hash of the content, 16 hexadecimal digits. A trace with another hash is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

impl Manifest {
    /// Reads a manifest. The paths of its traces become relative to the working directory.
    ///
    /// # Errors
    /// If the file cannot be read, is not a manifest, or lists nothing.
    pub fn load(path: &Path) -> Result<Manifest, SuiteError> {
        let mut manifest = Manifest::from_text(&read(path)?, path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for workload in &mut manifest.workloads {
            workload.trace = folder.join(&workload.trace);
        }
        Ok(manifest)
    }

    fn from_text(text: &str, path: &Path) -> Result<Manifest, SuiteError> {
        let manifest: Manifest = parse(text, path, "list of traces")?;
        if manifest.workloads.is_empty() {
            return Err(SuiteError::Malformed {
                path: path.to_owned(),
                what: "list of traces",
                message: "there is no [[workload]] in it".to_owned(),
            });
        }
        check_names(manifest.workloads.iter().map(|w| w.name.as_str()), path)?;
        Ok(manifest)
    }

    /// Formats the text of the file.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("names, paths and numbers can be written as TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_read_back_with_relative_paths() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        let listed = Listed {
            name: "walk".to_owned(),
            trace: "sub/walk.wmt".into(),
            about: "A walk".to_owned(),
            command: "warpmem generate pointer-chase".to_owned(),
            trace_hash: Some("00000000000000ff".to_owned()),
            records: Some(3),
        };
        let written = Manifest { name: "mine".to_owned(), workloads: vec![listed.clone()] };
        std::fs::write(&path, written.to_text()).unwrap();
        let read = Manifest::load(&path).unwrap();
        assert_eq!(read.workloads[0].trace, folder.path().join("sub/walk.wmt"));
        assert_eq!(read.workloads[0].trace_hash, listed.trace_hash);
    }

    #[test]
    fn a_name_and_a_trace_are_enough() {
        let text = "[[workload]]\nname = 'a'\ntrace = 'x/a.wmt'\n";
        let manifest = Manifest::from_text(text, Path::new("m.toml")).unwrap();
        assert_eq!(manifest.workloads[0].trace, Path::new("x/a.wmt"));
    }

    #[test]
    fn empty_lists_and_unknown_entries_are_refused() {
        let refusal =
            |text| Manifest::from_text(text, Path::new("m.toml")).unwrap_err().to_string();
        assert_eq!(refusal(""), "m.toml is not a list of traces: there is no [[workload]] in it");
        assert!(
            refusal("[dram]\nchannels = 4")
                .starts_with("m.toml is not a list of traces: TOML parse error")
        );
        let twice = "[[workload]]\nname='a'\ntrace='a'\n[[workload]]\nname='a'\ntrace='b'";
        assert_eq!(refusal(twice), "m.toml: workload `a`: there are two of this name");
    }
}
