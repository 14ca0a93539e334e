//! SQL over results, and the documents about it.

use super::support::{Bench, Ran, repository};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::{env, fs};
use warpmem_analysis::read_table;

/// Makes a directory with the results of a trace under two policies.
fn bench() -> Bench {
    let bench = Bench::with_trace();
    bench.output(&["compare", "small.wmt", "--dram-scheduler", "fcfs,fr-fcfs", "-o", "results"]);
    bench
}

const RATES: &str = "SELECT dram_scheduler, cycles, row_hit_rate FROM runs ORDER BY dram_scheduler";

#[test]
fn a_query_prints_its_answer_in_the_format_asked_for() {
    let bench = bench();
    let table = bench.output(&["query", "results", RATES]);
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(table.lines().any(|line| line.starts_with("fr-fcfs ")), "{table}");
    let csv = bench.output(&["query", "results", RATES, "--format", "csv"]);
    assert!(csv.starts_with("dram_scheduler,cycles,row_hit_rate\nfcfs,"), "{csv}");
    let json = bench.output(&["query", "results", RATES, "--format", "json"]);
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    assert_eq!(rows[1]["dram_scheduler"], "fr-fcfs");
    assert!(rows[1]["cycles"].is_u64());
    let latex = bench.output(&["query", "results", RATES, "--format", "latex"]);
    assert!(
        latex.contains("\\midrule\nfcfs & ") && latex.contains("dram\\_scheduler & "),
        "{latex}"
    );
    let markdown = bench.output(&["query", "results", RATES, "--format", "markdown"]);
    assert!(markdown.contains("| --- | ---: | ---: |\n| fcfs | "), "{markdown}");
}

