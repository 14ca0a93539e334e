//! Properties that every generator must have.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;

use warpmem_trace::{Kind, Provenance, Trace, TraceSummary};

use crate::kernels::testing::visit_records;
use crate::{
    CATALOGUE, Generator, Parameter, Progress, Request, Seeded, WorkloadError, generate, generators,
};

pub(super) type Given = BTreeMap<String, String>;

/// Requires a file; the input tests cover it.
const FILE_FORMAT: &str = "file-format";

/// Returns parameters small enough for a test: sizes in the thousands are cut to 512, the sides of
/// planes to 48, and expensive workloads further.
fn small(generator: &Generator) -> Given {
    let size = |name: &str, default: &str| match (generator.name, name) {
        ("dct", "width") => Some("64"),
        ("gemm", "m" | "n" | "k") | (_, "width" | "height") => Some("48"),
        ("gesummv", "columns") | ("syr2k", "k") => Some("9"),
        ("syr2k", "n") | ("gaussian", "n") => Some("40"),
        ("fwt", "n") => Some("4096"),
        ("srad", "rows" | "columns") => Some("48"),
        ("heartwall", "points" | "template-radius") => Some("2"),
        ("heartwall", "search-radius") => Some("5"),
        ("embedding", "batch") | ("paged-attention" | "decode-layer", "context") => Some("40"),
        ("decode-layer", "head-size" | "intermediate") => Some("32"),
        ("linear", "n") | ("kv-cache", "head-size") => Some("16"),
        ("kv-cache", "sequences") => Some("3"),
        ("rms-norm", "tokens") => Some("5"),
        ("flash-attention", "tokens") => Some("128"),
        ("moe", "tokens") => Some("20"),
        ("moe", "experts") => Some("4"),
        ("moe", "hidden" | "intermediate") => Some("64"),
        ("paged-attention", "sequences") => Some("2"),
        ("b+tree", "queries" | "order") => Some("40"),
        ("mri-gridding", "side") => Some("8"),
        ("merge-sort", "tile") => Some("128"),
        ("shared-chain" | "role-mix" | "row-share" | "row-streams", "ctas") => Some("8"),
        ("row-streams", "run") => Some("64"),
        ("element-stream", "launches") => Some("2"),
        ("footprint-read", "footprint") => Some("2^15"),
        ("footprint-read", "ctas") => Some("9"),
        ("footprint-read", "block") => Some("64"),
        ("l1-strides", "loads") => Some("16"),
        ("l1-strides", "block") => Some("128"),
        _ => default.starts_with("2^").then_some("512"),
    };
    let cut = |p: &Parameter| Some((p.name().to_owned(), size(p.name(), &p.default())?.to_owned()));
    generator.parameters().filter_map(cut).collect()
}

/// Returns a generator's small arguments, alone and with every value of every choice, one at a time.
pub(super) fn variants(generator: &Generator) -> Vec<Given> {
    let mut all = vec![small(generator)];
    for parameter in generator.parameters().filter(|p| p.name() != FILE_FORMAT) {
        for choice in parameter.choices() {
            let mut given = small(generator);
            given.insert(parameter.name().to_owned(), choice.to_owned());
            all.push(given);
        }
    }
    all
}

/// Returns the [variants] that differ: the small arguments, and with every value that is no default.
pub(super) fn distinct_variants(generator: &Generator) -> Vec<Given> {
    let mut all = variants(generator);
    let small = all[0].clone();
    let defaults: Given =
        generator.parameters().map(|p| (p.name().to_owned(), p.default())).collect();
    let is_set = |(name, value): (&String, &String)| {
        small.get(name) != Some(value) && defaults[name] != *value
    };
    all.retain(|given| *given == small || given.iter().any(is_set));
    all
}

fn make(name: &str, given: &Given, seed: u64, output: &Path) -> TraceSummary {
    let mut progress = |_: &Progress| ControlFlow::Continue(());
    generate(name, given, seed, output, &mut progress).unwrap()
}

/// A small trace of a variant, made with seed 1.
struct Made {
    generator: &'static Generator,
    given: Given,
    summary: TraceSummary,
    bytes: Vec<u8>,
}

impl Made {
    fn trace(&self) -> Trace {
        Trace::from_bytes("t.wmt", self.bytes.clone()).unwrap()
    }
}

/// Every distinct variant of every generator; the first of each generator is the small one.
static MADE: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    let of =
        |generator| distinct_variants(generator).into_iter().map(move |given| (generator, given));
    let all = generators().iter().flat_map(of);
    let made = all.map(|(generator, given)| {
        let summary = make(generator.name, &given, 1, &path);
        Made { generator, given, summary, bytes: std::fs::read(&path).unwrap() }
    });
    made.collect()
});

