//! The kernels of a run under the metric names of Nsight Compute, with its definitions.

use super::rows::UnitRow;
use super::rows_json;
use crate::RunKey;
use crate::column::{Column, count, ratio};
use crate::metrics::{kernel_cycles, quotient};
use crate::run::FinishedRun;
use serde_json::{Map, Value};
use std::sync::Arc;
use warpmem_cache::CacheCounts;
use warpmem_dram::BankResult;
use warpmem_gpu::results::RunResult;

/// Bytes of a sector of Nsight Compute.
const SECTOR: u64 = 32;

/// Metric of Nsight Compute, with its unit and our definition in columns of `kernels`.
pub struct NcuMetric {
    pub name: String,
    pub unit: &'static str,
    pub definition: String,
}

/// Returns the metrics of [`ncu_rows_json`] in their order.
pub fn ncu_metrics() -> Vec<NcuMetric> {
    let metric = |column: Column<UnitRow>| NcuMetric {
        name: column.name,
        unit: column.unit,
        definition: column.doc,
    };
    columns().into_iter().map(metric).collect()
}

/// Returns a row for each kernel of a run: metrics by their names. Counts of units are null for a
/// kernel that ran beside another.
pub fn ncu_rows_json(key: &RunKey, result: &RunResult) -> Vec<Map<String, Value>> {
    let run = Arc::new(FinishedRun::new(key.clone(), result.clone()));
    rows_json(&columns(), UnitRow::kernels(&run))
}

fn columns() -> Vec<Column<UnitRow>> {
    let mut columns = time();
    columns.extend(instructions());
    let counted = l1().into_iter().chain(l2()).chain(dram());
    columns.extend(counted.map(|column| column.null_unless(UnitRow::is_alone)));
    columns
}

fn time() -> Vec<Column<UnitRow>> {
    vec![
        count("gpc__cycles_elapsed.max", "cycle", "`cycles`.", cycles),
        ratio(
            "gpu__time_duration.sum",
            "nsecond",
            "`cycles` over `clocks.core_mhz`.",
            |row: &UnitRow| Some(seconds(row)? * 1e9),
        ),
        count("gpc__cycles_elapsed.avg.per_second", "hz", "`clocks.core_mhz`.", |row: &UnitRow| {
            1_000_000 * u64::from(row.run.key.machine.clocks.core_mhz)
        }),
        count(
            "dram__cycles_elapsed.avg.per_second",
            "hz",
            "Half of the data rate of a pin: `clocks.dram_mhz` × `dram.transfers_per_clock` / 2.",
            |row: &UnitRow| {
                let transfers = row.run.key.machine.dram.transfers_per_clock;
                500_000 * row.run.dram_mhz() * u64::from(transfers)
            },
        ),
    ]
}

fn instructions() -> Vec<Column<UnitRow>> {
    vec![
        count("smsp__inst_executed.sum", "inst", "`warp_instructions`.", |row: &UnitRow| {
            row.kernel().warp_instructions
        }),
        count(
            "smsp__thread_inst_executed.sum",
            "inst",
            "`thread_instructions`.",
            |row: &UnitRow| row.kernel().thread_instructions,
        ),
        ratio(
            "sm__inst_executed.avg.per_cycle_elapsed",
            "inst/cycle",
            "`warp_instructions` over `cycles` and SMs.",
            |row: &UnitRow| {
                let sms = row.run.result.sms.len() as u64;
                quotient(row.kernel().warp_instructions, cycles(row) * sms)
            },
        ),
    ]
}

fn l1() -> Vec<Column<UnitRow>> {
    vec![
        count(
            "l1tex__t_sectors.sum",
            "sector",
            "Loads (`l1_read_hits`, `_misses`, `_sector_misses`, `_pending_hits`), stores (`l1_write_hits`, \
             `_misses`, `_sector_misses`), `l1_atomics` and `l1_bypasses`.",
            |row: &UnitRow| l1_sectors(row),
        ),
        count(
            "l1tex__t_sectors_lookup_hit.sum",
            "sector",
            "`l1_read_hits`, `l1_read_pending_hits` and `l1_write_hits`: the tags hold a sector from its miss on.",
            |row: &UnitRow| l1_hits(row),
        ),
        ratio(
            "l1tex__t_sector_hit_rate.pct",
            "%",
            "The hits over the sectors: stores, atomics and loads that bypass L1 are part of it.",
            |row: &UnitRow| percent(l1_hits(row), l1_sectors(row)),
        ),
    ]
}