#[test]
fn file_name_determines_the_answer_format() {
    let bench = bench();
    for name in ["a.csv", "a.json", "a.parquet", "a.arrow", "a.txt", "a.tex", "a.md"] {
        let ran = bench.run(&["query", "results", RATES, "-o", name]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.trim()),
            ("", format!("2 rows of 3 columns in {name}").as_str())
        );
    }
    let table = read_table(bench.path("a.parquet")).unwrap().collect().unwrap();
    assert_eq!(table.shape(), (2, 3));
    assert!(fs::read(bench.path("a.arrow")).unwrap().starts_with(b"ARROW1"));
    bench.refuses(&["query", "results", RATES, "--format", "parquet"], &["--output"]);
    bench
        .refuses(&["query", "results", RATES, "-o", "a.xlsx"], &["a.xlsx", ".parquet", "--format"]);
    assert!(!bench.path("a.xlsx").exists());
    let ran = bench.run(&["query", "results", RATES, "-o", "a.tsv", "--format", "csv"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_query_comes_from_a_file_or_from_standard_input() {
    let bench = bench();
    bench.write("rates.sql", RATES);
    let expected = bench.output(&["query", "results", RATES]);
    assert_eq!(bench.output(&["query", "results", "--file", "rates.sql"]), expected);
    let mut command = bench.command(&["query", "results", "-"]);
    command.stdin(fs::File::open(bench.path("rates.sql")).unwrap());
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.stdout, expected, "{ran:?}");
    bench.refuses(&["query", "results", "--file", "absent.sql"], &["absent.sql"]);
    bench.refuses(&["query", "results"], &["give directories and a query"]);
    bench.refuses(&["query", RATES], &["give directories and a query"]);
}

#[test]
fn several_directories_are_one() {
    let bench = bench();
    bench.output(&["run", "small.wmt", "--dram-scheduler", "banked-fifo", "-o", "other"]);
    let count = [
        "query",
        "results",
        "other",
        "results",
        "SELECT COUNT(*) AS runs FROM runs",
        "--format",
        "csv",
    ];
    assert_eq!(bench.output(&count), "runs\n3\n");
}

#[test]
fn tables_are_listed_with_rows_and_columns() {
    let bench = bench();
    let text = bench.output(&["query", "results", "--tables"]);
    assert!(text.starts_with("runs: 2 rows of "), "{text}");
    assert!(text.contains("\n  run_id, trace, machine,") && text.contains("\nloads: "), "{text}");
    assert!(!text.contains("requests: "), "it was not recorded: {text}");
    fs::create_dir(bench.path("empty")).unwrap();
    bench.refuses(&["query", "empty", "--tables"], &["no tables"]);
}

#[test]
fn query_errors_are_explained() {
    let bench = bench();
    let refused = |sql: &str, parts: &[&str]| bench.refuses(&["query", "results", sql], parts);
    refused("SELECT trace FROM run", &["no table `run`", "did you mean `runs`", "banks"]);
    refused(
        "SELECT row_hit_rat FROM runs",
        &["no column `row_hit_rat`", "did you mean `row_hit_rate`"],
    );
    refused("SELECT ipc FROM runs", &["did you mean `ipc_thread`, or `ipc_warp`?"]);
    refused("SELECT trace FROM runs WHERE", &["the query failed"]);
    refused("SELEC trace FROM runs", &["Line: 1, Column: 1"]);
    refused("SELECT nonsense(trace) FROM runs", &["nonsense"]);
    refused("SELECT CAST(trace AS INTEGER) FROM runs", &["the query failed"]);
    refused("", &["the query failed"]);
}

#[test]
fn not_a_number_is_null_and_lists_are_shown() {
    let bench = bench();
    let csv = |sql: &str| bench.output(&["query", "results", sql, "--format", "csv"]);
    let wild =
        "SELECT cycles / 0 AS a, 0.0 / 0.0 AS b, cycles > 0 AS c, NULL AS d FROM runs LIMIT 1";
    assert_eq!(csv(wild), "a,b,c,d\n,,true,\n");
    let list = "SELECT trace, ARRAY_AGG(dram_scheduler) AS policies FROM runs GROUP BY trace";
    assert_eq!(csv(list), "trace,policies\nsmall,\"[\"\"fcfs\"\",\"\"fr-fcfs\"\"]\"\n");
    let table = bench.output(&["query", "results", list]);
    assert!(table.contains("[fcfs, fr-fcfs]"), "{table}");
}

/// Returns the code blocks of a document in a language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(document)).unwrap();
    let fence = format!("```{language}\n");
    let starts = text.split(&fence).skip(1);
    starts.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Makes a directory with some of the sample traces at the documents' paths.
fn samples() -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("sample-traces/cache-resident")).unwrap();
    for name in ["gather.wmt", "gups.wmt", "cache-resident/bfs-rmat.wmt"] {
        let path = format!("sample-traces/{name}");
        fs::copy(repository().join(&path), bench.path(&path)).unwrap();
    }
    bench
}

/// Runs a shell block, in which `warpmem` is the program.
#[cfg(unix)]
fn shell(bench: &Bench, script: &str) -> Ran {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_warpmem"));
    let path = format!("{}:{}", program.parent().unwrap().display(), env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).env("PATH", path).current_dir(bench.path(""));
    Ran::from(command.stdin(Stdio::null()).output().unwrap())
}

#[cfg(unix)]
#[test]
fn every_question_of_the_analysis_page_has_an_answer() {
    let bench = samples();
    let scripts = blocks("docs/analysis.md", "sh");
    assert_eq!(scripts.len(), 11);
    for script in scripts {
        let ran = shell(&bench, &script);
        assert_eq!(ran.status, Some(0), "{script}\n{ran:?}");
        assert!(ran.stdout.lines().count() > 2, "{script}\n{}", ran.stdout);
    }
}

#[cfg(unix)]
#[test]
fn queries_of_all_pages_have_answers() {
    let bench = samples();
    let compare = "warpmem compare sample-traces/*.wmt --dram-scheduler fcfs,fr-fcfs -o results";
    assert_eq!(shell(&bench, compare).status, Some(0));
    for document in ["docs/quick-start.md", "docs/reports.md", "docs/analysis.md"] {
        let text = fs::read_to_string(repository().join(document)).unwrap();
        let is_query =
            |line: &&str| line.starts_with("warpmem query results") && line.contains(" FROM ");
        let queries: Vec<&str> = text.lines().filter(is_query).collect();
        assert!(!queries.is_empty(), "{document}");
        for query in queries {
            let ran = shell(&bench, query);
            let first = ran.stdout.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()));
            assert!(first.is_some_and(|row| !row.contains('–')), "{document}: {query}\n{ran:?}");
        }
    }
}

