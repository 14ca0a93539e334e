//! Writes small valid inputs of every target into `fuzz/corpus/`. Without seeds a session spends
//! most of its time on the first line of a file.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use warpmem::dram::standard::Standard;
use warpmem::dram::{Command, CommandKind};
use warpmem::machine::{load, preset_names, preset_text};
use warpmem::record::command_log::CommandLogWriter;
use warpmem_fuzz::tracez::{self, CTA, END, WARP};

type Failable<T> = Result<T, Box<dyn Error>>;

const HEADER: &str = "-kernel name = k\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n\
                      -shmem = 128\n-nregs = 32\n-binary version = 80\n-cuda stream id = 1\n\
                      -shmem base_addr = 0x7f0000000000\n-local mem base_addr = 0x7e0000000000\n";

/// Accel-Sim instructions with every form of address, and with every kind of wait.
const LINES: &str = "0000 ffffffff 1 R1 MOV 0 0\n\
                     0010 ffffffff 1 R2 LDG.E 1 R4 4 1 0x7f4000000000 4\n\
                     0020 0000000f 1 R2 LDG.E.128 1 R4 16 0 0x100 0x200 0x300 0x400\n\
                     0030 0000000f 0 STG.E.64 2 R4 R6 8 2 0x100 8 8 -8\n\
                     0040 ffffffff 0 LDGSTS.E.BYPASS.128 2 R9 R10 16 1 0x40 16\n\
                     0050 ffffffff 0 LDGDEPBAR 0 0\n0060 ffffffff 0 DEPBAR.LE 0 0 0x1\n\
                     0070 ffffffff 0 BAR.SYNC 0 0 0x0\n0080 ffffffff 1 R3 LDS 1 R5 4 1 0x10 4\n\
                     0090 00000001 1 R3 ATOMG.E.ADD.STRONG.GPU 2 R4 R5 4 1 0x1000 0\n\
                     00a0 00000000 1 R3 FFMA 2 R4 R5 0\n00b0 ffffffff 0 EXIT 0 0\n";

/// PTX kernel bodies, named after the feature that each exercises.
const KERNELS: [(&str, &str); 6] = [
    (
        "loop",
        "L: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r2;\n@%p1 bra L;\nst.global.u32 [%rd1], %r1;",
    ),
    (
        "shared",
        "st.shared.v2.f32 [tile+8], {%f1, %f2};\nbar.sync 0;\nld.shared.f32 %f3, [tile];\nfma.rn.f32 %f1, %f2, %f3, 0f3F800000;",
    ),
    (
        "atomic",
        "atom.global.add.u32 %r1, [%rd1], 1;\nred.global.max.s32 [%rd1+4], %r1;\nshfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;\nvote.sync.ballot.b32 %r1, %p1, -1;",
    ),
    (
        "convert",
        "cvt.rn.f32.s32 %f1, %r1;\ncvt.rzi.s32.f32 %r1, %f1;\nmov.b64 {%r1, %r2}, %rd1;\nlop3.b32 %r1, %r2, %r3, %r1, 0x96;\ndiv.rn.f32 %f1, %f2, %f3;",
    ),
    (
        "switch",
        "T: .branchtargets A, B;\nand.b32 %r2, %r0, 1;\nbrx.idx %r2, T;\nA: mov.u32 %r1, 1;\nbra B;\nB: cp.async.ca.shared.global [%r3], [%rd1], 4;\ncp.async.wait_all;",
    ),
    (
        "call",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 %r1, [b]; }",
    ),
];

