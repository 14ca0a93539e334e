//! CaLRS 2015: L2 slice queues that know the outstanding requests of an instruction.

use super::{Mechanism, gain, is_left_out};
use warpmem::gpu::results::RunResult;
use warpmem_testing::is_long;

/// Runs `fifo`, `calrs` and `calrs-ideal`.
fn runs(trace: &Mechanism) -> [RunResult; 3] {
    let run = |queue| trace.run(&[&format!("policy.l2_queue={queue}")]);
    ["fifo", "calrs", "calrs-ideal"].map(run)
}

/// Returns the gain of the second and the third run over the first, in %.
fn gains([fifo, calrs, ideal]: &[RunResult; 3]) -> [f64; 2] {
    [gain(fifo, calrs), gain(fifo, ideal)]
}

/// Makes warps that load one line and compute, a share of which instead load 16 lines at a time,
/// all from L2.
fn mixture(parameters: &str) -> Mechanism {
    let regime = "--ctas 180 --sectors 16 --footprint 2^19 --loads 12 --heavy-loads 5 --compute 80 \
                  --heavy-compute 2";
    Mechanism::generated("role-mix", &format!("{regime} {parameters}"), "calrs2015")
}

/// Returns the gains of the policies with `queue` entries, in %.
fn mixture_gains(parameters: &str, queue: u32) -> [f64; 2] {
    let mixture = mixture(parameters).with(&[&format!("l2.queue={queue}")]);
    mixture.gains("l2_queue", "fifo", ["calrs", "calrs-ideal"])
}

/// A sixth of the warps makes half the requests and is served last: the others, which have most to
/// compute, wait less.
#[test]
fn few_warps_of_sixteen_lines_delay_the_others_less() {
    let [calrs, ideal] = mixture_gains("--heavy 0.18", 1280);
    assert!((10.0..20.0).contains(&calrs) && (10.0..20.0).contains(&ideal), "{calrs} {ideal}");
}

/// Rotation to the next subqueue keeps most of the order, by all three readings of its time; towards
/// the previous one, or with the classes of Algorithm 1, the requests of one line lose their lead.
#[test]
fn readings_of_the_rotation_decide_the_gain() {
    if is_left_out() {
        return;
    }
    let mixture = mixture("--heavy 0.18").with(&["l2.queue=1280"]);
    for (reading, expected) in [
        ("calrs(emptied=highest-served)", 4.0..12.0),
        ("calrs(emptied=served)", 10.0..20.0),
        ("calrs(rotate=previous)", -2.0..4.0),
        ("calrs(classes=algorithm-1)", 0.0..7.0),
        ("calrs-ideal(rotation=highest)", 10.0..20.0),
    ] {
        let [gain] = mixture.gains("l2_queue", "fifo", [reading]);
        assert!(expected.contains(&gain), "{reading}: {gain}");
    }
}

/// A fifth of the preset's queue is 25 entries: while the subqueue of the least critical requests
/// is full, the block signal stalls critical ones too (section 4.2). The stalls cancel the gain of
/// the order: -6 to +5 % with other random addresses.
#[test]
fn block_signal_cancels_the_gain_of_the_order() {
    if is_left_out() {
        return;
    }
    let [calrs, ideal] = mixture_gains("--heavy 0.18", 128);
    assert!((0.0..8.0).contains(&calrs) && (10.0..20.0).contains(&ideal), "{calrs} {ideal}");
}

/// The order of the queue is the same, but DRAM sets the pace: IPC does not follow.
#[test]
fn dram_bound_requests_gain_nothing() {
    if is_left_out() {
        return;
    }
    let [calrs, ideal] = mixture_gains("--heavy 0.12 --footprint 2^26", 128);
    assert!((-7.0..1.0).contains(&calrs) && (-7.0..1.0).contains(&ideal), "{calrs} {ideal}");
}

/// The data ports are too lightly loaded for requests to queue.
#[test]
fn few_divergent_warps_leave_no_gain() {
    if is_left_out() {
        return;
    }
    let [calrs, ideal] = mixture_gains("--heavy 0.06", 1280);
    assert!(calrs.abs() <= 0.5 && ideal.abs() <= 0.5, "{calrs} {ideal}");
}

/// Throughput is conserved, and all warps are equally critical.
#[test]
fn equal_warps_gain_nothing() {
    if is_left_out() {
        return;
    }
    let [calrs, ideal] = mixture_gains("--heavy 0.25 --mixture every", 128);
    assert!(calrs.abs() <= 2.0 && ideal.abs() <= 2.0, "{calrs} {ideal}");
}

/// Half the warps load one line and compute, the others load 16 lines at a time.
#[test]
fn warps_of_one_line_beside_warps_of_sixteen_gain() {
    let Some(trace) = Mechanism::open_long("c_typeXX16", "calrs2015") else { return };
    let [calrs, ideal] = gains(&runs(&trace));
    assert!((0.5..3.0).contains(&calrs), "{calrs}");
    assert!((1.0..5.0).contains(&ideal), "{ideal}");
}

/// No request is preferable: throughput is conserved.
#[test]
fn uniform_mixtures_gain_nothing() {
    let Some(trace) = Mechanism::open_long("c_mix16", "calrs2015") else { return };
    let [calrs, ideal] = gains(&runs(&trace));
    assert!(calrs.abs() <= 0.5 && ideal.abs() <= 0.5, "{calrs} {ideal}");
}

/// Requests with few siblings are served earlier, as in the paper. But the slices' data ports, at four L2 cycles per line,
/// are busy for 94 % of the run under `fifo`, except at start and end. The policy then only orders the completion of
/// warps: warps with many requests finish last, when too few remain to keep the ports busy.
#[test]
fn critical_requests_wait_less_but_saturated_ports_gain_nothing() {
    let Some(trace) = Mechanism::open("c_crit", "calrs2015") else { return };
    let trace = if is_long() { trace } else { trace.cut(90_720) };
    let runs = runs(&trace);
    let [fifo, calrs, ideal] = runs.each_ref().map(class_0_wait);
    assert!(calrs < 0.75 * fifo && ideal < 0.1 * fifo, "{fifo} {calrs} {ideal}");
    if !is_long() {
        return;
    }
    let busy = port_busy(&runs[0]);
    assert!(busy > 0.92, "{busy}");
    for gain in gains(&runs) {
        assert!((-6.0..0.0).contains(&gain), "{gain}");
    }
}

/// Returns the mean L2 cycles in the queue of requests of Critical Field 1.
fn class_0_wait(run: &RunResult) -> f64 {
    let cycles: u64 = run.slices.iter().map(|slice| slice.queue.wait_cycles[0]).sum();
    let requests: u64 = run.slices.iter().map(|slice| slice.queue.arrivals[0]).sum();
    cycles as f64 / requests as f64
}

/// Returns the fraction of L2 cycles in which hits occupy the data ports: four per hit, each of two
/// core cycles.
fn port_busy(run: &RunResult) -> f64 {
    let hits: u64 = run.slices.iter().map(|slice| slice.cache.read_hits).sum();
    (hits * 4 * 2) as f64 / (run.core_cycles * run.slices.len() as u64) as f64
}
