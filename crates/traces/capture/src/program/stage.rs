//! The folder in which a program finds its CUDA runtime.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::CaptureError;

use super::stub;

/// File name of the runtime.
const RUNTIME: &str = "libwarpmem_cudart.so";

/// Library names by which programs request the runtime, one per CUDA release.
const RELEASES: [&str; 11] = [
    "libcudart.so.7.5",
    "libcudart.so.8.0",
    "libcudart.so.9.0",
    "libcudart.so.9.1",
    "libcudart.so.9.2",
    "libcudart.so.10.0",
    "libcudart.so.10.1",
    "libcudart.so.10.2",
    "libcudart.so.11.0",
    "libcudart.so.12",
    "libcudart.so.13",
];

/// Names without versioned symbols: the driver's, and those loaded with `dlopen`.
const PLAIN: [&str; 4] = ["libcudart.so", "libcuda.so", "libcuda.so.1", RUNTIME];

/// Variable of the directories that the loader searches first.
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

/// Variable of the libraries that the loader loads before a program's own.
const LOADED_FIRST: &str = "LD_PRELOAD";

/// Folder that holds the runtime under all names, and the socket.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// Creates the folder.
    ///
    /// # Errors
    /// When the runtime is missing, or the folder cannot be created.
    pub fn new(runtime: &Path) -> Result<Stage, CaptureError> {
        let failed =
            |source| CaptureError::File { action: "prepare", path: runtime.to_owned(), source };
        let runtime = fs::canonicalize(runtime).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("warpmem-").tempdir().map_err(failed)?;
        fill(folder.path(), &runtime).map_err(failed)?;
        Ok(Stage { folder })
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Returns the variables to add to the program's environment, which depend on whether the program embeds
    /// a runtime.
    pub fn environment(&self, embeds_runtime: bool) -> Vec<(&'static str, OsString)> {
        let folder = self.folder.path().as_os_str();
        let mut variables = vec![
            (SEARCH_PATH, before(SEARCH_PATH, folder)),
            // Triton's search path of the driver.
            ("TRITON_LIBCUDA_PATH", folder.to_owned()),
            (crate::relay::SOCKET, self.socket().into_os_string()),
        ];
        if embeds_runtime {
            let runtime = self.folder.path().join(RUNTIME);
            variables.push((LOADED_FIRST, before(LOADED_FIRST, runtime.as_os_str())));
            variables.push((crate::relay::EMBEDDED_RUNTIME, "1".into()));
        }
        variables
    }
}

/// Prepends a path to the path list of an environment variable.
fn before(variable: &str, path: &OsStr) -> OsString {
    let mut paths = path.to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        paths.push(":");
        paths.push(others);
    }
    paths
}

fn fill(folder: &Path, runtime: &Path) -> io::Result<()> {
    for name in PLAIN {
        symlink(runtime, folder.join(name))?;
    }
    let machine = stub::machine(&fs::read(runtime)?)?;
    for name in RELEASES {
        fs::write(folder.join(name), stub::library(name, RUNTIME, machine)?)?;
    }
    Ok(())
}
