//! Bandwidth and latency that can be worked out by hand.

use super::*;

/// Yuan 2009 section 2: one bank, two requests of 64 bytes to each row, two chips: 8 data cycles
/// per tRC of 34.
#[test]
fn one_bank_with_two_requests_a_row_uses_8_of_34_cycles() {
    let device = device(yuan2009());
    let requests = |visits: u64| pattern(Pattern::OneBank, 2, 2 * visits);
    let first = run_one(&device, &requests(1)).counts;
    // tRCD, four bursts of two cycles, CL after the last command.
    assert_eq!((first.cycles, first.data_bus_busy_cycles), (12 + 3 * 2 + 9 + 2, 8));
    for visits in [2, 100, 1000] {
        let run = run_one(&device, &requests(visits)).counts;
        assert_eq!(run.cycles, first.cycles + 34 * (visits - 1));
        assert_eq!(run.data_bus_busy_cycles, 8 * visits);
    }
}

/// A new row for each request: tRC apart under every scheduler.
#[test]
fn one_bank_with_a_new_row_each_time_runs_at_trc() {
    let device = li2015(&[
        "dram.write_queue=0",
        "dram.write_high_watermark=0",
        "dram.write_low_watermark=0",
    ]);
    for scheduler in ["fcfs", "banked-fifo", "fr-fcfs"] {
        let cycles = |requests| {
            let stream = pattern(Pattern::OneBank, 1, requests);
            run_with(&device, scheduler, &stream).unwrap().channels[0].counts.cycles
        };
        assert_eq!(cycles(1000) - cycles(500), 500 * 40, "{scheduler}");
    }
}

/// Two cycles of data per request, none lost except at refreshes.
#[test]
fn sequential_reads_fill_the_data_bus() {
    let device = li2015(&[]);
    let cycles = |requests| cycles(&device, &pattern(Pattern::Sequential, 1, requests));
    // Whole rounds of rows, from the second on.
    let round = 16 * 64;
    let (one, many) = (cycles(4 * round), cycles(24 * round));
    let lost = (many - one) as f64 / (20 * round * 2) as f64 - 1.0;
    assert!((0.0..0.01).contains(&lost), "{lost}");
}

#[test]
fn refresh_takes_its_share_of_a_sequential_stream() {
    let refreshed = li2015(&["dram.timing.trefi=4000", "dram.timing.trfc=200"]);
    let stream = pattern(Pattern::Sequential, 1, 100_000);
    let (plain, with) = (cycles(&li2015(&[]), &stream), run_one(&refreshed, &stream).counts);
    assert_eq!(with.refreshes, with.cycles / 4000);
    // Each takes tRFC, and closing and opening all rows: less than tRAS + tRP + 16 tRRD.
    let each = (with.cycles - plain) as f64 / with.refreshes as f64;
    assert!((200.0..200.0 + 40.0 + 96.0).contains(&each), "{each}");
}

/// Every request goes to a closed row of a separate bank, and the queue is never full: all enter at
/// their cycles, and the last takes as long as an isolated one.
#[test]
fn below_saturation_the_rate_is_exact() {
    let device = li2015(&["dram.timing.trrds=6"]);
    let stream = |rate: &str, requests| Stream {
        rate: Some(RateText::parse(rate).unwrap()),
        ..pattern(Pattern::RoundRobin, 1, requests)
    };
    let conflict = 12 + 12 + 12 + 2;
    for (rate, last) in [("0.1", 9_990), ("0.04", 24_975), ("6.4GB/s", 9_990)] {
        let run = run_one(&device, &stream(rate, 1000));
        assert_eq!(run.counts.cycles, last + conflict, "{rate}");
        assert_eq!((run.delay.count(), run.delay.max()), (1000, Some(0)), "{rate}");
        // The first visit of each bank finds it closed.
        assert_eq!((run.read_latency.min(), run.read_latency.max()), (Some(26), Some(38)));
        assert_eq!(run.counts.total().row_misses, 16);
    }
}

