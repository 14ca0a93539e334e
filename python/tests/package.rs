//! Tests of the Python package from Python: the extension built here, and the Python files beside
//! it. They run if WARPMEM_PYTHON names a Python with polars and tqdm; if it also has nbclient,
//! ipykernel and matplotlib, the notebooks of the documentation are executed, and with mypy the types
//! are checked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the extension, which lies beside this test.
fn extension() -> PathBuf {
    let test = env::current_exe().unwrap();
    let name = format!("{}_warpmem{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    test.with_file_name(name)
}

/// Arranges the package as in an installation.
fn install(folder: &Path) {
    let package = folder.join("warpmem");
    fs::create_dir(&package).unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("warpmem");
    for file in fs::read_dir(sources).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "py") {
            fs::copy(&file, package.join(file.file_name().unwrap())).unwrap();
        }
    }
    fs::copy(extension(), package.join("_warpmem.abi3.so")).unwrap();
}

#[test]
#[allow(clippy::print_stdout)]
fn the_package_passes_its_tests() {
    let Some(python) = env::var_os("WARPMEM_PYTHON") else {
        println!("skipped: WARPMEM_PYTHON names no Python");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    install(folder.path());
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut unittest = Command::new(python);
    // Python looks for modules in its working directory first, where the package has no extension.
    unittest.current_dir(folder.path());
    unittest.args(["-m", "unittest", "discover", "--verbose", "--start-directory"]).arg(&tests);
    let ran =
        unittest.env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1").output();
    let ran = ran.unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{told}");
    told.lines().filter(|line| line.contains("... skipped ")).for_each(|line| println!("{line}"));
}