/// Returns the small trace of each generator.
fn small_traces() -> impl Iterator<Item = &'static Made> {
    MADE.chunk_by(|one, next| one.generator.name == next.generator.name).map(|made| &made[0])
}

#[test]
fn every_variant_reads_back_as_it_was_counted() {
    for made in MADE.iter() {
        let (mut records, mut warp_instructions, mut thread_instructions) = (0, 0, 0);
        visit_records(&made.trace(), |_, _, instruction, record| {
            records += 1;
            warp_instructions += instruction.compute.len() as u64;
            thread_instructions += record.compute_lanes.iter().copied().map(u64::from).sum::<u64>();
            if instruction.kind != Kind::End {
                warp_instructions += 1;
                thread_instructions += u64::from(record.mask.count_ones());
            }
        });
        let counted = (records, warp_instructions, thread_instructions);
        let said = &made.summary;
        let said = (said.records, said.warp_instructions, said.thread_instructions);
        assert_eq!(counted, said, "{} {:?}", made.generator.name, made.given);
        assert!(records > 0);
    }
}

/// A path that skips an operation would shift the program counters after it.
#[test]
fn a_program_counter_always_has_the_same_operation() {
    for made in MADE.iter() {
        let trace = made.trace();
        let mut meaning = HashMap::new();
        visit_records(&trace, |kernel, _, i, _| {
            let name = &trace.kernels()[kernel].info.name;
            let does = (i.kind, i.space, i.width);
            let first = *meaning.entry((name, i.pc)).or_insert(does);
            assert_eq!(first, does, "{} {name} pc {:#x}", made.generator.name, i.pc);
        });
    }
}

#[test]
fn every_thread_exits_once() {
    for made in MADE.iter() {
        let (name, trace) = (made.generator.name, made.trace());
        let mut exited = HashMap::new();
        visit_records(&trace, |kernel, warp, instruction, record| {
            if instruction.kind == Kind::Exit {
                let lanes = exited.entry((kernel, warp)).or_insert(0);
                assert_eq!(*lanes & record.mask, 0, "{name}");
                *lanes |= record.mask;
            }
        });
        let threads: u64 =
            trace.kernels().iter().map(|k| u64::from(k.ctas) * k.info.threads_per_cta()).sum();
        let all: u64 = exited.values().map(|lanes| u64::from(lanes.count_ones())).sum();
        assert_eq!(all, threads, "{name}");
    }
}

#[test]
fn the_same_arguments_give_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    for made in small_traces() {
        make(made.generator.name, &made.given, 1, &path);
        assert!(std::fs::read(&path).unwrap() == made.bytes, "{}", made.generator.name);
    }
}

#[test]
fn the_seed_changes_traces_with_data_dependent_addresses() {
    let regular = [
        "vecadd",
        "stream",
        "reduction",
        "gups",
        "kmeans",
        "gemm",
        "transpose",
        "stencil2d",
        "stencil3d",
        "gesummv",
        "syr2k",
        "gaussian",
        "nn",
        "fwt",
        "backprop",
        "srad",
        "dct",
        "row-share",
        "linear",
        "rms-norm",
        "flash-attention",
        "element-stream",
        "footprint-read",
        "l1-strides",
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    for Made { generator, given, summary, .. } in small_traces() {
        let other = make(generator.name, given, 2, &path);
        let differs = other.content_hash != summary.content_hash;
        assert_eq!(differs, !regular.contains(&generator.name), "{}", generator.name);
    }
}

#[test]
fn provenance_holds_the_command() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    make("vecadd", &Given::from([("n".to_owned(), "64".to_owned())]), 3, &path);
    let trace = Trace::open(&path).unwrap();
    let provenance = &trace.header().provenance;
    assert_eq!(provenance.tool, "warpmem generate");
    assert_eq!(provenance.command, "warpmem generate vecadd --n 64 --block 256 --seed 3");
    assert_eq!(trace.header().memcpys.len(), 2);
    let seeded = Seeded { workload: "vecadd --n 64 --block 256".to_owned(), seed: 3 };
    assert_eq!(Seeded::of(provenance), Some(seeded));
}

#[test]
fn seeds_of_one_command_are_one_workload() {
    let of = |tool: &str, command: &str| {
        let provenance = Provenance {
            tool: tool.to_owned(),
            command: command.to_owned(),
            ..Provenance::default()
        };
        Seeded::of(&provenance).map(|seeded| (seeded.workload, seeded.seed))
    };
    let own = "warpmem generate";
    let some = of(own, "warpmem generate bfs --file 'a --seed 7' --seed 2 --kernels 1");
    assert_eq!(some, Some(("bfs --file 'a --seed 7' --kernels 1".to_owned(), 2)));
    assert_eq!(of(own, "warpmem generate bfs --nodes 64"), None);
    assert_eq!(of(own, "warpmem generate bfs --seed x"), None);
    assert_eq!(of("another program", "warpmem generate bfs --seed 1"), None);
}