/// Above saturation requests wait outside the queue, and the report shows it.
#[test]
fn above_saturation_requests_are_late() {
    let device = li2015(&[]);
    let asked = |rate| Stream {
        rate: Some(RateText::parse(rate).unwrap()),
        ..pattern(Pattern::OneBank, 1, 1000)
    };
    let run = run_one(&device, &asked("0.05"));
    // Due every 20 cycles, served every 40; the queue of 64 absorbs part of the excess.
    assert_eq!(run.counts.cycles, cycles(&device, &pattern(Pattern::OneBank, 1, 1000)));
    let late = run.delay.max().unwrap();
    assert!((999 * 20 - 64 * 40..999 * 20).contains(&late), "{late}");
}

/// An isolated read and an isolated write: activation, command to data, data.
#[test]
fn an_isolated_request_takes_its_latency() {
    let device = li2015(&[]);
    let with_reads = |reads| Stream {
        origin: Origin::Pattern {
            pattern: Pattern::Random,
            locality: 1,
            channels: 1,
            mix: Mix { reads, ..mix(1) },
        },
        ..pattern(Pattern::Random, 1, 1)
    };
    let read = run_one(&device, &with_reads(1.0));
    assert_eq!(read.read_latency.mean(), Some(12.0 + 12.0 + 2.0));
    assert_eq!(read.write_latency.mean(), None);
    let write = run_one(&device, &with_reads(0.0));
    assert_eq!(write.write_latency.mean(), Some(7.0 + 4.0 + 2.0));
    assert_eq!(write.read_latency.mean(), None);
}

/// A request of 256 bytes is four column commands to one row.
#[test]
fn a_larger_request_takes_more_column_commands() {
    let stream = Stream { bytes: 256, ..pattern(Pattern::Random, 1, 100) };
    let counts = run_one(&li2015(&[]), &stream).counts;
    assert_eq!((counts.read_requests, counts.total().reads), (100, 400));
}

#[test]
fn the_fraction_of_reads_is_drawn() {
    let with_reads = |reads| {
        let Stream { origin, .. } = pattern(Pattern::Random, 4, 20_000);
        let Origin::Pattern { pattern, locality, channels, mix } = origin else { unreachable!() };
        let mix = Mix { reads, ..mix };
        run_one(&li2015(&[]), &stream(Origin::Pattern { pattern, locality, channels, mix }))
    };
    assert_eq!(with_reads(1.0).counts.write_requests, 0);
    assert_eq!(with_reads(0.0).counts.read_requests, 0);
    let mixed = with_reads(0.7).counts;
    assert_eq!(mixed.read_requests + mixed.write_requests, 20_000);
    assert!((13_800..14_200).contains(&mixed.read_requests), "{}", mixed.read_requests);
}

/// Yuan 2009 figure 3: random traffic, 64 bytes per request, a 32-entry queue, four banks; one, two
/// or four chips side by side.
#[test]
fn random_traffic_by_chips_and_row_locality() {
    let efficiency = |chips: u32, locality| {
        let gddr3 = yuan2009();
        let mut dram = Dram { bus_bytes: 4 * chips, row_bytes: 2048 * chips, ..gddr3 };
        let (column, burst) = (7, (16 * chips).ilog2());
        dram.address.map = format!("row:12 bank:2 column:{column} burst:{burst}");
        run_one(&device(dram), &pattern(Pattern::Random, locality, 20_000))
            .counts
            .dram_efficiency()
            .unwrap()
    };
    for chips in [1, 2, 4] {
        for locality in [1, 2, 3] {
            let reached = efficiency(chips, locality);
            let bound = bound(chips, locality);
            assert!((0.84 * bound..bound).contains(&reached), "{chips} {locality}: {reached}");
        }
    }
    let reported = efficiency(2, 2);
    assert!((0.787..0.827).contains(&reported), "80.7 % in section 2, not {reported}");
}

/// Returns the bound of four banks: a row cycle of 34 for each visit of a bank, an activation every
/// eight cycles.
fn bound(chips: u32, locality: u32) -> f64 {
    let data = f64::from(locality * 8 / chips);
    1f64.min(4.0 * data / 34.0).min(data / 8.0)
}

