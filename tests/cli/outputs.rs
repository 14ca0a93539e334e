//! Outputs that would overwrite another file of their command, and outputs that are not regular
//! files.
//!
//! Unit tests in `src/cli/claims.rs` cover every option; here the program runs.
#![cfg(unix)]

use super::support::{Bench, Ran, names_in};
use super::sweep::files;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

const PTX: &str = "\
.version 7.5
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %p;
    .reg .b32 %t;
    ld.param.u64 %p, [out];
    mov.u32 %t, %tid.x;
    st.global.u32 [%p], %t;
    ret;
}
";

/// Makes a directory with every input of the cases, links to it, and results in `r`.
fn bench() -> Bench {
    let bench = Bench::with_trace();
    bench.write("k.ptx", PTX);
    let launch = |output: &str| {
        format!(
            "module = \"k.ptx\"\n[buffers.out]\ntype = \"u32\"\nshape = 1\noutput = \"{output}\"\n\
             [[launches]]\nkernel = \"k\"\ngrid = 1\nblock = 1\narguments = [\"out\"]\n"
        )
    };
    bench.write("ptx.toml", launch("k.ptx"));
    bench.write("itself.toml", launch("./itself.toml"));
    bench.write("trace.toml", launch("t.wmt"));
    bench.write("in.bin", [0; 4]);
    bench.write("m.toml", "base = \"li2015\"\n");
    bench.write(
        "standard.toml",
        "name = \"mine\"\nsummary = \"\"\nsource = \"\"\nbase = \"gddr5\"\n",
    );
    bench.write("a.csv", "op,address\nread,0\n");
    bench.write("list.toml", "[[workload]]\n");
    bench.write("suite.toml", "name = \"mine\"\n");
    bench.write("old.json", "{}");
    symlink("old.json", bench.path("link.json")).unwrap();
    symlink("small.wmt", bench.path("link.wmt")).unwrap();
    fs::hard_link(bench.path("small.wmt"), bench.path("hard.wmt")).unwrap();
    bench.output(&["run", "small.wmt", "-o", "r"]);
    symlink("r/runs.parquet", bench.path("runs.json")).unwrap();
    bench.output(&["export", "accel-sim", "small.wmt", "-o", "text"]);
    bench
}

#[test]
fn no_output_replaces_another_file_of_the_command() {
    let bench = bench();
    let cases = "
        capture --ptx k.ptx --kernel k --grid 1 --block 1 --arg buffer:u32[1] -o k.ptx
        capture --ptx k.ptx --kernel k --grid 1 --block 1 --arg buffer:u32[1] -o t.wmt --save 1=k.ptx
        capture --ptx k.ptx --kernel k --grid 1 --block 1 --arg buffer:u32[1] -o t.wmt --save 1=t.wmt
        capture --ptx k.ptx --kernel k --grid 1 --block 1 --arg buffer:u32[1]=@in.bin -o in.bin
        capture --launch ptx.toml -o t.wmt
        capture --launch itself.toml -o t.wmt
        capture --launch trace.toml -o t.wmt
        capture --launch ptx.toml -o ptx.toml
        capture -o small.wmt -- true small.wmt
        run small.wmt --command-log small.wmt
        run small.wmt --command-log ./r/../small.wmt
        run small.wmt --command-log link.wmt
        run small.wmt --command-log hard.wmt
        run link.wmt --command-log small.wmt
        run small.wmt --command-log old.json --timeline link.json
        run small.wmt --command-log x.json --timeline ./x.json
        run small.wmt --machine m.toml --command-log m.toml
        run small.wmt --set dram.standard=standard.toml --command-log standard.toml
        run small.wmt -o od --command-log od/runs.parquet
        run small.wmt -o od --command-log od
        compare small.wmt --machine m.toml,li2015 -o m.toml
        dram --trace a.csv --command-log a.csv
        dram --stream random --requests 10 --machine m.toml --command-log m.toml
        calibrate --points a.csv --machine m.toml --free l1.latency -o m.toml
        calibrate --points a.csv --machine m.toml --free l1.latency -o a.csv
        calibrate --points a.csv --machine m.toml --free l1.latency -o o.toml --log a.csv
        calibrate --points a.csv --machine m.toml --free l1.latency -o a.log.toml --log a.log.toml
        correlate --points suite.toml --cache .
        classify small.wmt -o small.wmt
        sample small.wmt -o link.wmt --kernels 0
        import csv a.csv -o a.csv
        import accel-sim text/kernelslist.g -o text/kernelslist.g
        import accel-sim text/kernelslist.g -o text/kernel-1.traceg
        import accel-sim text -o ./text/kernel-1.traceg
        suite get suite.toml -o .
        query r SELECT -o r/runs.parquet
        query r SELECT -o ./r/loads/new.parquet
        query r SELECT -o runs.json
        query r --file a.csv -o a.csv
        report r --html r/runs.parquet
        report r --html a.html --markdown ./a.html
        hardware --launch ptx.toml -o k.ptx
        hardware --launch ptx.toml -o ptx.toml
    ";
    let before = files(&bench.path(""));
    for case in cases.lines().map(str::trim).filter(|case| !case.is_empty()) {
        let ran = bench.run(&case.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.status, Some(2), "{case}: {ran:?}");
        let is_said = ["would overwrite", "already holds", "Not a directory", "it is the input"];
        assert!(is_said.iter().any(|said| ran.stderr.contains(said)), "{case}: {ran:?}");
        let after = files(&bench.path(""));
        for (path, content) in &before {
            assert!(after.get(path) == Some(content), "{case}: {} is another", path.display());
        }
    }
    bench.refuses(
        &["run", "small.wmt", "--command-log", "link.wmt"],
        &["error: --command-log link.wmt would overwrite the input TRACE small.wmt; name another output"],
    );
    bench.refuses(
        &["run", "small.wmt", "-o", "od", "--command-log", "od/runs.parquet"],
        &["would overwrite a file of the output --output od; name another output"],
    );
}

#[test]
fn files_beside_the_tables_are_written() {
    let bench = Bench::with_trace();
    let run =
        ["run", "small.wmt", "-o", "r", "--command-log", "r/log.csv", "--timeline", "r/t.json"];
    bench.output(&run);
    bench.output(&["report", "r"]);
    bench.output(&["report", "r", "--plots", "r", "--markdown", "r/report.md"]);
    bench.output(&["query", "r", "SELECT trace FROM runs", "-o", "r/answer.csv"]);
    let names = names_in(&bench.path("r"));
    for name in ["log.csv", "t.json", "report.html", "report.md", "answer.csv", "runs.parquet"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with(".partial")), "{names:?}");
}

#[test]
fn pipes_and_devices_take_complete_outputs() {
    let bench = Bench::with_trace();
    let log = ["run", "small.wmt", "--format", "csv", "--command-log"];
    bench.output(&[&log[..], &["log.csv"]].concat());
    bench.output(&[&log[..], &["/dev/null"]].concat());
    let expected = fs::read_to_string(bench.path("log.csv")).unwrap();
    let piped = bench.output(&[&log[..], &["/dev/stdout"]].concat());
    assert!(piped.starts_with(&expected), "the log comes first");
    let mut command = bench.command(&[&log[..], &["/dev/stdout"]].concat());
    let file = fs::File::create(bench.path("redirected")).unwrap();
    let ran = Ran::from(command.stdout(file).stderr(Stdio::piped()).output().unwrap());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(bench.path("redirected")).unwrap(), piped);
    bench
        .refuses(&["run", "small.wmt", "--command-log", "/"], &["failed to create /", "directory"]);
}
