use super::*;
use crate::standard::Place;
use crate::tests::harness::shapes;
use CommandKind::{Act, Pre};
use proptest::prelude::*;

/// Computes the earliest cycle from all constraints and all commands so far.
fn plain(
    dram: &Dram,
    table: &[Constraint],
    log: &[(CommandKind, BankId, DramCycle)],
    kind: CommandKind,
    bank: BankId,
) -> DramCycle {
    let place = |bank: BankId| Place::of(dram, bank.0).unwrap();
    let to = place(bank);
    let mut earliest = DramCycle::ZERO;
    for c in table.iter().filter(|c| c.to == kind) {
        let counts = |&&(from, other, _): &&(CommandKind, BankId, DramCycle)| {
            let from_place = place(other);
            let within =
                c.scope == Scope::Channel || from_place.pseudo_channel == to.pseudo_channel;
            from == c.from && if c.window > 1 { within } else { c.holds_between(&from_place, &to) }
        };
        let mut last = log.iter().rev().filter(counts);
        if let Some(&(_, _, cycle)) = last.nth(usize::from(c.window) - 1) {
            earliest = earliest.max(cycle + u64::from(c.cycles));
        }
    }
    earliest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn earliest_cycles_follow_from_the_constraints(
        commands in prop::collection::vec((0u16..32, 0usize..4, 1u64..20), 1..60)
    ) {
        for dram in shapes() {
            let (table, mut timing) = (constraints(&dram), TimingState::new(&dram));
            let (mut log, mut now) = (Vec::new(), DramCycle::ZERO);
            for &(bank, kind, gap) in &commands {
                let (bank, kind) = (BankId(bank % dram.banks as u16), [Act, Pre, Rd, Wr][kind]);
                now += gap;
                timing.issued(kind, bank, now);
                log.push((kind, bank, now));
            }
            for bank in BankId::all(dram.banks as usize) {
                for kind in [Act, Pre, Rd, Wr] {
                    let expected = plain(&dram, &table, &log, kind, bank);
                    let others = timing.of_others(kind);
                    let expected = others.begin(expected.max(now + 1));
                    let earliest = others.begin(now + 1).max(timing.earliest(kind, bank));
                    prop_assert_eq!(earliest, expected, "{} {:?} {}", dram.standard, kind, bank);
                }
            }
        }
    }
}
