//! Valid command lines, and the files that they read.

use crate::support::{Bench, repository};
use std::fs;
use std::path::Path;
use warpmem::dram::standard::Standard;
use warpmem::machine::preset_text;

/// A command line, with blanks between its arguments, and the file of [`files`] to mutate; empty to
/// mutate only the arguments. No argument contains `/`.
pub const SEEDS: &[(&str, &str)] = &[
    ("run small.wmt -o made", "small.wmt"),
    ("run small.wmt --machine mine.toml --kernels", "mine.toml"),
    ("run small.wmt --machine preset.toml --metrics cycles,row_hit_rate", "preset.toml"),
    (
        "run small.wmt --set sm.count=2 --dram-scheduler fr-fcfs(row_hit_cap=4) --timeline t.json",
        "",
    ),
    ("run small.wmt --command-log log.parquet --set policy.ideal=perfect-l2 --format csv", ""),
    ("info small.wmt", "small.wmt"),
    ("compare small.wmt --dram-scheduler fcfs,mshr-s+a --baseline fcfs --format json", "small.wmt"),
    ("classify small.wmt --format csv", ""),
    ("sample small.wmt -o part.wmt --ctas 0.5", "small.wmt"),
    ("export accel-sim small.wmt -o text", "small.wmt"),
    ("sweep plan.toml -o made", "plan.toml"),
    ("machine mine.toml", "mine.toml"),
    ("import accel-sim kernel-1.traceg -o t.wmt", "kernel-1.traceg"),
    ("import accel-sim kernelslist.g -o t.wmt", "kernelslist.g"),
    ("import csv accesses.csv -o t.wmt", "accesses.csv"),
    ("import jsonl accesses.jsonl -o t.wmt", "accesses.jsonl"),
    ("import mem-trace app.log -o t.wmt", "app.log"),
    (
        "capture --ptx k.ptx --kernel k --grid 2 --block 64 --arg buffer:u32[64]=random --arg 64 -o t.wmt",
        "k.ptx",
    ),
    ("capture --list --ptx pipeline.ptx", "pipeline.ptx"),
    ("capture --launch launch.toml -o t.wmt", "launch.toml"),
    ("generate bfs --file g.el -o t.wmt", "g.el"),
    ("generate bfs --file g.gr -o t.wmt", "g.gr"),
    ("generate bfs --file g.graph -o t.wmt", "g.graph"),
    ("generate spmv --file m.mtx -o t.wmt", "m.mtx"),
    ("generate vecadd --n 2^10 --seed 1 -o t.wmt", ""),
    ("generate bfs --graph rmat --nodes 2^8 --degree 4 -o t.wmt", ""),
    ("dram --trace accesses.dram --dram-scheduler fcfs,fr-fcfs", "accesses.dram"),
    ("dram --trace accesses.ramulator --format json", "accesses.ramulator"),
    ("dram --standard mine-gddr3.toml --stream random --requests 500", "mine-gddr3.toml"),
    (
        "dram --stream random --locality 4 --requests 500 --rate 0.25 --bytes 64 --set dram.read_queue=16",
        "",
    ),
    ("dram check log.csv", "log.csv"),
    ("dram map 0x1f40 --machine accelsim-qv100", ""),
    ("network --nodes 16 --rate 0.1..0.3/2 --cycles 200 --warmup 50", ""),
    ("query results --file query.sql --format csv", "query.sql"),
    ("query results --tables", "results/runs.parquet"),
    ("report results --html r.html", "results/kernels.parquet"),
    ("correlate results.json --format json", "results.json"),
    ("list dram-schedulers", ""),
];

const MACHINE: &str = r#"base = "li2015"
name = "mine"
[sm]
count = 3
[dram]
channels = 2
read_queue = 16
[dram.timing]
trp = 14
[policy]
dram_scheduler = "mshr-s+a"
topology = "crossbar(form=router)"
"#;

