//! Address maps.

use super::support::Bench;

fn map(arguments: &[&str]) -> String {
    Bench::new().output(&[&["dram", "map"], arguments].concat())
}

/// The second address lies beyond the map.
#[test]
fn a_hashed_partition() {
    insta::assert_snapshot!(map(&["0x12345678", "0x212345678", "--machine", "accelsim-qv100"]));
}

/// The second address lies beyond the map.
#[test]
fn interleaved_channels() {
    insta::assert_snapshot!(map(&["0x12345678", "1610612736", "--machine", "li2015"]));
}

#[test]
fn interleaved_channels_with_a_hash() {
    insta::assert_snapshot!(map(&["0x12345678", "--machine", "a100"]));
}

#[test]
fn a_scheme_with_every_field_and_hash() {
    let keys = [
        "dram.channels=8",
        "dram.pseudo_channels=2",
        "dram.stacks=2",
        "dram.banks=64",
        "dram.address.map=RoSiBgBaPcChCo row:12",
        "dram.address.interleave_bytes=0",
        "dram.address.partition_hash=xor",
        "dram.address.bank_hash=ipoly",
    ];
    let sets = keys.iter().flat_map(|key| ["--set", key]);
    let arguments = ["0x123456789", "--machine", "li2015"];
    let arguments: Vec<&str> = arguments.into_iter().chain(sets).collect();
    insta::assert_snapshot!("a_scheme", map(&arguments));
    insta::assert_snapshot!(
        "a_scheme-json",
        map(&[&arguments[..], &["--format", "json"]].concat())
    );
}

#[test]
fn decimal_and_hexadecimal_addresses() {
    let decimal = map(&["4096", "--format", "json"]);
    for text in ["0x1000", "0X1000"] {
        assert_eq!(map(&[text, "--format", "json"]), decimal);
    }
}

#[test]
fn bad_addresses_and_maps_are_refused() {
    let bench = Bench::new();
    let valid = "valid: a 64-bit number, as 4096 or 0x1000";
    for address in ["0x", "12g", "-1", "0x10000000000000000"] {
        bench.refuses(&["dram", "map", "--", address], &[address, valid]);
    }
    let map = "dram.address.map=row:12 bank:3 column:6 burst:6";
    let parts = ["`dram.address.map` = ", "expected 4 bank bits for `dram.banks` = 16, not 3"];
    bench.refuses(&["dram", "map", "0", "--machine", "li2015", "--set", map], &parts);
    assert_eq!(bench.run(&["dram", "map"]).status, Some(2));
}
