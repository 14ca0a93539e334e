//! Errors name the file, the position, the column and the expected content, and leave no output.

use std::path::Path;

use warpmem_import::{
    ImportError, MemTraceOptions, TableOptions, import_csv, import_jsonl, import_mem_trace,
    import_parquet,
};

type Import<'a> = &'a dyn Fn(&Path, &Path) -> Result<warpmem_import::ImportSummary, ImportError>;

fn refusal(name: &str, content: impl AsRef<[u8]>, import: Import<'_>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (path, trace) = (folder.path().join(name), folder.path().join("t.wmt"));
    std::fs::write(&path, content).unwrap();
    let error = import(&path, &trace).unwrap_err();
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "something is left: {left:?}");
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(&error) {
        text += &format!(": {source}");
    }
    text.replace(&format!("{}/", folder.path().display()), "")
}

fn of_csv(content: impl AsRef<[u8]>) -> String {
    refusal("t.csv", content, &|path, out| import_csv(path, out, &TableOptions::default(), &()))
}

fn of_jsonl(content: impl AsRef<[u8]>) -> String {
    refusal("t.jsonl", content, &|path, out| import_jsonl(path, out, &TableOptions::default(), &()))
}

fn of_parquet(content: impl AsRef<[u8]>) -> String {
    refusal("t.parquet", content, &|path, out| {
        import_parquet(path, out, &TableOptions::default(), &())
    })
}

fn of_log(content: impl AsRef<[u8]>) -> String {
    refusal("app.log", content, &|path, out| {
        import_mem_trace(path, out, &MemTraceOptions::default(), &())
    })
}