const PLAN: &str = r#"name = "p"
traces = ["small.wmt", "s*.wmt"]
machines = ["li2015", "mine.toml"]
baseline = "fr-fcfs"
skip_unfit = true
requests = "1/16"
[policies]
dram_scheduler = ["fr-fcfs", "fcfs"]
[parameters]
"dram.read_queue" = [16, 32]
"l2.to_dram_latency" = { from = 0, to = 40, step = 40 }
"#;

const KERNEL: &str = "-kernel name = k
-kernel id = 1
-grid dim = (2,1,1)
-block dim = (32,1,1)
-shmem = 128
-nregs = 32
-binary version = 80
-cuda stream id = 1
-accelsim tracer version = 5

#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 7
0000 ffffffff 1 R1 MOV 0 0
0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f4000000000 4
0020 0000000f 1 R2 LDG.E.128 1 R4 16 0 0x100 0x200 0x300 0x400
0030 0000000f 0 STG.E.64 2 R4 R6 8 2 0x100 8 8 -8
0040 ffffffff 0 BAR.SYNC 0 0 0x0
0050 00000001 1 R3 ATOMG.E.ADD.STRONG.GPU 2 R4 R5 4 1 0x1000 0
0060 ffffffff 0 EXIT 0 0
#END_TB
";

const CSV: &str = "kernel,name,grid,block,cta,warp,pc,op,space,bytes,mask,addresses,dst,src
0,k,2,64,1,1,0x10,load,global,8,0x3,0x10 0x20,4 5,2
0,k,2,64,\"1,0,0\",1,0x20,STS.64,,,,64;72,,4
";

const JSONL: &str = r#"{"kernel": 0, "cta": [1, 0, 0], "op": "atomic", "addresses": [16, "0x20"]}
{"kernel": "b", "op": "sfu", "count": 2, "mask": null}
{"kernel": "b", "base": 64, "stride": -8, "dst": 3, "src": [1, 2]}
"#;

/// A launch and an access, without the addresses of its 32 lanes.
const LOG: &str =
    "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x10 - Kernel name f(int) - grid launch id 0 - \
    grid size 2,1,1 - block size 64,1,1 - nregs 20 - shmem 0 - cuda stream id 0
MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 1,0,0 - warp 1 - LDG.E.64 - ";

const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.func (.param .b32 r) twice(.param .b32 x)
{
    .reg .b32 %a;
    ld.param.b32 %a, [x];
    add.u32 %a, %a, %a;
    st.param.b32 [r], %a;
    ret;
}
.visible .entry k(.param .u64 at, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<4>;
    .shared .align 8 .b8 tile[256];
    .local .align 4 .b8 own[16];
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra END;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd2, %rd1, %rd2;
    mov.u32 %r4, 0;
LOOP:
    ld.global.u32 %r3, [%rd2];
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 3;
    @%p2 bra LOOP;
    shl.b32 %r5, %r2, 2;
    and.b32 %r5, %r5, 255;
    mov.u32 %r6, tile;
    add.u32 %r6, %r6, %r5;
    st.shared.u32 [%r6], %r3;
    st.local.u32 [own], %r3;
    bar.sync 0;
    ld.shared.v2.u32 {%r3, %r5}, [tile+8];
    cvt.rn.f32.u32 %f1, %r3;
    fma.rn.f32 %f2, %f1, 0f3F800000, %f1;
    shfl.sync.down.b32 %r5|%p1, %r3, 1, 31, -1;
    call.uni (%r7), twice, (%r5);
    atom.global.add.u32 %r3, [%rd1], %r7;
END:
    ret;
}
";

const LAUNCH: &str = r#"module = "k.ptx"
seed = 1
[buffers.keys]
type = "u32"
shape = [4, 16]
fill = "random(0, 2^17)"
output = "keys.npy"
[[launches]]
kernel = "k"
grid = 2
block = 64
shared = 256
repeat = 2
arguments = ["keys", 64]
"#;

