use super::super::{Census, Part, SampleError, Selection, write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use warpmem_testing::{TestKernel, compute, exit, load, store, trace};
use warpmem_trace::{
    Codec, Instruction, OpClass, Provenance, Ranges, Record, Trace, TraceSummary, WriterOptions,
};

fn sample_traces() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../sample-traces");
    let folders = [folder.join("cache-resident"), folder];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let traces: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "wmt")).collect();
    assert!(traces.len() > 10);
    traces
}

fn ranges(text: &str) -> Ranges {
    text.parse().unwrap()
}

fn select(kernels: &str, name: Option<&str>, ctas: &str) -> Selection {
    let kernel_name = name.map(str::to_owned);
    Selection { kernels: ranges(kernels), kernel_name, ctas: ranges(ctas), longest: false }
}

/// Writes `part` of `trace` as a trace.
fn written(trace: &Trace, part: &Part) -> (Trace, TraceSummary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.wmt");
    // Different chunks than in the source.
    let options = WriterOptions { codec: Codec::Zstd, level: 1, chunk_bytes: 3000 };
    let go_on = &mut |_| ControlFlow::Continue(());
    let summary = write(trace, part, &path, Provenance::default(), options, go_on).unwrap();
    (Trace::from_bytes("part.wmt", std::fs::read(&path).unwrap()).unwrap(), summary)
}

/// A CTA as seen by replay: its position in the grid, and each warp's number and records.
type Cta = ([u32; 3], Vec<(u32, Vec<(Instruction, Record)>)>);

fn ctas(trace: &Trace, kernel: usize) -> Vec<Cta> {
    let instructions = trace.instructions(kernel).unwrap();
    let mut ctas = Vec::new();
    for number in trace.kernels()[kernel].chunks.clone() {
        let chunk = trace.chunk(kernel, number).unwrap();
        for (place, entry) in chunk.ctas().iter().enumerate() {
            let warps = entry.warps.iter().enumerate().map(|(index, warp)| {
                let mut cursor = Arc::clone(&chunk).warp(place, index);
                let mut records = Vec::new();
                loop {
                    // A new record, so that no address of the previous one remains.
                    let mut record = Record::new();
                    if !cursor.next(&mut record).unwrap() {
                        break;
                    }
                    let active = record.active_addresses().len();
                    record.addresses[active..].fill(0);
                    records.push((instructions[record.instruction.0 as usize].clone(), record));
                }
                (warp.warp_in_cta, records)
            });
            ctas.push((entry.block, warps.collect()));
        }
    }
    ctas
}

#[test]
fn selecting_everything_reproduces_the_trace() {
    for path in sample_traces() {
        let trace = Trace::open(&path).unwrap();
        let part = Selection::all().of(&trace).unwrap();
        assert!(part.is_whole(&trace));
        let (copy, summary) = written(&trace, &part);
        assert_eq!(summary.content_hash, trace.header().content_hash, "{}", path.display());
        assert_eq!(copy.header().memcpys, trace.header().memcpys);
    }
}

#[test]
fn a_part_holds_exactly_the_records_of_its_ctas() {
    for path in sample_traces() {
        let trace = Trace::open(&path).unwrap();
        let part = select("..", None, "0,3..6,9,15..").of(&trace).unwrap();
        assert!(!part.is_whole(&trace));
        let (copy, _) = written(&trace, &part);
        assert_eq!(copy.kernels().len(), part.kernels.len());
        for (number, kernel) in part.kernels.iter().enumerate() {
            let all = ctas(&trace, kernel.kernel);
            let chosen: Vec<Cta> =
                kernel.ctas.iter().map(|&cta| all[cta as usize].clone()).collect();
            assert!(ctas(&copy, number) == chosen, "{} kernel {number}", path.display());
            assert_eq!(copy.kernels()[number].info, trace.kernels()[kernel.kernel].info);
        }
    }
}

