//! Bad input is refused with exit status 2 and a message that states the mistake, its location, and
//! valid input.

use super::support::Bench;
use std::fs;

#[test]
fn a_missing_trace() {
    let bench = Bench::new();
    for command in ["run", "compare", "info"] {
        bench.refuses(&[command, "none.wmt"], &["none.wmt", "caused by: No such file"]);
    }
    bench.refuses(&["export", "accel-sim", "none.wmt", "-o", "out"], &["none.wmt"]);
    bench.refuses(&["import", "accel-sim", "none.g", "-o", "out.wmt"], &["none.g", "No such file"]);
}

#[test]
fn an_empty_trace() {
    let bench = Bench::new();
    bench.write("empty.wmt", "");
    bench.refuses(&["run", "empty.wmt"], &["empty.wmt is truncated", "0 bytes"]);
}

#[test]
fn a_file_that_is_no_trace() {
    let bench = Bench::new();
    bench.write("text.wmt", "this is a text of more than sixteen bytes");
    bench.refuses(&["run", "text.wmt"], &["text.wmt is not a .wmt trace"]);
}

#[test]
fn a_truncated_trace() {
    let bench = Bench::with_trace();
    let whole = fs::read(bench.path("small.wmt")).unwrap();
    bench.write("cut.wmt", &whole[..whole.len() - 10]);
    bench.refuses(&["run", "cut.wmt"], &["cut.wmt is truncated", "footer"]);
}

#[test]
fn a_damaged_chunk() {
    let bench = Bench::with_trace();
    let mut bytes = fs::read(bench.path("small.wmt")).unwrap();
    bytes[40] ^= 1;
    bench.write("damaged.wmt", &bytes);
    let parts = ["failed to run damaged.wmt on v100", "damaged.wmt is damaged at byte 16", "chunk"];
    bench.refuses(&["run", "damaged.wmt"], &parts);
    bench.refuses(&["compare", "damaged.wmt"], &parts);
}

#[test]
fn runs_before_a_failure_are_kept() {
    let bench = Bench::with_trace();
    bench.generate("vecadd", &[("n", "2^12")], "other.wmt");
    let mut bytes = fs::read(bench.path("other.wmt")).unwrap();
    bytes[40] ^= 1;
    bench.write("damaged.wmt", &bytes);
    let arguments = ["compare", "small.wmt", "damaged.wmt", "--jobs", "1", "-o", "results"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.starts_with("note: 1 of 2 runs finished; their tables are in results\nerror: ")
    );
    assert!(bench.path("results/runs.parquet").exists());
}

#[test]
fn a_trace_of_a_newer_version() {
    let bench = Bench::with_trace();
    let mut bytes = fs::read(bench.path("small.wmt")).unwrap();
    bytes[8..10].copy_from_slice(&7u16.to_le_bytes());
    let crc = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bench.write("newer.wmt", &bytes);
    bench.refuses(
        &["run", "newer.wmt"],
        &["version 7.0", "reads versions up to 5", "update warpmem"],
    );
}

#[test]
fn an_unknown_machine() {
    let bench = Bench::with_trace();
    let nearest = "unknown machine `li2051` (did you mean `li2015`?)";
    bench.refuses(
        &["run", "small.wmt", "--machine", "li2051"],
        &[nearest, "accelsim-qv100", "TOML file"],
    );
    bench.refuses(&["compare", "small.wmt", "--machine", "accelsim-qv100,li2051"], &[nearest]);
    bench.refuses(&["run", "small.wmt", "--machine", "none.toml"], &["none.toml", "No such file"]);
}

#[test]
fn an_unknown_policy_or_parameter() {
    let bench = Bench::with_trace();
    let nearest = "unknown dram_scheduler `fr-fcf` (did you mean `fr-fcfs`?)";
    bench.refuses(&["run", "small.wmt", "--dram-scheduler", "fr-fcf"], &[nearest, "banked-fifo"]);
    bench.refuses(&["compare", "small.wmt", "--dram-scheduler", "fcfs,fr-fcf"], &[nearest]);
    let capped = "fr-fcfs(row_hit_caps=4)";
    let parts = ["dram_scheduler `fr-fcfs`", "row_hit_caps", "valid: ready"];
    bench.refuses(&["run", "small.wmt", "--dram-scheduler", capped], &parts);
    let parts = ["malformed policy `fcfs(`", "name(key=value,...)"];
    bench.refuses(&["run", "small.wmt", "--dram-scheduler", "fcfs("], &parts);
    let parts = ["warp_scheduler `ltr`", "did you mean `lrr`?"];
    bench.refuses(&["run", "small.wmt", "--warp-scheduler", "ltr"], &parts);
    let parts = ["allocator `islib`", "did you mean `islip`?", "pim, round-robin, oldest-first"];
    bench.refuses(&["run", "small.wmt", "--set", "network.allocator=islib"], &parts);
}

#[test]
fn a_list_that_is_none() {
    let bench = Bench::with_trace();
    let list = |text| bench.refusal(&["compare", "small.wmt", "--dram-scheduler", text]);
    assert!(list("fcfs,").contains("a name is missing"));
    assert!(list("fcfs,fr-fcfs,fcfs").contains("`fcfs` is given twice"));
    assert!(list("fr-fcfs(row_hit_cap=4").contains("a parenthesis is not closed"));
}

#[test]
fn a_baseline_that_is_not_compared() {
    let bench = Bench::with_trace();
    let arguments =
        ["compare", "small.wmt", "--dram-scheduler", "fcfs,fr-fcfs", "--baseline", "fcsf"];
    bench.refuses(&arguments, &["the baseline `fcsf`", "did you mean `fcfs`?", "fcfs, fr-fcfs"]);
}

