//! The papers' workload classes, from measured runs.

use crate::classes::Classes;
use crate::error::Result;
use crate::study::{Planned, Study};
use std::collections::HashMap;
use warpmem_analysis::Results;
use warpmem_machine::{Machine, load};
use warpmem_study::classify::{Criteria, OffChip, Sensitivity, Type, peak_ipc};
use warpmem_study::reproduce::{Classified, Paper};

/// Opens the planned runs of a paper among `results`, and the classes of their workloads.
///
/// # Errors
/// If a table cannot be read, or a run lacks a number.
pub fn open(paper: &Paper, results: &Results, planned: &[Planned]) -> Result<Study> {
    let study = Study::open(results, planned)?;
    let Some(classified) = &paper.classified else { return Ok(study) };
    let classes = classes(&study, classified, &load(&paper.machine, &[])?)?;
    Ok(study.classified(classes))
}

/// Determines classes from the runs named by `classified`; a class that needs other runs is absent.
fn classes(study: &Study, classified: &Classified, machine: &Machine) -> Result<Classes> {
    let plain = |metric: &str| study.metric(&classified.plain, metric);
    let figures = Figures {
        cycles: plain("cycles")?,
        perfect_dram: ideal(study, classified.perfect_dram.as_deref())?,
        perfect_l1: ideal(study, classified.perfect_l1.as_deref())?,
        inter_core_locality: plain("inter_core_locality")?,
        offchip_per_load: plain("offchip_per_load")?,
        ipc: plain("ipc_thread")?,
        utilization: plain("bandwidth_utilization")?,
        efficiency: plain("dram_efficiency_mean")?,
        peak_ipc: peak_ipc(machine),
    };
    let classes = study.workloads().iter().map(|name| (name.clone(), figures.classes(name)));
    Ok(Classes(classes.collect()))
}

/// Returns the cycles on an ideal machine, if the paper has such runs.
fn ideal(study: &Study, configuration: Option<&str>) -> Result<Option<HashMap<String, f64>>> {
    configuration.map(|configuration| study.metric(configuration, "cycles")).transpose()
}

/// Figures that decide the classes, each by workload.
struct Figures {
    cycles: HashMap<String, f64>,
    perfect_dram: Option<HashMap<String, f64>>,
    perfect_l1: Option<HashMap<String, f64>>,
    inter_core_locality: HashMap<String, f64>,
    offchip_per_load: HashMap<String, f64>,
    ipc: HashMap<String, f64>,
    utilization: HashMap<String, f64>,
    efficiency: HashMap<String, f64>,
    peak_ipc: f64,
}

impl Figures {
    fn classes(&self, workload: &str) -> Vec<&'static str> {
        let of = |figures: &HashMap<String, f64>| figures.get(workload).copied();
        let speedup =
            |ideal: &Option<HashMap<String, f64>>| Some(of(&self.cycles)? / of(ideal.as_ref()?)?);
        let sensitivity = speedup(&self.perfect_dram)
            .map(|speedup| Sensitivity::of(speedup, of(&self.inter_core_locality)).name());
        let kind = speedup(&self.perfect_l1).map(|speedup| Type::of(speedup).name());
        let off_chip = of(&self.offchip_per_load).map(|requests| OffChip::of(requests).name());
        let ipc = of(&self.ipc).unwrap_or(0.0) / self.peak_ipc;
        let criteria = Criteria::of(ipc, of(&self.utilization), of(&self.efficiency));
        let bound = criteria.is_memory_bound().then_some("memory-bound");
        [sensitivity, kind, off_chip, bound].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: f64) -> HashMap<String, f64> {
        HashMap::from([("a".to_owned(), value)])
    }

    fn figures() -> Figures {
        Figures {
            cycles: of(140.0),
            perfect_dram: Some(of(100.0)),
            perfect_l1: Some(of(100.0)),
            inter_core_locality: of(0.2),
            offchip_per_load: of(9.0),
            ipc: of(10.0),
            utilization: of(0.5),
            efficiency: of(0.5),
            peak_ipc: 100.0,
        }
    }

    #[test]
    fn classes_come_from_the_rules_of_the_papers() {
        assert_eq!(figures().classes("a"), ["HIL", "Type-1", "HOA", "memory-bound"]);
        let slow = Figures { perfect_dram: Some(of(139.0)), perfect_l1: None, ..figures() };
        assert_eq!(slow.classes("a"), ["insensitive", "HOA", "memory-bound"]);
        let busy = Figures { ipc: of(80.0), offchip_per_load: of(0.5), ..figures() };
        assert_eq!(busy.classes("a"), ["HIL", "Type-1", "LOA"]);
    }
}
