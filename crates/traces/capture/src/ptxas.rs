//! Register counts as `ptxas` assigns them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::error::CaptureError;
use crate::module::PtxModule;

/// Returns the registers per thread of each kernel.
pub(crate) fn registers(
    program: &Path,
    module: &PtxModule,
) -> Result<BTreeMap<String, u32>, CaptureError> {
    let failed = |what: String| CaptureError::Ptxas { program: program.to_owned(), what };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let [source, output] = ["module.ptx", "module.cubin"].map(|name| folder.path().join(name));
    fs::write(&source, &module.text).map_err(|error| failed(error.to_string()))?;
    let target = module.module.target.split(',').next().unwrap_or_default();
    let run = Command::new(program)
        .arg("-v")
        .arg(format!("-arch={target}"))
        .arg(&source)
        .arg("-o")
        .arg(&output)
        .output();
    let run = run.map_err(|error| failed(error.to_string()))?;
    let said =
        String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    match run.status.success() {
        true => Ok(parse(&said)),
        false if said.trim().is_empty() => Err(failed(run.status.to_string())),
        false => Err(failed(said.trim().to_owned())),
    }
}

/// Parses `Compiling entry function 'k' for 'sm_75'` and the following `Used 24 registers`.
fn parse(said: &str) -> BTreeMap<String, u32> {
    let mut registers = BTreeMap::new();
    let mut kernel = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next();
        }
        let used =
            line.split_once("Used ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
        if let (Some(used), Some(kernel)) = (used, kernel) {
            registers.insert(kernel.to_owned(), used);
        }
    }
    registers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_parsed_from_the_output_of_ptxas() {
        let said = "ptxas info    : 0 bytes gmem\n\
                    ptxas info    : Compiling entry function 'a' for 'sm_75'\n\
                    ptxas info    : Function properties for a\n\
                    \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
                    ptxas info    : Used 24 registers, used 1 barriers, 4096 bytes smem\n\
                    ptxas info    : Compiling entry function 'b' for 'sm_75'\n\
                    ptxas info    : Used 8 registers, 380 bytes cmem[0]\n";
        let expected = [("a".to_owned(), 24), ("b".to_owned(), 8)];
        assert_eq!(parse(said), BTreeMap::from(expected));
    }
}
