//! Captures through the command line.

use super::support::{Bench, repository};
use serde_json::Value;
use std::fs;

/// Makes a directory with the module and launch file of the captured hash table, `hash_table.ptx`
/// and `.toml`.
fn with_hash_table() -> Bench {
    let bench = Bench::new();
    let folder = repository().join("sample-traces/captured");
    for name in ["hash_table.ptx", "hash_table.toml"] {
        fs::copy(folder.join(name), bench.path(name)).unwrap();
    }
    bench
}

const INSERT: [&str; 10] = [
    "capture",
    "--ptx",
    "hash_table.ptx",
    "--kernel",
    "insert",
    "--grid",
    "2",
    "--block",
    "64",
    "--arg=buffer:u32[128]=sequence",
];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&INSERT, arguments].concat()
}

#[test]
fn a_captured_kernel_is_compared_classified_profiled_and_exported() {
    let bench = with_hash_table();
    let capture = with(&[
        "--arg",
        "128",
        "--arg",
        "buffer:u32[256]=0xffffffff",
        "--arg",
        "256",
        "-o",
        "k.wmt",
        "--save",
        "3=table.npy",
    ]);
    let table = bench.output(&capture);
    assert!(table.contains("insert  2,1,1  64,1,1"), "{table}");
    let info: Value =
        serde_json::from_str(&bench.output(&["info", "k.wmt", "--format", "json"])).unwrap();
    assert_eq!(info["warps"], 4);
    let text = bench.output(&["info", "k.wmt"]);
    for part in [
        "from     PTX 9.0 of hash_table.ptx for sm_75; registers estimated from live values",
        "command  warpmem capture --ptx hash_table.ptx --kernel insert --grid 2 --block 64 --arg=buffer:u32[128]=sequence",
    ] {
        assert!(text.replace('\'', "").contains(part), "{text}");
    }
    assert_eq!(fs::read(bench.path("table.npy")).unwrap().len(), 128 + 4 * 256);
    assert!(
        bench
            .output(&["compare", "k.wmt", "--dram-scheduler", "fcfs,fr-fcfs"])
            .contains("k on v100")
    );
    assert!(bench.output(&["classify", "k.wmt"]).contains('k'));
    bench.output(&["export", "accel-sim", "k.wmt", "-o", "text"]);
    bench.output(&["import", "accel-sim", "text/kernelslist.g", "-o", "again.wmt"]);
}

#[test]
fn listing_writes_nothing() {
    let bench = with_hash_table();
    let kernels = bench.output(&["capture", "--list", "--ptx", "hash_table.ptx"]);
    insta::assert_snapshot!("capture_kernels", kernels);
    let launches = bench.output(&["capture", "--list", "--launch", "hash_table.toml"]);
    insta::assert_snapshot!("capture_launches", launches);
    assert_eq!(bench.names(), ["hash_table.ptx", "hash_table.toml"]);
}

#[test]
fn launches_are_selected_by_number_and_name() {
    let bench = with_hash_table();
    let capture = |selection: [&str; 2]| -> Value {
        let launch = ["capture", "--launch", "hash_table.toml", "-o", "k.wmt", "--format", "json"];
        serde_json::from_str(&bench.output(&[&launch[..], &selection].concat())).unwrap()
    };
    for selection in [["--kernels", "1.."], ["--name", "^look"]] {
        let summary = capture(selection);
        assert_eq!(summary["trace"]["kernels"], 1, "{selection:?}");
        let recorded = |at: usize| summary["launches"][at]["recorded"].as_bool().unwrap();
        assert!(!recorded(0) && recorded(1), "{selection:?}");
    }
    bench.refuses(
        &["capture", "--launch", "hash_table.toml", "-o", "k.wmt", "--name", "scan"],
        &["none of the 2 launches is selected"],
    );
}