#[test]
fn copies_stay_before_their_kernels() {
    let bfs = sample_traces().into_iter().find(|path| path.ends_with("bfs-rmat.wmt")).unwrap();
    let trace = Trace::open(&bfs).unwrap();
    let (copy, _) = written(&trace, &select("2..4,8", None, "..").of(&trace).unwrap());
    let places = |trace: &Trace| -> Vec<u32> {
        trace.header().memcpys.iter().map(|copy| copy.before_kernel).collect()
    };
    let expected = |before: u32| match before {
        0..=2 => 0,
        3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    let all = places(&trace);
    assert!(all.iter().any(|&before| before > 2) && all.contains(&0), "{all:?}");
    assert_eq!(places(&copy), all.into_iter().map(expected).collect::<Vec<_>>());
}

/// Returns kernels of one warp that exits at once, with L2 resets before some.
fn with_resets(kernels: u32, before: &[u32]) -> Trace {
    let kernel = |number| TestKernel {
        resets_l2: before.contains(&number),
        ..TestKernel::new([vec![vec![exit()]]])
    };
    trace(&(0..kernels).map(kernel).collect::<Vec<_>>())
}

#[test]
fn l2_resets_stay_before_their_kernels() {
    let trace = with_resets(8, &[1, 2, 5, 7]);
    let of = |kernels: &str| {
        let (copy, _) = written(&trace, &select(kernels, None, "..").of(&trace).unwrap());
        copy.header().l2_resets.clone()
    };
    assert_eq!(of(".."), [1, 2, 5, 7]);
    assert_eq!(of("0,3,4,6"), [1, 3], "those before kernels that are left out count for the next");
    assert_eq!(of("3..5"), [0]);
    assert_eq!(of("0"), [0; 0]);
}

/// Builds a trace: kernel k has `ctas[k]` CTAs, each a warp with a load, k + 1 adds, a store and an
/// exit.
fn kernels(ctas: &[u64]) -> Trace {
    let cta = |kernel: usize, number: u64| {
        let adds = vec![compute(OpClass::Integer, &[]); kernel + 1];
        let [from, to] = [0x1000, 0x9000].map(|array| array + 256 * number);
        let steps = [vec![load(&[from, from + 200])], adds, vec![store(&[to]), exit()]];
        vec![steps.concat()]
    };
    let kernel = |(kernel, &count)| TestKernel::new((0..count).map(|number| cta(kernel, number)));
    trace(&ctas.iter().enumerate().map(kernel).collect::<Vec<_>>())
}

fn numbers(part: &Part) -> Vec<(usize, &[u32])> {
    part.kernels.iter().map(|part| (part.kernel, part.ctas.as_slice())).collect()
}

#[test]
fn kernels_are_chosen_by_number_and_name_and_ctas_in_each() {
    let trace = kernels(&[4, 1, 3]);
    let of = |kernels, name, ctas| select(kernels, name, ctas).of(&trace).unwrap();
    assert_eq!(numbers(&of("1..", None, "..")), [(1, &[0][..]), (2, &[0, 1, 2])]);
    assert_eq!(numbers(&of("..", Some("el-2"), "1..3")), [(2, &[1, 2][..])]);
    // Kernel 1 has no such CTA, and kernel 2 only one.
    assert_eq!(numbers(&of("..", None, "2..4")), [(0, &[2, 3][..]), (2, &[2])]);
    assert_eq!(numbers(&of("0..2", Some("kernel"), "0")), [(0, &[0][..]), (1, &[0])]);
}

#[test]
fn the_first_longest_launch_of_each_kernel_is_chosen() {
    let kernel = |name: &str, ctas: u64| {
        let name = Some(name.to_owned());
        TestKernel { name, ..TestKernel::new((0..ctas).map(|_| vec![vec![exit()]])) }
    };
    let launches = [kernel("a", 2), kernel("b", 1), kernel("a", 5), kernel("a", 5), kernel("b", 1)];
    let trace = trace(&launches);
    let longest = |kernels| Selection { longest: true, ..select(kernels, None, "0") };
    let chosen = |kernels| -> Vec<usize> {
        longest(kernels).of(&trace).unwrap().kernels.iter().map(|part| part.kernel).collect()
    };
    assert_eq!(chosen(".."), [1, 2]);
    assert_eq!(chosen("0..2"), [0, 1], "of those that are chosen by number");
}

#[test]
fn what_is_not_there_is_refused() {
    let trace = kernels(&[4, 1]);
    let error =
        |kernels, name, ctas| select(kernels, name, ctas).of(&trace).unwrap_err().to_string();
    assert!(error("1..3", None, "..").contains("kernels 1..3 go beyond the end: there are 2"));
    assert!(error("..", None, "2..5").contains("CTAs 2..5 go beyond the end: there are 4"));
    assert!(error("1", None, "1").contains("CTAs 1 go beyond the end: there is 1"));
    assert!(error("..", Some("gemm"), "..").contains("`gemm`"));
    assert!(error("..", Some("gemm"), "..").contains("kernel-0, kernel-1"));
    assert!(error("1", Some("kernel-0"), "..").contains("kernel-0, kernel-1"));
    let empty = kernels(&[0]);
    let error = Selection::all().of(&empty).unwrap_err();
    assert!(matches!(error, SampleError::Empty { .. }), "{error}");
}

#[test]
fn clusters_are_taken_whole_or_not_at_all() {
    let pairs =
        TestKernel { cluster: Some([2, 1, 1]), ..TestKernel::new(vec![vec![vec![exit()]]; 8]) };
    let trace = trace(&[pairs]);
    let part = select("..", None, "2..6").of(&trace).unwrap();
    assert_eq!((numbers(&part), part.kernels[0].cluster), (vec![(0, &[2, 3, 4, 5][..])], 2));
    assert_eq!(ctas(&written(&trace, &part).0, 0).len(), 4);
    let error = select("..", None, "2..5").of(&trace).unwrap_err();
    assert_eq!(
        error.to_string(),
        "CTAs 4 to 5 of kernel 0 form a cluster and are only partly selected; valid: all or none"
    );
}

#[test]
fn a_kernel_that_has_no_ctas_stays_where_all_is_taken() {
    let trace = kernels(&[2, 0, 3]);
    let part = Selection::all().of(&trace).unwrap();
    assert!(part.is_whole(&trace));
    assert_eq!(written(&trace, &part).1.content_hash, trace.header().content_hash);
}

#[test]
fn a_census_counts_what_the_header_sums() {
    let go_on = &mut |_| ControlFlow::Continue(());
    for path in sample_traces() {
        let trace = Trace::open(&path).unwrap();
        let part = Selection::all().of(&trace).unwrap();
        let census = Census::of(&trace, &part, go_on).unwrap();
        for (kernel, ctas) in trace.kernels().iter().zip(&census.kernels) {
            let sum = super::super::Measures::sum(ctas);
            assert_eq!(ctas.len(), kernel.ctas as usize);
            assert_eq!(
                (sum.records, sum.warp_instructions),
                (kernel.records, kernel.warp_instructions)
            );
        }
    }
    let trace = kernels(&[1, 2]);
    let census = Census::of(&trace, &Selection::all().of(&trace).unwrap(), go_on).unwrap();
    let cta = census.kernels[1][1];
    assert_eq!((cta.records, cta.warp_instructions), (3, 5));
    // A load of two lanes on two lines and a store of one lane; four bytes per lane.
    assert_eq!((cta.loads, cta.load_lines, cta.lines, cta.bytes), (1, 2, 3, 12));
}

#[test]
fn interrupted_work_leaves_nothing() {
    let trace = kernels(&[4]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.wmt");
    let part = Selection::all().of(&trace).unwrap();
    let mut seen = Vec::new();
    let stop = &mut |progress: super::super::Progress| {
        seen.push((progress.done, progress.all));
        if progress.done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let result = write(&trace, &part, &path, Provenance::default(), WriterOptions::default(), stop);
    assert!(matches!(result, Err(SampleError::Interrupted)));
    assert_eq!(seen, [(1, 4), (2, 4)]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