#[test]
fn an_unknown_key_or_value() {
    let bench = Bench::with_trace();
    let set = |text| bench.refusal(&["run", "small.wmt", "--set", text]);
    let unknown = set("dram.read_queu=1");
    assert!(unknown.contains("did you mean `dram.read_queue`?"), "{unknown}");
    let range = set("dram.read_queue=0");
    assert!(range.contains("`dram.read_queue` = 0 is not valid"), "{range}");
    assert!(set("dram.read_queue").contains("expected key=value"));
    let type_of = set("dram.read_queue=many");
    assert!(type_of.contains("a whole number from"), "{type_of}");
    bench.write("bad.toml", "base = \"li2015\"\n[dram]\nread_queu = 1\n");
    let parts = ["bad.toml:3", "dram.read_queu", "did you mean `dram.read_queue`?"];
    bench.refuses(&["run", "small.wmt", "--machine", "bad.toml"], &parts);
}

#[test]
fn a_cta_that_fits_no_sm() {
    let bench = Bench::with_trace();
    let arguments = ["run", "small.wmt", "--set", "sm.max_threads=128"];
    bench.refuses(&arguments, &["failed to run small.wmt on v100", "256 threads", "128"]);
}

#[test]
fn one_trace_twice() {
    let bench = Bench::with_trace();
    fs::copy(bench.path("small.wmt"), bench.path("copy.wmt")).unwrap();
    bench.refuses(
        &["compare", "small.wmt", "copy.wmt"],
        &["small.wmt and copy.wmt hold the same trace"],
    );
}

#[test]
fn two_machines_of_one_name() {
    let bench = Bench::with_trace();
    bench.write("a.toml", "base = \"li2015\"\nname = \"mine\"");
    bench.write("b.toml", "base = \"accelsim-qv100\"\nname = \"mine\"");
    let arguments = ["compare", "small.wmt", "--machine", "a.toml,b.toml"];
    bench.refuses(&arguments, &["two machines are called `mine`"]);
}

#[test]
fn an_unknown_kernel_parameter_or_value() {
    let bench = Bench::new();
    bench.refuses(
        &["generate", "bsf", "-o", "t.wmt"],
        &["unknown kernel `bsf`", "valid: bfs, sssp"],
    );
    bench.refuses(&["generate", "bfs", "--node", "4", "-o", "t.wmt"], &["'--node'", "'--nodes'"]);
    let parts = ["failed to generate t.wmt", "`2^30` is not a value of --nodes; valid: 1 to 2^24"];
    bench.refuses(&["generate", "bfs", "--nodes", "2^30", "-o", "t.wmt"], &parts);
    bench.refuses(&["generate", "bfs", "--graph", "rmet", "-o", "t.wmt"], &["'rmet'", "'rmat'"]);
    assert_eq!(bench.names(), [""; 0]);
}

#[test]
fn an_input_that_would_be_overwritten() {
    let bench = Bench::with_trace();
    let matrix = "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n";
    bench.write("m.mtx", matrix);
    let generate = ["generate", "spmv", "--file", "m.mtx", "-o", "./m.mtx"];
    bench.refuses(&generate, &["--output ./m.mtx would overwrite the input --file m.mtx"]);
    let trace = std::fs::read(bench.path("small.wmt")).unwrap();
    let sample = ["sample", "small.wmt", "--ctas", "0..2", "-o", "small.wmt"];
    bench.refuses(&sample, &["would overwrite the input"]);
    assert_eq!(std::fs::read(bench.path("m.mtx")).unwrap(), matrix.as_bytes());
    assert_eq!(std::fs::read(bench.path("small.wmt")).unwrap(), trace);
}

#[test]
fn an_unknown_thing_to_list() {
    Bench::new()
        .refuses(&["list", "dram-schedule"], &["did you mean `dram-scheduler`?", "machine"]);
}

#[test]
fn another_thing_than_a_trace_or_a_plan() {
    let bench = Bench::with_trace();
    std::fs::write(bench.path("kernelslist.g"), "kernel-1.traceg\n").unwrap();
    let convert = "`warpmem import accel-sim kernelslist.g -o FILE.wmt` converts it";
    bench.refuses(&["run", "kernelslist.g"], &["lists the kernels of an Accel-Sim trace", convert]);
    std::fs::write(bench.path("kernel-1.traceg"), "-kernel name = k\n").unwrap();
    bench.refuses(&["run", "kernel-1.traceg"], &["is a kernel of an Accel-Sim trace", convert]);
    let tables = [
        ("app.log", "hello\nMEMTRACE: CTX 0x1 - LAUNCH", "mem-trace LOG"),
        ("rows.bin", "PAR1...............", "parquet TABLE"),
        ("rows.csv", "warp,addresses\n0,16\n", "csv TABLE"),
        ("rows.jsonl", "{\"addresses\": [16]}", "jsonl TABLE"),
    ];
    for (name, content, command) in tables {
        bench.write(name, content);
        bench.refuses(&["run", name], &[&format!("`warpmem import {command} -o FILE.wmt`")]);
    }
    bench.refuses(&["run", "."], &[". is not a .wmt trace: it is a folder"]);
    bench.refuses(&["sweep", "small.wmt"], &["is a trace, not a plan", "`warpmem compare`"]);
    bench.refuses(&["generate", "bsf"], &["unknown kernel `bsf` (did you mean `bfs`?)"]);
}

#[test]
fn no_command_and_unknown_commands() {
    let bench = Bench::new();
    assert_eq!(bench.run(&[]).status, Some(2));
    bench.refuses(&["rum"], &["'rum'", "'run'"]);
}