#[test]
fn unknown_kernels_are_refused_with_the_nearest_name() {
    let mut progress = |_: &Progress| ControlFlow::Continue(());
    let error = generate("vecad", &Given::new(), 1, Path::new("x.wmt"), &mut progress).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("unknown kernel `vecad` (did you mean `vecadd`?); valid: bfs, "),
        "{error}"
    );
}

#[test]
fn inconsistent_sizes_are_refused() {
    const PART_OF_A_WARP: &str = "--block 48 is not a multiple of 32";
    let refusals = [
        ("stream", [("n", "6"), ("grid", "1")], "--n 6 is not a multiple of 4"),
        ("reduction", [("n", "6"), ("block", "48")], "--block 48 is not a power of two"),
        (
            "pointer-chase",
            [("nodes", "4"), ("node-bytes", "12")],
            "--node-bytes 12 is not a multiple of 8",
        ),
        (
            "pointer-chase",
            [("nodes", "2^24"), ("node-bytes", "2^16")],
            "2^24 nodes of 2^16 bytes are more than 2^32 bytes",
        ),
        ("linear", [("n", "3"), ("k", "8")], "--n 3 is not a multiple of 2"),
        ("rms-norm", [("tokens", "1"), ("hidden", "48")], "--hidden 48 is not a multiple of 32"),
        (
            "kv-cache",
            [("sequences", "1"), ("head-size", "20")],
            "--head-size 20 is not a multiple of 8",
        ),
        (
            "flash-attention",
            [("sequences", "1"), ("tokens", "200")],
            "--tokens 200 is not a multiple of 128",
        ),
        ("moe", [("top-k", "4"), ("experts", "3")], "--top-k 4 is more than --experts 3"),
        ("decode-layer", [("heads", "4"), ("kv-heads", "3")], "--heads 4 is not a multiple of 3"),
        ("gups", [("table", "6"), ("n", "1")], "--table 6 is not a power of two"),
        (
            "survey-propagation",
            [("variables", "2"), ("literals", "3")],
            "--literals 3 is more than --variables 2",
        ),
        (
            "inverted-index",
            [("documents", "2^20"), ("links", "64")],
            "--documents 2^20 of --links 64 and --words 8 may be more than 2^32 bytes",
        ),
        ("mri-gridding", [("samples", "9"), ("side", "12")], "--side 12 is not a power of two"),
        ("merge-sort", [("n", "96"), ("tile", "32")], "--n 96 is not a power of two"),
        ("merge-sort", [("n", "32"), ("tile", "128")], "--tile 128 is more than --n 32"),
        ("merge-sort", [("tile", "32"), ("sample", "64")], "--sample 64 is more than --tile 32"),
        (
            "role-mix",
            [("footprint", "600"), ("heavy", "0")],
            "--footprint 600 is not a power of two",
        ),
        (
            "row-streams",
            [("footprint", "2^12"), ("run", "2^12")],
            "--footprint 2^12 is less than two runs of 2^12 bytes",
        ),
        (
            "footprint-read",
            [("footprint", "2^20"), ("loads", "12")],
            "--loads 12 is not a multiple of 8",
        ),
        (
            "footprint-read",
            [("footprint", "2^19"), ("loads", "128")],
            "--footprint 2^19 is not a multiple of 1048576",
        ),
        ("l1-strides", [("pattern", "block"), ("row", "24")], "--row 24 is not a power of two"),
        (
            "histogram",
            [("variant", "shared"), ("bins", "12289")],
            "--bins 12289 do not fit into 49152 bytes of shared memory",
        ),
        ("bfs", [("nodes", "2^24"), ("degree", "2^10")], "2^34 edges are more than 2^28"),
        ("bfs", [("variant", "warp-centric"), ("block", "48")], PART_OF_A_WARP),
        ("bfs", [("variant", "direction-optimising"), ("block", "48")], PART_OF_A_WARP),
        ("pagerank", [("nodes", "9"), ("block", "48")], PART_OF_A_WARP),
        ("tc", [("nodes", "9"), ("block", "48")], PART_OF_A_WARP),
        ("spmv", [("rows", "2^24"), ("nnz-per-row", "2^10")], "2^34 entries are more than 2^28"),
        ("spmm", [("rows", "64"), ("block", "48")], "--block 48 is not a multiple of 32"),
        ("transpose", [("width", "2^20"), ("height", "2^20")], "2^40 elements are more than 2^28"),
        ("stencil2d", [("width", "2^15"), ("height", "2^15")], "2^30 cells are more than 2^28"),
        ("stencil3d", [("height", "2^12"), ("depth", "2^12")], "2^32 cells are more than 2^28"),
        ("gesummv", [("n", "2^20"), ("pitch", "2^14")], "2^34 elements are more than 2^28"),
        (
            "syr2k",
            [("block-x", "64"), ("block-y", "32")],
            "--block-x 64 and --block-y 32 are more than 2^10 threads in a CTA",
        ),
        ("fwt", [("n", "48"), ("kernel", "4")], "--n 48 is not a power of two"),
        (
            "backprop",
            [("inputs", "40"), ("iterations", "1")],
            "--inputs 40 is not a multiple of 16",
        ),
        ("srad", [("rows", "40"), ("columns", "48")], "--rows 40 is not a multiple of 16"),
        ("srad", [("variant", "v1"), ("block", "48")], "--block 48 is not a power of two"),
        ("dct", [("width", "48"), ("height", "48")], "--width 48 is not a multiple of 32"),
        ("dct", [("width", "64"), ("height", "40")], "--height 40 is not a multiple of 16"),
        (
            "heartwall",
            [("template-radius", "9"), ("search-radius", "9")],
            "--template-radius 9 is not less than --search-radius 9",
        ),
        (
            "stencil2d",
            [("block-x", "64"), ("block-y", "32")],
            "--block-x 64 and --block-y 32 are more than 2^10 threads in a CTA",
        ),
    ];
    for (name, given, message) in refusals {
        let given = given.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let mut progress = |_: &Progress| ControlFlow::Continue(());
        let error = generate(name, &given, 1, Path::new("x.wmt"), &mut progress).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_interrupted_generator_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.wmt");
    let mut seen = Vec::new();
    let mut progress = |p: &Progress| {
        seen.push((p.kernel.to_owned(), p.kernels_done, p.ctas_done, p.ctas));
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let given = Given::from([("n".to_owned(), "2^12".to_owned())]);
    let error = generate("vecadd", &given, 1, &path, &mut progress).unwrap_err();
    assert!(matches!(error, WorkloadError::Interrupted));
    assert_eq!(seen, [("vecadd".to_owned(), 0, 1, 16), ("vecadd".to_owned(), 0, 2, 16)]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

fn launches(ranges: &str, output: &Path) -> Result<TraceSummary, WorkloadError> {
    let parameters = Given::from([("n".to_owned(), "2^16".to_owned())]);
    let launches = ranges.parse().unwrap();
    let request = Request { kernel: "reduction".to_owned(), parameters, seed: 1, launches };
    Ok(request.generate(output, &mut |_| ControlFlow::Continue(()))?.trace)
}

#[test]
fn only_requested_launches_are_recorded_and_later_ones_not_run() {
    let directory = tempfile::tempdir().unwrap();
    let (all, some) = (directory.path().join("all.wmt"), directory.path().join("some.wmt"));
    launches("..", &all).unwrap();
    launches("1", &some).unwrap();
    let (all, some) = (Trace::open(&all).unwrap(), Trace::open(&some).unwrap());
    assert_eq!((all.kernels().len(), some.kernels().len()), (2, 1));
    assert_eq!(all.kernels()[1].info, some.kernels()[0].info);
    let addresses = |trace: &Trace, of| {
        let mut seen = Vec::new();
        visit_records(trace, |kernel, _, _, record| {
            if kernel == of {
                seen.extend_from_slice(record.active_addresses());
            }
        });
        seen
    };
    assert_eq!(addresses(&all, 1), addresses(&some, 0));
    assert!(some.header().provenance.command.ends_with(" --seed 1 --kernels 1"));

    let mut kernels = Vec::new();
    let parameters = Given::from([("n".to_owned(), "2^16".to_owned())]);
    let launches = "0".parse().unwrap();
    let request = Request { kernel: "reduction".to_owned(), parameters, seed: 1, launches };
    let mut progress = |p: &Progress| {
        kernels.push(p.kernels_done);
        ControlFlow::Continue(())
    };
    request.generate(&directory.path().join("first.wmt"), &mut progress).unwrap();
    assert_eq!(kernels.iter().max(), Some(&0));
}

#[test]
fn missing_launches_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = launches("1..5", &directory.path().join("t.wmt")).unwrap_err();
    assert_eq!(error.to_string(), "kernels 1..5 go beyond the end: there are 2, numbered from 0");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_catalogue_describes_every_generator() {
    let headings = CATALOGUE.lines().filter_map(|line| line.strip_prefix("## `"));
    let described: Vec<&str> = headings.map(|rest| rest.trim_end_matches('`')).collect();
    let names: Vec<&str> = generators().iter().map(|generator| generator.name).collect();
    assert_eq!(described, names);
    for generator in generators() {
        let description = generator.description();
        let has_length = (60..2500).contains(&description.len());
        assert!(has_length, "{}: {description}", generator.name);
    }
}