#[test]
fn bad_launches_are_refused() {
    let bench = with_hash_table();
    bench.write("bad.ptx", ".version 7.0\n.target sm_75\n.address_size 64\n.entry k()\n{\n");
    bench.write("narrow.ptx", ".version 7.0\n.target sm_75\n.address_size 32\n");
    bench.write(
        "bad.toml",
        "module = \"hash_table.ptx\"\n[[launches]]\nkernel = \"insert\"\ngrid = 1\n",
    );
    bench.write(
        "spin.ptx",
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k()\n{\nL:\nbra L;\n}\n",
    );
    bench.write(
        "local.ptx",
        ".version 7.0\n.target sm_75\n.address_size 64\n\
         .entry k()\n{\n.local .b8 a[1099511627776];\nret;\n}\n",
    );
    let module = |name: &'static str, kernel: &'static str| {
        vec![
            "capture", "--ptx", name, "--kernel", kernel, "--grid", "1", "--block", "32", "-o",
            "k.wmt",
        ]
    };
    let spin = [module("spin.ptx", "k"), vec!["--max-instructions", "1000"]].concat();
    let large = [module("spin.ptx", "k"), vec!["--shared", "240000"]].concat();
    let cases: [(Vec<&str>, &[&str]); 15] = [
        (module("none.ptx", "k"), &["failed to read none.ptx"]),
        (module("bad.ptx", "k"), &["failed to parse bad.ptx", "line 5: expected `}`"]),
        (module("narrow.ptx", "k"), &["failed to parse narrow.ptx", "line 3", "address_size"]),
        (module("hash_table.ptx", "k"), &["no kernel `k`", "it has insert, look_up"]),
        (
            spin,
            &["kernel `k` has executed 1000 warp instructions, the limit", "CTA (0, 0, 0) warp 0"],
        ),
        (large, &["240000 bytes of shared memory", "the maximum of any SM"]),
        (
            module("local.ptx", "k"),
            &["1099511627776 bytes of local memory", "maximum of any device is 524288"],
        ),
        (
            with(&["--arg=128", "--arg=buffer:u32[2^40]", "--arg=256", "-o", "k.wmt"]),
            &["argument 3 of kernel `insert`: 4398046511104 bytes do not fit in device memory"],
        ),
        (
            with(&["--arg=128", "--arg=buffer:u32[]=@/dev/zero", "--arg=256", "-o", "k.wmt"]),
            &["/dev/zero: a device is endless: give the size"],
        ),
        (with(&["-o", "k.wmt"]), &["kernel `insert` takes 4 arguments", "1 are given"]),
        (
            with(&["--arg", "1.5", "--arg=0", "--arg=0", "-o", "k.wmt"]),
            &["argument 2 of kernel `insert`"],
        ),
        (
            with(&["--arg", "128", "--arg", "buffer:u32[8]", "--arg", "256", "-o", "k.wmt"]),
            &["kernel `insert`: access of 4 bytes at", "out of bounds", "thread ("],
        ),
        (with(&["--arg", "x", "--arg=0", "--arg=0", "-o", "k.wmt"]), &["there is no buffer `x`"]),
        (vec!["capture", "--launch", "bad.toml", "-o", "k.wmt"], &["bad.toml", "block"]),
        (vec!["capture", "--ptx", "hash_table.ptx", "-o", "k.wmt"], &["no kernel is named"]),
    ];
    for (arguments, told) in cases {
        bench.refuses(&arguments, told);
        // Neither the trace nor a part of it remains.
        let files = fs::read_dir(bench.path(".")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let is_left = |name: &String| name == "k.wmt" || name.contains(".partial");
        assert_eq!(names.filter(is_left).count(), 0, "{arguments:?}");
    }
}

/// Ten tiles of 4 KiB, each copied to shared memory and back as one instruction of 32 lines.
#[test]
fn bulk_copies_are_captured_and_run() {
    let bench = Bench::new();
    let pipeline = repository().join("crates/traces/simt/src/tests/bulk_pipeline.ptx");
    fs::copy(pipeline, bench.path("pipeline.ptx")).unwrap();
    let capture = "capture --ptx pipeline.ptx --kernel add_tiles --grid 2 --block 128 \
        --arg=buffer:u32[10240]=sequence --arg=buffer:u32[10240] --arg 5 --arg 100 -o k.wmt --save 2=sums.npy";
    bench.output(&capture.split_whitespace().collect::<Vec<_>>());
    let sums = fs::read(bench.path("sums.npy")).unwrap();
    let words = sums[sums.len() - 4 * 10240..].chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    assert!(words.eq(100..10340));

    let json = |arguments: &[&str]| -> Value {
        let text = bench.output(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&text).unwrap()
    };
    let load = &json(&["info", "k.wmt"])["profile"]["all"]["divergence"][0];
    assert_eq!((&load["instructions"], &load["lines"]["max"]), (&10.into(), &32.into()));
    let run = &json(&["run", "k.wmt", "--machine", "h100"])[0];
    assert_eq!((&run["loads"], &run["read_requests"]), (&10.into(), &(10 * 128).into()), "{run}");
    assert_eq!((&run["replies"], &run["l1_bypasses"]), (&(20 * 128).into(), &(10 * 128).into()));
    bench.refuses(
        &["export", "accel-sim", "k.wmt", "-o", "text"],
        &["no bulk copies", "4096 bytes"],
    );
}
