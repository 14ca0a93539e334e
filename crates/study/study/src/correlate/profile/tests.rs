//! Profiles of the documented formats, with their quirks, and the figures read from them.

use super::*;
use proptest::prelude::*;

/// Clock for durations without one, Hz.
const HZ: f64 = 1e9;

/// The details page of Nsight Compute: a row per metric, rules among them.
const LONG: &str = "\
starting with 512 elements, 2 steps
==PROF== Connected to process 4711 (/home/user/app)
==PROF== Profiling \"add\" - 0: 0%....50%....100% - 8 passes
==WARNING== Backing up device memory in system memory. Kernel replay might be slow.
done
==PROF== Disconnected from process 4711
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"DRAM Frequency\",\"cycle/usecond\",\"850.25\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"SM Frequency\",\"cycle/nsecond\",\"1.25\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"Elapsed Cycles\",\"cycle\",\"12,500\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"Memory Throughput\",\"%\",\"81.25\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"Duration\",\"usecond\",\"10.00\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"GPU Speed Of Light Throughput\",\"\",\"\",\"\",\"SOLBottleneck\",\"OPT\",\"Memory is used more, than compute: look at \"\"Memory Workload Analysis\"\".\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"Memory Workload Analysis\",\"Memory Throughput\",\"Gbyte/second\",\"640.00\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"Memory Workload Analysis\",\"L1/TEX Hit Rate\",\"%\",\"0\",\"\",\"\",\"\"
\"0\",\"4711\",\"app\",\"127.0.0.1\",\"void add<float>(T1 *, const T1 *)\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 2, 1)\",\"0\",\"7.0\",\"Memory Workload Analysis\",\"L2 Hit Rate\",\"%\",\"33.35\",\"\",\"\",\"\"
\"1\",\"4711\",\"app\",\"127.0.0.1\",\"mul(float *)\",\"1\",\"7\",\"(64, 1, 1)\",\"(3, 1, 1)\",\"0\",\"7.0\",\"Instruction Statistics\",\"Executed Instructions\",\"inst\",\"1,234,567\",\"\",\"\",\"\"
\"1\",\"4711\",\"app\",\"127.0.0.1\",\"mul(float *)\",\"1\",\"7\",\"(64, 1, 1)\",\"(3, 1, 1)\",\"0\",\"7.0\",\"Memory Workload Analysis\",\"L2 Hit Rate\",\"%\",\"n/a\",\"\",\"\",\"\"
==PROF== Report: https://example.org
";

/// The raw page: a row per launch, the units in the second row, instances in parentheses.
const WIDE: &str = "\
==PROF== Disconnected from process 99
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum.per_second\",\"gpc__cycles_elapsed.avg.per_second\",\"gpc__cycles_elapsed.max\",\"gpu__time_duration.sum\",\"lts__t_sectors_op_read.sum\",\"lts__t_sectors_srcunit_tex_op_read.sum\",\"lts__t_sectors_op_write.sum\",\"l1tex__t_sector_hit_rate.pct\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\",\"smsp__inst_executed.sum\"
\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"Gbyte/second\",\"Ghz\",\"cycle\",\"usecond\",\"sector\",\"sector\",\"sector\",\"%\",\"%\",\"inst\"
\"0\",\"99\",\"app\",\"host\",\"add\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 1, 1)\",\"0\",\"8.0\",\"3.20\",\"6.40\",\"1.41\",\"14,100\",\"10.00\",\"120,000\",\"100,000\",\"50,000\",\"12.50\",\"n/a\",\"65,536 (16,384; 16,384; 16,384; 16,384)\"
\"1\",\"99\",\"app\",\"host\",\"add\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 1, 1)\",\"0\",\"8.0\",\"3.20\",\"0\",\"1.41\",\"14,200\",\"10.10\",\"120,000\",\"100,000\",\"50,000\",\"12.50\",\"10.1\",\"65,536\"
";

