//! Every notation of an address map, and the rejected ones.

use crate::Dram;
use crate::tests::harness;
use warpmem_params::Invalid;
use warpmem_sim::Field;

fn dram(preset: &str, overrides: &[&str]) -> Result<Dram, Invalid> {
    let mut dram = harness::preset(preset);
    for text in overrides {
        let (key, value) = text.split_once('=').unwrap();
        let number = || value.parse().unwrap();
        match key {
            "map" => dram.address.map = value.to_owned(),
            "interleave" => dram.address.interleave_bytes = number(),
            "channels" => dram.channels = number(),
            "pseudo" => dram.pseudo_channels = number(),
            "stacks" => dram.stacks = number(),
            "groups" => dram.bank_groups = number(),
            "banks" => dram.banks = number(),
            "row" => dram.row_bytes = number(),
            _ => panic!("{text}"),
        }
    }
    dram.layout().map(|_| dram)
}

/// Returns the layout of a preset, including the rotation of its channels.
fn layout(preset: &str, overrides: &[&str]) -> String {
    let layout =
        dram(preset, overrides).unwrap_or_else(|e| panic!("{overrides:?}: {e}")).layout().unwrap();
    match layout.interleave {
        Some(bit) => format!("{layout} interleave 2^{bit}"),
        None => layout.to_string(),
    }
}

fn refusal(preset: &str, overrides: &[&str]) -> String {
    dram(preset, overrides).expect_err(&overrides.join(" ")).to_string()
}

#[test]
fn groups_are_listed_from_bit_zero_up() {
    let dram = dram("li2015", &["map=row:12 bank:3 column:5  bank:1 column:1 burst:6"]).unwrap();
    let groups = dram.layout().unwrap().groups;
    let flat: Vec<_> = groups.iter().map(|g| (g.field, g.bits, g.shift)).collect();
    assert_eq!(
        flat,
        [
            (Field::Burst, 6, 0),
            (Field::Column, 1, 6),
            (Field::Bank, 1, 7),
            (Field::Column, 5, 8),
            (Field::Bank, 3, 13),
            (Field::Row, 12, 16),
        ]
    );
}

#[test]
fn malformed_words_are_named() {
    for word in
        ["row", "row:", "row:x", "rwo:3", "row:0", "row:64", "row:-1", ":", "row:4294967296"]
    {
        let message = refusal("li2015", &[&format!("map=bank:4 {word} burst:6")]);
        assert!(message.contains(&format!("(at `{word}`)")), "{message}");
    }
}

#[test]
fn field_names_are_distinct() {
    for (name, field) in Field::NAMES {
        assert_eq!((Field::named(name), field.name()), (Some(field), name));
    }
}

/// A rotation over a power of two of channels is a channel field above the rotated bits.
#[test]
fn rotation_over_a_power_of_two_of_channels_is_a_field() {
    let map = "row:12 bank:3 column:4 bank:1 column:2 burst:6";
    assert_eq!(layout("li2015", &[]), format!("{map} interleave 2^8"));
    assert_eq!(layout("li2015", &["channels=1"]), map);
    let fields = |interleave: &str| layout("li2015", &["channels=8", interleave]);
    assert_eq!(
        fields("interleave=256"),
        "row:12 bank:3 column:4 bank:1 channel:3 column:2 burst:6"
    );
    assert_eq!(
        fields("interleave=128"),
        "row:12 bank:3 column:4 bank:1 column:1 channel:3 column:1 burst:6"
    );
    assert_eq!(fields("interleave=64"), "row:12 bank:3 column:4 bank:1 column:2 channel:3 burst:6");
    let whole = 1 << 28;
    assert_eq!(fields(&format!("interleave={whole}")), format!("channel:3 {map}"));
}

/// The strings of GPGPU-Sim's GTX 480, Accel-Sim's QV100 and RTX 2060 S describe the presets
/// derived from them.
#[test]
fn masks_of_gpgpu_sim() {
    let mask = |low: &str| format!("map=dramid@8;00000000.00000000.00000000.00000000.{low}");
    let like = [
        ("li2015", "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"),
        ("accelsim-qv100", "0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS"),
        ("accelsim-rtx2060s", "0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS"),
    ];
    for (preset, low) in like {
        assert_eq!(layout(preset, &["interleave=0", &mask(low)]), layout(preset, &[]), "{preset}");
        let lower = mask(low).to_lowercase().replace('.', "|");
        assert_eq!(layout(preset, &["interleave=0", &lower]), layout(preset, &[]), "{preset}");
    }
    let no_channel = mask(like[0].1).replace("dramid@8;", "");
    assert_eq!(layout("li2015", &[&no_channel]), layout("li2015", &[]));
    let letters = "map=00000000.00000000.00000000.0000000R.RRRRRRRR.RRRRBBBC.CCBDDDDD.CCCSSSSS";
    assert_eq!(layout("accelsim-qv100", &[letters]), layout("accelsim-qv100", &[]));
}