fn l2() -> Vec<Column<UnitRow>> {
    vec![
        count(
            "lts__t_sectors.sum",
            "sector",
            "Loads and atomics (`l2_read_hits`, `_misses`, `_sector_misses`, `_pending_hits`) and stores \
             (`l2_write_hits`, `_misses`, `_sector_misses`).",
            |row: &UnitRow| l2_sectors(row),
        ),
        count(
            "lts__t_sectors_op_read.sum",
            "sector",
            "The loads among them: without `l2_atomic_hits`, `_misses` and `_pending_hits`.",
            |row: &UnitRow| {
                let counts = l2_counts(row);
                let atomics =
                    counts.atomic_hits + counts.atomic_misses + counts.atomic_pending_hits;
                l2_unit(row) * (reads(counts) - atomics)
            },
        ),
        count(
            "lts__t_sectors_op_write.sum",
            "sector",
            "The stores among them.",
            |row: &UnitRow| l2_unit(row) * writes(l2_counts(row)),
        ),
        count(
            "lts__t_sectors_lookup_hit.sum",
            "sector",
            "`l2_read_hits`, `l2_read_pending_hits` and all stores: L2 takes a store without reading DRAM.",
            |row: &UnitRow| l2_hits(row),
        ),
        ratio("lts__t_sector_hit_rate.pct", "%", "The hits over the sectors.", |row: &UnitRow| {
            percent(l2_hits(row), l2_sectors(row))
        }),
    ]
}

fn dram() -> Vec<Column<UnitRow>> {
    let bytes = |name: &str, doc: &str, of: fn(&UnitRow) -> u64| {
        let rate = format!("dram__bytes{name}.sum.per_second");
        let rate_doc = format!("`dram__bytes{name}.sum` over the duration.");
        vec![
            count(&format!("dram__sectors{name}.sum"), "sector", doc, move |row| of(row) / SECTOR),
            count(&format!("dram__bytes{name}.sum"), "byte", "32 bytes per sector.", of),
            ratio(&rate, "byte/second", &rate_doc, move |row| Some(of(row) as f64 / seconds(row)?)),
        ]
    };
    let mut columns = bytes("_read", "`reads` × bytes of a column command / 32.", |row| {
        command_bytes(row, |banks| banks.reads)
    });
    columns.extend(bytes(
        "_write",
        "`writes` × bytes of a column command / 32. Lines that stay dirty in L2 are not part of it.",
        |row| command_bytes(row, |banks| banks.writes),
    ));
    columns.extend(bytes("", "`dram_bytes` / 32.", |row| {
        command_bytes(row, |banks| banks.reads + banks.writes)
    }));
    columns
}

fn cycles(row: &UnitRow) -> u64 {
    kernel_cycles(row.kernel())
}

/// Returns the duration of the kernel; none without cycles.
fn seconds(row: &UnitRow) -> Option<f64> {
    let cycles = Some(cycles(row)).filter(|&cycles| cycles > 0)?;
    Some(cycles as f64 / (1e6 * f64::from(row.run.key.machine.clocks.core_mhz)))
}

fn percent(above: u64, below: u64) -> Option<f64> {
    Some(100.0 * quotient(above, below)?)
}

/// Returns the sectors of Nsight Compute in a request to L1, L2.
fn l1_unit(row: &UnitRow) -> u64 {
    u64::from(row.run.key.machine.l1.cache.sector_bytes) / SECTOR
}

fn l2_unit(row: &UnitRow) -> u64 {
    u64::from(row.run.key.machine.l2.cache.sector_bytes) / SECTOR
}

fn l1_sectors(row: &UnitRow) -> u64 {
    let counts = &row.kernel_counts().sms.l1;
    l1_unit(row) * (reads(counts) + writes(counts) + counts.atomics + counts.bypasses)
}

fn l1_hits(row: &UnitRow) -> u64 {
    let counts = &row.kernel_counts().sms.l1;
    l1_unit(row) * (counts.read_hits + counts.read_pending_hits + counts.write_hits)
}

fn l2_counts(row: &UnitRow) -> &CacheCounts {
    &row.kernel_counts().l2
}

fn l2_sectors(row: &UnitRow) -> u64 {
    l2_unit(row) * (reads(l2_counts(row)) + writes(l2_counts(row)))
}

fn l2_hits(row: &UnitRow) -> u64 {
    let counts = l2_counts(row);
    l2_unit(row) * (counts.read_hits + counts.read_pending_hits + writes(counts))
}

fn reads(counts: &CacheCounts) -> u64 {
    counts.read_hits + counts.read_misses + counts.read_sector_misses + counts.read_pending_hits
}

fn writes(counts: &CacheCounts) -> u64 {
    counts.write_hits + counts.write_misses + counts.write_sector_misses
}

