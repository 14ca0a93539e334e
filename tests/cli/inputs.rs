//! Inputs through pipes, and text with byte order marks.
#![cfg(unix)]

use super::support::{Bench, Ran, repository};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use warpmem::trace::Trace;

const MARK: &[u8] = b"\xef\xbb\xbf";

const PTX: &str = "\
.version 7.5
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %p;
    ld.param.u64 %p, [out];
    st.global.u32 [%p], 7;
    ret;
}
";

const ACCEL_SIM: &str = "\
-kernel name = k
-kernel id = 1
-grid dim = (1,1,1)
-block dim = (32,1,1)
-shmem = 0
-nregs = 4
-binary version = 70
-cuda stream id = 0
-shmem base_addr = 0x0000000000000000
-local mem base_addr = 0x0000000000000000
-nvbit version = 1.4
-accelsim tracer version = 3

#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width address_mode [mem_addresses]

#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 2
0000 ffffffff 1 R1 LDG.E.SYS 0 4 1 0x0000000000100000 4
0010 ffffffff 0 EXIT 0 0
#END_TB
";

/// Makes a launch and an access of a warp.
fn mem_trace() -> String {
    let addresses: String = (0..32).map(|lane| format!(" 0x{:x}", 0x7f00 + 4 * lane)).collect();
    format!(
        "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x7fae - Kernel name k - grid launch id 0 - grid size \
         1,1,1 - block size 32,1,1 - nregs 10 - shmem 0 - cuda stream id 0\n\
         MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E -{addresses}\n"
    )
}

/// A text input: its file, its content, and the command that reads it in place of `{}`.
struct Reader {
    name: &'static str,
    content: String,
    command: &'static str,
}

/// Returns every command that reads a file.
fn readers(bench: &Bench) -> Vec<Reader> {
    let text = |name, content: &str, command| Reader { name, content: content.to_owned(), command };
    let written = |name: &'static str, command| {
        text(name, &fs::read_to_string(bench.path(name)).unwrap(), command)
    };
    bench.output(&["run", "small.wmt", "--command-log", "log.csv"]);
    bench.output(&["run", "small.wmt", "-o", "results"]);
    bench.write("k.ptx", PTX);
    let launch = format!(
        "module = \"{}\"\n[buffers.out]\ntype = \"u32\"\nshape = 1\n\
         [[launches]]\nkernel = \"k\"\ngrid = 1\nblock = 1\narguments = [\"out\"]\n",
        bench.path("k.ptx").display()
    );
    let plan = format!("traces = [\"{}\"]\n", bench.path("small.wmt").display());
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1.0\n2 3 1.0\n";
    vec![
        text(
            "m.toml",
            "base = \"li2015\"\nname = \"mine\"\n",
            "run small.wmt --format csv --metrics cycles --machine {}",
        ),
        text("plan.toml", &plan, "sweep {} -o swept --dry-run --format csv"),
        text("k.ptx", PTX, "capture --list --ptx {}"),
        text("launch.toml", &launch, "capture --list --launch {}"),
        text("k.traceg", ACCEL_SIM, "import accel-sim {} -o out.wmt"),
        text("log.txt", &mem_trace(), "import mem-trace {} -o out.wmt"),
        text("t.csv", "addresses\n0x100\n", "import csv {} -o out.wmt"),
        text("t.jsonl", "{\"addresses\": [256]}\n", "import jsonl {} -o out.wmt"),
        text("g.mtx", matrix, "generate bfs --file {} --file-format matrix-market -o out.wmt"),
        text("g.el", "0 1\n1 2\n", "generate bfs --file {} --file-format edge-list -o out.wmt"),
        text(
            "a.csv",
            "op,address\nread,0\nwrite,64\n",
            "dram --trace {} --dram-scheduler fcfs,fr-fcfs --format csv",
        ),
        text("q.sql", "SELECT trace FROM runs", "query results --file {} --format csv"),
        written("log.csv", "dram check {}"),
    ]
}