#[test]
fn invalid_masks_are_refused() {
    let low = "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS";
    let zeros = "00000000.00000000.00000000.00000000";
    let refused = |map: String, part: &str| {
        let message = refusal("li2015", &["interleave=0", &format!("map={map}")]);
        assert!(message.contains(part), "{message}");
    };
    refused(format!("dramid@8;{low}"), "expected 64 letters, one for each address bit, not 32");
    refused(format!("dramid@8;{zeros}.{low}0"), "not 65");
    refused(format!("dramid@8{zeros}.{low}"), "(at `8000");
    refused(format!("dramid@x;{zeros}.{low}"), "(at `x`)");
    refused(format!("dramid@8;{zeros}.{}", low.replacen('B', "0", 1)), "(at `0`)");
    refused(format!("dramid@8;{zeros}.{}", low.replacen('B', "X", 1)), "(at `X`)");
    refused(format!("dramid@8;{zeros}.{}", low.replacen('B', "D", 1)), "(at `D`)");
    let lost = "expected 4 bank bits for `dram.banks` = 16, not 3";
    refused(format!("dramid@8;{zeros}.{}", low.replacen('B', "R", 1)), lost);
    refused(
        format!("dramid@5;{zeros}.{low}"),
        "expected chunks of 2^6 bytes (a column command) to 2^28",
    );
    refused(format!("dramid@29;{zeros}.{low}"), "to 2^28 (a channel)");
    let message = refusal("li2015", &[&format!("map=dramid@8;{zeros}.{low}")]);
    assert!(message.starts_with("`dram.address.interleave_bytes` = 256"), "{message}");
}

/// Orders of DRAMsim3 and Ramulator; 6-byte bursts, 6 columns, 16 banks in 4 groups.
#[test]
fn schemes() {
    let scheme = |name: &str, more: &[&str]| {
        layout("li2015", &[&[&format!("map={name}"), "channels=8", "interleave=0"], more].concat())
    };
    let ramulator = "row:32 bank:4 column:6 channel:3 burst:6";
    assert_eq!(scheme("RoBaRaCoCh", &[]), ramulator);
    assert_eq!(scheme("robaracoch", &[]), ramulator);
    assert_eq!(scheme("RoBaCoCh row:12", &[]), ramulator.replace("32", "12"));
    assert_eq!(scheme("ChRaBaRoCo row:14", &[]), "channel:3 bank:4 row:14 column:6 burst:6");
    assert_eq!(scheme("rochrababgco", &[]), "row:32 channel:3 bank:2 group:2 column:6 burst:6");
    assert_eq!(scheme("rorabgbachco", &[]), "row:32 group:2 bank:2 channel:3 column:6 burst:6");
    let stacked = ["banks=64", "pseudo=2", "stacks=2"];
    assert_eq!(
        scheme("RoBaRaCoCh", &stacked),
        "row:32 bank:4 stack:1 pseudo:1 column:6 channel:3 burst:6"
    );
    assert_eq!(
        scheme("RoSiPcBaBgCoCh", &stacked),
        "row:32 stack:1 pseudo:1 bank:2 group:2 column:6 channel:3 burst:6"
    );
    assert_eq!(scheme("RoBaCo", &["interleave=4096"]), "row:32 bank:4 channel:3 column:6 burst:6");
    let interleaved = layout("li2015", &["map=RoBaCo"]);
    assert_eq!(interleaved, "row:32 bank:4 column:6 burst:6 interleave 2^8");
    let one = scheme("RoBaRaCoCh", &["channels=1", "groups=16"]);
    assert_eq!(one, "row:32 bank:4 column:6 burst:6");
}

/// The row has the remainder of 63 bits if that is less than 32.
#[test]
fn rows_of_a_scheme_take_the_remaining_bits() {
    let wide = ["map=RoBaCo", "banks=64", "groups=1", "row=4194304"];
    assert_eq!(layout("li2015", &wide), "row:32 bank:6 column:16 burst:6 interleave 2^8");
    let message = refusal("li2015", &[&wide[..], &["map=RoBaCo row:32", "channels=16"]].concat());
    assert!(message.ends_with("expected at most 63 bits, channels included, not 64"), "{message}");
    assert!(dram("li2015", &[&wide[..], &["map=RoBaCo row:32", "channels=8"]].concat()).is_ok());
}

