//! DRAM throughput behind a whole machine, and legality of its commands.

use crate::trace::{NO_REFRESH, UNTRANSLATED, loads, machine, mixed, run, write};
use warpmem::dram::CommandKind;
use warpmem::dram::checker::check;
use warpmem::dram::scheduler::SCHEDULERS;
use warpmem::gpu::engine::Simulation;
use warpmem::gpu::results::RunResult;
use warpmem::machine::{Machine, preset_names};
use warpmem_testing::{is_long, is_sampled};

/// Returns every scheduler, and the options of FR-FCFS that change commands.
fn schedulers() -> Vec<String> {
    let options = ["page=closed", "row_hit_cap=2", "banks=stepping,picks_per_cycle=1"];
    let options = options.map(|options| format!("fr-fcfs({options})"));
    SCHEDULERS.names().map(str::to_owned).chain(options).collect()
}

/// Returns the schedulers to run on a preset: one in eight, other ones on the next preset.
fn schedulers_on(preset: usize) -> impl Iterator<Item = String> {
    let all = schedulers().into_iter().enumerate();
    all.filter(move |(scheduler, _)| is_sampled(preset, *scheduler, 8)).map(|(_, name)| name)
}

fn with_scheduler(preset: &str, scheduler: &str, overrides: &[&str]) -> Machine {
    let scheduler = format!("policy.dram_scheduler={scheduler}");
    // Starts of CTAs do not limit the streams.
    let ctas = ["sm.cta_dispatch_permille=0", "sm.cta_launch_latency=0"];
    let all = overrides.iter().copied().chain(ctas).chain([scheduler.as_str()]);
    machine(preset, &all.collect::<Vec<_>>())
}

/// Returns the presets limited by DRAM: their networks carry, and their L1s can track, the full
/// DRAM bandwidth.
fn bound_by_dram() -> impl Iterator<Item = &'static str> {
    preset_names().filter(|preset| {
        let machine = machine(preset, &[]);
        let l1 = &machine.l1.cache;
        let waits_for = u64::from(machine.sm.count * l1.mshr_entries * l1.sector_bytes);
        // The 512 MSHRs of an L1 of b200 suffice for 70 % of the peak.
        let is_one_part = machine.policy.topology == "crossbar" && !machine.l2.copies;
        is_one_part && waits_for >= bytes_of_a_load_time(&machine)
    })
}

#[test]
fn dram_commands_of_whole_machines_are_legal() {
    let file = write(&[mixed(8, 16, 1 << 22)]);
    // Slices so small that dirty lines are evicted constantly.
    let small = ["l2.cache.size_bytes=1024", "l2.cache.ways=1"];
    let mut runs = 0;
    for (number, preset) in preset_names().enumerate() {
        // One scheduler suffices where presets differ only above DRAM.
        let schedulers: Vec<String> = match bound_by_dram().any(|other| other == preset) {
            true => schedulers_on(number).collect(),
            false => vec!["fr-fcfs".to_owned()],
        };
        for scheduler in schedulers {
            let refreshes = [&[][..], &["dram.timing.trefi=900", "dram.timing.trfc=110"]];
            runs += 1;
            for (_, refresh) in
                refreshes.into_iter().enumerate().filter(|(column, _)| is_sampled(runs, *column, 2))
            {
                let overrides = [&small, &NO_REFRESH[..], refresh].concat();
                let machine = with_scheduler(preset, &scheduler, &overrides);
                let simulation = Simulation::new(&machine, &file.trace);
                let (result, logs) = simulation.run_with_commands().unwrap();
                let context = format!("{preset}, {scheduler}, {refresh:?}");
                for log in &logs {
                    assert_eq!(check(&machine.dram, log).first(), None, "{context}");
                }
                assert_log_is_whole(&machine, &result, &logs.concat(), &context);
            }
        }
    }
}

/// Checks that the log holds all counted commands, including reads, writes and refreshes.
fn assert_log_is_whole(
    machine: &Machine,
    result: &RunResult,
    log: &[warpmem::dram::Command],
    context: &str,
) {
    let logged = |kind| log.iter().filter(|command| command.kind == kind).count() as u64;
    let banks = || result.channels.iter().flat_map(|channel| &channel.banks);
    let reads = logged(CommandKind::Rd) + logged(CommandKind::Rda);
    let writes = logged(CommandKind::Wr) + logged(CommandKind::Wra);
    assert_eq!(reads, banks().map(|bank| bank.reads).sum::<u64>(), "{context}");
    assert_eq!(writes, banks().map(|bank| bank.writes).sum::<u64>(), "{context}");
    assert_eq!(
        logged(CommandKind::Act),
        banks().map(|bank| bank.activations).sum::<u64>(),
        "{context}"
    );
    assert!(reads > 1000 && writes > 1000, "{context}");
    assert_eq!(logged(CommandKind::Ref) > 0, machine.dram.timing.trefi > 0, "{context}");
}

