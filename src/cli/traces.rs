//! Traces that a command is given.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use warpmem_trace::{Kernel, Trace, TraceError};

/// A trace and what it is called in tables.
pub struct NamedTrace {
    pub name: String,
    pub trace: Trace,
}

impl NamedTrace {
    /// Called after its file.
    pub fn open(path: &Path) -> Result<NamedTrace, TraceError> {
        Ok(NamedTrace { name: stem(path), trace: Trace::open(path)? })
    }

    /// Each called after its file, or by its whole path where two files have the same name.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<NamedTrace>, TraceError> {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for path in paths {
            *uses.entry(stem(path)).or_default() += 1;
        }
        let open = |path: &PathBuf| {
            let named = NamedTrace::open(path)?;
            let name = if uses[&named.name] > 1 { path.display().to_string() } else { named.name };
            Ok(NamedTrace { name, ..named })
        };
        paths.iter().map(open).collect()
    }

    pub fn ctas(&self) -> u64 {
        self.sum(|kernel| kernel.ctas.into())
    }

    pub fn warp_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.warp_instructions)
    }

    /// Sum over the kernels.
    pub fn sum(&self, of: impl Fn(&Kernel) -> u64) -> u64 {
        self.trace.kernels().iter().map(of).sum()
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
