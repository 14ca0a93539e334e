//! Reports on runs, as a page and as Markdown.

use super::support::{Bench, Ran, names_in, repository};
use std::process::Command;
use std::{env, fs};

/// Makes a directory with the tables of three small traces under three DRAM schedulers in
/// `results`.
fn bench() -> Bench {
    let bench = Bench::with_trace();
    bench.generate("gather", &[("n", "2^10")], "gather.wmt");
    bench.generate("reduction", &[("n", "2^11")], "reduction.wmt");
    let traces = ["small.wmt", "gather.wmt", "reduction.wmt"];
    let arguments = [
        &["compare"],
        &traces[..],
        &["--dram-scheduler", "fcfs,banked-fifo,fr-fcfs", "-o", "results"],
    ];
    bench.output(&arguments.concat());
    bench
}

/// Runs a report, which prints nothing on standard output; returns standard error.
fn report(bench: &Bench, arguments: &[&str]) -> String {
    let ran = bench.run(&[&["report"], arguments].concat());
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    ran.stderr
}

fn read(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn report_is_one_self_contained_file() {
    let bench = bench();
    let said = report(&bench, &["results"]);
    assert!(said.contains("9 runs") && said.contains("results/report.html"), "{said}");
    let page = read(&bench, "results/report.html");
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains(" src="), "something is loaded");
    for target in page.split(" href=\"").skip(1) {
        assert!(
            ["#", "data:text/csv", "data:image/png"].iter().any(|own| target.starts_with(own)),
            "{}",
            &target[..40]
        );
    }
    let links = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!links.contains("http://") && !links.contains("https://"));
    // Each chart is drawn for desktops and for phones.
    assert_eq!(2 * page.matches("<figure").count(), page.matches("</svg>").count());
}

#[test]
fn markdown_has_the_numbers_of_the_page_and_its_pictures_beside_it() {
    let bench = bench();
    report(
        &bench,
        &["results", "--html", "r.html", "--markdown", "out report.md", "--mean", "harmonic"],
    );
    let (page, text) = (read(&bench, "r.html"), read(&bench, "out report.md"));
    for content in [&page, &text] {
        assert!(content.contains("harmonic mean"));
    }
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let results = text.lines().take_while(|line| *line != "## What was run");
    let numbers = results.filter(|line| line.starts_with("| ")).flat_map(cells);
    let numbers: Vec<String> = numbers.filter(|cell| cell.parse::<f64>().is_ok()).collect();
    assert!(numbers.len() > 100);
    for number in numbers {
        assert!(page.contains(&format!("<td class=\"number\">{number}</td>")), "{number}");
    }
    let pictures: Vec<&str> =
        text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(pictures.len() > 5, "{pictures:?}");
    for picture in pictures {
        let name = picture.replace("%20", " ");
        assert!(name.starts_with("out report-plots/"), "{picture}");
        for ending in ["svg", "pdf", "png", "csv"] {
            assert!(
                bench.path(&name.replace(".svg", &format!(".{ending}"))).is_file(),
                "{name}: {ending}"
            );
        }
    }
    let names = names_in(&bench.path("out report-plots"));
    for name in ["means.csv", "means.tex", "means.md"] {
        assert!(names.iter().any(|other| other == name), "{name}");
    }
    let table = read(&bench, "out report-plots/means.tex");
    assert!(table.contains("\\toprule\npolicy & workloads & "), "{table}");
}

#[test]
fn a_style_selects_and_labels_policies() {
    let bench = bench();
    let style =
        "[policies]\nshow = ['fr-fcfs', 'fcfs']\nlabels = { fcfs = 'in order', atlas = 'A' }\n";
    fs::write(bench.path("style.toml"), style).unwrap();
    let said = report(&bench, &["results", "--style", "style.toml", "--markdown", "r.md"]);
    assert!(
        said.contains("note: style.toml:3: policies.labels.atlas: the results have no `atlas`")
    );
    assert!(said.contains("6 runs"), "{said}");
    let text = read(&bench, "r.md");
    assert!(text.contains("| in order |") && !text.contains("| banked-fifo |"), "{text}");
    let svg = read(&bench, "r-plots/ipc-means.svg");
    assert!(svg.contains(">in order<"), "{svg}");
    fs::write(bench.path("style.toml"), "[policies]\nshow = ['fcfs', 'atlas']\n").unwrap();
    let why = ["style.toml:2: policies.show: the results have no `atlas`", "fr-fcfs"];
    bench.refuses(&["report", "results", "--style", "style.toml"], &why);
    bench.refuses(&["report", "results", "--style", "none.toml"], &["none.toml"]);
}

