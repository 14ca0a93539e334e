//! Help texts and the version.

use super::support::{Bench, names_in, repository};
use serde_json::{Map, Value};
use std::process::Command;
use warpmem::params::PolicyInfo;
use warpmem::slots::{PolicySlot, SLOTS};
use warpmem::workload::generators;

/// Sections that grow without a change here: policies, commands, generators.
const LISTS: [&str; 3] = ["Policies (", "Commands:", "Kernels:"];

/// Returns the lines of a help in sections whose headings begin with one of these, without the
/// headings.
fn sections(help: &str, headings: &[&str]) -> String {
    split(help, headings).1
}

/// Splits a help into the lines outside these sections, and those inside. A heading begins a line;
/// other lines are indented.
fn split(help: &str, headings: &[&str]) -> (String, String) {
    let (mut rest, mut listed) = (String::new(), String::new());
    let mut is_listed = false;
    for line in help.lines() {
        let is_heading = !line.is_empty() && !line.starts_with(' ');
        if is_heading {
            is_listed = headings.iter().any(|heading| line.starts_with(heading));
        }
        let text = if is_listed && !is_heading { &mut listed } else { &mut rest };
        *text += line;
        *text += "\n";
    }
    (rest, listed)
}

/// Returns the commands listed by a help.
fn subcommands(help: &str) -> Vec<String> {
    let lines = sections(help, &["Commands:"]);
    // Continuation lines of a summary are indented further.
    let names = lines.lines().filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

/// Returns every command and subcommand of the program, with its help.
pub fn commands(bench: &Bench) -> Vec<(Vec<String>, String)> {
    let mut all = Vec::new();
    let mut next = vec![Vec::new()];
    while let Some(command) = next.pop() {
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = bench.output(&arguments);
        next.extend(subcommands(&help).into_iter().map(|name| [&command[..], &[name]].concat()));
        all.push((command, help));
    }
    all
}

#[test]
fn help() {
    let bench = Bench::new();
    let commands = [
        &[][..],
        &["run"],
        &["compare"],
        &["classify"],
        &["correlate"],
        &["calibrate"],
        &["hardware"],
        &["generate"],
        &["generate", "bfs"],
        &["import"],
        &["import", "accel-sim"],
        &["import", "mem-trace"],
        &["import", "csv"],
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
        &["suite", "list"],
        &["suite", "get"],
    ];
    for command in commands {
        let help = bench.output(&[command, &["--help"]].concat());
        let name = [&["help"], command].concat().join("-");
        insta::assert_snapshot!(name, split(&help, &LISTS).0);
    }
}

#[test]
fn every_command_has_a_summary_and_examples() {
    let all = commands(&Bench::new());
    assert!(all.len() > 20, "{all:?}");
    for (command, help) in all {
        let name = command.join(" ");
        assert!(help.starts_with(|first: char| first.is_ascii_uppercase()), "{name}: {help}");
        let example = format!("\n  warpmem {name}");
        let is_group = help.contains(&format!("Usage: warpmem {name} [OPTIONS] <COMMAND>\n"));
        let has_examples = help.contains("Examples:") && help.contains(&example);
        assert!(has_examples || is_group, "{name}: {help}");
    }
}

#[test]
fn every_slot_is_an_option_with_its_policies() {
    for (command, help) in commands(&Bench::new()) {
        let options = sections(&help, &["Policies ("]);
        if options.is_empty() {
            continue;
        }
        let words = options.split_whitespace().collect::<Vec<_>>().join(" ");
        for slot in &SLOTS {
            let names: Vec<&str> = slot.infos().iter().map(|info| info.name).collect();
            let says = format!("{}: {}", &slot.decides[1..], names.join(", "));
            assert!(words.contains(&format!("--{} <POLICY", slot.option())), "{command:?}");
            assert!(words.contains(&says), "{command:?}: {says}");
        }
    }
}

/// Formats a policy as `list` does, without its parameters.
fn line(info: &PolicyInfo) -> String {
    format!("  {}: {} [{}]\n", info.name, info.summary, info.source)
}

#[test]
fn the_list_has_every_policy_in_the_order_of_its_registry() {
    let bench = Bench::new();
    let everything = bench.output(&["list"]);
    for slot in &SLOTS {
        let text = bench.output(&["list", &slot.option()]);
        assert!(everything.contains(&text), "{text}");
        let mut rest =
            text.strip_prefix(&format!("{}: {}\n", slot.option(), slot.decides)).unwrap();
        for info in slot.infos() {
            rest =
                rest.strip_prefix(&line(info)).unwrap_or_else(|| panic!("{}: {rest}", info.name));
            for parameter in info.params() {
                let (row, others) = rest.split_once('\n').unwrap();
                let (default, range) = (parameter.default(), parameter.range());
                let columns = [parameter.name, &default, &range, parameter.summary];
                assert!(columns.iter().all(|column| row.contains(column)), "{row}");
                rest = others;
            }
        }
        assert_eq!(rest, "");
    }
}

#[test]
fn the_list_has_machines_standards_and_generators() {
    let everything = Bench::new().output(&["list"]);
    let heads = ["machine: ", "dram-standard: ", "generator: ", "page-policy: ", "allocator: "];
    for head in heads {
        assert!(
            everything.starts_with(head) || everything.contains(&format!("\n{head}")),
            "{head}"
        );
    }
    let machines = warpmem::machine::preset_names();
    let generators = warpmem::workload::generators().iter().map(|generator| generator.name);
    for name in machines.chain(generators) {
        assert!(everything.contains(&format!("\n  {name}: ")), "{name}");
    }
}

#[test]
fn json_list_equals_the_registries() {
    let rows: Vec<Map<String, Value>> =
        serde_json::from_str(&Bench::new().output(&["list", "--format", "json"])).unwrap();
    let listed = |slot: &PolicySlot| -> Vec<Map<String, Value>> {
        rows.iter().filter(|row| row["kind"] == slot.name).cloned().collect()
    };
    for slot in &SLOTS {
        let infos = slot.infos();
        let rows = listed(slot);
        assert_eq!(rows.len(), infos.len(), "{}", slot.name);
        for (row, info) in rows.iter().zip(infos) {
            assert_eq!(row["name"], info.name);
            assert_eq!(row["summary"], info.summary);
            assert_eq!(row["source"], info.source);
            let parameters = row["parameters"].as_array().unwrap();
            let names: Vec<&str> = parameters.iter().filter_map(|p| p["name"].as_str()).collect();
            assert_eq!(names, info.params().iter().map(|p| p.name).collect::<Vec<_>>());
        }
    }
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
}

#[test]
fn generators_are_listed_a_line_each() {
    let bench = Bench::new();
    let listed = bench.output(&["generate", "--list"]);
    let names: Vec<&str> =
        listed.lines().map_while(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, generators().iter().map(|generator| generator.name).collect::<Vec<_>>());
    assert!(listed.contains("`warpmem list generators`"), "{listed}");
}

#[test]
fn version() {
    assert_eq!(
        Bench::new().output(&["--version"]),
        format!("warpmem {}\n", env!("CARGO_PKG_VERSION"))
    );
}

/// Returns the commit that is checked out and its date; none outside a git checkout.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let made = Command::new("git").current_dir(repository()).args(arguments).output().ok()?;
        let text = String::from_utf8(made.stdout).ok()?;
        made.status.success().then(|| text.trim().to_owned())
    };
    let is_root = git(&["rev-parse", "--show-prefix"])?.is_empty();
    is_root.then(|| git(&["log", "-1", "--format=%H %cs"])).flatten()
}