/// Returns the bytes that DRAM delivers during one load latency.
fn bytes_of_a_load_time(machine: &Machine) -> u64 {
    let latency = machine.l1.latency + machine.l2.input_latency + machine.l2.to_dram_latency;
    machine.peak_bytes_per_second() * u64::from(latency + 100)
        / (u64::from(machine.clocks.core_mhz) * 1_000_000)
}

/// Returns the loads in flight per warp that keep DRAM busy: one where the resident warps cover the unloaded latency,
/// otherwise twice the number that covers it.
fn loads_in_flight(machine: &Machine) -> u64 {
    let of_one_each = 128 * u64::from(machine.sm.count * machine.sm.max_warps);
    match bytes_of_a_load_time(machine).div_ceil(of_one_each) {
        1 => 1,
        loads => (2 * loads).next_power_of_two(),
    }
}

/// Reads `lines` lines of 128 bytes in `order`, one warp per line, sector by sector. With more
/// loads in flight, each warp of a CTA reads that many lines, interleaved over the warps.
fn read_lines(machine: &Machine, lines: u64, order: impl Fn(u64) -> u64) -> RunResult {
    let sector = u64::from(machine.l2.cache.sector_bytes);
    let steps = loads_in_flight(machine);
    let kernel = loads([(lines / 8 / steps) as usize, 8, steps as usize], |warp, step, lane| {
        let line = (warp / 8 * steps + step) * 8 + warp % 8;
        let byte = 128 * line + 4 * lane;
        order(byte / sector) * sector + byte % sector
    });
    run(machine, &write(&[kernel]).trace)
}

/// Returns one of 2^20 sectors in pseudo-random order.
fn scattered(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44
}

/// Returns the share of the peak bandwidth of `bytes` in `core_cycles`.
fn share_of_peak(machine: &Machine, bytes: u64, core_cycles: u64) -> f64 {
    let peak = machine.peak_bytes_per_second() as f64;
    let seconds = core_cycles as f64 / (f64::from(machine.clocks.core_mhz) * 1e6);
    bytes as f64 / seconds / peak
}

/// Returns the lines of a stream on a preset. Many channels would get too few lines each of a shorter one, and with a
/// long path to DRAM, start and end of the run weigh more (warped-mc on `l40s`: 0.937, 0.990 and 0.982 for 1 << 14, 15
/// and 16 lines).
fn lines_of_a_stream(preset: &str) -> u64 {
    let machine = machine(preset, &[]);
    let way = u64::from(machine.l2.to_dram_latency) * u64::from(machine.clocks.dram_mhz)
        / u64::from(machine.clocks.core_mhz);
    match machine.dram.channels {
        channels if channels > 64 || way > 500 => 1 << 16,
        17.. => 1 << 15,
        _ => 1 << 14,
    }
}

#[test]
fn sequential_reads_approach_peak_bandwidth_and_random_reads_do_not() {
    // Long relative to the start and end of the two runs: the order of the SMs shifts those by 20
    // cycles, up to 5 % for 1 << 12 lines.
    let in_order = ["fcfs", "banked-fifo", "sms"];
    let (short, long): (Vec<_>, Vec<_>) = bound_by_dram()
        .map(|preset| (preset, lines_of_a_stream(preset)))
        .partition(|(_, lines)| *lines <= 1 << 14);
    for (number, (preset, lines)) in short.iter().chain(&long).copied().enumerate() {
        // Each scheduler streams on one of the presets with short streams, and `fr-fcfs` on each preset.
        let is_here =
            |at: usize, name: &str| is_long() || name == "fr-fcfs" || at % short.len() == number;
        let schedulers = schedulers().into_iter().enumerate();
        for (_, scheduler) in schedulers.filter(|(at, name)| is_here(*at, name)) {
            let mut machine = with_scheduler(preset, &scheduler, &NO_REFRESH);
            if machine.dram.pseudo_channels > 1 {
                // Pseudo channels share the queue, so not every column command finds one of another
                // bank group to interleave with: without this FR-FCFS reaches 0.93.
                machine.dram.timing.tccdl = machine.dram.timing.tccds;
            }
            let cycles = |lines| read_lines(&machine, lines, |sector| sector).core_cycles;
            let sequential = cycles(lines);
            // The second half of the stream excludes the latency of the first line.
            let half = cycles(lines / 2);
            let share = share_of_peak(&machine, 64 * lines, sequential - half);
            // These three follow some order of arrival, of the channel, a bank or an SM, and not
            // rows (the lowest is `fcfs` on `accelsim-qv100`: 0.59 to 0.61, depending on the first SM and the
            // length of the stream); in address order, the pseudo channels transfer data one after
            // the other.
            let least = match in_order.contains(&&*scheduler) {
                true => 0.55 / f64::from(machine.dram.pseudo_channels),
                // 410 lines per channel: the ends of the runs weigh more.
                false if machine.dram.pseudo_channels > 1 => 0.9,
                // The only request of a warp interrupts a row: 0.948 on `accelsim-rtx3070`, 0.998 with `high=left`.
                false if scheduler == "warped-mc" => 0.94,
                false => 0.95,
            };
            assert!(share >= least, "{preset}, {scheduler}: {share}");
            // The half is the difference of two runs with different ends; the peak bounds each run.
            assert!(share_of_peak(&machine, 128 * lines, sequential) < 1.0);
            assert!(share_of_peak(&machine, 64 * lines, half) < 1.0);
            let random = read_lines(&machine, lines / 8, scattered).core_cycles * 8;
            assert!(
                sequential <= random,
                "{preset}, {scheduler}: {sequential} and {random} cycles"
            );
        }
    }
}