#[test]
fn names_of_traces_are_no_markup() {
    let bench = Bench::with_trace();
    let name = "<img src=x onerror=alert(1)> | `a` & <script>.wmt";
    fs::rename(bench.path("small.wmt"), bench.path(name)).unwrap();
    bench.output(&["compare", name, "--dram-scheduler", "fcfs,fr-fcfs", "-o", "results"]);
    report(
        &bench,
        &["results", "--html", "r.html", "--markdown", "r.md", "--title", "</title><b>x"],
    );
    let page = read(&bench, "r.html");
    assert!(!page.contains("<img") && !page.contains("</title><b>"), "escaped");
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt; | `a` &amp; &lt;script&gt;"));
    let text = read(&bench, "r.md");
    let outside_of_code = text.split('`').step_by(2).collect::<String>();
    assert!(!outside_of_code.contains("<img") && text.contains("&lt;img"), "{text}");
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    let table = text
        .lines()
        .skip_while(|line| !line.starts_with("| trace |"))
        .take_while(|line| !line.is_empty());
    let widths: Vec<usize> = table.map(columns).collect();
    assert!(widths.len() > 2 && widths.iter().all(|width| *width == widths[0]), "{widths:?}");
}

#[test]
fn report_names_missing_recordings() {
    let bench = bench();
    report(&bench, &["results", "--markdown", "with.md"]);
    assert!(read(&bench, "with.md").contains("Percentiles are exact"));
    fs::remove_dir_all(bench.path("results/loads")).unwrap();
    report(&bench, &["results", "--markdown", "without.md"]);
    let text = read(&bench, "without.md");
    assert!(text.contains("single loads were not recorded"));
    assert!(!text.contains("Tail of the"));
    assert!(text.contains("Time series were not recorded; `--intervals N` does"));
}

#[test]
fn one_run_is_a_report_without_a_comparison() {
    let bench = Bench::with_trace();
    bench.output(&["run", "small.wmt", "-o", "results"]);
    report(&bench, &["results", "--markdown", "r.md"]);
    assert!(read(&bench, "r.md").contains("so nothing is compared"));
}

#[test]
fn shards_are_one_report() {
    let bench = Bench::with_trace();
    bench.generate("reduction", &[("n", "2^11")], "other.wmt");
    for (trace, directory) in [("small.wmt", "a"), ("other.wmt", "b")] {
        bench.output(&["compare", trace, "--dram-scheduler", "fcfs,fr-fcfs", "-o", directory]);
    }
    report(&bench, &["a", "b", "--markdown", "r.md"]);
    let text = read(&bench, "r.md");
    assert!(text.contains("4 runs of 2 workloads"), "{text}");
    assert!(text.contains("| small | ") && text.contains("| other | "));
}

#[test]
fn incompatible_runs_are_refused_or_marked() {
    let bench = Bench::new();
    for (size, policy) in [("2^10", "fcfs"), ("2^9", "fr-fcfs")] {
        bench.generate("gather", &[("n", size)], "g.wmt");
        bench.output(&["compare", "g.wmt", "--dram-scheduler", policy, "-o", policy]);
    }
    bench.refuses(&["report", "fcfs", "fr-fcfs"], &["`g`", "--allow-mixed"]);
    report(&bench, &["fcfs", "fr-fcfs", "--allow-mixed", "--markdown", "r.md"]);
    let text = read(&bench, "r.md");
    assert!(text.contains("> **Caution:** these runs differ"), "{text}");
    assert!(text.contains("| mixed |"), "{text}");
}

#[test]
fn bad_requests_list_valid_values() {
    let bench = bench();
    bench.refuses(&["report", "none"], &["failed to read none"]);
    bench.refuses(&["report", "results", "--baseline", "fcsf"], &["fcsf", "banked-fifo"]);
    bench.refuses(&["report", "results", "--mean", "median"], &["median", "harmonic"]);
    bench.refuses(&["report", "results", "--metrics", "ipc_wrap"], &["did you mean `ipc_warp`"]);
    bench.refuses(&["report", "results", "--html", "none/r.html"], &["none/r.html"]);
    fs::create_dir(bench.path("empty")).unwrap();
    bench.refuses(
        &["report", "empty"],
        &["nothing to report on", "--output", "no table `runs` in empty"],
    );
    assert!(!bench.path("results/report.html").exists());
}

/// Runs with `node` and Chromium if `WARPMEM_BROWSER_TEST` names a folder `node_modules` with
/// playwright-core.
#[test]
fn the_page_works_in_a_browser() {
    let Some(modules) = env::var_os("WARPMEM_BROWSER_TEST") else {
        eprintln!("skipped: WARPMEM_BROWSER_TEST names no node_modules with playwright-core");
        return;
    };
    let bench = bench();
    report(&bench, &["results"]);
    let script = repository().join("tests/browser/report.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(bench.path("results/report.html")).env("NODE_MODULES", modules);
    let ran = Ran::from(node.output().expect("node runs"));
    assert_eq!(ran.status, Some(0), "{}\n{}", ran.stdout, ran.stderr);
}
