//! Dialects of graphs, matrices and traces, and the notes about their interpretation.

use super::support::Bench;

const GENERAL: &str = "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n2 1\n3 1\n";

#[test]
fn a_general_matrix_is_an_undirected_graph_with_a_note_or_a_directed_one() {
    let bench = Bench::new();
    bench.write("g.mtx", GENERAL);
    let generate = ["generate", "bfs", "--file", "g.mtx", "-o", "t.wmt"];
    let note = "g.mtx: the graph is undirected: edges that the file lists in one direction, 2 of 2, go both ways \
                (--directed keeps their directions)\n";
    let ran = bench.run(&generate);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains(note), "{ran:?}");
    let ran = bench.run(&[&generate[..], &["--directed"]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("g.mtx: vertices 3, directed edges 2;"), "{ran:?}");
    assert!(!ran.stderr.contains("undirected"), "{ran:?}");
    let info = bench.output(&["info", "t.wmt"]);
    assert!(info.contains("--directed true"), "{info}");
    bench.refuses(&["generate", "bfs", "--directed", "-o", "t.wmt"], &["only with --file"]);
    bench.refuses(
        &["generate", "tc", "--file", "g.mtx", "--directed", "-o", "t.wmt"],
        &["--directed"],
    );
}

#[test]
fn a_complex_matrix_is_a_graph_but_no_matrix_of_numbers() {
    let bench = Bench::new();
    bench.write(
        "c.mtx",
        "%%MatrixMarket matrix coordinate complex hermitian\n3 3 3\n1 1 1 0\n2 1 0 1\n3 2 1 -1\n",
    );
    let ran = bench.run(&["generate", "bfs", "--file", "c.mtx", "-o", "t.wmt"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("c.mtx: vertices 3, edges 2; dropped: loops 1,"), "{ran:?}");
    let spmv = ["generate", "spmv", "--file", "c.mtx", "-o", "s.wmt"];
    bench.refuses(&spmv, &["c.mtx:1:34: `complex`", "valid: real, integer, pattern"]);
}

#[test]
fn an_instruction_trace_of_ramulator_says_what_it_leaves_out() {
    let bench = Bench::new();
    bench.write("a.trace", "3 1024 2048\n0 64\n");
    let ran = bench.run(&["dram", "--trace", "a.trace", "--format", "json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(
        ran.stderr.contains("an instruction trace is read as loads and write-backs"),
        "{ran:?}"
    );
    bench.write("b.trace", "R 0,1,2,100,32\nW 99,0,3,200,16\n");
    bench.refuses(&["dram", "--trace", "b.trace"], &["b.trace:2:", "a channel below", "`99`"]);
}

#[test]
fn wavefronts_of_64_lanes_are_refused_with_a_way_out() {
    let bench = Bench::new();
    bench.write(
        "k.trace",
        "-kernel name = vectoradd\n-isa type = GCN3\n-accelsim tracer version = 3\n\
         0 0 0 0 00001000 ffffffffffffffff 1 R6 s_load_dword 2 R4 R5 0\n",
    );
    let import = ["import", "accel-sim", "k.trace", "-o", "t.wmt"];
    bench.refuses(
        &import,
        &["k.trace: not supported: wavefronts of 64 lanes", "warpmem import csv"],
    );
}
