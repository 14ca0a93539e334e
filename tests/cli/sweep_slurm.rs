//! Sweeps on Slurm, whose commands are scripts here: tasks are background processes that die, never
//! start, or wait, as each test specifies. `tests/slurm` runs a real Slurm.
#![cfg(unix)]

use super::support::{Bench, Ran, names_in, repository};
use super::sweep::files;
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;

const PLAN: &str = r#"
traces = ["*.wmt"]
machines = ["li2015"]
loads = true
[policies]
dram_scheduler = ["fcfs", "fr-fcfs"]
warp_scheduler = ["lrr", "gto"]
"#;

/// Script of `sbatch`, controlled by files in `slurm/`: `refused` is the error of `sbatch`,
/// `broken` makes tasks fail, `held` keeps all tasks from starting; `held_N` keeps task N from
/// starting, `dies_N` kills it once after its first cell, `never_N` removes it from the queue
/// before it starts.
const SBATCH: &str = r#"#!/bin/sh
cd "$FAKE_SLURM" || exit 1
if [ -e refused ]; then cat refused >&2; exit 1; fi
echo >> submitted
id=$(($(wc -l < submitted)))
cat > "script_$id"
line() { sed -n "s/^#SBATCH --$1=//p" "script_$id"; }
for range in $(line array | tr , ' '); do
    for n in $(seq "${range%-*}" "${range#*-}"); do
        line job-name > "queue/${id}_$n"
        task "$id" "$n" "$(line output | sed "s/%A/$id/; s/%a/$n/")" > /dev/null 2>&1 &
    done
done
echo "$id"
"#;