/// nvprof's trace, with copies, and names with the number of the launch.
const TRACE: &str = "\
==321== NVPROF is profiling process 321, command: ./app 512
==321== Profiling application: ./app 512
==321== Profiling result:
\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\"
ms,us,,,,,,,,B,B,KB,GB/s,,,,,,
245.109000,1.888000,,,,,,,,,,4.000000,2.020000,\"Pageable\",\"Device\",\"Tesla V100-SXM2-16GB (0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"
245.309000,4.500000,16,2,1,32,32,1,18,0,0,,,,,\"Tesla V100-SXM2-16GB (0)\",\"1\",\"7\",\"void add<float>(float*, int) [115]\"
245.409000,5.500000,16,2,1,32,32,1,18,0,0,,,,,\"Tesla V100-SXM2-16GB (0)\",\"1\",\"7\",\"void add<float>(float*, int) [118]\"
245.509000,1.500000,,,,,,,,,,4.000000,2.020000,\"Device\",\"Pageable\",\"Tesla V100-SXM2-16GB (0)\",\"1\",\"7\",\"[CUDA memcpy DtoH]\"
";

/// nvprof's metrics, means over the launches of a kernel.
const METRICS: &str = "\
==7== Metric result:
\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"
\"Tesla V100 (0)\",\"add(float*)\",20,\"inst_executed\",\"Instructions Executed\",4096,4098,4097
\"Tesla V100 (0)\",\"add(float*)\",20,\"l2_tex_hit_rate\",\"L2 Cache Hit Rate\",50.00%,52.00%,51.25%
\"Tesla V100 (0)\",\"add(float*)\",20,\"dram_utilization\",\"Device Memory Utilization\",\"Low (2)\",\"Low (3)\",\"Low (2)\"
";

fn parse(text: &str) -> Result<Profile, ProfileError> {
    Profile::parse(Path::new("p.csv"), text.as_bytes())
}

/// Returns the known figures of each launch.
fn figures(profile: &Profile) -> Vec<Vec<(Figure, f64)>> {
    let of_launch = |launch: &Launch| {
        let known = Figure::ALL.into_iter();
        known.filter_map(|figure| Some((figure, figure.of(launch, HZ)?))).collect()
    };
    profile.launches.iter().map(of_launch).collect()
}

fn assert_near(found: &[(Figure, f64)], expected: &[(Figure, f64)]) {
    let names = |all: &[(Figure, f64)]| all.iter().map(|(figure, _)| *figure).collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for ((figure, value), (_, expected)) in found.iter().zip(expected) {
        assert!((value - expected).abs() <= 1e-9 * expected, "{figure:?}: {value} for {expected}");
    }
}

fn dimensions(x: u32, y: u32, z: u32) -> Option<Extent> {
    Some(Extent::Dimensions([x, y, z]))
}

#[test]
fn the_details_page_has_a_row_per_metric() {
    let profile = parse(LONG).unwrap();
    assert_eq!(profile.launches.len(), 2);
    let [add, mul] = &figures(&profile)[..] else { panic!("two launches") };
    let expected = [
        (Figure::Cycles, 12_500.0),
        (Figure::L1HitRate, 0.0),
        (Figure::L2HitRate, 33.35),
        // 640 GB/s for 10 us.
        (Figure::DramSectors, 200_000.0),
    ];
    assert_near(add, &expected);
    assert_near(mul, &[(Figure::WarpInstructions, 1_234_567.0)]);
    let first = &profile.launches[0];
    assert_eq!((first.grid, first.block), (dimensions(1024, 2, 1), dimensions(256, 1, 1)));
    assert_eq!(first.name, "void add<float>(T1 *, const T1 *)");
    assert_eq!((first.sm_clock(), first.dram_clock()), (Some(1.25e9), Some(850.25e6)));
    assert_eq!(profile.profiler, Profiler::NsightCompute);
}

