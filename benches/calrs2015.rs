//! Ma et al. (CaLRS, 2015) beside ours: the queues of LLC slices, and what it gains to serve requests of those first who wait
//! for few. `cargo bench --no-default-features --bench calrs2015 [-- TRACE…]`; without traces it replays those of
//! `sample-traces`. Nothing is tuned to the published figures, which are means over Rodinia: direction and order are what
//! compares. Means are arithmetic, the paper's.
#![allow(clippy::print_stdout)]

mod papers;

use papers::{Workload, replay, workloads};
use serde_json::{Map, Value};
use warpmem::machine::load;
use warpmem::record::{RunKey, run_row_json};

/// The metrics of a run, by name.
type Row = Map<String, Value>;

const FIFO: &str = "policy.llc_queue=fifo";
const CALRS: &str = "policy.llc_queue=calrs";
const BY_TEXT: &str = "policy.llc_queue=calrs(emptied=highest)";
const IDEAL: &str = "policy.llc_queue=calrs-ideal";
const NONE: &str = "policy.llc_queue=none";

/// Classes of Critical Fields as the tables name them.
const CLASSES: [&str; 5] = ["1", "2", "3_4", "5_8", "9_32"];

fn main() {
    let bench = Bench { workloads: workloads() };
    let [fifo, calrs, by_text, ideal, none] =
        [FIFO, CALRS, BY_TEXT, IDEAL, NONE].map(|queue| bench.replay(&[queue]));
    bench.pressure(&fifo);
    bench.performance([&fifo, &calrs, &by_text, &ideal, &none]);
    bench.queue_length(&fifo, &calrs);
    bench.latency_by_class(&fifo, &calrs);
    bench.warp_schedulers();
    bench.rotation(&calrs, &by_text);
}

/// A column of a table: a value of each workload, and how it is written.
struct Column {
    name: String,
    values: Vec<Option<f64>>,
    form: fn(f64) -> String,
}

fn plain(value: f64) -> String {
    format!("{value:.2}")
}

