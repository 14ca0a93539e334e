//! Tables in their three formats.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use warpmem_import::{TableOptions, import_csv, import_jsonl, import_parquet};
use warpmem_trace::{CacheOp, Eviction, Kind, Space};

use super::kernels::{Act, GRID, Given, GivenKernel, kernels};
use super::parquet_table;
use super::{content, content_of};

/// A row's cells by column, as JSON: texts, numbers and lists.
pub type Object = BTreeMap<&'static str, Value>;

fn rows(kernels: &[GivenKernel]) -> Vec<Object> {
    let numbered = kernels.iter().enumerate();
    numbered
        .flat_map(|(n, kernel)| kernel.rows.iter().map(move |row| object(n, kernel, row)))
        .collect()
}

fn object(number: usize, kernel: &GivenKernel, row: &Given) -> Object {
    let mut cells = Object::from([
        ("kernel", json!(number)),
        ("name", json!(kernel.name)),
        ("grid", json!(GRID)),
        ("block", json!(kernel.block)),
        ("registers", json!(20)),
        ("shared_bytes", json!(512)),
        ("cta", json!(row.cta)),
        ("warp", json!(row.warp)),
        ("pc", json!(row.pc)),
        ("mask", json!(row.mask)),
    ]);
    cells.extend(row.dests.iter().map(|numbers| ("dst", json!(numbers))));
    cells.extend(row.srcs.iter().map(|numbers| ("src", json!(numbers))));
    match &row.act {
        Act::Memory(op, addresses, l2) => {
            let name = |&l2| Eviction::ALL.iter().find(|(_, one)| *one == l2).map(|(name, _)| name);
            l2.iter().filter_map(name).for_each(|name| drop(cells.insert("l2", json!(name))));
            cells.insert("op", json!(kind(op.kind)));
            cells.insert("space", json!(space(op.space)));
            cells.insert("bytes", json!(op.width));
            cells.insert("cache", json!(cache_op(op.cache_op)));
            cells.insert("addresses", json!(addresses));
        }
        Act::Compute(class, count) => {
            cells.insert("op", json!(class.name()));
            cells.insert("count", json!(count));
        }
        Act::Barrier(barrier) => {
            cells.insert("op", json!("barrier"));
            cells.insert("barrier", json!(barrier.id));
            barrier.warps.map(|warps| cells.insert("barrier_warps", json!(warps)));
        }
        Act::Arrival(barrier) => {
            cells.insert("op", json!("barrier-arrive"));
            cells.insert("barrier", json!(barrier.id));
            cells.insert("barrier_warps", json!(barrier.warps));
        }
        Act::Fence => {
            cells.insert("op", json!("fence"));
        }
    }
    cells
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Load => "load",
        Kind::Store => "store",
        Kind::Atomic => "atomic",
        Kind::Reduction => "reduction",
        Kind::AsyncCopy => "async-copy",
        _ => "prefetch",
    }
}

fn space(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Local => "local",
        Space::Shared => "shared",
        Space::Constant => "constant",
        _ => "texture",
    }
}

fn cache_op(cache_op: CacheOp) -> &'static str {
    match cache_op {
        CacheOp::LastUse => "last-use",
        CacheOp::StrongGpu => "strong-gpu",
        _ => "default",
    }
}

/// Returns every column in use.
fn columns(rows: &[Object]) -> Vec<&'static str> {
    let names: std::collections::BTreeSet<_> =
        rows.iter().flat_map(Object::keys).copied().collect();
    names.into_iter().chain(["base"]).collect()
}

fn write_csv(path: &Path, rows: &[Object]) {
    let columns = columns(rows);
    let mut table = csv::Writer::from_path(path).unwrap();
    table.write_record(&columns).unwrap();
    for row in rows {
        let cells = columns.iter().map(|column| match row.get(column) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(numbers)) if *column == "addresses" => {
                let hex = |number: &Value| format!("{:#x}", number.as_u64().unwrap());
                numbers.iter().map(hex).collect::<Vec<_>>().join(" ")
            }
            Some(other) => other.to_string(),
        });
        table.write_record(cells).unwrap();
    }
    table.flush().unwrap();
}

