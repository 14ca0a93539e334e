//! The captured sample traces equal the output of their README's commands, byte for byte, and their
//! kernels compute correct results.
//!
//! If `WARPMEM_REGENERATE` is set in the environment, regenerates them instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use warpmem::capture::{Options, Plan, Registers, Selection, capture};
use warpmem::simt::Limits;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the commands of the README: launch file, output, and the command itself.
fn commands() -> Vec<(PathBuf, PathBuf, String)> {
    let readme = fs::read_to_string(repository().join("sample-traces/README.md")).unwrap();
    let command = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["warpmem", "capture", "--launch", launch, "-o", output] => {
            Some((launch.into(), output.into(), line.to_owned()))
        }
        _ => None,
    };
    readme.lines().filter_map(command).collect()
}

fn options(output: Option<PathBuf>, command: &str) -> Options {
    Options {
        output,
        selection: Selection::all(),
        limits: Limits::default(),
        registers: Registers::Estimated,
        command: command.to_owned(),
    }
}

#[test]
fn the_readme_makes_the_captured_traces_byte_for_byte() {
    let regenerate = std::env::var_os("WARPMEM_REGENERATE").is_some();
    let folder = tempfile::tempdir().unwrap();
    let commands = commands();
    assert_eq!(commands.len(), 2);
    for (launch, output, command) in commands {
        let plan = Plan::read(&repository().join(launch)).unwrap();
        let committed = repository().join(&output);
        let made = if regenerate { committed.clone() } else { folder.path().join("made.wmt") };
        capture(&plan, &options(Some(made.clone()), &command), &()).unwrap();
        let same = fs::read(&made).unwrap() == fs::read(&committed).unwrap();
        assert!(same, "{} is not what its command makes", output.display());
    }
}

/// Returns the buffers of a launch file before and after its launches, as raw bytes.
fn buffers(name: &str) -> [BTreeMap<String, Vec<u8>>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = repository().join("sample-traces/captured").join(name);
    let read = |launches: bool| {
        let mut plan = Plan::read(&path).unwrap();
        let outputs = plan.buffers.iter_mut().map(|buffer| {
            let file = folder.path().join(&buffer.name);
            buffer.output = Some(file.clone());
            (buffer.name.clone(), file)
        });
        let outputs: Vec<(String, PathBuf)> = outputs.collect();
        if !launches {
            // Launches over no elements leave the buffers unchanged.
            for launch in &mut plan.launches {
                launch.kernel = "nothing".into();
                launch.arguments.clear();
            }
            plan.module = folder.path().join("nothing.ptx");
            let module =
                ".version 7.0\n.target sm_75\n.address_size 64\n.entry nothing()\n{\nret;\n}\n";
            fs::write(&plan.module, module).unwrap();
        }
        capture(&plan, &options(None, ""), &()).unwrap();
        outputs.into_iter().map(|(name, file)| (name, fs::read(file).unwrap())).collect()
    };
    [read(false), read(true)]
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(*word.first_chunk().unwrap())).collect()
}

#[test]
fn the_hash_table_finds_the_keys_that_were_inserted() {
    const EMPTY: u32 = u32::MAX;
    let [before, after] = buffers("hash_table.toml");
    let (keys, others) = (words(&before["keys"]), words(&before["others"]));
    let (table, at) = (words(&after["table"]), words(&after["at"]));
    let mut inserted: Vec<u32> = table.iter().copied().filter(|&key| key != EMPTY).collect();
    inserted.sort_unstable();
    let mut expected = keys.clone();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(inserted, expected);
    let mut found = 0;
    for (key, &slot) in others.iter().zip(&at) {
        match expected.binary_search(key) {
            Ok(_) => assert_eq!(table[slot as usize], *key),
            Err(_) => assert_eq!(slot, EMPTY),
        }
        found += usize::from(slot != EMPTY);
    }
    assert!(found > 100 && found < others.len() / 2, "{found}");
}

#[test]
fn layer_norm_gives_what_a_plain_computation_gives() {
    let [before, after] = buffers("layer_norm.toml");
    let floats = |bytes: &[u8]| -> Vec<f64> {
        words(bytes).into_iter().map(|bits| f32::from_bits(bits).into()).collect()
    };
    let [x, gain, bias] = ["x", "gain", "bias"].map(|name| floats(&before[name]));
    let y = floats(&after["y"]);
    let columns = gain.len();
    for (row, out) in x.chunks_exact(columns).zip(y.chunks_exact(columns)) {
        let mean = row.iter().sum::<f64>() / columns as f64;
        let variance = row.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / columns as f64;
        for (at, (value, y)) in row.iter().zip(out).enumerate() {
            let expected = (value - mean) / (variance + 1e-5).sqrt() * gain[at] + bias[at];
            assert!((y - expected).abs() < 1e-5, "column {at}: {y}, not {expected}");
        }
    }
}