const EDGES: &str = "# from to weight\n0 1 3\n1 2 4\n2 3 5\n3 0 6\n0 2 7\n";
const DIMACS: &str = "c shortest paths\np sp 4 5\na 1 2 3\na 2 3 4\na 3 4 5\na 4 1 6\na 1 3 7\n";
const METIS: &str = "4 5\n2 3 4\n1 3\n2 4 1\n3 1\n";
const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n% a comment\n4 4 5\n1 1 1.5\n2 3 -2e3\n\
    3 2 4\n4 4 .5\n1 4 1\n";
const STREAM: &str = "op,address,cycle,bytes,sm,warp,load,pc\nR,0x100,1,128,0,0,7,0x10\nW,512,2,32,0,0,8,0x20\nR,0x8000,9,64,0,0,9,0\n";
const RAMULATOR: &str = "0x1234 R\n8000 W\n0x4000 R\n";

const QUERY: &str = "SELECT trace, dram_scheduler, count(*) AS n, max(cycles) / 2 AS half
FROM runs JOIN kernels USING (run_id)
WHERE cycles > 10 AND trace LIKE 's%' OR NOT (cycles IN (1, 2))
GROUP BY trace, dram_scheduler HAVING n > 0
ORDER BY n DESC LIMIT 10
";

const RESULTS: &str = r#"{"simulator": "s", "runs": [{"trace": "small", "trace_dir": "small.wmt", "config": "SM7_QV100",
"dram_scheduler": "FR-FCFS", "launch_latency_cycles_per_kernel": 5000, "n_kernels": 1,
"kernels": [{"order": 1, "name": "first", "gpu_sim_cycle": 6000, "gpu_sim_insn": 100}],
"totals": {"gpu_tot_sim_cycle": 13000, "gpu_tot_sim_insn": 300, "L1D_accesses": 8, "L1D_misses": 4,
"L2_accesses": 3, "L2_misses": 1, "dram_reads": 20, "dram_writes": 4, "dram_activations": 6,
"dram_bw_util_mean": 0.03, "averagemflatency": 765}, "host": {"user_s": 10.43}}]}
"#;

/// Returns the files of all seeds: path below the working directory, and content.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let addresses: String = (1..=32u64).map(|lane| format!("{:#x} ", lane << 7)).collect();
    let log = format!("{LOG}{addresses}\n");
    let pipeline = repository().join("crates/traces/simt/src/tests/bulk_pipeline.ptx");
    let pipeline = fs::read_to_string(pipeline).unwrap();
    let texts = [
        ("mine.toml", MACHINE),
        ("preset.toml", preset_text("accelsim-rtx2060s").unwrap()),
        ("mine-gddr3.toml", Standard::text("gddr3").unwrap()),
        ("plan.toml", PLAN),
        ("kernel-1.traceg", KERNEL),
        ("kernelslist.g", "MemcpyHtoD,0x7f4000000000,4096\nkernel-1.traceg\n"),
        ("accesses.csv", CSV),
        ("accesses.jsonl", JSONL),
        ("app.log", &log),
        ("k.ptx", PTX),
        ("pipeline.ptx", &pipeline),
        ("launch.toml", LAUNCH),
        ("g.el", EDGES),
        ("g.gr", DIMACS),
        ("g.graph", METIS),
        ("m.mtx", MATRIX),
        ("accesses.dram", STREAM),
        ("accesses.ramulator", RAMULATOR),
        ("query.sql", QUERY),
        ("results.json", RESULTS),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    texts.into_iter().chain(made_by_the_program()).collect()
}

/// Makes a trace, a log of DRAM commands, and a directory of results.
fn made_by_the_program() -> Vec<(String, Vec<u8>)> {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^8")], "small.wmt");
    let run = ["run", "small.wmt", "-o", "results", "--command-log", "log.csv"];
    bench.output(&run);
    let mut files = Vec::new();
    collect(&bench.path(""), "", &mut files);
    files
}

/// Collects every file below `folder`, whose own path is `prefix`.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => collect(&path, &format!("{name}/"), files),
            false => files.push((name, fs::read(path).unwrap())),
        }
    }
}
