//! Expected bandwidth: closed forms, bounds, orders.

use super::harness::*;
use crate::standard::Standard;
use crate::{CommandKind, Dram, DramRequest, Timing};

fn efficiency(dram: &Dram, policy: &str, requests: &[DramRequest]) -> f64 {
    run(dram, policy, requests).counts.dram_efficiency().unwrap()
}

fn activations(run: &Run) -> Vec<u64> {
    run.log.iter().filter(|c| c.kind == CommandKind::Act).map(|c| c.cycle).collect()
}

/// One bank and a new row for each pair of 64 B requests of two bursts: 8 data cycles per tRC of
/// 34, Yuan's 23.6 %.
#[test]
fn one_bank_with_row_locality_two_gives_eight_of_thirty_four() {
    let dram = gddr3();
    assert_eq!(dram.burst_cycles(), 2);
    let pairs = 200;
    let requests: Vec<_> =
        (0..2 * pairs).map(|id| DramRequest { bursts: 2, ..read(id, 1, id / 2) }).collect();
    for policy in policies() {
        let run = run(&dram, policy, &requests);
        let rows = activations(&run);
        assert_eq!(rows.len() as u32, pairs, "{policy}");
        assert!(rows.windows(2).all(|pair| pair[1] - pair[0] == 34), "{policy}");
        assert_eq!(run.counts.data_bus_busy_cycles, u64::from(8 * pairs));
        let steady = 8.0 * f64::from(pairs) / (rows[pairs as usize - 1] + 34) as f64;
        assert_eq!(steady, 8.0 / 34.0, "{policy}");
        assert_eq!(run.counts.blp(), Some(1.0));
    }
}

#[test]
fn one_bank_with_a_new_row_per_request_runs_at_data_cycles_per_trc() {
    for mut dram in machines() {
        dram.timing.trefi = 0;
        let requests: Vec<_> = (0..50).map(|id| read(id, 3, id)).collect();
        for policy in policies() {
            let run = run(&dram, policy, &requests);
            let t = &dram.timing;
            // No constraint allows an earlier reopening, and no step takes longer.
            let expected = t.trc.max(t.tras.max(t.trcd + t.trtp) + t.trp);
            let rows = activations(&run);
            assert!(rows.windows(2).all(|pair| pair[1] - pair[0] == u64::from(expected)));
            assert_eq!(run.counts.data_bus_busy_cycles, 50 * u64::from(dram.burst_cycles()));
        }
    }
}

/// Channels times width times clock: the data bus is the limit, and a sequential stream comes near
/// it.
#[test]
fn a_sequential_stream_comes_near_the_peak() {
    for mut dram in machines() {
        // tCCD above a burst is below the peak by design.
        dram.timing.tccds = dram.timing.tccds.min(dram.burst_cycles());
        dram.timing.trtp = dram.timing.trtp.min(3);
        let requests = sequential(&dram, 6000);
        let efficiency = efficiency(&dram, "fr-fcfs", &requests);
        let refresh = match dram.timing.trefi {
            0 => 0.0,
            trefi => f64::from(dram.timing.trfc + 60) / f64::from(trefi),
        };
        assert!(efficiency <= 1.0);
        assert!(efficiency > 0.9 - refresh, "{}: {efficiency}", dram.standard);
    }
}

/// The command clock sets the peak: twice the transfers per clock, half the cycles.
#[test]
fn the_data_rate_has_effect() {
    let mut dram = gddr5();
    dram.timing.tccdl = 2;
    let requests = sequential(&dram, 2000);
    let slow = run(&dram, "fr-fcfs", &requests).counts.cycles;
    dram.transfers_per_clock = 8;
    dram.timing.tccds = 1;
    dram.timing.tccdl = 1;
    let fast = run(&dram, "fr-fcfs", &requests).counts.cycles;
    assert!((1.7..=2.0).contains(&(slow as f64 / fast as f64)), "{slow} {fast}");
}

#[test]
fn random_is_never_faster_than_sequential() {
    for dram in machines() {
        for policy in policies() {
            let sequential = efficiency(&dram, policy, &sequential(&dram, 1000));
            for locality in [8, 2, 1] {
                let random = efficiency(&dram, policy, &random(&dram, 1000, locality, 3));
                assert!(random < sequential, "{policy} on {}: locality {locality}", dram.standard);
            }
        }
    }
}

#[test]
fn reordering_is_faster_on_interleaved_streams() {
    // Two alternating rows of one bank: FIFO opens a row for each request.
    let requests: Vec<_> = (0..400).map(|id| read(id, 0, id % 2)).collect();
    let fifo = efficiency(&gddr3(), "fcfs", &requests);
    let banked = efficiency(&gddr3(), "banked-fifo", &requests);
    let reordered = efficiency(&gddr3(), "fr-fcfs", &requests);
    assert!(reordered > 4.0 * fifo, "{reordered} {fifo}");
    assert_eq!(fifo, banked);
    let random = random(&gddr3(), 800, 1, 5);
    let fifo = efficiency(&gddr3(), "fcfs", &random);
    let banked = efficiency(&gddr3(), "banked-fifo", &random);
    assert!(banked > 1.5 * fifo, "{banked} {fifo}");
}

#[test]
fn a_write_of_128_bytes_takes_all_its_bursts() {
    let mut dram = hbm2();
    dram.timing.trefi = 0;
    let requests: Vec<_> = (0..32).map(|id| DramRequest { bursts: 4, ..write(id, 0, 7) }).collect();
    let run = run(&dram, "fr-fcfs", &requests);
    let counts = &run.counts;
    assert_eq!(counts.total().writes, 128);
    assert_eq!(counts.write_requests, 32);
    assert_eq!(counts.data_bus_busy_cycles, 128);
    // One bank, so tCCD_L apart.
    let t = &dram.timing;
    assert_eq!(counts.cycles, u64::from(t.trcdw + 127 * t.tccdl + t.twl + 1));
}

#[test]
fn sequential_streams_use_all_banks_and_groups() {
    let run = run(&gddr5(), "fr-fcfs", &sequential(&gddr5(), 1024));
    assert!(run.counts.banks.iter().all(|bank| bank.reads == 64 && bank.activations == 2));
}

/// Each pseudo channel has a data bus, and a utilization of 1 means that all are busy.
#[test]
fn utilization_averages_all_data_buses() {
    let mut dram = hbm2();
    Standard::load("hbm2").unwrap().apply("HBM2_8Gb", "HBM2_2000Mbps", &mut dram).unwrap();
    dram.timing = Timing { trefi: 0, trfc: 0, ..dram.timing };
    let counts = run(&dram, "fr-fcfs", &sequential(&dram, 20_000)).counts;
    let used = counts.bandwidth_utilization().unwrap();
    assert!(used > 0.9 && used <= 1.0, "{used}");
    let efficiency = counts.dram_efficiency().unwrap();
    assert!(efficiency >= used && efficiency <= 1.0, "{efficiency}");
}