#[test]
fn the_columns_of_a_row_fit_16_bits() {
    let wider = ["map=RoBaCo", "banks=64", "groups=1", "row=8388608"];
    let message = refusal("li2015", &wider);
    assert!(message.ends_with("expected at most 16 column bits, not 17"), "{message}");
}

#[test]
fn invalid_schemes_are_refused() {
    let refused = |overrides: &[&str], part: &str| {
        let message = refusal("li2015", &[&["channels=8", "interleave=0"], overrides].concat());
        assert!(message.contains(part), "{message}");
    };
    refused(&["map=RoBaXxCh"], "(at `Xx`)");
    refused(&["map=RoBaRaCoC"], "(at `C`)");
    refused(&["map=RöBaCoCh"], "(at `Rö`)");
    refused(&["map=RoBaCoCh column:6"], "(at `column:6`)");
    refused(&["map=ChRaBaRoCo"], "as `row:14`");
    refused(&["map=RoBaCoCh row:12 row:12"], "expected one row width");
    refused(&["map=RoBaRaCh"], "6 column bits for `dram.row_bytes` = 4096, not 0");
    refused(&["map=RoBaCoCoCh"], "6 column bits for `dram.row_bytes` = 4096, not 12");
    refused(&["map=RoBgCoCh"], "2 bank bits for `dram.banks` = 16 in 4 bank groups, not 0");
    refused(&["map=RoBaCoCh", "pseudo=2"], "1 pseudo bits for `dram.pseudo_channels` = 2, not 0");
    refused(&["map=RoBaCoCh", "stacks=2"], "1 stack bits for `dram.stacks` = 2, not 0");
    refused(&["map=RoBaCoCh row:33"], "at most 32 row bits, not 33");
    refused(&["map=RoBaCoCh", "row=8388608"], "at most 16 column bits, not 17");
    refused(&["map=BaCoCh row:14"], "expected a row field");
    refused(&["map=RoBaCoCh", "channels=6"], "a scheme without `ch`, as `dram.channels` = 6");
    refused(&["map=RoBaCoCh", "interleave=256"], "`dram.address.interleave_bytes` = 256");
}

#[test]
fn composite_bank_fields_have_the_bits_of_their_parts() {
    let right = "map=row:12 bank:2 pseudo:1 group:1 column:6 group:1 burst:6";
    assert!(dram("li2015", &["banks=32", "pseudo=2", right]).is_ok());
    let refused = |wrong: &str, more: &[&str], part: &str| {
        let message = refusal("li2015", &[&["banks=32", "pseudo=2", wrong], more].concat());
        assert!(message.contains(part), "{message}");
    };
    refused(
        &right.replace("group:1 burst", "burst"),
        &[],
        "2 group bits for `dram.bank_groups` = 4, not 1",
    );
    refused(
        &right.replace("bank:2", "bank:4"),
        &[],
        "2 bank bits for `dram.banks` = 32 in 8 bank groups, not 4",
    );
    refused(
        &right.replace("pseudo:1 ", ""),
        &[],
        "1 pseudo bits for `dram.pseudo_channels` = 2, not 0",
    );
    refused(
        &right.replace("group:1", "row:1"),
        &[],
        "4 bank bits for `dram.banks` = 32 in 2 stacks, not 2",
    );
    refused(right, &["stacks=2"], "1 bank bits for `dram.banks` = 32 in 16 bank groups, not 2");
}

#[test]
fn impossible_channels_are_refused() {
    let starts = |overrides: &[&str], key: &str| {
        let message = refusal("li2015", overrides);
        assert!(message.starts_with(key), "{message}");
    };
    starts(&["interleave=32"], "`dram.address.interleave_bytes` = 32");
    starts(&["interleave=0"], "`dram.address.interleave_bytes` = 0");
    starts(&["interleave=300"], "`dram.address.interleave_bytes` = 300");
    starts(&["interleave=536870912"], "`dram.address.interleave_bytes` = 536870912");
    starts(&["channels=0"], "`dram.channels` = 0");
    let message = refusal("accelsim-qv100", &["channels=31"]);
    assert!(
        message.ends_with("expected 2^5, as `dram.address.map` has 5 channel bits"),
        "{message}"
    );
}

#[test]
fn impossible_organisations_are_refused() {
    let key = |overrides: &[&str], key: &str| {
        let message = refusal("li2015", overrides);
        assert!(message.starts_with(&format!("`dram.{key}` = ")), "{message}");
    };
    key(&["pseudo=3"], "pseudo_channels");
    key(&["stacks=3"], "stacks");
    key(&["pseudo=8", "stacks=4"], "banks");
    key(&["pseudo=8"], "bank_groups");
    key(&["row=32"], "row_bytes");
}