/// Returns a Python with polars, pandas, pyarrow and DuckDB: that of `WARPMEM_PYTHON`, or `python3`
/// if it has them.
fn python() -> Option<String> {
    let python = env::var("WARPMEM_PYTHON").unwrap_or("python3".to_owned());
    let packages = "import polars, pandas, pyarrow, duckdb";
    let ran = Command::new(&python).args(["-c", packages]).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success()).then_some(python)
}

#[test]
fn statements_are_answered_as_duckdb_does_or_refused() {
    let Some(python) = python() else {
        eprintln!("skipped: no Python with duckdb; name one in WARPMEM_PYTHON");
        return;
    };
    let bench = Bench::new();
    let mut command = Command::new(&python);
    command.args(["-c", include_str!("../python/queries.py"), env!("CARGO_BIN_EXE_warpmem")]);
    let ran = Ran::from(command.current_dir(bench.path("")).output().unwrap());
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn long_statements_are_answered_and_longer_ones_refused() {
    let bench = bench();
    let repeated = |part: &str, between: &str, times| vec![part; times].join(between);
    let answer = |sql: String| {
        bench.write("long.sql", &sql);
        let csv = bench.output(&["query", "results", "--file", "long.sql", "--format", "csv"]);
        csv.lines().count() - 1
    };
    let ors = repeated("cycles > 0", " OR ", 400);
    assert_eq!(answer(format!("SELECT trace FROM runs WHERE {ors}")), 2);
    let ands = repeated("cycles > 0", " AND ", 400);
    assert_eq!(answer(format!("SELECT trace FROM runs WHERE {ands}")), 2);
    assert_eq!(answer(format!("SELECT {} AS n FROM runs", repeated("ipc_thread", " + ", 600))), 2);
    assert_eq!(answer(repeated("SELECT trace FROM runs", " UNION ALL ", 1000)), 2000);
    let refused = |sql: String, part: &str| {
        bench.write("long.sql", &sql);
        bench.refuses(&["query", "results", "--file", "long.sql"], &[part]);
    };
    refused(format!("SELECT {}", repeated("1", " + ", 20_000)), "write it as several queries");
    let (open, close) = (repeated("(", "", 5000), repeated(")", "", 5000));
    refused(format!("SELECT {open}1{close}"), "nested too deeply");
}

#[test]
fn libraries_say_nothing_on_standard_error() {
    let bench = bench();
    let mut command = bench.command(&["query", "results", RATES]);
    let ran = Ran::from(command.env("POLARS_VERBOSE", "perhaps").output().unwrap());
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn python_reads_what_we_write() {
    let Some(python) = python() else {
        eprintln!(
            "skipped: no Python with polars, pandas, pyarrow and duckdb; name one in WARPMEM_PYTHON"
        );
        return;
    };
    let bench = bench();
    let all = "SELECT * FROM runs";
    for name in ["runs.parquet", "runs.arrow", "runs.csv", "runs.json"] {
        bench.output(&["query", "results", all, "-o", name]);
    }
    let run = |script: &str| {
        let mut command = Command::new(&python);
        let ran = command.args(["-c", script]).current_dir(bench.path("")).output().unwrap();
        let ran = Ran::from(ran);
        assert_eq!(ran.status, Some(0), "{script}\n{}", ran.stderr);
        ran.stdout
    };
    run(include_str!("../python/readers.py"));
    let scripts = blocks("docs/analysis.md", "python");
    let (checks, reads): (Vec<_>, Vec<_>) =
        scripts.into_iter().partition(|script| script.contains("zlib"));
    assert!(reads.len() >= 3 && checks.len() == 1);
    for script in reads {
        assert!(run(&script).contains("fr-fcfs"), "{script}");
    }
    assert_eq!(run(&checks[0]), "[]\n", "every table is whole");
    super::damaged::flip(&bench.path("results/kernels.parquet"));
    assert_eq!(run(&checks[0]), "['results/kernels.parquet']\n");
}
