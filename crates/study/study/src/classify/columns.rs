//! The columns of `warpmem classify`.

use super::{Classified, Ideal};
use warpmem_record::{Column, count, key_columns, ratio, text};

/// Returns the columns of a row, in the order of the tables. A class that cannot be determined is
/// empty.
pub fn columns() -> Vec<Column<Classified>> {
    let mut columns = key_columns::<Classified>(|trace| &trace.key);
    columns.push(text(
        "parameters",
        "Every machine parameter after overrides, as in `runs`.",
        |trace: &Classified| trace.key.parameters(),
    ));
    columns.extend(speed());
    columns.extend(ideal(Ideal::Dram));
    columns.extend(li2015());
    columns.extend(ideal(Ideal::L1));
    columns.push(class("owl2013_class", "`Type-1` or `Type-2` [OWL 3].", |trace| {
        trace.owl2013().map(|class| class.name())
    }));
    columns.extend(ideal(Ideal::L2));
    columns.extend(warpedmc2023());
    columns.extend(yuan2009());
    columns.extend(translation());
    columns.extend([
        metric("ctas_per_row", "CTAs", "As in `runs` [OWL Table 4]."),
        metric("consecutive_cta_row_sharing", "fraction", "As in `runs` [OWL Table 4]."),
    ]);
    columns
}

fn speed() -> Vec<Column<Classified>> {
    vec![
        count("cycles", "core cycles", "On the configured machine.", |trace: &Classified| {
            trace.cycles
        }),
        metric("ipc_thread", "thread instructions / core cycle", "As in `runs`."),
    ]
}

/// Returns the columns of an ideal machine: cycles and speedup.
fn ideal(ideal: Ideal) -> [Column<Classified>; 2] {
    let policy = ideal.policy();
    let name = policy.replace('-', "_");
    [
        count(
            &format!("cycles_{name}"),
            "core cycles",
            &format!("On the machine with {policy}."),
            move |trace: &Classified| trace.ideal_cycles[ideal as usize],
        ),
        ratio(
            &format!("speedup_{name}"),
            "times",
            &format!("cycles over cycles_{name}."),
            move |trace: &Classified| trace.speedup(ideal),
        ),
    ]
}

fn li2015() -> Vec<Column<Classified>> {
    vec![
        metric("inter_core_locality", "fraction", "As in `runs` [Li Fig 5.2]."),
        metric("mshr_idle", "fraction", "As in `runs` [Li Fig 5.2]."),
        class(
            "li2015_class",
            "`insensitive`, `LIL` or `HIL`; `sensitive` without an L2 [Li 5].",
            |trace| trace.li2015().map(|class| class.name()),
        ),
    ]
}

fn warpedmc2023() -> Vec<Column<Classified>> {
    vec![
        metric("offchip_per_load", "requests", "As in `runs` [WMC Fig 3]."),
        class("warpedmc2023_class", "`LOA`, `MOA` or `HOA` [WMC 3].", |trace| {
            trace.warpedmc2023().map(|class| class.name())
        }),
    ]
}

fn yuan2009() -> Vec<Column<Classified>> {
    vec![
        ratio(
            "ipc_over_peak",
            "fraction",
            "ipc_thread over the peak of all schedulers: SMs times schedulers times 32, over the issue interval.",
            |trace: &Classified| Some(trace.ipc_over_peak()),
        ),
        metric("bandwidth_utilization", "fraction", "As in `runs`."),
        ratio(
            "dram_efficiency_mean",
            "fraction",
            "Data-bus busy cycles over cycles with a request pending, mean over the channels with requests [Yuan 4].",
            |trace: &Classified| trace.dram_efficiency,
        ),
        class(
            "yuan2009_class",
            "`memory-bound` where all three criteria hold, else `other` [Yuan 4].",
            |trace| Some(if trace.yuan2009().is_memory_bound() { "memory-bound" } else { "other" }),
        ),
    ]
}

fn translation() -> Vec<Column<Classified>> {
    vec![
        ratio(
            "small_pages_per_instruction",
            "pages",
            "Distinct 4 KiB pages per global or local memory instruction of the trace, mean.",
            |trace: &Classified| trace.small_pages_per_instruction,
        ),
        class(
            "translation_class",
            "`LTD`, `MTD` or `HTD`: low, medium or high translation divergence.",
            |trace| trace.translation().map(|class| class.name()),
        ),
    ]
}

/// Returns a column of a metric of the run on the configured machine, under the metric's own name.
fn metric(name: &'static str, unit: &'static str, doc: &str) -> Column<Classified> {
    ratio(name, unit, doc, move |trace: &Classified| trace.metric(name))
}

fn class(name: &str, doc: &str, of: fn(&Classified) -> Option<&'static str>) -> Column<Classified> {
    text(name, doc, move |trace| of(trace).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use warpmem_record::run_columns;

    #[test]
    fn the_metrics_of_the_run_are_included() {
        let of_run: Vec<String> = run_columns().into_iter().map(|column| column.name).collect();
        for Column { name, doc, .. } in columns() {
            assert!(!doc.starts_with("As in `runs`") || of_run.contains(&name), "{name}");
        }
    }

    #[test]
    fn the_page_has_every_column() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reports.md");
        let page = std::fs::read_to_string(page).unwrap();
        let keys = key_columns::<Classified>(|trace| &trace.key).len();
        for Column { name, .. } in columns().into_iter().skip(keys) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}
