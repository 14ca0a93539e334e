//! Streams from files.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use warpmem_sim::{BankId, Location, RowId};

/// A directory with a file in it.
pub struct Written {
    _dir: TempDir,
    pub path: PathBuf,
}

pub fn write(name: &str, content: impl AsRef<[u8]>) -> Written {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, content).unwrap();
    Written { _dir: dir, path }
}

pub fn from(path: &Path) -> Stream {
    stream(Origin::file(path).unwrap())
}

fn read(content: &str) -> Result<Outcome, StandaloneError> {
    run_with(&li2015(&[]), "fr-fcfs", &from(&write("a.txt", content).path))
}

fn counts(content: &str) -> Vec<warpmem_dram::ChannelResult> {
    let channels = read(content).unwrap().channels;
    channels.into_iter().map(|channel| channel.counts).collect()
}

/// Returns scattered accesses, a third of them writes.
fn accesses() -> Vec<(u64, bool)> {
    (0..500u64).map(|n| ((n * 0x9e37_79b9) % (1 << 24) * 64, n % 3 == 0)).collect()
}

fn lines(line: impl Fn(u64, bool) -> String) -> String {
    accesses().into_iter().map(|(address, write)| line(address, write) + "\n").collect()
}

#[test]
fn the_same_accesses_in_any_format_are_the_same_run() {
    let letter = |write| if write { "W" } else { "R" };
    let csv = lines(|a, w| format!("{},{a}", letter(w)));
    let csv = counts(&format!("op,address\n{csv}"));
    assert_eq!(csv.len(), 6);
    assert!(csv.iter().all(|channel| channel.read_requests > 20 && channel.write_requests > 10));
    assert_eq!(csv.iter().map(|c| c.read_requests + c.write_requests).sum::<u64>(), 500);
    assert_eq!(counts(&lines(|a, w| format!("{a:#x} {}", letter(w)))), csv);
    assert_eq!(counts(&lines(|a, w| format!("{} {a:#x}", if w { "ST" } else { "LD" }))), csv);
    let dramsim3 = |a, w| format!("{a:#x} {} 0", if w { "WRITE" } else { "READ" });
    assert_eq!(counts(&lines(dramsim3)), csv);
}

/// Compares the positions of addresses under their map with those of the indices of levels.
#[test]
fn indices_of_levels_and_addresses_agree() {
    for (standard, levels) in [
        ("gddr5", &["R 0,3,2,77,5", "W 0,1,0,77,9"][..]),
        ("gddr6", &["R 0,0,3,2,77,5", "W 0,0,1,0,77,9"]),
        ("hbm2", &["R 0,1,3,2,77,5", "W 0,0,1,0,77,9"]),
        ("gddr3", &["R 0,0,3,77,5", "W 0,0,2,77,9"]),
        ("gddr3", &["R 0,3,77,5"]),
    ] {
        let device = Device::load("li2015", Some(standard), &[]).unwrap();
        let map = device.dram.address_map(1).unwrap();
        let dram = &device.dram;
        let (group_bits, stack) = (dram.bank_groups.trailing_zeros(), dram.banks_per_stack());
        let content: String = levels.iter().map(|line| format!("{line}\n")).collect();
        let addresses: String = levels
            .iter()
            .map(|line| {
                let (op, indices) = line.split_once(' ').unwrap();
                let indices: Vec<u32> = indices.split(',').map(|n| n.parse().unwrap()).collect();
                // Upper level, group, bank of the group.
                let bank = match indices[1..indices.len() - 2] {
                    [bank] => bank,
                    [group, bank] if dram.bank_groups > 1 => bank << group_bits | group,
                    [upper, bank] => upper * stack + bank,
                    [upper, group, bank] => upper * stack + (bank << group_bits | group),
                    _ => unreachable!(),
                };
                let row = indices[indices.len() - 2];
                let (bank, row) = (BankId(bank as u16), RowId(row));
                let address = map.address(&Location { bank, row, ..Location::default() });
                format!("{address:#x} {op}\n")
            })
            .collect();
        let places = |content: &str| {
            let file = write("a.trace", content);
            let mut feed =
                super::super::feed::Feed::all(&from(&file.path), &device).unwrap().remove(0);
            let mut places = Vec::new();
            while let Some(front) = feed.front() {
                places.push((front.request.bank, front.request.row, front.request.write));
                feed.advance().unwrap();
            }
            places
        };
        assert_eq!(places(&content), places(&addresses), "{standard}");
        assert_eq!(places(&content).len(), levels.len());
    }
}

#[test]
fn an_instruction_trace_is_its_loads_and_write_backs() {
    assert_eq!(counts("3 128\n0 256 1024\n"), counts("128 R\n256 R\n1024 W\n"));
    let outcome = read("3 128\n").unwrap();
    assert!(outcome.note.unwrap().contains("instruction trace"), "{:?}", outcome.note);
    assert_eq!(read("128 R\n").unwrap().note, None);
}

#[test]
fn a_trace_of_dramsys_has_its_cycles_and_sizes() {
    let text = "# comment\n0:\twrite\t0x0\n1:\twrite\t0x80\n8:\t(64) read\t0x100\n";
    let same = "op,address,cycle,bytes\nW,0,0,32\nW,0x80,1,32\nR,0x100,8,64\n";
    assert_eq!(counts(text), counts(same));
    assert!(read(text).unwrap().note.unwrap().contains("command clock"));
    let back = read("8: read 0x0\n1: read 0x0\n").err().unwrap().to_string();
    assert!(back.contains("a.txt:2: expected a cycle of at least 8"), "{back}");
}