#[test]
fn tables() {
    for (table, parts) in [
        ("", ["t.csv: the file is empty", "table"]),
        ("addresses\n", ["t.csv: no rows", ""]),
        (
            "adresses\n1\n",
            ["t.csv:1: unknown column `adresses` (did you mean `addresses`?)", "kernel, name"],
        ),
        ("warp\n1\n", ["t.csv:1: no column `addresses` or `base`", ""]),
        ("base,warp,base\n1,2,3\n", ["t.csv:1: column `base` occurs twice", ""]),
        ("# c\nwarp,addresses\n0,1\n0,1,2\n", ["t.csv:4: expected 2 cells", "3 cells"]),
        (
            "addresses\n1\n0x\n",
            ["t.csv:3: column addresses: expected 1 to 32 addresses", "found `0x`"],
        ),
        (
            "warp,addresses\n0,\n",
            ["t.csv:2: column addresses: expected", "or a base, found `nothing`"],
        ),
        (
            "mask,addresses\n7,1 2\n",
            ["t.csv:2: column addresses: expected 3 addresses, for the lanes of mask 0x7", ""],
        ),
        (
            "mask,addresses\n0x100000000,1\n",
            ["t.csv:2: column mask: expected a mask of 32 lanes", ""],
        ),
        ("mask,lane,addresses\n1,0,1\n", ["t.csv:2: column mask: expected nothing", ""]),
        ("lane,addresses\n32,1\n", ["t.csv:2: column lane: expected a lane from 0 to 31", ""]),
        (
            "op,addresses\nlaod,1\n",
            ["t.csv:2: column op: expected one of load", "did you mean `load`?"],
        ),
        ("op,addresses\nFROB,1\n", ["t.csv:2: column op:", "found `FROB`"]),
        ("op,addresses\nbarrier,1\n", ["t.csv:2: column addresses: expected nothing", ""]),
        (
            "op,barrier,base\nbarrier,16,\n",
            ["t.csv:2: column barrier: expected a barrier from 0 to 15", ""],
        ),
        (
            "op,barrier_warps,base\nbarrier,0,\n",
            ["t.csv:2: column barrier_warps: expected a number of warps from 1 to 255", "`0`"],
        ),
        (
            "op,barrier,base\nbarrier-arrive,1,\n",
            ["t.csv:2: column barrier_warps: expected a number of warps from 1", "`nothing`"],
        ),
        (
            "l2,addresses\nlast,1\n",
            ["t.csv:2: column l2: expected one of evict-unchanged", "`last`"],
        ),
        (
            "space,l2,addresses\nshared,evict-last,1\n",
            ["t.csv:2: column l2: expected nothing except for accesses to global memory", ""],
        ),
        ("op,count,base\nfp32,0,\n", ["t.csv:2: column count: expected 1 to 65536", ""]),
        (
            "op,count,base\nload,2,0\n",
            ["t.csv:2: column count: expected 1 or nothing for load", ""],
        ),
        (
            "bytes,addresses\n3,1\n",
            ["t.csv:2: column bytes: expected 1, 2, 4, 8, 16 or 32", "found `3`"],
        ),
        (
            "space,addresses\nglobl,1\n",
            ["t.csv:2: column space: expected one of global, shared", ""],
        ),
        ("cache,addresses\nx,1\n", ["t.csv:2: column cache: expected one of default", ""]),
        ("base,stride\n1,x\n", ["t.csv:2: column stride: expected a whole number, found `x`", ""]),
        ("base,addresses\n1,1\n", ["t.csv:2: column base: expected nothing", ""]),
        (
            "base,stride,mask\n64,4,\n8,-4,0xf\n",
            ["t.csv:3: column base: expected lanes whose bytes", "the 4 of lane 3 begin at -4"],
        ),
        (
            "base,stride,mask,bytes\n0xfffffffffffffff0,8,5,8\n",
            ["t.csv:2: column base: expected", "the 8 of lane 2 begin at 18446744073709551616"],
        ),
        (
            "base,stride\n0,-9223372036854775808\n",
            ["t.csv:2: column base: expected", "the 4 of lane 1 begin at -9223372036854775808"],
        ),
        (
            "mask,addresses,bytes\n1,0xfffffffffffffff8,8\n6,1 0xfffffffffffffffc,8\n",
            ["t.csv:3: expected lanes whose bytes", "the 8 of lane 2 begin at 0xfffffffffffffffc"],
        ),
        (
            "lane,addresses\n4,1\n9,0xffffffffffffffff\n",
            ["t.csv:3: expected lanes whose bytes", "the 4 of lane 9 begin at 0xffffffffffffffff"],
        ),
        ("cta,addresses\n1 2 3 4,1\n", ["t.csv:2: column cta: expected one to three numbers", ""]),
        (
            "warp,addresses\n-1,1\n",
            ["t.csv:2: column warp: expected a number of at most 32 bits", ""],
        ),
        ("block,addresses\n1025,1\n", ["t.csv:2: column block: expected the threads", "1024"]),
        ("block,addresses\n0,1\n", ["t.csv:2: column block: expected the threads", "1024"]),
        ("dst,addresses\n65536,1\n", ["t.csv:2: column dst: expected numbers of registers", ""]),
        (
            "kernel,addresses\n0,1\n1,1\n0,1\n",
            [
                "t.csv:4: column kernel: expected the rows of a kernel one after the other",
                "found `0`",
            ],
        ),
        (
            "warp,block,addresses\n0,32,1\n1,32,1\n",
            ["t.csv: CTA (0, 0, 0) of kernel 0 has 2 warps; 1 are the most", ""],
        ),
    ] {
        let error = of_csv(table);
        assert!(parts.iter().all(|part| error.contains(part)), "{table}: {error}");
    }
    assert!(of_csv(b"addresses\n1\n\xff\n").starts_with("t.csv:3: "));
}

#[test]
fn json_lines() {
    for (text, parts) in [
        ("", ["t.jsonl: no rows", ""]),
        (
            "\n{\"addresses\": [1]}\n[1]\n",
            ["t.jsonl:3: expected a JSON object on one line", "expected a map"],
        ),
        ("{\"addresses\": [1]", ["t.jsonl:1: expected a JSON object on one line", "EOF"]),
        ("{\"adresses\": [1]}", ["t.jsonl:1: unknown column `adresses`", "did you mean"]),
        ("{\"addresses\": [1, -1]}", ["t.jsonl:1: column addresses: expected", "found `[1,-1]`"]),
        ("{\"addresses\": {\"a\": 1}}", ["t.jsonl:1: column addresses: expected", ""]),
        (
            "{\"addresses\": [1], \"warp\": 1.5}",
            ["t.jsonl:1: column warp: expected", "found `1.5`"],
        ),
        (
            "{\"addresses\": [1], \"op\": true}",
            ["t.jsonl:1: column op: expected a number or a text", "true"],
        ),
        ("{\"addresses\": [1], \"warp\": -1}", ["t.jsonl:1: column warp: expected", "found `-1`"]),
        (
            "{\"base\": 64}\n{\"base\": 64, \"op\": \"store\", \"base\": 128}",
            ["t.jsonl:2: expected a JSON object on one line; column", "key `base` occurs twice"],
        ),
        (
            "{\"base\": 0, \"stride\": -1}",
            ["t.jsonl:1: column base:", "the 4 of lane 1 begin at -1"],
        ),
    ] {
        let error = of_jsonl(text);
        assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
    }
}

