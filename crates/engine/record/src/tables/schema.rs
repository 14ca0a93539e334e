//! The tables as documentation: every column with type, unit and definition.

use super::histograms::histogram_columns;
use super::networks::{link_columns, network_columns, node_columns};
use super::runs::run_columns;
use super::units::{
    bank_columns, channel_columns, counter_columns, kernel_columns, slice_columns, sm_columns,
};
use crate::column::Column;
use crate::file::StreamedRow;
use crate::metrics::run_key_columns;
use warpmem_gpu::results::{IntervalRow, LoadRow, RequestRow};

/// A table of results.
pub struct Table {
    pub name: &'static str,
    pub doc: &'static str,
    pub columns: Vec<ColumnInfo>,
}

/// A column, independent of the type of its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    pub name: String,
    /// `text`, `int64` or `float64`.
    pub kind: &'static str,
    pub nullable: bool,
    /// Empty for text and identifiers.
    pub unit: &'static str,
    pub doc: String,
}

/// Returns every table in the order of the documentation.
pub fn schema() -> Vec<Table> {
    let table = |name, doc, columns| Table { name, doc, columns };
    vec![
        table("runs", "One row per run: its inputs and all scalar metrics.", infos(&run_columns())),
        table(
            "kernels",
            "One row per kernel launch. Columns from `active_cycles` on cover the whole machine from the start of the \
             kernel to the start of the next, so that their counts add up to those of the run; null where another kernel \
             ran beside it. [Metrics](metrics.md#kernels) says what falls to which kernel.",
            infos(&kernel_columns()),
        ),
        table("sms", "One row per SM.", infos(&sm_columns())),
        table("slices", "One row per L2 slice.", infos(&slice_columns())),
        table("channels", "One row per DRAM channel.", infos(&channel_columns())),
        table("banks", "One row per DRAM bank.", infos(&bank_columns())),
        table(
            "networks",
            "One row per run and direction: the request network and the reply network.",
            infos(&network_columns()),
        ),
        table(
            "network_nodes",
            "One row per node of a network and side, source or destination.",
            infos(&node_columns()),
        ),
        table(
            "network_links",
            "One row per link of a network. A network without nodes, such as `ideal`, has none.",
            infos(&link_columns()),
        ),
        table(
            "policy_counters",
            "One row per unit (channel, slice, SM or the machine) and policy counter; most policies have none.",
            infos(&counter_columns()),
        ),
        table(
            "histograms",
            "One row per distribution of a run and bucket of values.",
            infos(&histogram_columns()),
        ),
        streamed::<LoadRow>(
            "One row per load warp instruction (loads, atomics and async copies that return data), \
             in the order of completion; a file per run, `loads/RUN_ID.parquet`.",
        ),
        streamed::<RequestRow>(
            "One row per sampled request (`--requests`) that missed in L1, in order of return; a file per \
             run, `requests/RUN_ID.parquet`. [Metrics](metrics.md#stages-of-a-request) says where the boundaries lie.",
        ),
        streamed::<IntervalRow>(
            "One row per interval (`--intervals`) of the whole machine, in order of time; a file per run, \
             `intervals/RUN_ID.parquet`. Sums over all intervals are the run's counts; \
             of the cycles of SMs a run has the mean over them.",
        ),
    ]
}

fn streamed<R: StreamedRow>(doc: &'static str) -> Table {
    let mut columns = infos(&run_key_columns());
    columns.extend(infos(&R::columns()));
    Table { name: R::TABLE, doc, columns }
}

