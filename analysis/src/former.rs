//! Former names of columns. Tables of the previous release are read under their present names;
//! queries may use either.

/// Former and present names of columns.
const COLUMNS: [(&str, &str); 6] = [
    ("llc_queue", "l2_queue"),
    ("latency_llc_queue", "latency_l2_queue"),
    ("latency_llc", "latency_l2"),
    ("latency_llc_to_dram", "latency_l2_to_dram"),
    ("llc_arrived", "l2_arrived"),
    ("llc_served", "l2_served"),
];

/// Returns the present name of a column.
pub(crate) fn present(name: &str) -> &str {
    COLUMNS.iter().find(|(former, _)| *former == name).map_or(name, |(_, present)| present)
}