#[test]
fn logs() {
    for (text, parts) in [
        ("", ["app.log: no memory instruction of mem_trace in it", "MEMTRACE: CTX"]),
        ("hello\n", ["app.log: no memory instruction", ""]),
        (
            "hello\nMEMTRACE: CTX 0x1 - CTA 0,0,0 - warp 0 - LDG.E - 0x1\n",
            ["app.log:2: expected 32 hexadecimal addresses", ""],
        ),
        (
            &format!(
                "CTA 0,0,0 - warp 0 - LDG.E - 0x10 0xfffffffffffffffd {}\n",
                "0x0 ".repeat(30)
            ),
            [
                "app.log:1: expected lanes whose bytes",
                "the 4 of lane 1 begin at 0xfffffffffffffffd",
            ],
        ),
    ] {
        let error = of_log(text);
        assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
    }
}

#[test]
fn parquet() {
    assert!(of_parquet("warp,addresses\n").starts_with("t.parquet: failed to read it as Parquet"));
    let rows =
        [super::tables::Object::from([("op", "laod".into()), ("addresses", vec![1].into())])];
    let error = refusal("t.parquet", "", &|path, out| {
        super::parquet_table::write(path, &["op", "addresses"], &rows, 1);
        import_parquet(path, out, &TableOptions::default(), &())
    });
    assert!(error.starts_with("t.parquet: row 1: column op: expected one of load"), "{error}");
    let error = refusal("t.parquet", "", &|path, out| {
        super::parquet_table::write(path, &["op"], &rows, 1);
        import_parquet(path, out, &TableOptions::default(), &())
    });
    assert!(error.starts_with("t.parquet: no column `addresses` or `base`"), "{error}");
}

#[test]
fn a_truncated_or_damaged_compressed_table() {
    let text: String = (0..5000u32)
        .map(|row| format!("{},{:#x}\n", row % 7, row.wrapping_mul(2_654_435_761)))
        .collect();
    let packed = zstd::encode_all(format!("warp,addresses\n{text}").as_bytes(), 1).unwrap();
    let error = of_csv(&packed[..packed.len() / 2]);
    assert!(
        error.contains("failed to inflate t.csv: it is truncated or damaged (zstd)"),
        "{error}"
    );
    let error = of_log(&packed[..packed.len() / 2]);
    assert!(error.contains("failed to inflate app.log"), "{error}");
}

#[test]
fn a_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, trace) = (folder.path().join("none"), folder.path().join("t.wmt"));
    let error = import_csv(&path, &trace, &TableOptions::default(), &()).unwrap_err();
    assert!(error.to_string().starts_with("failed to open"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Not guaranteed for malicious files: docs/extending.md, "Fuzzing".
#[test]
fn a_damaged_parquet_table_is_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, trace) = (folder.path().join("t.parquet"), folder.path().join("t.wmt"));
    let rows: Vec<super::tables::Object> = (0..40u64)
        .map(|row| {
            [("op", "load".into()), ("addresses", vec![row, 2 * row, 3 * row].into())].into()
        })
        .collect();
    super::parquet_table::write(&path, &["op", "addresses"], &rows, 1);
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, damaged).unwrap();
        let _ = import_parquet(&path, &trace, &TableOptions::default(), &());
    }
}

#[test]
fn the_input_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "addresses\n1\n").unwrap();
    let csv = import_csv(&path, &path, &TableOptions::default(), &());
    let log = import_mem_trace(&path, &path, &MemTraceOptions::default(), &());
    let accel_sim = warpmem_import::import_accel_sim(&path, &path, &Default::default(), &());
    for error in [csv.unwrap_err(), log.unwrap_err()] {
        assert!(
            error.to_string().ends_with("it is the input; the trace needs another name"),
            "{error}"
        );
    }
    assert!(accel_sim.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "addresses\n1\n");
}

#[test]
fn endless_rows_are_refused() {
    let error = of_csv(format!("addresses\n1\n{}\n", "1".repeat(3 << 20)));
    assert!(error.contains("failed to read t.csv: a row of more than 2 MiB"), "{error}");
    assert!(of_jsonl("1".repeat(3 << 20)).contains("a line of more than 1 MiB"));
    assert!(of_log("1".repeat(3 << 20)).contains("a line of more than 1 MiB"));
}