#[test]
fn the_raw_page_has_a_row_per_launch() {
    let profile = parse(WIDE).unwrap();
    let expected = |cycles, written| {
        [
            (Figure::Cycles, cycles),
            (Figure::WarpInstructions, 65_536.0),
            (Figure::L1HitRate, 12.5),
            // The reads of L1, not of all units.
            (Figure::L2Reads, 100_000.0),
            (Figure::L2Writes, 50_000.0),
            (Figure::DramReads, 100_000.0),
            (Figure::DramWrites, written),
        ]
    };
    let found = figures(&profile);
    assert_near(&found[0], &expected(14_100.0, 2000.0));
    assert_near(&found[1], &expected(14_200.0, 0.0));
    assert_eq!(profile.sm_clock(), Some(1.41e9));
}

#[test]
fn durations_of_nvprof_are_cycles_of_the_machine() {
    let profile = parse(TRACE).unwrap();
    for (found, cycles) in figures(&profile).iter().zip([4500.0, 5500.0]) {
        assert_near(found, &[(Figure::Cycles, cycles)]);
    }
    let first = &profile.launches[0];
    assert_eq!(first.name, "void add<float>(float*, int)");
    assert_eq!((first.grid, first.block), (dimensions(16, 2, 1), dimensions(32, 32, 1)));
    assert!(first.has_only_duration() && profile.profiler == Profiler::Nvprof);
    let milliseconds = TRACE.replace("ms,us,", "ms,ms,");
    assert_near(&figures(&parse(&milliseconds).unwrap())[0], &[(Figure::Cycles, 4_500_000.0)]);
}

#[test]
fn metrics_of_nvprof_are_means_over_launches() {
    let profile = parse(METRICS).unwrap();
    let expected = [(Figure::WarpInstructions, 4097.0), (Figure::L2HitRate, 51.25)];
    assert_near(&figures(&profile)[0], &expected);
    let launch = &profile.launches[0];
    assert_eq!((launch.mean_of, launch.grid, launch.block), (Some(20), None, None));
}

#[test]
fn old_versions_without_sizes_state_products() {
    let text = "\
\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"
\"1\",\"5\",\"app\",\"127.0.0.1\",\"add\",\"2020-Jan-01 10:00:00\",\"1\",\"7\",\"Launch Statistics\",\"Grid Size\",\"\",\"1,024\"
\"1\",\"5\",\"app\",\"127.0.0.1\",\"add\",\"2020-Jan-01 10:00:00\",\"1\",\"7\",\"Command line profiler metrics\",\"sm__cycles_elapsed.max\",\"cycle\",\"1,024\"
";
    let profile = parse(text).unwrap();
    let launch = &profile.launches[0];
    assert_eq!((launch.grid, launch.block), (Some(Extent::Total(1024)), None));
    assert_eq!(figures(&profile), [[(Figure::Cycles, 1024.0)]]);
}

#[test]
fn locales_and_spreadsheets_change_separators_only() {
    let expected = figures(&parse(WIDE).unwrap());
    let crlf = format!("\u{feff}{}", WIDE.replace('\n', "\r\n"));
    assert_eq!(figures(&parse(&crlf).unwrap()), expected);
    let semicolons = WIDE.replace("\",\"", "\";\"");
    assert_eq!(figures(&parse(&semicolons).unwrap()), expected);
    let german = semicolons.replace(',', "'").replace("0.0", "0,0");
    let german = ["3.20", "6.40", "1.41", "10.00", "10.10", "12.50"]
        .iter()
        .fold(german, |text, number| text.replace(number, &number.replace('.', ",")));
    let swapped = german.replace('\'', ".");
    assert_eq!(figures(&parse(&swapped).unwrap()), expected);
}

#[test]
fn outputs_of_several_runs_may_follow_each_other() {
    let profile = parse(&[LONG, LONG].concat()).unwrap();
    let names: Vec<&str> = profile.launches.iter().map(|launch| &launch.name[..3]).collect();
    assert_eq!(names, ["voi", "mul", "voi", "mul"]);
}

