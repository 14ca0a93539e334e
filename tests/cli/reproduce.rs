//! The papers' experiments: runs, output and files.

use super::support::{Bench, names_in};
use serde_json::Value;

/// Makes a directory with a gather and an addition, which take a fraction of a second each.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^10")], "add.wmt");
    bench.generate("gather", &[("n", "2^8"), ("table", "2^14")], "gather.wmt");
    bench
}

/// Returns the objects of a JSON array.
fn rows(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_paper_runs_and_is_compared_with_published_results() {
    let bench = bench();
    let arguments = [
        "reproduce",
        "warpedmc2023",
        "add.wmt",
        "gather.wmt",
        "--quick",
        "-o",
        "out",
        "--format",
        "json",
    ];
    let first = bench.run(&arguments);
    assert_eq!(first.status, Some(0), "{first:?}");
    let rows = rows(&first.stdout);
    let row = |what: &str| rows.iter().find(|row| row["what"] == what).unwrap();
    let all = row("IPC, FCFS over FR-FCFS, all");
    assert_eq!((&all["published"], &all["workloads"]), (&(-28.3).into(), &2.into()));
    let ours = all["ours"].as_f64().unwrap();
    let noise = all["noise"].as_f64().unwrap();
    // On a logarithmic scale, upwards in the direction of the published loss of 28.3 %.
    let judged = |change: f64| -(1.0 + change / 100.0).ln();
    let (published, noise_or_digit) = (judged(-28.3), noise.max(0.05));
    let [low, high] = [ours + noise_or_digit, ours - noise_or_digit].map(judged);
    let is_of_size = high >= published / 2.0 && low <= 2.0 * published && high - low <= published;
    let verdict = match (low > 0.0, high < 0.0) {
        (true, _) if is_of_size => "reproduced",
        (true, _) => "same direction",
        (_, true) => "opposite",
        _ if high < published / 2.0 => "null",
        _ => "no verdict",
    };
    assert_eq!(all["verdict"], verdict, "{ours} {noise}");
    let classes = row("workloads by class");
    assert!(classes["ours_text"].as_str().unwrap().starts_with("LOA "), "{classes}");
    assert!(classes["verdict"].is_null() && classes["unit"].is_null());

    // The page agrees with the tables: the mean over the machine and its three variants.
    let variants =
        ["run.first_sm=0", "run.first_sm=10", "run.page_offset=27", "dram.read_queue=65"];
    let ratios = variants.map(|variant| {
        let compared = bench.output(&[
            "compare",
            "add.wmt",
            "gather.wmt",
            "--machine",
            "warpedmc2023",
            "--set",
            variant,
            "--dram-scheduler",
            "fcfs,fr-fcfs",
            "--format",
            "json",
        ]);
        let runs = self::rows(&compared);
        let ipc = |trace: &str, scheduler: &str| {
            let mut runs = runs.iter();
            let run = runs.find(|run| run["trace"] == trace && run["dram_scheduler"] == scheduler);
            run.unwrap()["ipc_thread"].as_f64().unwrap()
        };
        let ratio = |trace: &str| ipc(trace, "fcfs") / ipc(trace, "fr-fcfs");
        (ratio("add") + ratio("gather")) / 2.0
    });
    let mean = ratios.iter().sum::<f64>() / 4.0;
    let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
    let expected = [100.0 * (mean - 1.0), 100.0 * 3.182 * (squares / 3.0 / 4.0).sqrt()];
    assert!((ours - expected[0]).abs() < 1e-9, "{ours} {expected:?}");
    assert!((noise - expected[1]).abs() < 1e-9, "{noise} {expected:?}");

    let left = names_in(&bench.path("out"));
    for name in ["claims.csv", "by-workload.csv", "reproduction.html", "reproduction.md", "figures"]
    {
        assert!(left.iter().any(|left| left == name), "{name}: {left:?}");
    }
    let figures = names_in(&bench.path("out/figures"));
    for name in ["ipc.svg", "ipc.png", "ipc.csv", "load-times.svg", "published.svg"] {
        assert!(figures.iter().any(|figure| figure == name), "{name}: {figures:?}");
    }
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("| IPC, FCFS over FR-FCFS, all | Sec 5.2, Fig 9 | -28.3 % |"), "{page}");
    assert!(page.contains("| published | reproduced if | ours | verdict |"), "{page}");
    assert!(page.contains("| reproduced | the 95 % interval excludes no change"), "{page}");
    assert!(page.contains("| what | ours | median | without the most influential |"), "{page}");
    assert!(page.contains("| workload | class in the paper | classes measured |"), "{page}");
    let each = std::fs::read_to_string(bench.path("out/by-workload.csv")).unwrap();
    let of = |workload: &str| {
        let prefix = format!("{workload},\"IPC, FCFS over FR-FCFS, all\"");
        each.lines().filter(|line| line.starts_with(&prefix)).count()
    };
    assert_eq!((of("add"), of("gather")), (1, 1), "{each}");
    assert!(page.contains(" experiments: ") && first.stderr.contains(" experiments: "));
    let counted = " published results have claims, ";
    assert!(page.contains(counted) && first.stderr.contains(counted), "{page}");
    assert!(page.contains("| what | paper | reason |"), "{page}");
    assert!(page.contains("figures/load-times.svg"), "{page}");

    let again = bench.run(&arguments);
    assert_eq!(again.stdout, first.stdout);
    assert!(again.stderr.contains("0 runs in"), "nothing is run twice: {}", again.stderr);
}