/// Profiles in each format.
const PROFILES: [(&str, &str); 4] = [
    (
        "long",
        "==PROF== Connected to process 1\n\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
         \"0\",\"1\",\"void add<int>(T1 *)\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"Elapsed Cycles\",\"cycle\",\"1,250\"\n\
         \"0\",\"1\",\"void add<int>(T1 *)\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"SM Frequency\",\"Ghz\",\"1.25\"\n",
    ),
    (
        "wide",
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n\
         \"\",\"\",\"\",\"\",\"Kbyte\",\"usecond\"\n\"0\",\"add\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"3.20\",\"1.00\"\n",
    ),
    (
        "trace",
        "==1== Profiling result:\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\"Name\"\n\
         ms,us,,,,,,,\n1.5,2.5,4,1,1,32,1,1,\"add(float*) [12]\"\n1.6,0.5,,,,,,,\"[CUDA memcpy HtoD]\"\n",
    ),
    (
        "metrics",
        "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Min\",\"Max\",\"Avg\"\n\
         \"V100 (0)\",\"add(float*)\",3,\"l2_tex_hit_rate\",50.00%,52.00%,51.00%\n",
    ),
];

/// Returns a PTX module of one kernel and one function.
fn module_text(code: &str) -> String {
    format!(
        ".version 8.7\n.target sm_80\n.address_size 64\n.global .align 4 .u32 g[2] = {{1, 2}};\n\
         .func (.param .b32 r) f(.param .b32 x) {{ .reg .b32 %r<2>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }}\n\
         .visible .entry k(.param .u64 a, .param .u32 n)\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n\
         .reg .f32 %f<4>;\n.reg .b64 %rd<3>;\n.shared .align 8 .b8 tile[256];\nmov.u32 %r0, %tid.x;\n\
         ld.param.u64 %rd1, [a];\nld.param.u32 %r2, [n];\n{code}\nret;\n}}\n"
    )
}

fn main() -> Failable<()> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = Corpus(manifest.join("corpus"));
    kernels(&corpus)?;
    for (name, text) in PROFILES {
        corpus.put("profile", name, text)?;
    }
    corpus.put("kernel_list", "list", "MemcpyHtoD,0x7f4000000000,4096\nkernel-1.traceg\n")?;
    corpus.put(
        "kernel_list",
        "other-form",
        "# list\nncclAllReduce\nkernel-1-ctx_0x1.trace.xz\n",
    )?;
    corpus.put("kernel_list", "folder", "MemcpyDtoH,0x0,1\n../x/./kernel-1.traceg\n")?;
    logs_and_tables(&corpus)?;
    for name in preset_names() {
        corpus.put("machine", name, preset_text(name).unwrap_or_default())?;
    }
    let file =
        "base = \"li2015\"\n[dram]\nread_queue = 16\n[policy]\ndram_scheduler = \"mshr-s+a\"\n";
    let overrides = "dram.timing.trp=14\nsm.count=3\npolicy.topology=crossbar(form=router)";
    corpus.put("machine", "overridden", format!("{file}\0{overrides}"))?;
    for name in Standard::names() {
        corpus.put("dram_standard", name, Standard::text(name).unwrap_or_default())?;
    }
    for (name, code) in KERNELS {
        corpus.put("ptx", name, module_text(code))?;
    }
    plans(&corpus)?;
    streams(&corpus)?;
    inputs(&corpus)?;
    command_log(&corpus)?;
    let log = manifest.join("../crates/study/study/src/correlate/accel_sim_log/two_kernels.log");
    corpus.put("reference", "log", fs::read(log)?)?;
    corpus.put("reference", "json", RESULTS)?;
    for entry in fs::read_dir(manifest.join("../trace-format/tests/golden"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        corpus.put("trace_reader", &name, fs::read(path)?)?;
    }
    Ok(())
}

struct Corpus(PathBuf);

impl Corpus {
    fn put(&self, target: &str, name: &str, content: impl AsRef<[u8]>) -> Failable<()> {
        let folder = self.0.join(target);
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join(name), content)?)
    }
}

