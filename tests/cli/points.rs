//! Measured points beside our runs, and machines calibrated on them.

use super::support::{Bench, names_in};
use serde_json::Value;
use std::fs;

const HEADING: &str = "gpu,class,machine,set,workload,less,figure,work,unit,value,source\n";

/// Returns the lines of two chases on li2015, within L1 and beyond, with these values.
fn chases(values: [f64; 2]) -> String {
    let mut text = format!("# two chases\n{HEADING}");
    for (nodes, value) in [16, 2048].into_iter().zip(values) {
        let chase = |hops: u32| format!("pointer-chase --nodes {nodes} --hops {hops}");
        let (long, short) = (chase(300), chase(100));
        text.push_str(&format!(
            "GTX 480,chase-{nodes},li2015,sm.max_ctas=2,{long},{short},{nodes} nodes,200,cycles/load,{value},own\n"
        ));
    }
    text
}

/// Returns the figures of the points in p.csv.
fn figures(bench: &Bench, options: &[&str]) -> Vec<f64> {
    let correlate = ["correlate", "--points", "p.csv", "--format", "json", "--cache", "runs"];
    let json = bench.output(&[&correlate[..], options].concat());
    let value: Value = serde_json::from_str(&json).unwrap();
    let points = value["points"].as_array().unwrap();
    points.iter().map(|point| point["warpmem"].as_f64().unwrap()).collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("p.csv", chases([1.0, 1.0]));
    bench
}

#[test]
fn points_are_printed_beside_our_figures_with_their_errors() {
    let bench = bench();
    let ours = figures(&bench, &[]);
    assert!(ours[0] > 1.0 && ours[1] > 2.0 * ours[0], "{ours:?}");
    bench.write("p.csv", chases([ours[0], ours[1] * 2.0]));
    let text = bench.output(&["correlate", "--points", "p.csv", "--cache", "runs"]);
    let line = |text: &str, starts: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.starts_with(starts)).unwrap_or_default();
        line.split("  ").map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(line(&text, "GTX 480  chase-16 ")[7], "+0.0 %", "{text}");
    assert_eq!(line(&text, "GTX 480  chase-2048")[7], "-50.0 %", "{text}");
    let all = line(&text, "all ");
    assert_eq!(all[..4], ["all", "all", "2", "25.0 %"], "{text}");
    assert_eq!(all[5..], ["50 %", "-50.0 %", "GTX 480: 2048 nodes"], "{text}");
    let csv =
        bench.output(&["correlate", "--points", "p.csv", "--cache", "runs", "--format", "csv"]);
    assert!(csv.starts_with("gpu,class,machine,set,figure,unit,measured,warpmem,error,source\n"));
    assert_eq!(csv.lines().count(), 3);
}

#[test]
fn points_are_selected_and_their_machines_replaced() {
    let bench = bench();
    let ours = figures(&bench, &[]);
    assert_eq!(figures(&bench, &["--class", "chase-16"]), ours[..1]);
    assert_eq!(figures(&bench, &["--gpu", "GTX 480", "--only", "pointer-chase"]), ours);
    bench.write("mine.toml", "base = \"li2015\"\n[l1]\nlatency = 77\n");
    let mapped = figures(&bench, &["--map", "li2015=mine.toml"]);
    assert!(mapped[0] > ours[0] + 20.0, "{mapped:?}");
    assert_eq!(figures(&bench, &["--set", "l1.latency=77"]), mapped);
    bench.refuses(
        &["correlate", "--points", "p.csv", "--class", "chase-17"],
        &["p.csv has no point of class `chase-17` (did you mean `chase-16`?)"],
    );
    bench.refuses(
        &["correlate", "--points", "p.csv", "--set", "l1.latancy=7"],
        &["p.csv:3: machine `li2015`", "l1.latency"],
    );
    bench.refuses(&["correlate", "--points", "p.csv", "r.json"], &["cannot be used with"]);
}

#[test]
fn a_bad_point_is_refused_with_file_line_and_column() {
    let bench = Bench::new();
    bench.write("p.csv", chases([1.0, 1.0]).replace("--hops 100", "--hop 100"));
    bench.refuses(
        &["correlate", "--points", "p.csv"],
        &["p.csv:3: column `less`: pointer-chase has no parameter `hop` (did you mean `hops`?)"],
    );
    bench.refuses(&["correlate", "--points", "none.csv"], &["failed to read none.csv"]);
}