fn infos<R>(columns: &[Column<R>]) -> Vec<ColumnInfo> {
    columns
        .iter()
        .map(|column| ColumnInfo {
            name: column.name.clone(),
            kind: column.kind(),
            nullable: column.nullable(),
            unit: column.unit,
            doc: column.doc.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::fmt::Write;
    use std::path::Path;
    use warpmem_testing::documents::assert_document;

    /// Returns the tables as Markdown. The key columns are listed once, at the beginning.
    fn markdown() -> String {
        let keys = infos(&run_key_columns());
        let mut text = String::from(INTRODUCTION);
        section(&mut text, "Key columns", "Every table begins with these.", &keys);
        for table in schema() {
            let (head, own) = table.columns.split_at(keys.len());
            assert_eq!(head, keys, "{}", table.name);
            section(&mut text, &format!("`{}`", table.name), table.doc, own);
        }
        text
    }

    /// Wraps a text to lines of at most 100 characters.
    fn wrapped(doc: &str) -> String {
        let mut lines = vec![String::new()];
        for word in doc.split(' ') {
            let line = lines.last_mut().unwrap();
            match line.len() + word.len() {
                _ if line.is_empty() => line.push_str(word),
                0..100 => *line = format!("{line} {word}"),
                _ => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    }

    fn section(text: &mut String, title: &str, doc: &str, columns: &[ColumnInfo]) {
        writeln!(text, "\n## {title}\n{}\n", wrapped(doc)).unwrap();
        text.push_str("| column | type | unit | definition |\n| --- | --- | --- | --- |\n");
        for ColumnInfo { name, kind, nullable, unit, doc } in columns {
            let null = if *nullable { ", null" } else { "" };
            writeln!(text, "| `{name}` | {kind}{null} | {unit} | {doc} |").unwrap();
        }
    }

    const INTRODUCTION: &str = "\
# Tables of a run

A results directory holds one Parquet file per table, and one per run for `loads`, `requests` and
`intervals`. Rows are in the order of the runs, then of the units; equal runs give equal bytes. A
file gets its final name when it is complete, `runs.parquet` last.

Warpmem verifies a checksum whenever it reads a table, and a changed bit is an error that names the
file. Other Parquet readers skip the checksum, because the footer gives the offsets of the pages:

| byte | content |
| --- | --- |
| 0 | `PAR1` |
| 4 | `warpmem crc32 ` |
| 18 | CRC-32 (IEEE 802.3, as in zlib) of the whole file with `00000000` at this place, in eight lower-case hexadecimal digits |
| 26 | pages, footer, `PAR1` |

The footer's key `warpmem.checksum` distinguishes a file with damaged bytes from 4 on from a file
without a checksum. Files of other programs have none and are read without verification, with a
note. From Python, see [Damaged files](analysis.md#damaged-files).

`text` is UTF-8; `int64` is signed, so differences do not wrap; `float64` is never NaN. *null* marks
columns that may be null: a ratio with denominator 0, a percentile of no values. Units are numbered
from 0. The unit of a column states whether its cycles are of the core clock, the networks' clock or
the DRAM command clock. In `runs`, counts are sums over SMs, slices, channels or banks, and ratios
are ratios of sums; only the cycles of SMs are means per SM. The JSON of a run has the same keys.

Sources: [Li] inter-core locality 2015, [OWL] 2013, [CaLRS] 2015, [Yuan] 2009, [WMC] Warped-MC 2023.

This page is generated from the declarations in `crates/engine/record/src/metrics/`:
`UPDATE_DOCS=1 cargo test -p warpmem-record document`.
";

    #[test]
    fn the_documentation_has_every_column() {
        assert_document("docs/schema.md", &markdown());
    }

    /// Every `table.column` in `docs/metrics.md` exists.
    #[test]
    fn the_columns_named_by_the_metrics_page_exist() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/metrics.md");
        let text = std::fs::read_to_string(path).unwrap();
        let tables = schema();
        let mut found = 0;
        for quoted in text.split('`').skip(1).step_by(2) {
            let Some((table, column)) = quoted.split_once('.') else { continue };
            let Some(table) = tables.iter().find(|known| known.name == table) else { continue };
            let is_there = table.columns.iter().any(|known| known.name == column);
            assert!(is_there, "docs/metrics.md says {quoted}");
            found += 1;
        }
        assert!(found > 40, "the table of figures");
    }

    #[test]
    fn names_are_unique_and_every_column_is_defined() {
        for table in schema() {
            let names: HashSet<&str> = table.columns.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
            assert!(table.columns.iter().all(|c| c.doc.ends_with('.') && !c.doc.contains('|')));
            assert!(table.columns.iter().all(|c| c.kind != "float64" || !c.unit.is_empty()));
        }
    }
}
