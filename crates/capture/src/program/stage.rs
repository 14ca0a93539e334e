//! The folder in which a program finds its CUDA runtime.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::CaptureError;

use super::stub;

/// The runtime under its own name.
const RUNTIME: &str = "libwarpmem_cudart.so";

/// Names under which programs ask for the runtime: a release of CUDA has one.
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

/// Names without versions of symbols: those of the driver, and what is loaded by hand.
const PLAIN: [&str; 4] = ["libcudart.so", "libcuda.so", "libcuda.so.1", RUNTIME];

/// Where the loader looks for shared libraries first.
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

/// A folder with the runtime under all names, and the socket.
pub struct Stage {
    folder: TempDir,
}

impl Stage {
    /// # Errors
    /// When there is no such runtime, or the folder cannot be made.
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

    /// What the program's environment has beside this process's.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let mut path = self.folder.path().as_os_str().to_owned();
        if let Some(before) = std::env::var_os(SEARCH_PATH).filter(|path| !path.is_empty()) {
            path.push(":");
            path.push(before);
        }
        vec![
            (SEARCH_PATH, path),
            // Where Triton looks for the driver.
            ("TRITON_LIBCUDA_PATH", self.folder.path().as_os_str().to_owned()),
            (warpmem_relay::SOCKET, self.socket().into_os_string()),
        ]
    }
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