fn kernels(corpus: &Corpus) -> Failable<()> {
    let version = |number: u32| format!("{HEADER}-accelsim tracer version = {number}\n\n");
    let instructions = LINES.lines().count();
    let warp = |number: u32| format!("warp = {number}\ninsts = {instructions}\n{LINES}");
    let cta = |number: u32| {
        format!("#BEGIN_TB\nthread block = {number},0,0\n{}{}#END_TB\n", warp(0), warp(1))
    };
    let grouped = format!("{}{}{}", version(5), cta(0), cta(1));
    corpus.put("accel_sim", "grouped", &grouped)?;
    let place =
        |place: &str| -> String { LINES.lines().map(|line| format!("{place} {line}\n")).collect() };
    let raw = |version: String, cluster: &str| {
        let places = ["0 0 0 0", "1 0 0 1", "0 0 0 1", "1 0 0 0"];
        version + &places.map(|warp| place(&format!("{warp}{cluster}"))).concat()
    };
    corpus.put("accel_sim", "raw", raw(version(4), ""))?;
    corpus.put("accel_sim", "raw-with-clusters", raw(version(6), " 0 0 0 0 0 0 0"))?;
    let lineinfo = format!("{HEADER}-enable lineinfo = 1\n-accelsim tracer version = 2\n\n");
    corpus.put("accel_sim", "line-numbers", raw(lineinfo, ""))?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(grouped.as_bytes())?;
    corpus.put("accel_sim", "gzip", gzip.finish()?)?;
    corpus.put("accel_sim", "zstd", zstd::encode_all(grouped.as_bytes(), 1)?)?;
    let header = version(6);
    let parts: [&[u8]; 11] = [
        header.as_bytes(),
        &[END],
        LINES.as_bytes(),
        &[END, 20, 2, END],
        LINES.as_bytes(),
        &[WARP],
        LINES.as_bytes(),
        &[CTA],
        LINES.as_bytes(),
        &[WARP],
        LINES.as_bytes(),
    ];
    let parts = parts.concat();
    corpus.put("tracez", "damaged", &parts)?;
    let whole: Vec<u8> = parts.iter().copied().collect();
    let at = whole.windows(4).position(|w| w == [END, 20, 2, END]).unwrap_or(0);
    let whole = [&whole[..=at], &whole[at + 3..]].concat();
    corpus.put("tracez", "parts", &whole)?;
    corpus.put("tracez", "file", [b"=", tracez::write(&whole).as_slice()].concat())
}

fn logs_and_tables(corpus: &Corpus) -> Failable<()> {
    let addresses: String = (1..=32u64).map(|lane| format!("0x{:x} ", lane << 40)).collect();
    let launch = "MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x10 - Kernel name f(int) - grid launch id 0 - \
                  grid size 2,1,1 - block size 64,1,1 - nregs 20 - shmem 0 - cuda stream id 0\n";
    let access = |fields: &str| format!("{fields} - {addresses}\n");
    let numbered = access("MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 1,0,0 - warp 40 - LDG.E.64");
    let addressed =
        access("MEMTRACE: CTX 0x1 - grid_launch_id 1 - STS 0x20 - block 0,0,0 - warp 1");
    let plain = access("CTA 0,1,0 - warp 0 - LDGSTS.E.128");
    corpus.put("mem_trace", "log", format!("output\n{launch}{numbered}{addressed}{plain}"))?;
    corpus.put(
        "mem_trace",
        "zstd",
        zstd::encode_all(format!("{launch}{numbered}").as_bytes(), 1)?,
    )?;

    let memory = "kernel,name,grid,block,registers,shared_bytes,cta,warp,pc,op,space,bytes,cache,mask,\
                  addresses,dst,src\n0,k,2,64,20,0,1,1,0x10,load,global,8,volatile,0x3,0x10 0x20,4 5,2\n\
                  0,k,2,64,20,0,\"1,0,0\",1,0x20,STS.64,,,,,64;72,,4\n";
    let others = "op,count,barrier,base,stride,lane\nfp32,3,,,,\nbarrier,,2,,,\nload,,,64,-4,\n\
                  store,,,8,,0\nstore,,,8,,1\nfence,,,,,\nexit,,,,,\n";
    corpus.put("csv_table", "memory", memory)?;
    corpus.put("csv_table", "others", others)?;
    let objects = "{\"kernel\": 0, \"cta\": [1, 0, 0], \"op\": \"atomic\", \"addresses\": [16, \"0x20\"]}\n\
                   {\"kernel\": \"b\", \"op\": \"sfu\", \"count\": 2.0, \"mask\": null}\n\
                   {\"kernel\": \"b\", \"base\": 64, \"stride\": -8, \"dst\": 3, \"src\": [1, 2]}\n";
    corpus.put("jsonl_table", "objects", objects)
}

