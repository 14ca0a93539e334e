//! Names with parts separated by slashes.

/// Splits a name at slashes. A known part, such as a path, may contain slashes; the longest match wins.
pub fn known_parts(name: &str, is_known: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = Some(name);
    while let Some(text) = rest {
        let mut ends: Vec<usize> = text.match_indices('/').map(|(at, _)| at).collect();
        let next = ends.first().copied().unwrap_or(text.len());
        ends.push(text.len());
        let known = ends.into_iter().rev().find(|&end| is_known(text[..end].trim()));
        let end = known.unwrap_or(next);
        parts.push(text[..end].trim());
        rest = text.get(end + 1..);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_within_a_known_part_do_not_split() {
        let known = ["fcfs", "gto", "dram.standard=ddr/a.toml", "dram.standard=ddr"];
        let parts = |name| known_parts(name, |part| known.contains(&part));
        assert_eq!(parts("fcfs"), ["fcfs"]);
        assert_eq!(parts("fcfs / gto"), ["fcfs", "gto"]);
        assert_eq!(parts("dram.standard=ddr/a.toml/gto"), ["dram.standard=ddr/a.toml", "gto"]);
        assert_eq!(parts("gto/dram.standard=ddr/fcfs"), ["gto", "dram.standard=ddr", "fcfs"]);
        assert_eq!(parts("gto/a/b"), ["gto", "a", "b"], "what is not known is parted");
        assert_eq!(parts("fcfs/"), ["fcfs", ""]);
    }
}
