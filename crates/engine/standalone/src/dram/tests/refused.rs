//! Invalid input: the error names it and the valid values.

use super::files::{from, write};
use super::*;

fn refusal(device: &Device, scheduler: &str, stream: &Stream) -> String {
    run_with(device, scheduler, stream).err().unwrap().to_string()
}

fn refuses(stream: &Stream, parts: &[&str]) {
    let message = refusal(&li2015(&[]), "fr-fcfs", stream);
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in {message}");
    }
}

#[test]
fn a_bad_line_is_named_with_its_file() {
    for (content, parts) in [
        ("op,address\nR,0\nX,0\n", ["a.csv:3:", "an operation", "`X`"]),
        ("\n# no heading\nhello\n", ["a.csv:3:", "CSV heading", "`hello`"]),
        ("0x0 READ 5\n0x0 READ 4\n", ["a.csv:2:", "at least 5", "`4`"]),
        ("op,address,bytes\nR,0,96\n", ["a.csv:2:", "power of two up to 256", "`96`"]),
        ("op,address,sm\nR,0,1\n", ["a.csv:2:", "an SM below 1", "`1`"]),
        ("op,address,warp\nR,0,0\nR,0,1\n", ["a.csv:3:", "a warp below 1", "`1`"]),
        ("op,address,bytes\nR,0,512\n", ["a.csv:2:", "power of two up to 256", "`512`"]),
        ("R 6,0,0,0,0\n", ["a.csv:1:", "a channel below 6", "`6`"]),
        ("R 0,0,0,0\nR 0,16,0,0\n", ["a.csv:2:", "a bank below 16", "`16`"]),
        ("R 0,0,1,0,0,0\nR 0,1,0,0,0,0\n", ["a.csv:2:", "a rank below 1", "`1`"]),
        ("R 0,0,4,0,0,0\n", ["a.csv:1:", "a bank group below 4", "`4`"]),
        ("R 0,0,0,4,0,0\n", ["a.csv:1:", "a bank of a group below 4", "`4`"]),
        ("R 0,0,0,4294967295,0\n", ["a.csv:1:", "a row below", "`4294967295`"]),
    ] {
        refuses(&from(&write("a.csv", content).path), &parts);
    }
}

/// Six channels of 2^28 bytes.
#[test]
fn an_address_out_of_range_is_named_with_its_line() {
    let last = 6 * (1u64 << 28) - 64;
    let content = |address: u64| format!("0x0 R\n{address:#x} R\n");
    let beyond = write("a.txt", content(last + 64));
    refuses(&from(&beyond.path), &["a.txt:2:", "0x60000000", "out of range"]);
    let within = write("a.txt", content(last));
    assert!(run_with(&li2015(&[]), "fr-fcfs", &from(&within.path)).is_ok());
}

#[test]
fn missing_and_empty_files_are_refused() {
    for content in ["", "# nothing\n\n"] {
        refuses(&from(&write("a.txt", content).path), &["a.txt: no accesses"]);
    }
    refuses(&from(&write("a.csv", "op,address\n").path), &["a.csv: no accesses"]);
    refuses(&from(std::path::Path::new("none.csv")), &["failed to open none.csv"]);
}

#[test]
fn an_unknown_file_is_refused_by_its_first_line() {
    refuses(&from(&write("a.bin", vec![b'x'; 1 << 20]).path), &["a.bin:1:", "4096 bytes"]);
    refuses(&from(&write("a.bin", [0u8, 255, 10, 13]).path), &["a.bin:1:"]);
}

#[test]
fn impossible_options_are_named() {
    let random = |change: fn(&mut Mix), locality, channels| {
        let mut mix = mix(10);
        change(&mut mix);
        stream(Origin::Pattern { pattern: Pattern::Random, locality, channels, mix })
    };
    let sources = |sms, warps, group| Stream {
        sources: Sources { sms, warps, group },
        ..random(|_| {}, 1, 1)
    };
    refuses(&random(|mix| mix.requests = 0, 1, 1), &["`requests` = 0", "1 to"]);
    refuses(&random(|mix| mix.reads = 1.5, 1, 1), &["`reads` = 1.5", "0 to 1"]);
    refuses(&random(|mix| mix.reads = f64::NAN, 1, 1), &["`reads` = NaN"]);
    refuses(&random(|_| {}, 0, 1), &["`locality` = 0", "1 to 64"]);
    refuses(&random(|_| {}, 65, 1), &["`locality` = 65"]);
    refuses(&random(|_| {}, 1, 0), &["`channels` = 0"]);
    refuses(&sources(0, 1, 1), &["`sources` = 0"]);
    refuses(&sources(65536, 1, 1), &["`sources` = 65536", "1 to 65535"]);
    refuses(&sources(1, 0, 1), &["`warps` = 0"]);
    refuses(&sources(1, 1, 0), &["`group` = 0"]);
    refuses(&Stream { bytes: 96, ..random(|_| {}, 1, 1) }, &["`bytes` = 96", "power of two"]);
    refuses(&Stream { bytes: 0, ..random(|_| {}, 1, 1) }, &["`bytes` = 0"]);
    refuses(&stream(Origin::Strided { stride: 0, mix: mix(1) }), &["`stride` = 0"]);
}

#[test]
fn an_unknown_scheduler_is_named() {
    let message = refusal(&li2015(&[]), "fr-fcf", &pattern(Pattern::Random, 1, 1));
    assert!(message.contains("did you mean `fr-fcfs`?"), "{message}");
}
