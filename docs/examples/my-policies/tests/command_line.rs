//! Runs the program: the command line knows its policies as it knows the built-in ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A directory with a small trace, `k.wmt`.
struct Bench {
    folder: PathBuf,
    program: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("my-policies").join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let bench = Bench { folder, program: env!("CARGO_BIN_EXE_my-policies").into() };
        bench.output(&["generate", "gather", "--n", "2^12", "--table", "2^16", "-o", "k.wmt"]);
        bench
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Returns standard output of a run that must succeed.
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns standard error of a run that must be refused.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Compares the DRAM scheduler with FR-FCFS and returns the id of each run.
    fn run_ids(&self, results: &str) -> [String; 2] {
        let compare = ["compare", "k.wmt", "--dram-scheduler", "fr-fcfs,warp-turns", "-o", results];
        self.output(&compare);
        let ids = "SELECT run_id FROM runs ORDER BY dram_scheduler";
        let ids = self.output(&["query", results, ids, "--format", "csv"]);
        let ids: Vec<String> = ids.lines().skip(1).map(str::to_owned).collect();
        ids.try_into().unwrap()
    }
}

#[test]
fn lists_help_and_errors_name_the_policies() {
    let bench = Bench::new("lists");
    let list = bench.output(&["list"]);
    assert!(list.contains("\n  warp-turns: a bank serves requests of one warp"), "{list}");
    assert!(list.contains("\n  strided: round robin"), "{list}");
    let help = bench.output(&["run", "--help"]);
    assert!(help.contains("warp-turns") && help.contains("strided"), "{help}");
    let misspelt = bench.refusal(&["run", "k.wmt", "--dram-scheduler", "warp-turn"]);
    assert!(misspelt.contains("did you mean `warp-turns`"), "{misspelt}");
    let invalid = bench.refusal(&["run", "k.wmt", "--warp-scheduler", "strided(stride=64)"]);
    assert!(invalid.contains("`stride` = 64 is not valid"), "{invalid}");
}

#[test]
fn policies_are_compared_and_named_in_results() {
    let bench = Bench::new("compared");
    let policies = ["--dram-scheduler", "fr-fcfs,warp-turns", "--warp-scheduler", "lrr,strided"];
    let table = bench.output(&[&["compare", "k.wmt", "-o", "results"], &policies[..]].concat());
    assert!(table.contains("warp-turns") && table.contains("strided"), "{table}");
    let runs = "SELECT dram_scheduler, warp_scheduler FROM runs ORDER BY 1, 2";
    let runs = bench.output(&["query", "results", runs, "--format", "csv"]);
    let rows: Vec<&str> = runs.lines().skip(1).collect();
    assert_eq!(rows, ["fr-fcfs,lrr", "fr-fcfs,strided", "warp-turns,lrr", "warp-turns,strided"]);
    let command = "SELECT command FROM runs WHERE dram_scheduler = 'warp-turns' LIMIT 1";
    let command = bench.output(&["query", "results", command, "--format", "csv"]);
    assert!(command.contains("my-policies run k.wmt"), "{command}");
}

#[test]
fn a_machine_file_names_a_policy() {
    let bench = Bench::new("machine");
    let machine =
        "name = \"mine\"\nbase = \"li2015\"\n[policy]\ndram_scheduler = \"warp-turns(limit=4)\"\n";
    fs::write(bench.folder.join("mine.toml"), machine).unwrap();
    let all = bench.output(&["run", "k.wmt", "--machine", "mine.toml", "--format", "json"]);
    assert!(all.contains("warp-turns(limit=4)"), "{all}");
}

#[test]
fn the_checker_finds_no_violation() {
    let bench = Bench::new("checked");
    let logged = ["--dram-scheduler", "warp-turns(limit=2)", "--command-log", "log.csv"];
    bench.output(&[&["run", "k.wmt", "--machine", "accelsim-qv100"], &logged[..]].concat());
    assert_eq!(bench.output(&["dram", "check", "log.csv"]), "");
}

/// Only runs of its own policies depend on the program's version.
#[test]
fn another_version_of_the_program_repeats_the_runs_of_its_policies() {
    let mut bench = Bench::new("versions");
    let [built_in, own] = bench.run_ids("first");
    assert_eq!(bench.run_ids("again"), [built_in.clone(), own.clone()]);
    let changed = bench.folder.join("my-policies");
    fs::copy(&bench.program, &changed).unwrap();
    let mut code = fs::read(&changed).unwrap();
    code.push(0);
    fs::write(&changed, code).unwrap();
    bench.program = changed;
    let [built_in_again, changed] = bench.run_ids("changed");
    assert_eq!(built_in_again, built_in);
    assert_ne!(changed, own);
}

#[test]
fn help_pages_and_completions_name_the_program() {
    let bench = Bench::new("named");
    let help = bench.output(&["--help"]);
    assert!(help.contains("  my-policies compare ") && !help.contains("warpmem "), "{help}");
    let help = bench.output(&["generate", "decode-layer", "--help"]);
    assert!(help.contains("my-policies run") && !help.contains("warpmem "), "{help}");
    assert!(bench.output(&["--version"]).starts_with("my-policies with warpmem "));
    assert!(bench.output(&["man", "run"]).contains("my\\-policies\\-run"));
    assert!(bench.output(&["completions", "bash"]).contains("-o default my-policies"));
}