#[test]
fn claims_without_workloads_say_so() {
    let bench = bench();
    let table = bench.output(&["reproduce", "li2015", "add.wmt", "--quick"]);
    let line = |what: &str| table.lines().find(|line| line.starts_with(what)).unwrap();
    assert!(line("mean memory latency, S+A over FR-FCFS, HIL").contains(" – "), "{table}");
    assert!(table.contains("no workload is HIL"), "{table}");
    assert!(line("workloads by class").contains("HIL 0"), "{table}");
}

#[test]
fn combinations_have_main_effects_and_interactions() {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^8")], "add.wmt");
    let table =
        bench.output(&["reproduce", "combined", "add.wmt", "-o", "out", "--format", "json"]);
    let rows = rows(&table);
    // Five factors, ten pairs and the difference between workloads, on each of two machines.
    assert_eq!(rows.len(), 32, "{table}");
    for row in &rows {
        let is_of_workloads = row["factors"] == "workload";
        assert!(
            row["change"].is_number() != is_of_workloads && row["machine"].is_string(),
            "{row}"
        );
    }
    let order =
        |row: &&serde_json::Value| row["factors"] == "warp_scheduler" && row["machine"] == "li2015";
    let change = rows.iter().find(order).unwrap()["change"].as_f64().unwrap();
    let ipc = |policy: &str| {
        let sql = format!(
            "SELECT avg(ipc_thread) AS ipc FROM runs WHERE machine = 'li2015' AND warp_scheduler = '{policy}'"
        );
        let answer = bench.output(&["query", "out", &sql, "--format", "json"]);
        self::rows(&answer)[0]["ipc"].as_f64().unwrap()
    };
    let second_over_first = ipc("cta-aware-locality") / ipc("gto") - 1.0;
    assert!(
        change != 0.0 && (change - second_over_first).abs() < 1e-6,
        "{change} {second_over_first}"
    );
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("## Effects on IPC") && page.contains("figures/effects.svg"), "{page}");
}

#[test]
fn experiments_are_listed_and_unknown_ones_refused() {
    let bench = Bench::new();
    let list = bench.output(&["reproduce", "--list"]);
    for name in ["li2015", "owl2013", "calrs2015", "yuan2009", "warpedmc2023", "combined", "survey"]
    {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}: {list}");
    }
    bench.refuses(
        &["reproduce", "li2014"],
        &["no experiments called `li2014`", "did you mean `li2015`?"],
    );
    bench.refuses(&["reproduce", "li2015", "none.wmt"], &["none.wmt"]);
}

/// The page has a part for each paper and one for the outcomes of all.
#[test]
fn all_papers_renew_their_parts_of_a_page() {
    let bench = Bench::new();
    bench.generate("vecadd", &[("n", "2^8")], "add.wmt");
    let part =
        |name: &str| format!("<!-- generated: {name} -->\n<!-- end of generated: {name} -->\n");
    let papers = ["results", "li2015", "owl2013", "calrs2015", "yuan2009", "warpedmc2023"];
    let page = format!("# Title\n{}by hand\n", papers.map(part).concat());
    std::fs::write(bench.path("page.md"), page).unwrap();
    let arguments = ["reproduce", "all", "add.wmt", "--quick", "--page", "page.md"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.contains(" runs of 5 papers: about ") && first.contains("minute"), "{first}");
    let line = |name: &str| ran.stdout.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("paper ").contains("reproduced  same direction  null"), "{}", ran.stdout);
    assert!(papers[1..].iter().all(|name| line(name).starts_with(name)));
    let page = std::fs::read_to_string(bench.path("page.md")).unwrap();
    assert!(page.starts_with("# Title\n") && page.ends_with("by hand\n"), "{page}");
    assert!(
        page.contains("Runs of ") && page.contains("| IPC, FCFS over FR-FCFS, all |"),
        "{page}"
    );
    std::fs::write(bench.path("page.md"), "# Title\n").unwrap();
    bench.refuses(&["reproduce", "li2015", "--page", "page.md"], &["--page needs `all`"]);
    bench.refuses(&["reproduce", "all", "--page", "none.md"], &["none.md"]);
    bench.refuses(&["reproduce", "all", "--page", "page.md"], &["no part `results`"]);
}