const TASK: &str = r#"#!/bin/sh
leave() { cat "$3" >> "log_$2"; rm -f "queue/$1_$2"; exit; }
task=$1_$2
if [ -e "never_$2" ]; then rm "never_$2"; leave "$@"; fi
while { [ -e held ] || [ -e "held_$2" ]; } && [ -e "queue/$task" ]; do sleep 0.02; done
[ -e "queue/$task" ] || exit
if [ -e broken ]; then echo "error: no such node" > "$3"; leave "$@"; fi
SLURM_ARRAY_TASK_ID=$2 sh "script_$1" > "$3" 2>&1 &
if [ -e "dies_$2" ]; then
    rm "dies_$2"
    until ls ../results/shards/"$2"/cells/* > /dev/null 2>&1; do sleep 0.01; done
    kill -9 $!
fi
wait
leave "$@"
"#;

const SQUEUE: &str = r#"#!/bin/sh
cd "$FAKE_SLURM" || exit 1
echo >> asked
for task in queue/*_*; do
    [ -e "$task" ] || continue
    case " $* " in *" --name=$(cat "$task") "*) ;; *) continue ;; esac
    task=${task#queue/}
    echo "${task%_*} ${task#*_} PENDING Resources"
done
"#;

const SCANCEL: &str = r#"#!/bin/sh
cd "$FAKE_SLURM" && echo "$*" >> cancelled && rm -f queue/*
"#;

/// Output and files of a local sweep of the plan.
static LOCAL: LazyLock<(String, BTreeMap<PathBuf, Vec<u8>>)> = LazyLock::new(|| {
    let bench = with_plan();
    let output = bench.output(&["sweep", "plan.toml", "-o", "results"]);
    (output, files(&bench.path("results")))
});

/// Makes a directory with a short and a long trace, and a plan of eight cells over them.
fn with_plan() -> Bench {
    let bench = Bench::with_trace();
    // Long enough for a task to be killed in its second cell.
    bench.generate("pointer-chase", &[("hops", "2^14"), ("nodes", "2^12")], "long.wmt");
    bench.write("plan.toml", PLAN);
    bench
}

/// A directory with the plan, and the commands of Slurm.
struct Cluster {
    bench: Bench,
}

impl Cluster {
    fn new() -> Cluster {
        let bench = with_plan();
        fs::create_dir(bench.path("bin")).unwrap();
        fs::create_dir_all(bench.path("slurm/queue")).unwrap();
        let commands =
            [("sbatch", SBATCH), ("task", TASK), ("squeue", SQUEUE), ("scancel", SCANCEL)];
        for (name, script) in commands {
            let path = bench.path("bin").join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Cluster { bench }
    }

    fn command(&self, options: &[&str]) -> Command {
        let arguments = ["sweep", "plan.toml", "-o", "results", "--slurm", "--tasks", "2"];
        let mut command = self.bench.command(&[&arguments, options].concat());
        let path = env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.bench.path("bin").display()));
        command.env("FAKE_SLURM", self.bench.path("slurm"));
        // A filter that would hide the tasks.
        command.env("SQUEUE_STATES", "FAILED");
        command
    }

    fn run(&self, options: &[&str]) -> Ran {
        Ran::from(self.command(options).output().unwrap())
    }

    fn start(&self) -> Child {
        self.command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn say(&self, name: &str, content: &str) {
        fs::write(self.bench.path("slurm").join(name), content).unwrap();
    }

    fn unsay(&self, name: &str) {
        fs::remove_file(self.bench.path("slurm").join(name)).unwrap();
    }

    /// Counts the lines of a file of the commands.
    fn lines(&self, name: &str) -> usize {
        fs::read_to_string(self.bench.path("slurm").join(name))
            .map_or(0, |text| text.lines().count())
    }

    fn queue(&self) -> Vec<String> {
        names_in(&self.bench.path("slurm/queue"))
    }

    /// Checks that the sweep succeeds with the files of a local sweep.
    fn is_as_a_local_sweep(&self, ran: &Ran) {
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let (local, theirs) = &*LOCAL;
        assert_eq!(ran.stdout, *local);
        let ours = files(&self.bench.path("results"));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
        for (path, content) in ours {
            assert!(theirs[&path] == content, "{} is another", path.display());
        }
    }
}

/// Waits until a condition holds, while the program runs.
fn wait_until(child: &mut Child, holds: impl Fn() -> bool) {
    while !holds() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before");
        sleep(Duration::from_millis(5));
    }
}

fn ended(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn lost_tasks_are_resubmitted_and_tables_are_unchanged() {
    let cluster = Cluster::new();
    cluster.say("dies_1", "");
    cluster.say("never_2", "");
    let ran = cluster.run(&[]);
    assert!(ran.stderr.starts_with("submitted 2 tasks as job 1\n"), "{ran:?}");
    let log = |name: &str| cluster.bench.path("results/slurm").join(name).display().to_string();
    for note in [
        format!("note: task 1 ended with 3 cells missing ({}); it is resubmitted", log("1_1.log")),
        format!("note: task 2 ended with 4 cells missing ({}); it is resubmitted", log("1_2.log")),
    ] {
        assert!(ran.stderr.contains(&note), "{note}: {ran:?}");
    }
    assert!(ran.stderr.contains("8 runs on Slurm in "), "{ran:?}");
    assert!(ran.stderr.contains("; 2 tasks were resubmitted\n"), "{ran:?}");
    let log = fs::read_to_string(cluster.bench.path("slurm/log_1")).unwrap();
    assert!(log.contains("3 runs in ") && log.contains("; 1 of 4 cells already existed"), "{log}");
    cluster.is_as_a_local_sweep(&ran);
    let submitted = cluster.lines("submitted");
    let again = cluster.run(&[]);
    assert!(again.stderr.starts_with("0 runs on Slurm in "), "{again:?}");
    assert_eq!((cluster.lines("submitted"), &again.stdout), (submitted, &ran.stdout));
}

#[test]
fn killed_sweep_finds_its_tasks_again() {
    let cluster = Cluster::new();
    cluster.say("held", "");
    let mut first = cluster.start();
    wait_until(&mut first, || cluster.queue().len() == 2);
    first.kill().unwrap();
    first.wait().unwrap();
    let asked = cluster.lines("asked");
    let mut second = cluster.start();
    // One query finds the tasks, later ones wait for them.
    wait_until(&mut second, || cluster.lines("asked") > asked + 2);
    let refused = cluster.run(&[]);
    assert!(refused.stderr.contains("is being written by another process"), "{refused:?}");
    cluster.unsay("held");
    let ran = ended(second);
    assert!(
        ran.stderr.starts_with("the queue has 2 tasks of job 1: waiting for them\n"),
        "{ran:?}"
    );
    assert_eq!(cluster.lines("submitted"), 1);
    cluster.is_as_a_local_sweep(&ran);
}

#[test]
fn another_plan_does_not_mix_with_tasks_in_the_queue() {
    let cluster = Cluster::new();
    cluster.say("held", "");
    let mut child = cluster.start();
    wait_until(&mut child, || cluster.queue().len() == 2);
    child.kill().unwrap();
    child.wait().unwrap();
    cluster.bench.write("plan.toml", PLAN.replace("\"gto\"", "\"oldest\""));
    let refused = cluster.run(&[]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    for part in ["error: the queue has 2 tasks of job 1 for ", "`scancel --name=sweep-plan-"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    let local = cluster.bench.run(&["sweep", "plan.toml", "-o", "results"]);
    assert!(local.stderr.starts_with("note: a sweep with --slurm is unfinished"), "{local:?}");
    fs::remove_dir_all(cluster.bench.path("slurm/queue")).unwrap();
}

#[test]
fn ctrl_c_cancels_the_tasks_and_keeps_finished_cells() {
    let cluster = Cluster::new();
    cluster.say("held_2", "");
    let mut child = cluster.start();
    let cells = cluster.bench.path("results/cells");
    wait_until(&mut child, || cells.is_dir() && names_in(&cells).len() == 4);
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran = ended(child);
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let kept = "error: interrupted: 4 of 8 cells are in results; run it again to resume\n";
    assert!(ran.stderr.ends_with(kept), "{ran:?}");
    assert_eq!((cluster.queue().len(), cluster.lines("cancelled")), (0, 1));
    assert!(!cluster.bench.path("results/shards").exists());
    cluster.unsay("held_2");
    let ran = cluster.run(&[]);
    assert!(ran.stderr.contains("; 4 of 8 cells already existed\n"), "{ran:?}");
    cluster.is_as_a_local_sweep(&ran);
}

#[test]
fn hopeless_task_is_given_up_with_its_log() {
    let cluster = Cluster::new();
    cluster.say("broken", "");
    let ran = cluster.run(&[]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert_eq!((cluster.lines("submitted"), ran.stdout.as_str()), (3, ""));
    for part in [
        "error: 0 of 8 cells are in results; run it again to resume\n",
        "  caused by: the task of shard 1/2 ended 3 times in a row without finishing one of its 4 missing cells; ",
        "failed: the task of shard 2/2 ended 3 times",
        "/results/slurm/3_1.log ends with:\n    error: no such node\n",
    ] {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    cluster.unsay("broken");
    cluster.is_as_a_local_sweep(&cluster.run(&[]));
}

#[test]
fn refusals_of_slurm_are_quoted() {
    let cluster = Cluster::new();
    cluster.say("refused", "sbatch: error: invalid partition specified: none\n");
    let ran = cluster.run(&["--partition", "none"]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let said = "error: failed to submit the tasks\n  caused by: `sbatch` failed (exit status: 1): sbatch: error: invalid partition specified: none\n";
    assert_eq!(ran.stderr, said);
    let mut command = cluster.command(&[]);
    let ran = Ran::from(command.env("PATH", cluster.bench.path("nothing")).output().unwrap());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`squeue` is not on the PATH: --slurm needs Slurm's client"));
    cluster.unsay("refused");
    cluster.is_as_a_local_sweep(&cluster.run(&[]));
}

#[test]
fn dry_run_prints_the_script_of_missing_cells() {
    let cluster = Cluster::new();
    let options = ["--dry-run", "--cpus", "3", "--time", "2:00:00", "--sbatch-option=--nice"];
    let ran = cluster.run(&options);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for line in [
        "#!/bin/sh\n#SBATCH --nice\n#SBATCH --time=2:00:00\n#SBATCH --cpus-per-task=3\n",
        "\n#SBATCH --array=1-2\n",
        " --shard \"$SLURM_ARRAY_TASK_ID\"/2 --jobs 3 ",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {ran:?}");
    }
    assert_eq!(cluster.lines("submitted"), 0);
    assert!(!cluster.bench.path("results").exists());
    cluster.bench.output(&["sweep", "plan.toml", "-o", "results", "--shard", "1/2"]);
    let ran = cluster.run(&options);
    assert!(ran.stdout.contains("\n#SBATCH --array=2\n"), "{ran:?}");
}

#[test]
fn options_of_slurm_need_slurm() {
    let bench = Bench::with_trace();
    bench.write("plan.toml", PLAN);
    for options in [&["--cpus", "2"][..], &["--tasks=2"], &["--sbatch-option=--nice"]] {
        bench.refuses(&[&["sweep", "plan.toml"], options].concat(), &["--slurm"]);
    }
    for options in [["--shard", "1/2"], ["--jobs", "2"]] {
        let arguments = [&["sweep", "plan.toml", "--slurm"][..], &options].concat();
        bench.refuses(&arguments, &["cannot be used with", options[0]]);
    }
    let option = ["sweep", "plan.toml", "--slurm", "--sbatch-option", "qos"];
    bench.refuses(&option, &["expected an option of sbatch, as in `--sbatch-option=--qos=high`"]);
}

/// Runs if `WARPMEM_SLURM_TEST` is set and Slurm is installed.
#[test]
fn on_a_real_slurm_killed_tasks_change_nothing() {
    if env::var_os("WARPMEM_SLURM_TEST").is_none() {
        eprintln!("skipped: WARPMEM_SLURM_TEST is not set");
        return;
    }
    let daemons =
        ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "/usr/bin/sbatch"];
    if let Some(missing) = daemons.iter().find(|daemon| !Path::new(daemon).exists()) {
        eprintln!("skipped: there is no {missing}");
        return;
    }
    let mut script = Command::new(repository().join("tests/slurm/run.sh"));
    script.args(["40", "3"]).env("WARPMEM", env!("CARGO_BIN_EXE_warpmem"));
    let ran = Ran::from(script.output().unwrap());
    assert_eq!(ran.status, Some(0), "{}\n{}", ran.stdout, ran.stderr);
}