/// Returns the message about a text.
fn message(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn bad_profiles_are_refused_by_line_and_metric() {
    for text in ["", "==ERROR== The application returned an error code (11).\n", "a,b\n1,2\n"] {
        assert!(message(text).starts_with("p.csv: no table of a profile; expected"), "{text}");
    }
    let header = LONG.lines().find(|line| line.starts_with("\"ID\"")).unwrap();
    assert!(message(header).contains("no launch of a kernel"), "{header}");
    let of_metric = |from: &str, to: &str| message(&LONG.replace(from, to));
    let text = of_metric("\"12,500\"", "\"many\"");
    assert_eq!(text, "p.csv: line 10: `Elapsed Cycles` is `many`; expected a number");
    let text = of_metric("\"usecond\",\"10.00\"", "\"fortnight\",\"10.00\"");
    assert!(
        text.starts_with("p.csv: line 12: `Duration` has the unit `fortnight`; expected `ns"),
        "{text}"
    );
    let text = of_metric("\"33.35\"", "\"33,35\"");
    assert!(
        text.starts_with(
            "p.csv: lines 16 and 8 have different decimal marks (`33,35` and `850.25`)"
        ),
        "{text}"
    );
    let text = of_metric("\"Executed Instructions\",", "");
    assert_eq!(text, "p.csv: line 17 has 17 fields, its header has 18");
    let text = message(&LONG.replace("\"Metric Value\"", "\"Value\""));
    assert_eq!(text, "p.csv: the table has no column `Metric Value`");
}

#[test]
fn a_profile_of_our_own_metrics_has_no_error() {
    let trace =
        [TraceLaunch { name: "_Z3addPf".to_owned(), grid: [1024, 1, 1], block: [256, 1, 1] }];
    let profile = parse(WIDE).unwrap();
    let matching = match_launches(&trace, &profile.launches);
    let ours = [
        ("gpc__cycles_elapsed.max", 14_150.0),
        ("smsp__inst_executed.sum", 65_536.0),
        ("l1tex__t_sector_hit_rate.pct", 10.0),
        ("dram__sectors_read.sum", 150_000.0),
        ("dram__sectors_write.sum", 500.0),
    ];
    let ours = [ours.map(|(name, value)| (name.to_owned(), value.into())).into_iter().collect()];
    let compared =
        Compared { profile: &profile, trace: &trace, matching: &matching, ours: &ours, hz: HZ };
    let rows = compared.rows();
    let errors: Vec<f64> = rows.iter().map(|row| row.error.unwrap()).collect();
    let expected = [0.0, 0.0, -2.5, 0.5, -0.5];
    assert!(errors.iter().zip(expected).all(|(error, near)| (error - near).abs() < 1e-12));
    assert_eq!(errors.len(), expected.len());
    assert_eq!((rows[0].profiled_launches, rows[0].simulated_launches), (2, 1));
    let summary = summary(&rows);
    assert_eq!(summary.len(), 5);
    assert_eq!((summary[3].mean_absolute_error, summary[3].ratio), (0.5, Some(1.5)));
    assert_eq!((summary[2].worst_error, summary[2].ratio), (-2.5, None));
    assert_eq!(compared.unmatched(), [vec![], vec![]]);
}

proptest! {
    /// Mutations of valid profiles: bytes replaced, lines removed and repeated.
    #[test]
    fn no_profile_panics(
        which in 0usize..4,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
        doubled in any::<prop::sample::Index>(),
    ) {
        let mut bytes = [LONG, WIDE, TRACE, METRICS][which].as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let mut lines = lines.clone();
        lines.remove(cut.index(lines.len()));
        lines.push(lines[doubled.index(lines.len())]);
        if let Ok(profile) = Profile::parse(Path::new("p.csv"), &lines.concat()) {
            figures(&profile);
            match_launches(&[], &profile.launches);
        }
    }
}
