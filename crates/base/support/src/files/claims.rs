//! The files that a command reads and writes, and the rule that no output destroys another of them.
//!
//! An output is neither an input, nor another output, nor a file of a folder that is read or
//! written: not under its path, another spelling, a symbolic link or a hard link. Pipes and devices
//! have no content to lose and are exempt.

use super::destination::resolved;
use std::fmt;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// Whether a command reads or writes a file in a folder, given its path from there.
pub type Holds = fn(&Path) -> bool;

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub struct Claims {
    inputs: Vec<Claim>,
    outputs: Vec<Claim>,
}

#[derive(Debug)]
struct Claim {
    /// Name of the file in messages: the option and the path as given.
    name: String,
    place: Place,
    /// Files of a folder.
    holds: Option<Holds>,
}

/// An output that would destroy another file of the same command.
#[derive(Debug, PartialEq, Eq)]
pub struct Clash {
    output: String,
    other: String,
}

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} would overwrite {}; name another output", self.output, self.other)
    }
}

impl std::error::Error for Clash {}

impl Claims {
    /// Adds an input file; `option` names it in messages.
    pub fn read(&mut self, option: &str, path: &Path) {
        self.inputs.extend(Claim::of(option, path, None).filter(|claim| claim.place.exists()));
    }

    /// Adds an input folder of the files that it `holds`.
    pub fn read_folder(&mut self, option: &str, path: &Path, holds: Holds) {
        self.inputs.extend(Claim::of(option, path, Some(holds)));
    }

    /// Adds an output file.
    pub fn write(&mut self, option: &str, path: &Path) {
        self.outputs.extend(Claim::of(option, path, None));
    }

    /// Adds an output folder of the files that it `holds`.
    pub fn write_folder(&mut self, option: &str, path: &Path, holds: Holds) {
        self.outputs.extend(Claim::of(option, path, Some(holds)));
    }

    /// Refuses an output that is another file of the command.
    ///
    /// # Errors
    /// The first conflict, in the order of the outputs.
    pub fn check(&self) -> Result<(), Clash> {
        for (at, output) in self.outputs.iter().enumerate() {
            let inputs = self.inputs.iter().map(|input| (input, "the input"));
            let others = self.outputs[..at].iter().map(|other| (other, "the output"));
            for (other, kind) in inputs.chain(others) {
                output.check(other, kind)?;
            }
        }
        Ok(())
    }
}

impl Claim {
    /// Returns the claim; none for a pipe or a device.
    fn of(option: &str, path: &Path, holds: Option<Holds>) -> Option<Claim> {
        let name = format!("{option} {}", path.display());
        Some(Claim { name, place: Place::of(path)?, holds })
    }

    fn check(&self, other: &Claim, kind: &str) -> Result<(), Clash> {
        let is_within = other.holds(&self.place);
        if !is_within && !self.holds(&other.place) && !self.is_same(other) {
            return Ok(());
        }
        let part = if is_within { "a file of " } else { "" };
        let other = format!("{part}{kind} {}", other.name);
        Err(Clash { output: self.name.clone(), other })
    }

    /// Whether the claim includes the file or folder at `place`.
    fn holds(&self, place: &Place) -> bool {
        let Some(holds) = self.holds else { return false };
        match place.path.strip_prefix(&self.place.path) {
            Ok(within) if within.as_os_str().is_empty() => false,
            Ok(within) if holds(within) => true,
            _ => place.is_linked_from(&self.place.path, Path::new(""), holds),
        }
    }

    /// Two folders may be equal, as their files are compared.
    fn is_same(&self, other: &Claim) -> bool {
        let are_folders = self.holds.is_some() && other.holds.is_some();
        !are_folders && self.place.is_same(&other.place)
    }
}

/// Whether two paths lead to the same file, existing or not. Pipes and devices are never the same.
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (Place::of(a), Place::of(b)) {
        (Some(a), Some(b)) => a.is_same(&b),
        _ => false,
    }
}

/// The destination of a path.
#[derive(Debug)]
struct Place {
    /// Path without links.
    path: PathBuf,
    /// Identity of an existing file or folder.
    identity: Option<Identity>,
}

/// Device and inode of a file; empty on systems without them.
type Identity = Option<(u64, u64)>;

/// Levels of folders in a results directory.
const MAX_DEPTH: usize = 3;

impl Place {
    /// Returns the claim; none for a pipe or a device.
    fn of(path: &Path) -> Option<Place> {
        let found = fs::metadata(path).ok();
        if found.as_ref().is_some_and(|found| !found.is_file() && !found.is_dir()) {
            return None;
        }
        let identity = found.as_ref().map(identity);
        (!path.as_os_str().is_empty()).then(|| Place { path: resolved(path), identity })
    }