fn write_jsonl(path: &Path, rows: &[Object]) {
    let lines: String = rows.iter().map(|row| json!(row).to_string() + "\n").collect();
    std::fs::write(path, lines).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn tables_of_any_format_import_exactly(kernels in kernels(), codec in 0..4usize) {
        let rows = rows(&kernels);
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_csv(&at("t.csv"), &rows);
        write_jsonl(&at("t.jsonl"), &rows);
        parquet_table::write(&at("t.parquet"), &columns(&rows), &rows, codec);
        let options = TableOptions::default();
        let expected = content_of(&kernels, |_, row| row.pc);
        let count = kernels.iter().map(|kernel| kernel.rows.len()).sum::<usize>() as u64;
        type Import = fn(&Path, &Path, &TableOptions, &dyn warpmem_import::Progress)
            -> Result<warpmem_import::ImportSummary, warpmem_import::ImportError>;
        let imports: [(&str, Import); 3] =
            [("t.csv", import_csv), ("t.jsonl", import_jsonl), ("t.parquet", import_parquet)];
        for (name, import) in imports {
            let summary = import(&at(name), &at("t.wmt"), &options, &()).unwrap();
            prop_assert_eq!(content(&at("t.wmt")), expected, "{}", name);
            prop_assert!(summary.warp_instructions >= count, "{}", name);
            prop_assert_eq!(summary.exits, summary.warps, "{}", name);
            prop_assert_eq!(summary.bytes_out, std::fs::metadata(at("t.wmt")).unwrap().len());
        }
    }
}

fn imported(text: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("t.csv"), text).unwrap();
    import_csv(&at("t.csv"), &at("t.wmt"), &TableOptions::default(), &()).unwrap();
    content(&at("t.wmt"))
}

/// Equivalent tables.
#[test]
fn addresses_have_equivalent_notations() {
    let list = imported("mask,addresses\n0xe,0x1004 0x1008 0x100c\n,64 68 72\n");
    let all: Vec<String> = (0..32).map(|lane| format!("{:#x}", 0x1000 + 4 * lane)).collect();
    let same = [
        format!("mask,addresses\n0xe,{}\n7,64;68;72\n", all.join(" ")),
        "mask,base\n14,0x1000\n7,64\n".to_owned(),
        "mask,base,stride,bytes\n14,0x1000,4,4\n7,64,4,4\n".to_owned(),
        "# by lanes\nlane,addresses\n1,0x1004\n2,0x1008\n3,0x100c\n0,64\n1,68\n2,72\n".to_owned(),
        "mask,addresses,op,cta,warp,kernel\n0xe,4100 4104 4108,load,\"0,0,0\",0,0\n,\"[64, 68, 72]\",load,0 0,0,0\n"
            .to_owned(),
    ];
    for table in same {
        assert_eq!(imported(&table), list, "{table}");
    }
    let others =
        ["mask,base,stride\n14,0x1000,8\n7,64,4\n", "lane,addresses\n1,0x1004\n2,0x1008\n"];
    assert!(others.iter().all(|table| imported(table) != list));
}

#[test]
fn a_negative_stride_and_a_lane_that_repeats() {
    let table = "mask,addresses\n7,64 60 56\n1,8\n1,8\n";
    assert_eq!(imported("mask,base,stride\n7,64,-4\n1,8,\n1,8,\n"), imported(table));
    let lanes = "lane,addresses\n0,64\n1,60\n2,56\n0,8\n0,8\n";
    assert_eq!(imported(lanes), imported(table));
}

#[test]
fn opcodes_determine_space_width_and_cache() {
    let named = imported(
        "op,space,bytes,cache,addresses,pc\nstore,shared,16,,64,0\nload,,8,volatile,32,16\n",
    );
    // The name of an operation is not part of the trace.
    let sass = imported("op,addresses,pc\nSTS.128,64,0\nLDG.E.64.STRONG.SYS,32,16\n");
    assert_eq!(named, sass);
    let other = imported("op,bytes,addresses,pc\nSTS.128,8,64,0\nLDG.E.64.STRONG.SYS,,32,16\n");
    assert_ne!(named, other, "a cell has the last word");
}