fn plans(corpus: &Corpus) -> Failable<()> {
    let plan = "name = \"p\"\ntraces = [\"a.wmt\", \"*.wmt\"]\nmachines = [\"li2015\", \"mine.toml\"]\n\
                suites = [{ size = \"small\", workloads = [\"bfs-rmat\"], from = \"s.toml\" }]\n\
                baseline = \"fr-fcfs\"\nskip_unfit = true\nloads = true\nintervals = 100\nrequests = \"1/16\"\n";
    let factors = "[policies]\ndram_scheduler = [\"fr-fcfs\", \"fcfs\"]\nwarp_scheduler = \"all\"\n\
                   [parameters]\n\"dram.read_queue\" = [16, 32]\n\"l2.to_dram_latency\" = { from = 0, to = 40, step = 20 }\n\
                   \"l2.cache.mshr_entries\" = { from = 8, to = 128, count = 5, scale = \"log\" }\n";
    let cases = "[[cases]]\nname = \"plain\"\n[[cases]]\nname = \"both\"\n\
                 policies = { l2_queue = \"calrs\" }\nparameters = { \"l2.queue\" = 32 }\n";
    corpus.put("sweep_plan", "full", format!("{plan}design = \"full\"\n{factors}"))?;
    corpus.put(
        "sweep_plan",
        "one",
        format!("{plan}design = \"one-at-a-time\"\n{factors}{cases}"),
    )?;
    let drawn = "traces = [\"a\"]\ndesign = \"latin-hypercube\"\nsamples = 4\nseed = 7\n[parameters]\n\
                 \"dram.read_queue\" = { from = 16, to = 256, scale = \"log\" }\n\"x\" = { from = 0.5, to = 2e3 }\n";
    corpus.put("sweep_plan", "drawn", drawn)?;
    let lists = "fcfs, fr-fcfs(row_hit_cap=4,page=closed),warped-mc(high=left,medium=row)";
    corpus.put("policies", "list", lists)?;
    let expression = "priority(by=if(age >= 16, 2, hit) - min(warp_requests, 8) * (streak < 4),period=7)";
    corpus.put("policies", "expression", expression)
}

fn streams(corpus: &Corpus) -> Failable<()> {
    let csv = "op,address,cycle,bytes,sm,warp,load,pc\nR,0x100,1,128,3,40,7,0x10\nW,512,2,32,0,0,8,0x20\n";
    corpus.put("dram_stream", "csv", csv)?;
    corpus.put("dram_stream", "ramulator", "0x1234 R\n8000 W\n")?;
    corpus.put("dram_stream", "load-store", "# c\nLD 0x40\nST 0x80\n")?;
    corpus.put("dram_stream", "dramsim3", "0x1234 READ 17\n40 WRITE 18\n")?;
    corpus.put("dram_stream", "levels", "R 0,0,1,2,100,3\nW 0,0,0,3,200,16\n")?;
    corpus.put("dram_stream", "instructions", "3 20734016 20734080\n0 64\n")?;
    corpus.put("dram_stream", "dramsys", "0: write 0x0 0xff\n8:\t(64)\tread\t0x100\n")?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes())?;
    corpus.put("dram_stream", "gzip", gzip.finish()?)
}