    fn exists(&self) -> bool {
        self.identity.is_some()
    }

    fn is_same(&self, other: &Place) -> bool {
        let [a, b] = [self.identity.flatten(), other.identity.flatten()];
        self.path == other.path || (a.is_some() && a == b)
    }

    /// Whether a file of the folder links here.
    fn is_linked_from(&self, folder: &Path, within: &Path, holds: Holds) -> bool {
        if !self.exists() || within.iter().count() >= MAX_DEPTH {
            return false;
        }
        let Ok(entries) = fs::read_dir(folder.join(within)) else { return false };
        entries.flatten().any(|entry| {
            let within = within.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match is_folder {
                true => holds(&within) && self.is_linked_from(folder, &within, holds),
                false => {
                    holds(&within) && Place::of(&entry.path()).is_some_and(|p| p.is_same(self))
                }
            }
        })
    }
}

#[cfg(unix)]
fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    /// Creates a folder with the files `in` and `tables/runs.parquet`.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("in"), "input").unwrap();
        fs::create_dir(folder.path().join("tables")).unwrap();
        fs::write(folder.path().join("tables/runs.parquet"), "table").unwrap();
        folder
    }

    fn is_table(within: &Path) -> bool {
        within.extension().is_some_and(|extension| extension == "parquet")
    }

    #[test]
    fn an_output_is_not_an_input_under_any_spelling() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        symlink("in", at("symbolic")).unwrap();
        fs::hard_link(at("in"), at("hard")).unwrap();
        let clash = |output: &str| {
            let mut claims = Claims::default();
            claims.read("IN", &at("in"));
            claims.write("--out", &at(output));
            claims.check().err().map(|clash| clash.to_string())
        };
        for output in ["in", "./in", "tables/../in", "symbolic", "hard"] {
            let (output_path, input) = (at(output), at("in"));
            let message = format!(
                "--out {} would overwrite the input IN {}; name another output",
                output_path.display(),
                input.display()
            );
            assert_eq!(clash(output), Some(message));
        }
        assert_eq!(clash("other"), None);
    }

    #[test]
    fn equal_outputs_are_refused_even_before_they_exist() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        symlink("new", at("link")).unwrap();
        for (one, other, is_refused) in
            [("new", "./new", true), ("new", "link", true), ("new", "newer", false)]
        {
            let mut claims = Claims::default();
            claims.write("-a", &at(one));
            claims.write("-b", &at(other));
            assert_eq!(claims.check().is_err(), is_refused, "{one} {other}");
        }
    }

    #[test]
    fn only_held_files_of_a_folder_conflict() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        symlink("tables/runs.parquet", at("link.json")).unwrap();
        fs::write(at("far"), "table").unwrap();
        symlink("../far", at("tables/far.parquet")).unwrap();
        type Add = fn(&mut Claims, &str, &Path, Holds);
        for add in [Claims::read_folder as Add, Claims::write_folder] {
            let is_refused = |output: &str| {
                let mut claims = Claims::default();
                add(&mut claims, "DIR", &at("tables"), is_table);
                claims.write("--out", &at(output));
                claims.check().is_err()
            };
            for output in ["tables/runs.parquet", "tables/new.parquet", "link.json", "far"] {
                assert!(is_refused(output), "{output}");
            }
            assert!(is_refused("tables"), "a file is not where a folder is");
            assert!(!is_refused("tables/report.html") && !is_refused("in"));
        }
    }

    #[test]
    fn an_output_folder_may_not_contain_an_input() {
        let folder = folder();
        let mut claims = Claims::default();
        claims.read("PLAN", &folder.path().join("tables/runs.parquet"));
        claims.write_folder("--output", &folder.path().join("tables"), is_table);
        let clash = claims.check().unwrap_err().to_string();
        assert!(clash.contains("would overwrite the input PLAN"), "{clash}");
    }

    #[test]
    fn missing_files_and_devices_never_conflict() {
        let mut claims = Claims::default();
        claims.read("IN", Path::new("none"));
        claims.write("-a", Path::new("none"));
        for option in ["-b", "-c"] {
            claims.read(option, Path::new("/dev/null"));
            claims.write(option, Path::new("/dev/null"));
        }
        assert_eq!(claims.check(), Ok(()));
        assert!(is_same(Path::new("none"), Path::new("./none")));
        assert!(!is_same(Path::new("/dev/null"), Path::new("/dev/null")));
    }
}
