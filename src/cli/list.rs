//! `warpmem list`: lists all machines, standards, generators and policies.

use super::complexity;
use super::format::{self, TextFormat};
use super::output::print;
use crate::dram::page::PAGE_POLICIES;
use crate::dram::standard::{Organisation, Speed, Standard};
use crate::machine::{Timing, load, preset_names};
use crate::network::allocator::ALLOCATORS;
use crate::params::{PolicyInfo, nearest};
use crate::slots::{PolicySlot, SLOTS};
use crate::workload::{Generator, generators};
use serde::Serialize;
use serde_json::{Map, Value};
use warpmem_support::text::{aligned, counted};

/// List machines, DRAM standards, generators and the policies of each slot
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// `machines`, `dram-standards`, `generators`, `page-policies`, `allocators`, or a slot, such
    /// as `dram-scheduler`; everything by default
    #[arg(value_name = "WHAT", value_parser = Topic::parse)]
    topic: Option<Topic>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
    #[command(flatten)]
    costs: complexity::Costed,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem list
  warpmem list dram-schedulers
  warpmem list machines --format json
  warpmem list --complexity --machine v100 --topology mesh";

/// Machines, standards, generators, or the policies of a slot.
#[derive(Clone, Debug)]
struct Topic {
    /// Name on the command line.
    name: String,
    /// Kind in JSON.
    kind: String,
    summary: String,
    items: Vec<Item>,
}

/// A named item.
#[derive(Clone, Debug, Serialize)]
struct Item {
    name: String,
    summary: String,
    source: String,
    parameters: Vec<Parameter>,
    /// Organisations and speeds of a DRAM standard.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    presets: Vec<Preset>,
}

#[derive(Clone, Debug, Serialize)]
struct Preset {
    kind: &'static str,
    name: String,
    summary: String,
    source: String,
}

#[derive(Clone, Debug, Serialize)]
struct Parameter {
    name: String,
    default: String,
    unit: String,
    range: String,
    summary: String,
}

impl Topic {
    fn all() -> Vec<Topic> {
        let slots = SLOTS.iter().map(Topic::slot);
        let first = [Topic::machines(), Topic::standards(), Topic::generators()];
        first.into_iter().chain(slots).chain([Topic::pages(), Topic::allocators()]).collect()
    }

    /// Parses a topic, in the singular or plural, with dashes or underscores.
    fn parse(text: &str) -> Result<Topic, String> {
        let name = text.replace('_', "-");
        let mut topics = Topic::all();
        let found = topics.iter().position(|t| name == t.name || name == plural(&t.name));
        if let Some(at) = found {
            return Ok(topics.swap_remove(at));
        }
        let names = || topics.iter().map(|topic| topic.name.as_str());
        let meant = nearest(&name, names());
        let meant = meant.map_or(String::new(), |name| format!("did you mean `{name}`? "));
        Err(format!("{meant}valid: {}", names().collect::<Vec<_>>().join(", ")))
    }

    fn machines() -> Topic {
        Topic {
            name: "machine".to_owned(),
            kind: "machine".to_owned(),
            summary: "machines to simulate; or name a TOML file".to_owned(),
            items: preset_names().map(machine).collect(),
        }
    }

    fn generators() -> Topic {
        Topic {
            name: "generator".to_owned(),
            kind: "generator".to_owned(),
            summary: "kernels from which `warpmem generate` makes traces".to_owned(),
            items: generators().iter().map(generator).collect(),
        }
    }

    fn standards() -> Topic {
        Topic {
            name: "dram-standard".to_owned(),
            kind: "dram_standard".to_owned(),
            summary: "constraints on DRAM commands, and known parts: \
                      `--set dram.standard=NAME[:ORGANISATION[:SPEED]]`; NAME may be a TOML file"
                .to_owned(),
            items: Standard::names().map(standard).collect(),
        }
    }

    fn pages() -> Topic {
        Topic {
            name: "page-policy".to_owned(),
            kind: "page_policy".to_owned(),
            summary: "when a DRAM row is closed: the machine's `dram.page`".to_owned(),
            items: PAGE_POLICIES.infos().map(policy).collect(),
        }
    }

    fn allocators() -> Topic {
        Topic {
            name: "allocator".to_owned(),
            kind: "allocator".to_owned(),
            summary: "how routers match inputs and outputs: the machine's `network.allocator`"
                .to_owned(),
            items: ALLOCATORS.infos().map(policy).collect(),
        }
    }

    fn slot(slot: &'static PolicySlot) -> Topic {
        Topic {
            name: slot.option(),
            kind: slot.name.to_owned(),
            summary: slot.decides.to_owned(),
            items: slot.infos().into_iter().map(policy).collect(),
        }
    }

    fn to_text(&self) -> String {
        let blocks: String = self.items.iter().map(Item::to_text).collect();
        format!("{}: {}\n{blocks}", self.name, self.summary)
    }

    fn to_rows(&self) -> impl Iterator<Item = Map<String, Value>> {
        self.items.iter().map(|item| {
            let mut row = Map::from_iter([("kind".to_owned(), self.kind.as_str().into())]);
            if let Ok(Value::Object(fields)) = serde_json::to_value(item) {
                row.extend(fields);
            }
            row
        })
    }
}

fn plural(name: &str) -> String {
    match name.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{name}s"),
    }
}

impl Item {
    fn to_text(&self) -> String {
        let parameters = self.parameters.iter().map(Parameter::to_row);
        let rows: Vec<Vec<String>> =
            parameters.chain(self.presets.iter().map(Preset::to_row)).collect();
        let source =
            if self.source.is_empty() { String::new() } else { format!(" [{}]", self.source) };
        format!("  {}: {}{source}\n{}", self.name, self.summary, aligned(&rows, &[]))
    }
}

