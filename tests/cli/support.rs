//! Runs the program in a temporary directory.

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use warpmem::workload::{Progress, generate};

/// A temporary working directory.
pub struct Bench {
    dir: TempDir,
}

/// Outcome of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { dir: tempfile::tempdir().unwrap() }
    }

    /// Makes a directory with a trace of 8 CTAs, `small.wmt`.
    pub fn with_trace() -> Bench {
        let bench = Bench::new();
        bench.generate("vecadd", &[("n", "2^11")], "small.wmt");
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Generates a trace without the program.
    pub fn generate(&self, kernel: &str, parameters: &[(&str, &str)], name: &str) {
        let parameters: BTreeMap<String, String> =
            parameters.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect();
        let mut progress = |_: &Progress| ControlFlow::Continue(());
        generate(kernel, &parameters, 1, &self.path(name), &mut progress).unwrap();
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Prepares the program, without a terminal.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpmem"));
        command.args(arguments).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env_remove("COLUMNS").env_remove("RUST_BACKTRACE");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    /// Runs the program with files limited to 512 bytes (or 1 KiB, depending on the shell's unit).
    #[cfg(unix)]
    pub fn run_with_small_files(&self, arguments: &[&str]) -> Ran {
        let program = self.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]);
        shell.arg(program.get_program()).args(program.get_args()).current_dir(self.path(""));
        Ran::from(shell.output().unwrap())
    }

    /// Returns standard output of a run that must succeed.
    pub fn output(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status, Some(0), "{arguments:?}: {ran:?}");
        ran.stdout
    }

    /// Returns standard error of a run that must be refused with exit status 2 and empty standard
    /// output.
    pub fn refusal(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status, Some(2), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.starts_with("error: "), "{ran:?}");
        ran.stderr
    }

    /// Checks a refusal as [`Bench::refusal`] does, and that the message contains all of `parts`.
    pub fn refuses(&self, arguments: &[&str], parts: &[&str]) {
        let message = self.refusal(arguments);
        for part in parts {
            assert!(message.contains(part), "{arguments:?}: `{part}` is not in\n{message}");
        }
    }

    /// Returns the names of everything in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        names_in(self.dir.path())
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Returns the names in a directory, hidden ones included, sorted.
pub fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the repository's root.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