#[test]
fn a_verbose_version_describes_the_build() {
    let bench = Bench::new();
    let text = bench.output(&["--version", "--verbose"]);
    assert_eq!(bench.output(&["--verbose", "-V"]), text);
    let (first, facts) = text.split_once('\n').unwrap();
    assert_eq!(first, concat!("warpmem ", env!("CARGO_PKG_VERSION")));
    let facts: Vec<(&str, &str)> =
        facts.lines().map(|line| line.split_once(": ").unwrap()).collect();
    let is_profile = |name: &str| name == "debug" || name == "release";
    let listed: Vec<Map<String, Value>> =
        serde_json::from_str(&bench.output(&["list", "--format", "json"])).unwrap();
    let others = ["machine", "dram_standard", "generator"];
    let is_policy = |row: &&Map<String, Value>| others.iter().all(|kind| row["kind"] != *kind);
    let policies = listed.iter().filter(is_policy).count();
    let machines = listed.iter().filter(|row| row["kind"] == "machine").count();
    let expected = commit().unwrap_or_else(|| "none: built outside a git checkout".to_owned());
    let (major, minor) = warpmem_trace::FORMAT_VERSION;
    for (name, value) in &facts {
        let is_right = match *name {
            "commit" => *value == expected,
            "engine" => *value == warpmem::record::ENGINE_VERSION,
            "rustc" => value.starts_with("1."),
            "target" => value.contains(std::env::consts::ARCH),
            "profile" => is_profile(value),
            "debug assertions" => *value == "on" || *value == "off",
            "features" => *value == "capture, cli, cudart, tables",
            "policies" => *value == policies.to_string(),
            "machines" => *value == machines.to_string(),
            "trace format" => *value == format!("{major}.{minor}"),
            _ => false,
        };
        assert!(is_right, "{name}: {value}");
    }
    assert_eq!(facts.len(), 10, "{text}");
    bench.refuses(&["--verbose", "list"], &["--version"]);
}