/// Writes graphs and matrices.
fn inputs(corpus: &Corpus) -> Failable<()> {
    let banner = "%%MatrixMarket matrix coordinate";
    for (name, text) in [
        ("real", "real general\n3 3 2\n1 1 1.0D+00\n3 2 -2.5e-1\n"),
        ("symmetric", "integer symmetric\n3 3 2\n1 2 4\n1 3 5\n"),
        ("no-size", "pattern symmetric\n2 1\n3 1\n"),
        ("complex", "complex hermitian\n2 2 1\n2 1 0 1\n"),
    ] {
        corpus.put("input_files", name, format!("{banner} {text}"))?;
    }
    for (name, text) in [
        ("edges", "# c\n0 1\n18446744073709551615 7\n"),
        ("konect", "% bip weighted\n% 2 2 3\n1 2\n2 3 1 1082008561\n"),
        ("paths", "c\np sp 3 2\na 1 3 803\na 3 1 0\n"),
        ("flow", "p max 3 1\nn 1 s\na 1 3 5\n"),
        ("colouring", "p edge 4 2\ne 1 2\ne 2 3\n"),
        ("metis", "% c\n4 2 011\n9 2 5\n9 1 5 3 6\n9 2 6\n9\n"),
        ("rodinia", "3\n0 2\n2 1\n3 0\n\n0\n\n3\n1 7\n2 1\n0 7\n"),
    ] {
        corpus.put("input_files", name, text)?;
    }
    let words = |numbers: &[u64]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let ends: Vec<u8> = [1u32, 2, 0, 5].iter().flat_map(|number| number.to_le_bytes()).collect();
    for version in [1, 2] {
        let to = if version == 1 { ends[..8].to_vec() } else { words(&[1, 2]) };
        let file = [words(&[version, 4, 3, 2, 1, 2, 2]), to, ends[8..].to_vec()].concat();
        corpus.put("input_files", &format!("galois-{version}"), file)?;
    }
    let offsets = words(&[0, 1, 2, 2]);
    let graph = [words(&[2, 3]), offsets.clone()].concat();
    corpus.put("input_files", "gapbs", [&[0][..], &graph, &ends[..8]].concat())?;
    let directed = [&[1][..], &graph, &ends, &offsets, &ends].concat();
    corpus.put("input_files", "gapbs-weighted", directed)
}

fn command_log(corpus: &Corpus) -> Failable<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("log.csv");
    for preset in ["li2015", "accelsim-qv100"] {
        let dram = load(preset, &[])?.dram;
        let mut log = CommandLogWriter::create(&path, &dram)?;
        let kinds = [CommandKind::Act, CommandKind::Rd, CommandKind::Wr, CommandKind::Pre];
        for (kind, cycle) in kinds.into_iter().zip([5, 40, 80, 200]) {
            let request = (kind != CommandKind::Pre).then_some(3);
            log.write(1, &[Command { cycle, kind, bank: 2, row: 9, burst: 0, request }])?;
        }
        log.finish()?;
        corpus.put("command_log", preset, fs::read(&path)?)?;
    }
    Ok(())
}

const RESULTS: &str = r#"{"simulator": "s", "runs": [{"trace": "vecadd", "trace_dir": "../t", "config": "SM7_QV100",
"dram_scheduler": "FR-FCFS", "config_overrides": ["-x", 1], "launch_latency_cycles_per_kernel": 5000, "n_kernels": 1,
"kernels": [{"order": 1, "name": "first", "gpu_sim_cycle": 6000, "gpu_sim_insn": 100}],
"totals": {"gpu_tot_sim_cycle": 13000, "gpu_tot_sim_insn": 300, "L1D_accesses": 8, "L1D_misses": 4, "L2_accesses": 3,
"L2_misses": 1, "dram_reads": 20, "dram_writes": 4, "dram_activations": 6, "average_row_locality": 3.0,
"dram_bw_util_mean": 0.03, "averagemflatency": 765}, "host": {"user_s": 10.43}}]}"#;
