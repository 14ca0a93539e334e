//! Row streaks and their breakers as a channel counts them (Yuan 2009, section 5.2).

use super::harness::{RowId, gddr3, gddr5, random, read, run, timed, write};
use crate::{BankResult, Breaker, Dram, DramRequest};

/// Row switches of one or more banks, the stranded ones, and the breakers by kind.
#[derive(Debug, PartialEq)]
struct Streaks {
    switches: u64,
    stranded: u64,
    breakers: [u64; Breaker::COUNT],
}

impl Streaks {
    fn of(bank: &BankResult) -> Streaks {
        Streaks {
            switches: bank.row_switches,
            stranded: bank.stranded_switches,
            breakers: bank.streak_breakers,
        }
    }
}

fn streaks(dram: &Dram, policy: &str, requests: &[DramRequest]) -> Streaks {
    Streaks::of(&run(dram, policy, requests).counts.total())
}

/// Yuan 2009, Figure 4: two SMs, two rows, one bank, under round robin and under a held grant.
#[test]
fn round_robin_between_two_sms_breaks_streaks_and_a_held_grant_does_not() {
    let of = |id, sm: u16| DramRequest { sm, cta: sm.into(), ..read(id, 0, 1 + u32::from(sm)) };
    let interleaved = [of(0, 0), of(1, 1), of(2, 0), of(3, 1)];
    let held = [of(0, 0), of(2, 0), of(1, 1), of(3, 1)];
    for policy in ["fcfs", "banked-fifo"] {
        let found = streaks(&gddr5(), policy, &interleaved);
        // 1 to 2 strands the second request of SM 0, 2 to 1 that of SM 1; then none is left.
        let expected = Streaks { switches: 3, stranded: 2, breakers: [2, 0, 0] };
        assert_eq!(found, expected, "{policy}");
        let expected = Streaks { switches: 1, stranded: 0, breakers: [0; 3] };
        assert_eq!(streaks(&gddr5(), policy, &held), expected, "{policy}");
    }
}

#[test]
fn streaks_are_counted_bank_by_bank_and_add_up() {
    let queue = [read(0, 0, 1), read(1, 5, 1), read(2, 0, 2), read(3, 0, 1), read(4, 5, 1)];
    let counts = run(&gddr5(), "banked-fifo", &queue).counts;
    let expected = Streaks { switches: 2, stranded: 1, breakers: [0, 0, 1] };
    assert_eq!(Streaks::of(&counts.banks[0]), expected);
    let none = Streaks { switches: 0, stranded: 0, breakers: [0; 3] };
    assert_eq!(Streaks::of(&counts.banks[5]), none);
    assert_eq!(Streaks::of(&counts.total()), expected);
}

/// All requests to the open row go first: none is left that arrived after the request to the next
/// row.
#[test]
fn fr_fcfs_strands_no_requests_unlike_fifo_orders() {
    for dram in [gddr5(), gddr3()] {
        let requests: Vec<DramRequest> = random(&dram, 4000, 3, 1)
            .into_iter()
            .map(|request| DramRequest { row: RowId(request.row.0 % 3), ..request })
            .collect();
        let of = |policy| streaks(&dram, policy, &requests);
        assert!(of("fr-fcfs").switches > 100);
        assert_eq!((of("fr-fcfs").stranded, of("fr-fcfs").breakers), (0, [0; 3]));
        for policy in ["fcfs", "banked-fifo", "fr-fcfs(row_hit_cap=1)"] {
            assert!(of(policy).stranded > 20, "{policy}: {:?}", of(policy));
        }
    }
}

/// With separate queues, a read does not strand a write.
#[test]
fn streaks_consider_the_served_queue_only() {
    let queue = [read(0, 0, 1), read(1, 0, 2), write(2, 0, 1)];
    assert!(gddr5().write_queue > 0 && gddr3().write_queue == 0);
    assert_eq!(streaks(&gddr5(), "banked-fifo", &queue).stranded, 0);
    assert_eq!(streaks(&gddr3(), "banked-fifo", &queue).stranded, 1);
}

/// Streaks depend on the rows of served requests, not on the row that is open.
#[test]
fn a_streak_survives_the_closing_of_its_row() {
    let far = |row| {
        timed(&gddr5(), "fr-fcfs(page=closed)", &[(0, read(0, 0, 1)), (500, read(1, 0, row))])
    };
    for (row, switches) in [(1, 0), (2, 1)] {
        let counts = far(row).counts;
        assert_eq!(counts.total().activations, 2);
        assert_eq!(counts.total().row_switches, switches, "row {row}");
    }
}