/// Returns the value of a key of the citation file.
fn cited(key: &str) -> String {
    let text = std::fs::read_to_string(repository().join("CITATION.cff")).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
    value.unwrap_or_else(|| panic!("there is no {key}")).to_owned()
}

#[test]
fn the_citation_has_the_version() {
    assert_eq!(cited("version"), env!("CARGO_PKG_VERSION"));
    assert_eq!((cited("cff-version"), cited("type")), ("1.2.0".to_owned(), "software".to_owned()));
}

#[test]
fn a_machine_that_is_shown_is_the_machine() {
    let bench = Bench::new();
    bench.write("v100.toml", bench.output(&["machine", "show", "v100"]));
    let same = ["machine", "diff", "v100", "v100.toml"];
    let told = "no difference: v100 and v100.toml have the same parameters\n";
    assert_eq!(bench.output(&same), told);
    let csv = bench.output(&[&same[..], &["--format", "csv"]].concat());
    assert_eq!(csv, "parameter,one,other\n");
    let set = ["machine", "show", "v100", "--set", "dram.read_queue=7"];
    bench.write("short.toml", bench.output(&set));
    let differing = bench.output(&["machine", "diff", "v100", "short.toml", "--format", "csv"]);
    let lines: Vec<&str> = differing.lines().collect();
    assert_eq!(lines[0], "parameter,one,other");
    assert!(lines.len() == 2 && lines[1].starts_with("dram.read_queue,"), "{differing}");
    bench.refuses(&["machine", "show", "v10"], &["did you mean `v100`?"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    bench.output(&["man", "-o", "pages/man1"]);
    let names = names_in(&bench.path("pages/man1"));
    for name in ["warpmem.1", "warpmem-run.1", "warpmem-dram-check.1", "warpmem-man.1"] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    let page = bench.output(&["man", "dram", "check"]);
    assert_eq!(
        page,
        std::fs::read_to_string(bench.path("pages/man1/warpmem-dram-check.1")).unwrap()
    );
    assert!(page.contains(".TH warpmem-dram-check 1") && page.contains("Examples:"), "{page}");
    bench.refuses(&["man", "dram", "chekc"], &["`warpmem dram` has no command `chekc`", "check"]);
    bench.refuses(&["man", "info", "x"], &["`warpmem info` has no commands"]);
}

#[test]
fn shells_complete_commands_generators_and_options() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.output(&["completions", shell]);
        for word in ["correlate", "pointer-chase", "dram-scheduler"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    bench.refuses(&["completions", "csh"], &["'csh'", "bash"]);
}