fn command_bytes(row: &UnitRow, commands: fn(&BankResult) -> u64) -> u64 {
    let burst = u64::from(row.run.key.machine.dram.burst_bytes());
    commands(&row.kernel_counts().banks) * burst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_rows_json;
    use crate::tests::fixture;
    use warpmem_testing::documents::{assert_parts, table};

    /// The definitions once more, computed from the columns of `kernels`.
    #[test]
    fn every_metric_is_its_definition_in_columns_of_kernels() {
        let (key, result) = (fixture::key(), fixture::result());
        let kernel = &kernel_rows_json(&key, &result)[0];
        let ncu = &ncu_rows_json(&key, &result)[0];
        let of = |names: &[&str]| -> f64 {
            names
                .iter()
                .map(|name| kernel[*name].as_f64().unwrap_or_else(|| panic!("{name}")))
                .sum()
        };
        let cycles = of(&["cycles"]);
        // Requests of 128 bytes, column commands of 64, a core clock of 1 GHz.
        let sectors = 4.0;
        let l1_hits = of(&["l1_read_hits", "l1_read_pending_hits", "l1_write_hits"]);
        let l1_misses = [
            "l1_read_misses",
            "l1_read_sector_misses",
            "l1_write_misses",
            "l1_write_sector_misses",
            "l1_atomics",
            "l1_bypasses",
        ];
        let l1 = l1_hits + of(&l1_misses);
        let l2_reads = of(&[
            "l2_read_hits",
            "l2_read_misses",
            "l2_read_sector_misses",
            "l2_read_pending_hits",
        ]);
        let l2_writes = of(&["l2_write_hits", "l2_write_misses", "l2_write_sector_misses"]);
        let l2_hits = of(&["l2_read_hits", "l2_read_pending_hits"]) + l2_writes;
        let atomics = of(&["l2_atomic_hits", "l2_atomic_misses", "l2_atomic_pending_hits"]);
        let machine = &key.machine;
        let pin = f64::from(machine.clocks.dram_mhz * machine.dram.transfers_per_clock) / 2.0;
        let per_second = 64.0 / (cycles * 1e-9);
        let expected = [
            ("gpc__cycles_elapsed.max", cycles),
            ("gpu__time_duration.sum", cycles),
            ("gpc__cycles_elapsed.avg.per_second", 1e9),
            ("dram__cycles_elapsed.avg.per_second", 1e6 * pin),
            ("smsp__inst_executed.sum", of(&["warp_instructions"])),
            ("smsp__thread_inst_executed.sum", of(&["thread_instructions"])),
            ("sm__inst_executed.avg.per_cycle_elapsed", of(&["warp_instructions"]) / cycles / 2.0),
            ("l1tex__t_sectors.sum", sectors * l1),
            ("l1tex__t_sectors_lookup_hit.sum", sectors * l1_hits),
            ("l1tex__t_sector_hit_rate.pct", 100.0 * l1_hits / l1),
            ("lts__t_sectors.sum", sectors * (l2_reads + l2_writes)),
            ("lts__t_sectors_op_read.sum", sectors * (l2_reads - atomics)),
            ("lts__t_sectors_op_write.sum", sectors * l2_writes),
            ("lts__t_sectors_lookup_hit.sum", sectors * l2_hits),
            ("lts__t_sector_hit_rate.pct", 100.0 * l2_hits / (l2_reads + l2_writes)),
            ("dram__sectors_read.sum", 2.0 * of(&["reads"])),
            ("dram__bytes_read.sum", 64.0 * of(&["reads"])),
            ("dram__bytes_read.sum.per_second", per_second * of(&["reads"])),
            ("dram__sectors_write.sum", 2.0 * of(&["writes"])),
            ("dram__bytes_write.sum", 64.0 * of(&["writes"])),
            ("dram__bytes_write.sum.per_second", per_second * of(&["writes"])),
            ("dram__sectors.sum", of(&["dram_bytes"]) / 32.0),
            ("dram__bytes.sum", of(&["dram_bytes"])),
            ("dram__bytes.sum.per_second", per_second * of(&["reads", "writes"])),
        ];
        assert_eq!(
            ncu.keys().collect::<Vec<_>>(),
            expected.iter().map(|(name, _)| name).collect::<Vec<_>>()
        );
        for (name, expected) in expected {
            let value = ncu[name].as_f64().unwrap_or_else(|| panic!("{name}: {}", ncu[name]));
            assert!((value - expected).abs() <= 1e-9 * expected, "{name}: {value} for {expected}");
        }
    }

    #[test]
    fn a_kernel_beside_another_has_times_and_instructions_only() {
        let rows = ncu_rows_json(&fixture::key(), &fixture::result());
        let known = rows[1].iter().filter(|(_, value)| !value.is_null()).count();
        assert_eq!(known, 7);
        assert_eq!(rows[1]["lts__t_sectors.sum"], Value::Null);
    }

    #[test]
    fn the_document_defines_every_metric() {
        let row = |metric: NcuMetric| {
            vec![format!("`{}`", metric.name), metric.unit.to_owned(), metric.definition]
        };
        let rows = ncu_metrics().into_iter().map(row);
        let part = table(&["metric", "unit", "definition in columns of `kernels`"], rows);
        assert_parts("docs/metrics.md", &[("names of Nsight Compute", part)]);
    }
}
