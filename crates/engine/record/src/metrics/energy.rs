//! The metrics of DRAM energy, of machines and of standalone channels.

use crate::column::{Column, ratio};
use warpmem_dram::Energy;

/// A component of the energy: name after `energy_nj_`, definition and value.
type Part = (&'static str, &'static str, fn(&Energy) -> f64);

const PARTS: [Part; 6] = [
    ("activate", "Energy of ACT and PRE beyond standby.", |e| e.activate),
    ("read", "Energy of RD beyond active standby.", |e| e.read),
    ("write", "Energy of WR beyond active standby.", |e| e.write),
    ("refresh", "Energy of REF and REFPB beyond active standby.", |e| e.refresh),
    ("active_standby", "Energy of standby while a row of the channel is open.", |e| {
        e.active_standby
    }),
    ("precharge_standby", "Energy of standby while no row of the channel is open.", |e| {
        e.precharge_standby
    }),
];

/// Returns energy in total, by component and per bit moved; null if currents are unknown.
pub fn energy<R: 'static>(of: fn(&R) -> Option<Energy>, bytes: fn(&R) -> u64) -> Vec<Column<R>> {
    let total = ratio(
        "energy_nj",
        "nJ",
        "DRAM energy, sum of the next six; null where a required current of `dram.power` is \
         not known.",
        move |row| of(row).map(|energy| energy.total()),
    );
    let parts = PARTS.into_iter().map(|(name, doc, part)| {
        ratio(&format!("energy_nj_{name}"), "nJ", doc, move |row| of(row).map(|e| part(&e)))
    });
    let per_bit = ratio(
        "energy_pj_per_bit",
        "pJ / bit",
        "DRAM energy, standby included, per bit moved by column commands.",
        move |row| of(row)?.picojoules_per_bit(bytes(row)),
    );
    [total].into_iter().chain(parts).chain([per_bit]).collect()
}