#[test]
fn channels_do_not_wait_for_each_other() {
    let device = li2015(&[]);
    let over = |channels, requests| {
        let mix = Mix { reads: 0.7, ..mix(requests) };
        let pattern = Pattern::Random;
        stream(Origin::Pattern { pattern, locality: 2, channels, mix })
    };
    let three = run_with(&device, "fr-fcfs", &over(3, 2999)).unwrap().channels;
    let served = three.iter().map(|c| c.counts.read_requests + c.counts.write_requests);
    assert_eq!(served.collect::<Vec<_>>(), [1000, 1000, 999]);
    assert_ne!(three[0].counts, three[1].counts, "each has its own requests");
    let alone = run_one(&device, &over(1, 1000));
    assert_eq!(three[0].counts, alone.counts);
    assert_eq!(three[0].read_latency, alone.read_latency);
}

#[test]
fn a_run_is_reproducible_by_its_seed() {
    let seeded = |seed| {
        let mix = Mix { requests: 2000, reads: 0.5, seed };
        let pattern = Pattern::Random;
        let origin = Origin::Pattern { pattern, locality: 1, channels: 1, mix };
        run_one(&li2015(&[]), &stream(origin)).counts
    };
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

/// Addresses 256 bytes apart rotate over the six channels of li2015.
#[test]
fn strided_addresses_follow_the_map() {
    let origin = Origin::Strided { stride: 256, mix: mix(6 * 64) };
    let channels = run_with(&li2015(&[]), "fr-fcfs", &stream(origin)).unwrap().channels;
    let served: Vec<u64> = channels.iter().map(|c| c.counts.read_requests).collect();
    assert_eq!(served, [64; 6]);
    // A stride of all banks and columns of a channel: one bank of one channel, a new row each time.
    let origin = Origin::Strided { stride: 6 << 16, mix: mix(100) };
    let channels = run_with(&li2015(&[]), "fr-fcfs", &stream(origin)).unwrap().channels;
    let first = channels[0].counts.total();
    assert_eq!((first.reads, first.activations), (100, 100));
    assert_eq!(channels[0].counts.blp(), Some(1.0));
    assert_eq!(channels[1].counts.cycles, 0);
}

#[test]
fn progress_covers_every_request_and_may_end_the_run() {
    let stream = pattern(Pattern::Sequential, 1, 100_000);
    let mut heard = 0;
    let mut count = |served| {
        heard += served;
        ControlFlow::Continue(())
    };
    run(&li2015(&[]), "fr-fcfs", &stream, &mut count).unwrap();
    assert_eq!(heard, 100_000);
    let ended = run(&li2015(&[]), "fr-fcfs", &stream, &mut |_| ControlFlow::Break(()));
    assert!(matches!(ended, Err(StandaloneError::Interrupted)));
}

/// Loads of four requests from many warps, over two channels: nothing is lost, and the result is
/// reproducible.
#[test]
fn every_scheduler_serves_every_request() {
    let mix = Mix { requests: 3000, reads: 0.7, seed: 5 };
    let (pattern, locality, channels) = (Pattern::Random, 2, 2);
    let stream = Stream {
        sources: Sources { sms: 4, warps: 8, group: 4 },
        ..stream(Origin::Pattern { pattern, locality, channels, mix })
    };
    for scheduler in warpmem_dram::scheduler::SCHEDULERS.names() {
        let run = || run_with(&li2015(&[]), scheduler, &stream).unwrap().channels;
        let channels = run();
        let served = channels.iter().map(|c| c.read_latency.count() + c.write_latency.count());
        assert_eq!(served.collect::<Vec<_>>(), [1500, 1500], "{scheduler}");
        let counts = |channels: Vec<ChannelOutcome>| {
            channels.into_iter().map(|channel| channel.counts).collect::<Vec<_>>()
        };
        assert_eq!(counts(channels), counts(run()), "{scheduler}");
    }
}