/// A CTA of the embedding needs more registers than an SM of that machine has.
#[test]
fn workloads_that_do_not_fit_are_skipped_and_named() {
    let bench = bench();
    bench.generate("embedding", &[("batch", "16"), ("rows", "2^9")], "embedding.wmt");
    let arguments = ["reproduce", "yuan2009", "add.wmt", "embedding.wmt", "--quick", "-o", "out"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("left out: embedding on yuan2009"), "{ran:?}");
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("Left out because the machine cannot run them: `embedding`"), "{page}");
}

#[test]
fn a_trace_given_twice_is_refused() {
    let bench = bench();
    std::fs::copy(bench.path("add.wmt"), bench.path("copy.wmt")).unwrap();
    let ran = bench.run(&["reproduce", "warpedmc2023", "add.wmt", "copy.wmt"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("add.wmt and copy.wmt hold the same trace"), "{ran:?}");
}

/// Makes a folder in which a small kernel takes the name of a paper's program.
fn captured(bench: &Bench) {
    std::fs::create_dir_all(bench.path("captured/small")).unwrap();
    let trace = bench.path("captured/small/rodinia-bfs.wmt");
    std::fs::copy(bench.path("gather.wmt"), trace).unwrap();
}

#[test]
fn programs_come_from_a_folder_and_missing_ones_are_named() {
    let bench = bench();
    captured(&bench);
    let arguments = ["reproduce", "li2015", "--quick", "--programs", "captured", "-o", "out"];
    let ran = bench.run(&arguments);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let missing = |name: &str| ran.stderr.lines().any(|line| line.starts_with(name));
    assert!(missing("SSSP") && !missing("BFS "), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 of 24 programs"), "{}", ran.stderr);
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("| BFS | HIL |"), "{page}");
    bench.refuses(
        &["reproduce", "li2015", "--programs", "captured", "--size", "paper"],
        &["no program of li2015", "reproduce li2015 --list"],
    );
    bench.refuses(&["reproduce", "li2015", "--stand-ins"], &["--programs"]);
}

#[test]
fn programs_are_listed_with_their_capture_commands() {
    let bench = Bench::new();
    let list = bench.output(&["reproduce", "li2015", "--list", "--size", "paper"]);
    let line = |name: &str| list.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(line("BFS ").contains("-o paper/rodinia-bfs.wmt --longest"), "{list}");
    assert!(line("BFS ").contains("HIL") && line("BFS ").contains("Rodinia"), "{list}");
    assert_eq!(list.lines().count(), 25, "{list}");
}

/// A kernel equal to one of the map's is located at the same point.
#[test]
fn equal_workloads_share_a_position_on_the_map() {
    let bench = bench();
    let map = ["reproduce", "warpedmc2023", "--quick", "--map", "-o", "out"];
    let table = bench.output(&map);
    assert!(table.contains("±"), "{table}");
    let kernel = "out/traces/quick/role-mix.heavy-0.25.wmt";
    let placed = bench.output(&[&map[..], &["--format", "json", kernel, "gather.wmt"]].concat());
    let rows = rows(&placed);
    assert_eq!(rows.len(), 2, "{placed}");
    let [mapped, measured] = ["mapped", "measured"].map(|name| rows[0][name].as_f64().unwrap());
    assert!(measured > 3.0 && (mapped - measured).abs() < 0.5, "{placed}");
    assert_eq!(rows[0]["is_as_mapped"], true);
    let left = names_in(&bench.path("out"));
    for name in ["map.csv", "placed.csv", "reproduction.html", "figures"] {
        assert!(left.iter().any(|left| left == name), "{name}: {left:?}");
    }
    bench.refuses(&["reproduce", "combined", "--map"], &["`combined` has no map"]);
}

#[test]
fn a_survey_has_a_row_for_each_policy() {
    let bench = bench();
    let table = bench.output(&[
        "reproduce",
        "survey",
        "add.wmt",
        "gather.wmt",
        "--quick",
        "-o",
        "out",
        "--format",
        "json",
    ]);
    let rows = rows(&table);
    let fcfs = rows.iter().find(|row| row["policy"] == "fcfs").unwrap();
    assert!(fcfs["ipc_all"].as_f64().unwrap() < 0.0, "{fcfs}");
    assert!(fcfs["ipc_all_noise"].is_number() && fcfs["fairness"].is_number(), "{fcfs}");
    assert!(rows.iter().filter(|row| row["slot"] == "dram_scheduler").count() >= 22, "{table}");
    let page = std::fs::read_to_string(bench.path("out/reproduction.md")).unwrap();
    assert!(page.contains("| warped-mc |"), "{page}");
}
