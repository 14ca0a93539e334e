//! Profiles of hand-made traces.

use super::*;
use crate::testing::machine;
use warpmem_testing::{Step, TestKernel, compute, load, memory, store, trace};
use warpmem_trace::{
    CtaBuilder, KernelInfo, Kind, OpClass, Provenance, Space, TraceWriter, WriterOptions,
};

fn of(kernels: &[TestKernel]) -> Profile {
    let options = Options::default();
    profile(&trace(kernels), &machine(&[]), &options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn kernel(ctas: Vec<Vec<Vec<Step>>>) -> TestKernel {
    TestKernel::new(ctas)
}

/// Returns 32 lane addresses from `first` on, `stride` bytes apart.
fn lanes(first: u64, stride: u64) -> Vec<u64> {
    (0..32).map(|lane| first + stride * lane).collect()
}

fn fp(class: OpClass) -> Step {
    compute(class, &[])
}

/// Profiles a warp with accesses of several kinds.
fn divergent() -> Profile {
    let one = vec![
        load(&lanes(0, 4)),
        load(&lanes(0, 128)),
        load(&[4096]),
        fp(OpClass::Fp32),
        fp(OpClass::Fp16),
        fp(OpClass::Integer),
        store(&lanes(64, 4)),
        memory(Kind::Atomic, Space::Global, &[512, 512]),
        memory(Kind::Load, Space::Shared, &[0, 4]),
    ];
    of(&[kernel(vec![vec![one]])])
}

#[test]
fn divergence_by_hand() {
    let profile = divergent();
    assert_eq!(profile.records, 6);
    let [loads, stores, atomics] = &profile.all.divergence[..] else { panic!("three kinds") };
    assert_eq!((loads.access, loads.instructions), (Access::Load, 3));
    assert_eq!(loads.lines.mean, Some(34.0 / 3.0));
    assert_eq!((loads.lines.p50, loads.lines.p95, loads.lines.max), (Some(1), Some(32), Some(32)));
    assert_eq!(loads.sectors.mean, Some((4.0 + 32.0 + 1.0) / 3.0));
    let patterns = Patterns { single_lane: 1, unit_stride: 1, strided: 1, ..Patterns::default() };
    assert_eq!(loads.patterns, patterns);
    assert_eq!(
        (stores.lines.mean, stores.sectors.mean),
        (Some(2.0), Some(4.0)),
        "across two lines"
    );
    assert_eq!(atomics.patterns, Patterns { uniform: 1, ..Patterns::default() });
}

/// Profiles a load of 4 bytes per lane under a mask, after compute instructions with the given
/// active lanes, through the writer and the reader.
fn of_load(mask: u32, addresses: &[u64], compute: &[(OpClass, u32)]) -> Profile {
    let Step::Record { mut instruction, .. } = load(addresses) else { panic!("a record") };
    let mut lanes = [0; OpClass::COUNT];
    for &(class, active) in compute {
        let Step::Compute(step) = fp(class) else { panic!("compute") };
        instruction.compute.push(step);
        lanes[class as usize] += active;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    let options = WriterOptions::default();
    let mut writer = TraceWriter::create(&path, Provenance::default(), options).unwrap();
    let kernel = KernelInfo { grid: [1; 3], block: [32, 1, 1], ..KernelInfo::default() };
    writer.begin_kernel(kernel).unwrap();
    let mut cta = CtaBuilder::new();
    cta.begin([0; 3]);
    cta.begin_warp(0);
    cta.push(writer.intern(&instruction), mask, &lanes, addresses);
    writer.cta(&cta).unwrap();
    writer.end_kernel().unwrap();
    writer.finish().unwrap();
    let trace = Trace::open(&path).unwrap();
    let go_on = &mut |_: &Progress| ControlFlow::Continue(());
    profile(&trace, &machine(&[]), &Options::default(), go_on).unwrap()
}

/// The reader reports a constant stride if it is constant among the active lanes, as it always is
/// for two.
#[test]
fn patterns_of_lanes_with_gaps() {
    let apart = |bytes: u64| (0..16).map(|index| 4096 + bytes * index).collect::<Vec<u64>>();
    let (side_by_side, doubled, wide) = (apart(4), apart(8), apart(256));
    let none = Patterns::default;
    let [unit, strided, irregular, uniform] = [
        Patterns { unit_stride: 1, ..none() },
        Patterns { strided: 1, ..none() },
        Patterns { irregular: 1, ..none() },
        Patterns { uniform: 1, ..none() },
    ];
    let cases: [(u32, &[u64], Patterns, &str); 9] = [
        (0x5555_5555, &doubled, unit, "a[i] in every other lane"),
        (0x5555_5555, &side_by_side, unit, "a compaction"),
        (0x5555_5555, &wide, strided, "128 bytes a lane"),
        (0x0000_ffff, &doubled, strided, "8 bytes a lane"),
        (0x0001_7fff, &doubled, irregular, "but for a lane that is off"),
        (0x8000_0001, &[4096, 94_208], irregular, "two lanes anywhere"),
        (0x0000_0003, &[4096, 94_208], irregular, "two neighbours anywhere"),
        (0x8000_0001, &[4096, 4096 + 4 * 31], unit, "a[i] in two lanes"),
        (0x8000_0001, &[4096, 4096], uniform, "two lanes at one address"),
    ];
    for (mask, addresses, expected, what) in cases {
        let profile = of_load(mask, addresses, &[]);
        assert_eq!(profile.all.divergence[0].patterns, expected, "{what}");
    }
}

#[test]
fn the_mix_counts_lanes() {
    let Part { mix, intensity, .. } = divergent().all;
    assert_eq!(mix.warp_instructions, 9);
    // Three full loads and stores, three compute instructions; one lane, two and two.
    assert_eq!(mix.mean_lanes, Some((3.0 * 32.0 + 3.0 * 32.0 + 1.0 + 2.0 + 2.0) / 9.0));
    let kinds: Vec<_> =
        mix.kinds.iter().map(|kind| (kind.name.as_str(), kind.warp_instructions)).collect();
    let expected = [
        ("load global", 3),
        ("atomic global", 1),
        ("fp16", 1),
        ("fp32", 1),
        ("integer", 1),
        ("load shared", 1),
        ("store global", 1),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(mix.kinds[0].mean_lanes, Some(65.0 / 3.0));
    assert_eq!(mix.kinds[2].mean_lanes, Some(32.0));
    assert_eq!((intensity.fp_operations, intensity.integer_operations), (32 + 64, 32));
    let requested = 4 * (32 + 32 + 1 + 32 + 2);
    assert_eq!(intensity.requested_bytes, requested);
    assert_eq!(intensity.sector_bytes, 32 * (4 + 32 + 1 + 4 + 1));
    assert_eq!(intensity.fp_per_requested_byte, Some(96.0 / requested as f64));
    assert_eq!(intensity.integer_per_sector_byte, Some(32.0 / (32.0 * 42.0)));
}

#[test]
fn branches_are_left_out_of_the_mean_of_lanes() {
    let compute = [(OpClass::Integer, 16), (OpClass::Control, 0), (OpClass::Control, 3)];
    let profile = of_load(0xf, &[0, 4, 8, 12], &compute);
    for Part { mix, .. } in [&profile.all, &profile.kernels[0]] {
        assert_eq!((mix.warp_instructions, mix.mean_lanes), (4, Some((16.0 + 4.0) / 2.0)));
        let control = mix.kinds.iter().find(|kind| kind.name == "control").unwrap();
        assert_eq!((control.warp_instructions, control.mean_lanes), (2, Some(1.5)));
    }
}

#[test]
fn the_footprint_is_of_distinct_lines() {
    let profile = divergent();
    let [global] = &profile.footprint[..] else { panic!("shared memory has no lines") };
    // Lines 0 to 31, of which 0 and 1 are also written and 4 is modified; and line 32.
    let counts = [global.lines, global.read_only_lines, global.written_lines, global.both_lines];
    assert_eq!(counts.map(|count| count.value), [33, 30, 0, 3]);
    assert_eq!((global.small_pages.value, global.large_pages.value), (2, 1));
    // All of line 0, half of line 1, a word of each other line.
    assert_eq!(global.bytes.value, 128 + 64 + 31 * 4);
    assert_eq!(global.sectors.value, 4 + 2 + 31);
    assert_eq!(profile.compulsory.line_bytes, Estimate { value: 33 * 128, standard_error: 0.0 });
    assert_eq!(profile.compulsory.fp_per_sector_byte, Some(96.0 / (37.0 * 32.0)));
    assert_eq!(profile.compulsory.integer_per_line_byte, Some(32.0 / (33.0 * 128.0)));
}

#[test]
fn warps_are_read_round_robin_and_ctas_in_sequence() {
    // Line by line: CTA 0 has a b a b (round robin over its warps), CTA 1 c c.
    let warp = |line: u64| vec![load(&[128 * line]), load(&[128 * line])];
    let profile = of(&[kernel(vec![vec![warp(0), warp(1)], vec![warp(2)]])]);
    assert_eq!(profile.reuse.cold_share, Some(0.5));
    let shares: Vec<_> = profile.reuse.histogram.iter().map(|bin| (bin.from, bin.share)).collect();
    assert_eq!(shares, [(0, 1.0 / 6.0), (1, 2.0 / 6.0)]);
}

#[test]
fn ended_warp_leaves_the_rotation() {
    let long = vec![load(&[0]), load(&[128]), load(&[0])];
    let profile = of(&[kernel(vec![vec![vec![load(&[256])], long]])]);
    let shares: Vec<_> = profile.reuse.histogram.iter().map(|bin| (bin.from, bin.share)).collect();
    assert_eq!(shares, [(0, 0.0), (1, 0.25)], "256, 0, 128, 0");
}

#[test]
fn ctas_of_different_kernels_are_no_neighbours() {
    let one = || kernel(vec![vec![vec![load(&[0])]]]);
    let apart = of(&[one(), one()]).line_sharing;
    assert_eq!((apart.mean_ctas, apart.consecutive_share), (Some(2.0), Some(0.0)));
    let together = kernel(vec![vec![vec![load(&[0])]], vec![vec![load(&[0])]]]);
    let profile = of(&[together]);
    assert_eq!(profile.line_sharing.consecutive_share, Some(1.0));
    assert_eq!(profile.spread.row_sharing.consecutive_share, Some(1.0));
    assert_eq!(profile.line_sharing.by_ctas.last().map(|bin| bin.access_share), Some(1.0));
}

#[test]
fn channels_of_an_instruction_are_distinct() {
    // Two channels by the machine's map: lines 0 and 1 in one, line 2 in the other.
    let profile = of(&[kernel(vec![vec![vec![load(&[0, 128]), load(&[0, 256]), load(&[0])]]])]);
    let spread = &profile.all.spread;
    assert_eq!(spread.channels_per_divergent_instruction, Some(1.5));
    assert_eq!((spread.accesses, &spread.accesses_per_channel), (5, &vec![4, 1]));
    assert_eq!(profile.spread.lines_per_channel, [2, 1]);
}

#[test]
fn pages_are_counted_by_kernel_and_alike_by_a_reading_for_them_alone() {
    let of_stride = |stride| kernel(vec![vec![vec![load(&lanes(0, stride)), store(&[0])]]]);
    let trace = trace(&[of_stride(4), of_stride(4096)]);
    let go_on = &mut |_: &Progress| ControlFlow::Continue(());
    let profile = profile(&trace, &machine(&[]), &Options::default(), go_on).unwrap();
    let means = |part: &Part| part.translation.each_ref().map(|size| size.pages.mean);
    let kernels: Vec<_> = profile.kernels.iter().map(means).collect();
    assert_eq!(kernels, [[Some(1.0); 3], [Some(33.0 / 2.0), Some(3.0 / 2.0), Some(1.0)]]);
    assert_eq!(profile.footprint[0].small_pages.value, 32);
    assert_eq!(profile.footprint[0].medium_pages.value, 2);
    assert_eq!(profile.all.translation, translation_divergence(&trace, go_on).unwrap());
}

#[test]
fn sites_are_added_up_over_executions() {
    let at = |pc, step: Step| step.with(|instruction| instruction.pc = pc);
    let warp =
        |stride| vec![at(16, load(&lanes(0, stride))), at(32, load(&[0])), at(32, store(&[0]))];
    let profile = of(&[kernel(vec![vec![warp(4), warp(128)], vec![warp(64)]])]);
    let found: Vec<_> = profile
        .sites
        .iter()
        .map(|site| (site.pc, site.access, site.executions, site.lines, site.max_lines))
        .collect();
    let expected = [
        (16, Access::Load, 3, 1 + 32 + 16, 32),
        (32, Access::Load, 3, 3, 1),
        (32, Access::Store, 3, 3, 1),
    ];
    assert_eq!(found, expected);
    assert_eq!(profile.sites[0].mean_lines, Some(49.0 / 3.0));
    assert_eq!(profile.sites[0].mean_sectors, Some((4.0 + 32.0 + 32.0) / 3.0));
    assert_eq!(
        (profile.sites[1].mean_lanes, profile.sites[1].kernel.as_str()),
        (Some(1.0), "kernel-0")
    );
}

#[test]
fn launches_of_a_name_are_one_kernel() {
    let trace =
        Trace::open(std::path::Path::new("../../../sample-traces/cache-resident/reduction.wmt"))
            .unwrap();
    let machine = warpmem_machine::load("li2015", &[]).unwrap();
    let mut go_on = |_: &Progress| ControlFlow::Continue(());
    let profile = profile(&trace, &machine, &Options::default(), &mut go_on).unwrap();
    let names: Vec<&str> = profile.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    let mut different = names.clone();
    different.dedup();
    assert_eq!(names, different);
    let launches: u64 = profile.kernels.iter().map(|kernel| kernel.launches).sum();
    assert_eq!((launches, profile.all.launches), (trace.kernels().len() as u64, launches));
    assert!(profile.kernels.len() < trace.kernels().len());
    let records: u64 = trace.kernels().iter().map(|kernel| kernel.records).sum();
    assert_eq!(profile.records, records);
    let parts = profile.kernels.iter().map(|kernel| kernel.mix.warp_instructions);
    assert_eq!(profile.all.mix.warp_instructions, parts.sum::<u64>());
    let accesses = profile.kernels.iter().map(|kernel| kernel.spread.accesses);
    assert_eq!(profile.all.spread.accesses, accesses.sum::<u64>());
}

#[test]
fn small_tables_estimate_what_large_ones_count() {
    let trace = Trace::open(std::path::Path::new("../../../sample-traces/gather.wmt")).unwrap();
    let machine = warpmem_machine::load("li2015", &[]).unwrap();
    let with = |footprint_limit, reuse_limit| {
        let options = Options { footprint_limit, reuse_limit, ..Options::default() };
        profile(&trace, &machine, &options, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let (exact, sampled) = (with(1 << 17, 1 << 15), with(1 << 10, 1 << 10));
    assert_eq!((&exact.all, &exact.sites), (&sampled.all, &sampled.sites), "counts are counts");
    let near = |exact: Estimate, sampled: Estimate| {
        let off = exact.value.abs_diff(sampled.value) as f64;
        exact.standard_error == 0.0 && off <= 3.0 * sampled.standard_error
    };
    let (truth, estimate) = (&exact.footprint[0], &sampled.footprint[0]);
    assert!((truth.lines_per_kept, estimate.lines_per_kept) == (1, 32), "{estimate:?}");
    assert!(near(truth.lines, estimate.lines), "{truth:?} {estimate:?}");
    assert!(near(truth.bytes, estimate.bytes), "{truth:?} {estimate:?}");
    assert!(near(truth.small_pages, estimate.small_pages), "{truth:?} {estimate:?}");
    assert!(near(exact.spread.rows, sampled.spread.rows));
    assert!(sampled.reuse.caches.iter().any(|cache| cache.miss_ratio.is_some()));
    for (truth, estimate) in exact.reuse.caches.iter().zip(&sampled.reuse.caches) {
        let is_told = estimate.bytes >= 128 * sampled.reuse.least_cache_lines();
        assert_eq!(estimate.miss_ratio.is_some(), is_told, "{estimate:?}");
        let Some(ratio) = estimate.miss_ratio else { continue };
        let off = truth.miss_ratio.unwrap() - ratio;
        assert!(off.abs() <= 3.0 * estimate.standard_error.unwrap(), "{truth:?} {estimate:?}");
    }
    let moved = sampled.compulsory.line_bytes;
    assert_eq!(moved.value, 128 * estimate.lines.value);
    assert_eq!(moved.standard_error, 128.0 * estimate.lines.standard_error);
    assert!(near(exact.compulsory.sector_bytes, sampled.compulsory.sector_bytes));
    let weights =
        |profile: &Profile| (profile.line_sharing.all_per_kept, profile.spread.lines_per_kept);
    assert_eq!((weights(&exact), weights(&sampled)), ((1, 1), (32, 32)));
    let mean = |profile: &Profile| profile.spread.line_channels.mean;
    assert!((mean(&exact) / mean(&sampled) - 1.0).abs() < 0.1, "{:?}", sampled.spread);
    let shared = |profile: &Profile| profile.line_sharing.shared_share.unwrap();
    assert!((shared(&exact) - shared(&sampled)).abs() < 0.06);
}

#[test]
fn uncounted_figures_have_no_number() {
    let profile = of(&[kernel(vec![vec![vec![fp(OpClass::Fp32)]]])]);
    let text = serde_json::to_string(&profile).unwrap();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert_eq!(profile.all.divergence[0].lines, Distribution::default());
    assert_eq!(profile.all.translation[0].multi_page_share, None);
    assert_eq!(profile.all.intensity.fp_per_requested_byte, None);
    assert_eq!(profile.compulsory.fp_per_line_byte, None);
    assert_eq!(profile.footprint, []);
    assert_eq!(profile.reuse.cold_share, None);
    assert_eq!(profile.spread.accesses_per_row_visit, None);
    let empty = of(&[]);
    assert_eq!((empty.records, empty.all.mix.mean_lanes), (0, None));
}

#[test]
fn a_profile_can_be_stopped_and_refuses_invalid_sizes() {
    let trace = trace(&[kernel(vec![vec![vec![load(&[0])]], vec![vec![load(&[0])]]])]);
    let machine = machine(&[]);
    let mut told = Vec::new();
    let mut stop = |progress: &Progress| {
        told.push(progress.records);
        ControlFlow::Break(())
    };
    let result = profile(&trace, &machine, &Options::default(), &mut stop);
    assert!(matches!(result, Err(ProfileError::Interrupted)));
    assert_eq!(told, [1], "after a chunk, of a CTA here");
    let refused = |line_bytes, sector_bytes| {
        let options = Options { line_bytes, sector_bytes, ..Options::default() };
        let go_on = &mut |_: &Progress| ControlFlow::Continue(());
        profile(&trace, &machine, &options, go_on).unwrap_err().to_string()
    };
    assert_eq!(
        refused(100, 32),
        "line size of 100 bytes; valid: a power of two from 64 to 4096 bytes"
    );
    assert_eq!(
        refused(32, 32),
        "line size of 32 bytes; valid: a power of two from 64 to 4096 bytes"
    );
    assert_eq!(
        refused(128, 2),
        "sector size of 2 bytes; valid: a power of two from 4 to 128 bytes"
    );
    assert_eq!(
        refused(128, 256),
        "sector size of 256 bytes; valid: a power of two from 4 to 128 bytes"
    );
}

#[test]
fn other_line_sizes_make_other_counts() {
    let trace = trace(&[kernel(vec![vec![vec![load(&lanes(0, 4)), load(&lanes(0, 64))]]])]);
    let lines = |line_bytes, sector_bytes| {
        let options = Options { line_bytes, sector_bytes, ..Options::default() };
        let go_on = &mut |_: &Progress| ControlFlow::Continue(());
        let loads =
            profile(&trace, &machine(&[]), &options, go_on).unwrap().all.divergence.remove(0);
        (loads.lines.mean, loads.sectors.mean)
    };
    assert_eq!(lines(128, 32), (Some(8.5), Some(18.0)));
    assert_eq!(lines(64, 64), (Some(17.0), Some(17.0)));
    assert_eq!(lines(1024, 1024), (Some(1.5), Some(1.5)));
}