/// Reads the sample files of users, if available.
#[test]
fn sample_files_are_served() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases/streams");
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return;
    }
    for (name, requests) in [("dramsys.stl", 3), ("ramulator2_readwrite.trace", 2)] {
        let outcome = run_with(&li2015(&[]), "fr-fcfs", &from(&folder.join(name))).unwrap();
        let served = outcome
            .channels
            .iter()
            .map(|channel| channel.counts.read_requests + channel.counts.write_requests);
        assert_eq!(served.sum::<u64>(), requests, "{name}");
    }
}

#[test]
fn comments_and_blank_lines_are_passed_over() {
    let plain = counts("0x0 R\n0x40 W\n");
    assert_eq!(counts("# two\n\n0x0 R\r\n  \n# more\n0x40 W"), plain);
}

#[test]
fn a_file_may_be_compressed() {
    let text = lines(|a, w| format!("{a:#x} {}", if w { "W" } else { "R" }));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    let run = |bytes: &[u8]| run_with(&li2015(&[]), "fr-fcfs", &from(&write("a.gz", bytes).path));
    let channels = run(&bytes).unwrap().channels;
    let inflated: Vec<_> = channels.into_iter().map(|channel| channel.counts).collect();
    assert_eq!(inflated, counts(&text));
    let error = run(&bytes[..bytes.len() / 2]).unwrap_err();
    assert!(matches!(error, StandaloneError::Io { action: "read", .. }), "{error:?}");
}

/// Two reads of one bank, the second long after the first is done.
#[test]
fn accesses_arrive_at_their_cycles_without_a_rate() {
    let file = write("a.txt", "0x0 READ 100\n0x100000 READ 5000\n");
    let device = li2015(&["dram.channels=1"]);
    let timed = run_one(&device, &from(&file.path));
    assert_eq!(timed.counts.cycles, 5000 + 38);
    assert_eq!((timed.delay.count(), timed.delay.max()), (2, Some(0)));
    let rate = RateText::parse("0.01").unwrap();
    let rated = Stream { rate: Some(rate), ..from(&file.path) };
    assert_eq!(cycles(&device, &rated), 100 + 38);
}

#[test]
fn a_size_in_the_file_overrides_the_streams() {
    let reads =
        |content| -> u64 { counts(content).iter().map(|channel| channel.total().reads).sum() };
    assert_eq!(reads("op,address,bytes\nR,0,256\nR,512,32\n"), 4 + 1);
    assert_eq!(reads("op,address\nR,0\n"), 1);
}

/// The block around the address is moved, and nothing of the next row.
#[test]
fn an_access_is_the_aligned_block_around_its_address() {
    assert_eq!(counts("op,address,bytes\nR,255,256\n"), counts("op,address,bytes\nR,0,256\n"));
}

#[test]
fn sources_come_from_the_file_or_round_robin() {
    let device = li2015(&["dram.channels=1"]);
    let requests = |content: &str, sources| {
        let file = write("a.csv", content);
        let stream = Stream { sources, ..from(&file.path) };
        let mut feed = super::super::feed::Feed::all(&stream, &device).unwrap().remove(0);
        let mut found = Vec::new();
        while let Some(front) = feed.front() {
            found.push((front.request.sm, front.request.warp, front.request.load));
            feed.advance().unwrap();
        }
        found
    };
    let sources = Sources { sms: 2, warps: 3, group: 2 };
    let given = "op,address,sm,warp,load\nR,0,1,5,11\nW,64,0,2,12\n";
    assert_eq!(requests(given, sources), [(1, 5, 11), (0, 2, 12)]);
    let reads = "R,0\n".repeat(14);
    let expected = [(0, 0), (1, 3), (0, 1), (1, 4), (0, 2), (1, 5), (0, 0)];
    let pairs = (0..).zip(expected).flat_map(|(load, (sm, warp))| [(sm, warp, load); 2]);
    assert_eq!(requests(&format!("op,address\n{reads}"), sources), pairs.collect::<Vec<_>>());
    let nobody = (warpmem_dram::DramRequest::NO_SOURCE, u32::MAX, u32::MAX);
    assert_eq!(requests("op,address\nW,0\n", sources), [nobody]);
}

/// The interpretation of Ramulator.
#[test]
fn a_reference_stream_is_served() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/reference/dram/d3_gddr5/requests.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        eprintln!("skipped: no {}", path.display());
        return;
    };
    let fields = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
    let accesses = text.lines().skip(1).map(fields).map(|f| format!("{} {}\n", f[2], f[1]));
    let file = write("a.txt", accesses.collect::<String>());
    let large = li2015(&["dram.address.map=row:14 bank:3 column:4 bank:1 column:2 burst:6"]);
    let channels = run_with(&large, "fr-fcfs", &from(&file.path)).unwrap().channels;
    let served = channels.iter().map(|channel| channel.counts.total());
    assert_eq!(served.map(|banks| banks.columns()).sum::<u64>(), 2000);
}
