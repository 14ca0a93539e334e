//! Listings of `cuobjdump -ptx`: the PTX of a program's fat binaries, each after a header.
//!
//! ```text
//!  Fatbin ptx code:
//!  ================
//!  arch = sm_75
//!  …
//!  .version 9.0
//!  …
//! ```

use std::collections::HashSet;
use std::ops::Range;

use crate::error::FatBinaryError;

const PTX: &str = "Fatbin ptx code:";
const CODE: &str = "Fatbin elf code:";

/// Extracts the PTX of a listing, keeping every line number: of the highest architecture not above `highest`,
/// plus the kernels that only lower architectures have. Returns text that is not a listing unchanged.
///
/// # Errors
/// When the listing has no such PTX.
pub fn ptx(text: String, highest: u32) -> Result<String, FatBinaryError> {
    let lines: Vec<&str> = text.lines().collect();
    if !lines.iter().any(|line| matches!(line.trim(), PTX | CODE)) {
        return Ok(text);
    }
    let sections = sections(&lines);
    let of = |is_ptx: bool| sections.iter().filter(move |section| section.is_ptx == is_ptx);
    let mut fitting: Vec<&Section<'_>> =
        of(true).filter(|section| section.architecture <= highest).collect();
    if fitting.is_empty() {
        let is_ptx = of(true).next().is_some();
        let architectures = of(is_ptx).map(|section| section.architecture).collect();
        return Err(match is_ptx {
            true => FatBinaryError::TooNew { architectures, highest },
            false => FatBinaryError::NoPtx { architectures },
        });
    }
    fitting.sort_by_key(|section| std::cmp::Reverse(section.architecture));
    let best = fitting[0].architecture;
    let mut kernels: HashSet<&str> = HashSet::new();
    let mut kept = vec![""; lines.len()];
    for section in fitting {
        let has_others = section.kernels.iter().any(|&kernel| !kernels.contains(kernel));
        if section.architecture == best || has_others {
            kernels.extend(&section.kernels);
            kept[section.lines.clone()].copy_from_slice(&lines[section.lines.clone()]);
        }
    }
    Ok(kept.join("\n"))
}

/// A fat binary's code for one architecture.
struct Section<'a> {
    is_ptx: bool,
    architecture: u32,
    kernels: Vec<&'a str>,
    /// Lines of the listing that hold its PTX.
    lines: Range<usize>,
}

fn sections<'a>(lines: &[&'a str]) -> Vec<Section<'a>> {
    let is_header = |line: &str| matches!(line.trim(), PTX | CODE);
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| is_header(lines[at])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(&start, end)| section(lines, start..end)).collect()
}

fn section<'a>(lines: &[&'a str], of: Range<usize>) -> Section<'a> {
    let is_version = |at: &usize| lines[*at].trim_start().starts_with(".version");
    let begin = of.clone().find(is_version).unwrap_or(of.end);
    // File of an archive to which the next section belongs.
    let is_member = |at: &usize| lines[*at].starts_with("member ") && lines[*at].ends_with(':');
    let end = (begin..of.end).find(is_member).unwrap_or(of.end);
    let architecture = lines[of.start..begin].iter().find_map(|line| architecture(line));
    Section {
        is_ptx: lines[of.start].trim() == PTX,
        architecture: architecture.unwrap_or(0),
        kernels: lines[begin..end].iter().filter_map(|line| kernel(line)).collect(),
        lines: begin..end,
    }
}

/// Parses `arch = sm_90a` to 90.
fn architecture(line: &str) -> Option<u32> {
    let (key, value) = line.split_once('=')?;
    let digits = value.trim().trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    (key.trim() == "arch").then(|| digits[..end].parse().ok())?
}

/// Parses `.visible .entry k(` to `k`.
fn kernel(line: &str) -> Option<&str> {
    let (_, name) = line.split_once(".entry")?;
    name.trim_start().split(['(', ' ', '\t']).next()
}