fn share(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// A ratio as a change.
fn change(value: f64) -> String {
    format!("{:+.1} %", 100.0 * (value - 1.0))
}

fn metric(name: &str, rows: &[Row], metric: &str, form: fn(f64) -> String) -> Column {
    let values = rows.iter().map(|row| row[metric].as_f64()).collect();
    Column { name: name.to_owned(), values, form }
}

/// A metric over the same of `base`; nothing where either has none or that of `base` is 0.
fn ratio(name: &str, own: &[Row], base: &[Row], metric: &str, form: fn(f64) -> String) -> Column {
    let value = |(own, base): (&Row, &Row)| {
        let base = base[metric].as_f64().filter(|&base| base > 0.0)?;
        Some(own[metric].as_f64()? / base)
    };
    Column { name: name.to_owned(), values: own.iter().zip(base).map(value).collect(), form }
}

fn mean(values: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

struct Bench {
    workloads: Vec<Workload>,
}

impl Bench {
    /// The metrics of each workload on `calrs2015` with these overrides.
    fn replay(&self, overrides: &[&str]) -> Vec<Row> {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let machine = load("calrs2015", &overrides).expect("a machine");
        let results = replay(std::slice::from_ref(&machine), &self.workloads).remove(0);
        let runs = self.workloads.iter().zip(&results);
        let key = |name: &str| RunKey::new(name, 0, machine.clone(), "", None);
        runs.map(|(workload, result)| run_row_json(&key(&workload.name), result)).collect()
    }

    /// A table with a line for each workload, and one for the mean of those that have a value.
    fn print(&self, columns: &[Column]) {
        let cells = |cell: &dyn Fn(&Column) -> String| -> String {
            columns.iter().map(|column| format!(" {:>12}", cell(column))).collect()
        };
        let line = |name: &str, of: &dyn Fn(&Column) -> Option<f64>| {
            let cell = |column: &Column| of(column).map_or("-".to_owned(), column.form);
            println!("{name:<14}{}", cells(&cell));
        };
        println!("\n{:<14}{}", "trace", cells(&|column| column.name.clone()));
        for (at, workload) in self.workloads.iter().enumerate() {
            line(&workload.name, &|column| column.values[at]);
        }
        line("mean", &|column| mean(&column.values));
    }

    fn pressure(&self, fifo: &[Row]) {
        println!(
            "Figures 2, 3 and 6: pressure on the queues, and requests by Critical Field, under fifo"
        );
        println!("published: waiting ratio 0.596 (0.267 to 0.959)");
        println!("published: length 40.6 (3.66 to 85.6) with 100 places, as here");
        println!("published: 45.2, 14.2, 10.5, 18.6 and 11.4 % of the requests");
        let short = self.replay(&[FIFO, "llc.queue=100"]);
        let mut columns = vec![
            metric("waiting", fifo, "waiting_ratio", plain),
            metric("length", &short, "queue_length_mean", plain),
        ];
        columns.extend(CLASSES.map(|class| {
            let name = format!("field {}", class.replace('_', "-"));
            metric(&name, fifo, &format!("critical_field_{class}"), share)
        }));
        self.print(&columns);
    }

    fn performance(&self, [fifo, calrs, by_text, ideal, none]: [&[Row]; 5]) {
        println!("\nFigures 7 and 12: IPC");
        println!(
            "published: calrs +9.0 % over fifo, +101.4 % over none, and 93.4 % of calrs-ideal"
        );
        let ipc = |name, own, base, form| ratio(name, own, base, "ipc_thread", form);
        self.print(&[
            metric("fifo", fifo, "ipc_thread", plain),
            ipc("calrs", calrs, fifo, change),
            ipc("by the text", by_text, fifo, change),
            ipc("ideal", ideal, fifo, change),
            ipc("none", none, fifo, change),
            ipc("calrs:none", calrs, none, change),
            ipc("calrs:ideal", calrs, ideal, share),
        ]);
    }

    fn queue_length(&self, fifo: &[Row], calrs: &[Row]) {
        println!("\nFigure 8: queue length, and time of reads in the queue in core cycles");
        println!("published: longer for every workload; time +2.29 cycles, +5.65 %");
        self.print(&[
            metric("length fifo", fifo, "queue_length_mean", plain),
            metric("length calrs", calrs, "queue_length_mean", plain),
            ratio("change", calrs, fifo, "queue_length_mean", change),
            metric("time fifo", fifo, "latency_llc_queue", plain),
            metric("time calrs", calrs, "latency_llc_queue", plain),
            ratio("change", calrs, fifo, "latency_llc_queue", change),
        ]);
    }

    fn latency_by_class(&self, fifo: &[Row], calrs: &[Row]) {
        println!(
            "\nFigure 9: queue latency under calrs over that under fifo, by priority class; and all of"
        );
        println!("the latency of reads");
        println!("published: 80.8, 105.1, 104.2, 95.6 and 106.3 %");
        let class = |class| {
            let latency = format!("queue_latency_class_{class}");
            ratio(&format!("class {class}"), calrs, fifo, &latency, share)
        };
        let all = ratio("reads", calrs, fifo, "latency_mean", share);
        self.print(&(0..CLASSES.len()).map(class).chain([all]).collect::<Vec<_>>());
    }

    fn warp_schedulers(&self) {
        println!("\nFigure 10: calrs over fifo by warp scheduler: schedulable warps and IPC");
        println!(
            "published: two-level +15.2 and +5.9 %, lrr +17.5 and +9.8 %, gto +17.7 and +10.6 %"
        );
        let mut columns = Vec::new();
        for scheduler in ["two-level", "lrr", "gto"] {
            let policy = format!("policy.warp_scheduler={scheduler}");
            let [fifo, calrs] = [FIFO, CALRS].map(|queue| self.replay(&[queue, &policy]));
            columns.push(ratio(scheduler, &calrs, &fifo, "schedulable_warps", change));
            columns.push(ratio("IPC", &calrs, &fifo, "ipc_thread", change));
        }
        self.print(&columns);
    }

    fn rotation(&self, calrs: &[Row], by_text: &[Row]) {
        println!("\nFigure 11: LLC cycles with requests in the queue between rotations");
        println!("published: 12.8");
        self.print(&[
            metric("calrs", calrs, "rotation_interval", plain),
            metric("by the text", by_text, "rotation_interval", plain),
        ]);
    }
}