/// Returns the output of a command, without the name of its input, and the contents of the trace
/// written. Byte order marks count as bytes read.
fn outcome(bench: &Bench, ran: &Ran, path: &str) -> (Vec<String>, Option<String>) {
    assert_eq!(ran.status, Some(0), "{path}: {ran:?}");
    let trace = bench.path("out.wmt");
    let hash = Trace::open(&trace).ok().map(|trace| format!("{:x}", trace.header().content_hash));
    if trace.exists() {
        fs::remove_file(trace).unwrap();
    }
    (lines(&ran.stdout, path), hash)
}

/// Returns the lines of an output without the number of bytes read, and with equal paths.
fn lines(text: &str, path: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with("bytes "));
    // Commands name files relative to the input's folder.
    let lines = lines.map(|line| line.split(",warpmem run ").next().unwrap_or(line));
    lines.map(|line| line.replace(path, "INPUT")).collect()
}

fn piped(bench: &Bench, command: &[&str], content: &[u8]) -> Ran {
    let mut command = bench.command(command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A reader that refuses the beginning does not wait for the rest.
    let _ = child.stdin.take().unwrap().write_all(content);
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn every_reader_takes_pipes_and_byte_order_marks() {
    let bench = Bench::with_trace();
    for Reader { name, content, command } in readers(&bench) {
        let path = format!("in/{name}");
        fs::create_dir_all(bench.path("in")).unwrap();
        bench.write(&path, &content);
        let run = |path: &str, stdin: &[u8]| {
            let words: Vec<String> =
                command.split(' ').map(|word| word.replace("{}", path)).collect();
            piped(&bench, &words.iter().map(String::as_str).collect::<Vec<_>>(), stdin)
        };
        let expected = outcome(&bench, &run(&path, b""), &path);
        let from_pipe = run("/dev/stdin", content.as_bytes());
        assert_eq!(outcome(&bench, &from_pipe, "/dev/stdin"), expected, "{command}");
        bench.write(&path, [MARK, content.as_bytes()].concat());
        assert_eq!(outcome(&bench, &run(&path, b""), &path), expected, "{command}");
        let wide: Vec<u8> = content.encode_utf16().flat_map(u16::to_le_bytes).collect();
        bench.write(&path, [&b"\xff\xfe"[..], &wide].concat());
        let ran = run(&path, b"");
        assert_eq!(ran.status, Some(2), "{command}: {ran:?}");
        assert!(ran.stderr.contains("UTF-16"), "{command}: {ran:?}");
    }
}

#[test]
fn traces_and_tables_are_read_from_pipes() {
    let bench = Bench::with_trace();
    let trace = fs::read(bench.path("small.wmt")).unwrap();
    let run = |path| ["run", path, "--format", "csv", "--metrics", "cycles"];
    let expected = bench.output(&run("small.wmt"));
    let ran = piped(&bench, &run("/dev/stdin"), &trace);
    assert_eq!((ran.status, &ran.stdout), (Some(0), &expected), "{ran:?}");
    let ran = piped(&bench, &run("/dev/stdin"), &[b'x'; 100]);
    assert!(ran.stderr.contains("/dev/stdin is not a .wmt trace"), "{ran:?}");
    let ran = bench.run(&run("/dev/zero"));
    assert!(ran.stderr.contains("/dev/zero is not a .wmt trace"), "{ran:?}");
    bench.output(&["run", "small.wmt", "-o", "results"]);
    let table = fs::read(bench.path("results/runs.parquet")).unwrap();
    let ran = piped(&bench, &["import", "parquet", "/dev/stdin", "-o", "out.wmt"], &table);
    assert_eq!(ran.status, Some(2), "its columns are others");
    assert!(ran.stderr.contains("/dev/stdin") && ran.stderr.contains("column"), "{ran:?}");
}

#[test]
fn a_list_from_a_pipe_is_refused_with_a_reason() {
    let bench = Bench::with_trace();
    let list = b"kernel-1.traceg\n";
    let ran = piped(&bench, &["import", "accel-sim", "/dev/stdin", "-o", "out.wmt"], list);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("/dev/stdin"), "{ran:?}");
    let case = repository().join("../shared/cases/traces/plain.traceg");
    let Ok(plain) = fs::read(case) else { return };
    let ran = piped(&bench, &["import", "accel-sim", "/dev/stdin", "-o", "out.wmt"], &plain);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