#[test]
fn a_repeated_command_runs_only_what_has_changed() {
    let bench = bench();
    let runs = |options: &[&str]| {
        let correlate = ["correlate", "--points", "p.csv", "--cache", "runs"];
        let ran = bench.run(&[&correlate[..], options].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let line = ran.stderr.lines().find(|line| line.contains(" in ") && line.contains(" run"));
        line.map(|line| line.split(' ').next().unwrap().to_owned())
    };
    assert_eq!(runs(&[]).as_deref(), Some("4"));
    assert_eq!(runs(&[]), None);
    assert_eq!(runs(&["--class", "chase-16", "--set", "l1.latency=9"]).as_deref(), Some("2"));
    assert_eq!(names_in(&bench.path("runs")).len(), 4 + 2, "traces, manifest and cycles");
}

#[test]
fn a_plot_shows_every_point() {
    let bench = bench();
    bench.output(&["correlate", "--points", "p.csv", "--plot", "p.svg"]);
    let svg = fs::read_to_string(bench.path("p.svg")).unwrap();
    assert!(svg.contains("chase-2048") && svg.contains("measured"), "{svg}");
}

#[test]
fn a_perturbed_machine_is_calibrated_on_the_points_of_the_true_one() {
    let bench = bench();
    let truth = figures(&bench, &["--set", "l1.latency=41", "--set", "l2.input_latency=89"]);
    bench.write("p.csv", chases([truth[0], truth[1]]));
    let calibrate = [
        "calibrate",
        "--points",
        "p.csv",
        "--machine",
        "li2015",
        "--free",
        "l1.latency=1..80,l2.input_latency=1..200",
        "-o",
        "mine.toml",
    ];
    let text = bench.output(&calibrate);
    assert!(text.contains("l1.latency"), "{text}");
    assert!(text.lines().last().unwrap().contains("0.0 %"), "{text}");
    let mine = fs::read_to_string(bench.path("mine.toml")).unwrap();
    let origin = " # c: p.csv, chase-16 1, chase-2048 1";
    assert!(mine.contains(&format!("latency = 41{origin}\n")), "{mine}");
    assert!(mine.contains(&format!("input_latency = 89{origin}\n")), "{mine}");
    assert!(mine.contains("name = \"mine\""), "{mine}");
    let diff = bench.output(&["machine", "diff", "li2015", "mine.toml", "--format", "csv"]);
    let keys: Vec<&str> =
        diff.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(keys, ["l1.latency", "l2.input_latency"]);
    let log = fs::read_to_string(bench.path("mine.log.csv")).unwrap();
    assert!(
        log.starts_with("step,round,key,value,mean_log_error,best\n1,1,l1.latency,1,"),
        "{log}"
    );

    let again = bench.run(&calibrate);
    assert!(again.stderr.contains("mine.toml; 0 runs"), "{}", again.stderr);
    assert_eq!(again.stdout, text);
    assert_eq!(fs::read_to_string(bench.path("mine.toml")).unwrap(), mine);
}

#[test]
fn a_calibration_that_would_not_work_is_refused_before_it_runs() {
    let bench = bench();
    bench.write("mine.toml", "base = \"li2015\"\n");
    bench.write("o.log.csv", chases([1.0, 1.0]));
    let calibrate = |points: &str, machine: &str, free: &str, output: &str| {
        let command = ["calibrate", "--points", points, "--machine", machine, "--free", free];
        bench.refusal(&[&command[..], &["-o", output]].concat())
    };
    for (points, machine, free, output, message) in [
        ("p.csv", "li2015", "l1.latancy", "o.toml", "(did you mean `l1.latency`?)"),
        ("p.csv", "li2015", "l1.latency=9..2", "o.toml", "valid: `MIN..MAX`"),
        ("p.csv", "li2015", "l1.latency", "p.csv", "p.csv"),
        ("p.csv", "mine.toml", "l1.latency", "mine.toml", "mine.toml"),
        ("o.log.csv", "li2015", "l1.latency", "o.toml", "o.log.csv"),
        ("p.csv", "v100", "l1.latency", "o.toml", "--for names one of li2015"),
    ] {
        let refused = calibrate(points, machine, free, output);
        assert!(refused.contains(message), "{refused}");
    }
    assert_eq!(bench.names(), ["mine.toml", "o.log.csv", "p.csv"]);
    assert_eq!(fs::read_to_string(bench.path("p.csv")).unwrap(), chases([1.0, 1.0]));
}