/// Half of the reads cross to the other partition and back. The stream is longer because the ends
/// of the runs are.
#[test]
fn stream_approaches_peak_bandwidth_with_replicated_lines() {
    let mut machine = with_scheduler("a100", "fr-fcfs", &NO_REFRESH);
    machine.dram.timing.tccdl = machine.dram.timing.tccds;
    let lines = 1 << 15;
    let [half, whole] =
        [lines / 2, lines].map(|lines| read_lines(&machine, lines, |sector| sector).core_cycles);
    let share = share_of_peak(&machine, 64 * lines, whole - half);
    assert!((0.95..1.0).contains(&share), "{share}");
}

#[test]
fn fr_fcfs_beats_fcfs_and_a_fifo_per_bank_lies_between() {
    for preset in bound_by_dram() {
        let cycles = |scheduler| {
            let machine = with_scheduler(preset, scheduler, &[]);
            read_lines(&machine, lines_of_a_stream(preset) / 8, scattered).core_cycles
        };
        let [fcfs, banked, fr_fcfs] = ["fcfs", "banked-fifo", "fr-fcfs"].map(cycles);
        assert!(2 * fcfs > 5 * fr_fcfs, "{preset}: {fcfs} and {fr_fcfs} cycles");
        // Unordered reads find no open row: the only possible gain is the queue space of idle
        // banks.
        assert!(98 * fr_fcfs <= 100 * banked, "{preset}: {banked} and {fr_fcfs} cycles");
        assert!(3 * banked < 2 * fcfs, "{preset}: {fcfs} and {banked} cycles");
    }
}

/// Returns the command cycles between two rows of a bank that delivers one sector of each.
fn row_cycle(machine: &Machine) -> u64 {
    let (dram, t) = (&machine.dram, &machine.dram.timing);
    let columns = machine.l2.cache.sector_bytes / (dram.bus_bytes * dram.burst_length);
    let burst = dram.burst_length / dram.transfers_per_clock;
    let last_read = t.trcd + (columns - 1) * t.tccdl.max(burst);
    t.trc.max(t.tras.max(last_read + t.trtp) + t.trp).into()
}

#[test]
fn one_bank_with_a_new_row_per_request_takes_a_row_cycle_each() {
    for (number, preset) in bound_by_dram().enumerate() {
        for scheduler in schedulers_on(number) {
            let overrides = [&NO_REFRESH[..], &[UNTRANSLATED]].concat();
            let machine = with_scheduler(preset, &scheduler, &overrides);
            let map = machine.address_map().unwrap();
            let home = map.locate(0);
            let in_column = |address: &u64| {
                let place = map.locate(*address);
                (place.channel, place.bank, place.column) == (home.channel, home.bank, home.column)
            };
            let rows: Vec<u64> = (0..).map(|n| n * 128).filter(in_column).take(256).collect();
            let time = |requests: usize| {
                let kernel = loads([requests / 8, 8, 1], |warp, _, _| rows[warp as usize]);
                let cycles = run(&machine, &write(&[kernel]).trace).core_cycles;
                cycles as f64 / f64::from(machine.clocks.core_mhz)
            };
            let expected = (128 * row_cycle(&machine)) as f64 / f64::from(machine.clocks.dram_mhz);
            // Runs end with a slice cycle, and slices are no faster than cores.
            let tolerance = 1.0 / f64::from(machine.clocks.l2_mhz);
            let difference = time(256) - time(128);
            assert!(
                (difference - expected).abs() <= tolerance,
                "{preset}, {scheduler}: {difference} us"
            );
        }
    }
}
