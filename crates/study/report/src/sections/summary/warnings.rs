//! Caveats of the results.

use crate::prose::Prose;
use crate::study::Study;
use warpmem_support::text::counted;

pub fn of(study: &Study) -> anyhow::Result<Vec<Prose>> {
    let mixed = (!study.mixed.is_empty()).then(|| mixed(study));
    let missing = (study.planned.1 > 0).then(|| missing(study.planned));
    let unmatched = (study.unmatched > 0).then(|| unmatched(study));
    let uneven = study.is_uneven()?.then(uneven);
    Ok([mixed, missing, unmatched, uneven].into_iter().flatten().collect())
}

fn mixed(study: &Study) -> Prose {
    Prose::new("these runs differ in properties that a comparison assumes to be equal. ")
        .words(study.mixed.join("; "))
        .words(". Ratios of the rows marked in the column ")
        .code("mixed")
        .words(" are not due to policies alone, and the means include them.")
}

fn missing((planned, missing): (usize, usize)) -> Prose {
    Prose::new(format!("{missing} of the {} that the sweep planned are missing: ", counted(planned, "run")))
        .words("they failed, have not run yet, or are in the directory of another shard. Means cover only the runs that exist.")
}

fn unmatched(study: &Study) -> Prose {
    let runs = counted(study.runs.height(), "run");
    Prose::new(format!("{} of {runs} have no run of ", study.unmatched))
        .code(study.baseline())
        .words(" beside them, with the same ")
        .words(study.held())
        .words(": they have no IPC ratio and are excluded from its means. Run the missing ones, or choose another ")
        .code("--baseline")
        .words(".")
}

fn uneven() -> Prose {
    Prose::new(
        "not every policy ran on every workload, so means of different policies cover different workloads.",
    )
}