impl Preset {
    fn to_row(&self) -> Vec<String> {
        vec![format!("      {}", self.kind), self.name.clone(), self.summary.clone()]
    }
}

impl Parameter {
    fn to_row(&self) -> Vec<String> {
        let unit = if self.unit == "-" { String::new() } else { format!(" {}", self.unit) };
        vec![
            format!("      {}", self.name),
            self.default.clone(),
            format!("{}{unit}", self.range),
            self.summary.clone(),
        ]
    }
}

fn machine(name: &'static str) -> Item {
    let machine = load(name, &[]).expect("presets are valid");
    Item {
        name: name.to_owned(),
        summary: machine.description,
        source: String::new(),
        parameters: Vec::new(),
        presets: Vec::new(),
    }
}

fn standard(name: &'static str) -> Item {
    let standard = Standard::load(name).expect("built-in standards are valid");
    let speeds = standard.speeds().iter().map(|(name, one)| speed(name, one));
    Item {
        name: name.to_owned(),
        summary: standard.summary().to_owned(),
        source: standard.source().to_owned(),
        parameters: Vec::new(),
        presets: standard.organisations().iter().map(organisation).chain(speeds).collect(),
    }
}

fn organisation((name, one): (&String, &Organisation)) -> Preset {
    let parts = [
        (one.pseudo_channels > 1).then(|| format!("{} pseudo channels", one.pseudo_channels)),
        (one.stacks > 1).then(|| format!("{} stacks", one.stacks)),
        Some(counted(one.banks as usize, "bank")),
        (one.bank_groups > 1).then(|| format!("{} bank groups", one.bank_groups)),
        Some(format!("{} rows of {} bytes", one.rows, one.row_bytes)),
        Some(format!("{} bit x {}", 8 * one.bus_bytes, one.burst_length)),
    ];
    Preset {
        kind: "organisation",
        name: name.clone(),
        summary: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        source: one.source.clone(),
    }
}

fn speed(name: &str, one: &Speed) -> Preset {
    let nanoseconds = |cycles: u32| f64::from(cycles * one.tck_ps) / 1000.0;
    let Timing { tcl, trcd, trp, .. } = one.timing;
    let times = [tcl, trcd, trp].map(|cycles| format!("{:.1}", nanoseconds(cycles))).join("-");
    Preset {
        kind: "speed",
        name: name.to_owned(),
        summary: format!("clock of {:.0} MHz, CL-tRCD-tRP {times} ns", 1e6 / f64::from(one.tck_ps)),
        source: one.source.clone(),
    }
}

fn policy(info: &'static PolicyInfo) -> Item {
    let parameters = info.params().into_iter().map(|parameter| Parameter {
        name: parameter.name.to_owned(),
        default: parameter.default(),
        unit: parameter.unit.to_owned(),
        range: parameter.range(),
        summary: parameter.summary.to_owned(),
    });
    Item {
        name: info.name.to_owned(),
        summary: info.summary.to_owned(),
        source: info.source.to_owned(),
        parameters: parameters.collect(),
        presets: Vec::new(),
    }
}

fn generator(generator: &Generator) -> Item {
    let parameters = generator.parameters().map(|parameter| Parameter {
        name: parameter.name().to_owned(),
        default: parameter.default(),
        unit: parameter.unit().to_owned(),
        range: parameter.range(),
        summary: parameter.description(),
    });
    Item {
        name: generator.name.to_owned(),
        summary: generator.summary.to_owned(),
        source: generator.source.to_owned(),
        parameters: parameters.collect(),
        presets: Vec::new(),
    }
}

/// Lists the generators, one per line.
pub fn generators_as_text() -> String {
    let generators = Topic::generators().items.into_iter();
    let names =
        aligned(&generators.map(|one| vec![one.name, one.summary]).collect::<Vec<_>>(), &[]);
    format!(
        "{names}\n`warpmem list generators` has their parameters, `warpmem generate NAME --help` those of one.\n"
    )
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    if args.costs.are_asked_for() {
        return print(&args.costs.to_text(args.format)?);
    }
    let topics = args.topic.clone().map_or_else(Topic::all, |topic| vec![topic]);
    print(&match args.format {
        TextFormat::Table => topics.iter().map(Topic::to_text).collect::<Vec<_>>().join("\n"),
        TextFormat::Json => {
            format::json(&topics.iter().flat_map(Topic::to_rows).collect::<Vec<_>>())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_columns_below_their_policy() {
        let parameter = |name: &str, unit: &str| Parameter {
            name: name.to_owned(),
            default: "2".to_owned(),
            unit: unit.to_owned(),
            range: "from 1".to_owned(),
            summary: "how many".to_owned(),
        };
        let item = |name: &str, source: &str, parameters| Item {
            name: name.to_owned(),
            summary: "a rule".to_owned(),
            source: source.to_owned(),
            parameters,
            presets: Vec::new(),
        };
        let parameters = vec![parameter("n", "cycles"), parameter("longer", "-")];
        let topic = Topic {
            name: "page-policy".to_owned(),
            kind: "page_policy".to_owned(),
            summary: "when rows are closed".to_owned(),
            items: vec![item("open", "", Vec::new()), item("timeout", "a paper", parameters)],
        };
        let lines = [
            "page-policy: when rows are closed",
            "  open: a rule",
            "  timeout: a rule [a paper]",
            "      n       2  from 1 cycles  how many",
            "      longer  2  from 1         how many",
            "",
        ];
        assert_eq!(topic.to_text(), lines.join("\n"));
    }
}
