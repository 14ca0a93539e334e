//! What the program says of itself.

use super::support::Bench;

#[test]
fn help() {
    let bench = Bench::new();
    let commands = [
        &[][..],
        &["run"],
        &["compare"],
        &["classify"],
        &["correlate"],
        &["generate"],
        &["generate", "bfs"],
        &["import"],
        &["import", "accel-sim"],
        &["export"],
        &["export", "accel-sim"],
        &["info"],
        &["list"],
        &["report"],
        &["dram"],
        &["dram", "map"],
        &["dram", "check"],
        &["network"],
        &["sample"],
        &["sample", "estimate"],
    ];
    for command in commands {
        let arguments = [command, &["--help"]].concat();
        let name = [&["help"], command].concat().join("-");
        insta::assert_snapshot!(name, bench.output(&arguments));
    }
}

#[test]
fn every_command_has_examples() {
    let bench = Bench::new();
    for command in [
        &["run"][..],
        &["compare"],
        &["classify"],
        &["correlate"],
        &["generate"],
        &["import", "accel-sim"],
        &["dram", "map"],
        &["dram", "check"],
        &["network"],
        &["report"],
        &["sample"],
        &["sample", "estimate"],
    ] {
        let help = bench.output(&[command, &["--help"]].concat());
        let example = format!("\n  warpmem {} ", command.join(" "));
        assert!(help.contains("Examples:") && help.contains(&example), "{help}");
    }
}

#[test]
fn list() {
    insta::assert_snapshot!(Bench::new().output(&["list"]));
}

#[test]
fn a_topic_may_be_singular_or_plural_with_dashes_or_underscores() {
    let bench = Bench::new();
    let expected = bench.output(&["list", "dram-scheduler"]);
    assert!(expected.contains("  fr-fcfs: "));
    for topic in ["dram-schedulers", "dram_scheduler", "dram_schedulers"] {
        assert_eq!(bench.output(&["list", topic]), expected);
    }
    assert!(bench.output(&["list", "topologies"]).contains("  crossbar: "));
    let generators = bench.output(&["list", "generators"]);
    assert_eq!(bench.output(&["generate", "--list"]), generators);
}

#[test]
fn version() {
    assert_eq!(
        Bench::new().output(&["--version"]),
        format!("warpmem {}\n", env!("CARGO_PKG_VERSION"))
    );
}
