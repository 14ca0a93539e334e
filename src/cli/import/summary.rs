//! The summary of an import as text.

use crate::import::{ImportSummary, KernelCounts};
use std::collections::BTreeMap;
use std::fmt::Display;
use warpmem_support::text::aligned;

pub fn text(summary: &ImportSummary) -> String {
    let mut rows = Vec::new();
    let mut row = |name: String, value: u64| rows.push(vec![name, value.to_string()]);
    row("kernels".into(), summary.kernels.len() as u64);
    row("CTAs".into(), summary.ctas);
    row("warps".into(), summary.warps);
    row("warp instructions".into(), summary.warp_instructions);
    row("thread instructions".into(), summary.thread_instructions);
    for count in &summary.memory {
        let name = format!("{:?} {:?}", count.kind, count.space).to_lowercase();
        row(format!("  {name}"), count.instructions);
    }
    for (class, instructions) in &summary.compute {
        row(format!("  {class}"), *instructions);
    }
    row("barriers".into(), summary.barriers);
    row("fences".into(), summary.fences);
    row("exits".into(), summary.exits);
    row("32 B sectors of global accesses".into(), summary.global_sectors);
    row("bytes read".into(), summary.bytes_in);
    row("bytes of text".into(), summary.text_bytes);
    row("bytes written".into(), summary.bytes_out);
    let mut text = aligned(&rows, &[1]);
    text.push_str(&counts("unknown opcodes", &summary.unknown_opcodes));
    text.push_str(&counts(
        "memory instructions without addresses",
        &summary.memory_without_addresses,
    ));
    let kept = if summary.dropped > 0 { "left out" } else { "kept" };
    let title = format!("instructions without an active lane ({kept})");
    text.push_str(&counts(&title, &summary.without_lanes));
    text.push_str(&repairs(summary));
    text.extend(summary.notes.iter().map(|note| format!("note: {note}\n")));
    text
}

/// Describes the repaired exits; empty if none.
fn repairs(summary: &ImportSummary) -> String {
    /// Maximum number of names in text; JSON has all.
    const NAMED: usize = 20;
    let repaired = summary.kernels.iter().filter(|kernel| kernel.repaired_exits > 0);
    let kernels: Vec<&KernelCounts> = repaired.collect();
    if kernels.is_empty() {
        return String::new();
    }
    let numbers = kernels.iter().take(NAMED).map(|kernel| kernel.number.to_string());
    let mut named = numbers.collect::<Vec<_>>().join(", ");
    if kernels.len() > NAMED {
        named += &format!(" and {} more", kernels.len() - NAMED);
    }
    let (exits, lanes) = (summary.repaired_exits, summary.repaired_lanes);
    format!(
        "exits repaired: {exits}, of {lanes} lanes that resume later, in {} kernels: {named}\n",
        kernels.len()
    )
}

/// Formats names with their counts; empty if there are none.
fn counts(title: &str, counts: &BTreeMap<impl Display, u64>) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let sum: u64 = counts.values().sum();
    let lines: String = counts.iter().map(|(name, count)| format!("  {name}  {count}\n")).collect();
    format!("{title}: {sum}\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repaired_exits_are_named_by_kernel() {
        let kernel = |number, repaired_exits| KernelCounts {
            number,
            repaired_exits,
            repaired_lanes: 2 * repaired_exits,
            ..KernelCounts::default()
        };
        let of = |kernels: Vec<KernelCounts>| ImportSummary {
            repaired_exits: kernels.iter().map(|kernel| kernel.repaired_exits).sum(),
            repaired_lanes: kernels.iter().map(|kernel| kernel.repaired_lanes).sum(),
            kernels,
            ..ImportSummary::default()
        };
        assert_eq!(repairs(&of(vec![kernel(1, 0)])), "");
        let text = repairs(&of(vec![kernel(6, 0), kernel(7, 3), kernel(8, 0), kernel(9, 1)]));
        assert_eq!(text, "exits repaired: 4, of 8 lanes that resume later, in 2 kernels: 7, 9\n");
        let many = repairs(&of((1..=25).map(|number| kernel(number, 1)).collect()));
        assert!(many.ends_with(", 19, 20 and 5 more\n"), "{many}");
    }
}
