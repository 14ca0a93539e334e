//! Tables of the files of a folder for build scripts, so that a new preset is one new file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Writes `TABLE.rs` for a crate to include: an array of the names and texts of the TOML files of
/// `folder`, a path in the crate, ordered by name. Cargo rebuilds the crate when the folder changes.
///
/// # Errors
/// A folder that cannot be read, or an output that cannot be written.
///
/// # Panics
/// Outside of a build script.
#[expect(clippy::print_stdout, reason = "Cargo reads what build scripts print")]
pub fn toml_files(folder: &str, table: &str) -> io::Result<()> {
    let variable = |name| env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"));
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let output = Path::new(&variable("OUT_DIR")).join(table).with_extension("rs");
    fs::write(output, table_of(&toml_files_of(&folder)?))
}

fn toml_files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension() == Some(OsStr::new("toml")));
    paths.sort();
    Ok(paths)
}

/// Returns the source of the array.
fn table_of(paths: &[PathBuf]) -> String {
    let entry = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        format!("    ({name:?}, include_str!({:?})),\n", path.display().to_string())
    };
    format!("[\n{}]\n", paths.iter().map(entry).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lists_the_toml_files_of_a_folder_by_name() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["b.toml", "a-1.toml", "notes.md"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let paths = toml_files_of(folder.path()).unwrap();
        let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a-1.toml", "b.toml"]);
    }

    #[test]
    fn an_entry_is_a_name_and_the_text_of_a_file() {
        let paths = ["/presets/v\"1.toml".into()];
        let table = "[\n    (\"v\\\"1\", include_str!(\"/presets/v\\\"1.toml\")),\n]\n";
        assert_eq!(table_of(&paths), table);
    }
}
