//! `warpmem list --complexity`: hardware cost of the schedulers and arbiters of a machine.

use super::format::{TextFormat, json};
use super::machines::{MACHINE_HELP, MachineName};
use crate::dram::scheduler::SCHEDULERS;
use crate::gpu::complexity::{ComplexityError, of_arbiter, of_scheduler, shape_of};
use crate::machine::{DEFAULT_MACHINE, Machine, load};
use crate::network::arbiter::ARBITERS;
use crate::params::{Complexity, PolicyError, Shape};
use crate::slots::ChosenPolicies;
use clap::ValueHint;
use serde_json::{Map, Value};
use warpmem_support::text::aligned;

/// Machine whose costs are counted.
#[derive(clap::Args, Debug)]
pub struct Costed {
    /// Print the bits that each DRAM scheduler and each arbiter stores and compares on a machine,
    /// counted as in Yuan et al.
    #[arg(long, conflicts_with = "topic")]
    complexity: bool,
    #[arg(
        long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP,
        value_hint = ValueHint::FilePath, requires = "complexity"
    )]
    machine: MachineName,
    /// Override a machine parameter, as in `dram.read_queue=128`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "complexity")]
    overrides: Vec<String>,
    /// Topology instead of the machine's
    #[arg(long, value_name = "POLICY", requires = "complexity")]
    topology: Option<String>,
}

impl Costed {
    pub fn are_asked_for(&self) -> bool {
        self.complexity
    }

    pub fn to_text(&self, format: TextFormat) -> anyhow::Result<String> {
        let mut machine = load(&self.machine, &self.overrides)?;
        if let Some(topology) = &self.topology {
            machine.policy.topology.clone_from(topology);
        }
        ChosenPolicies::choose(&machine)?.check(&machine)?;
        let costs = Costs::of(&machine)?;
        Ok(match format {
            TextFormat::Table => costs.to_text(),
            TextFormat::Json => json(&costs.to_rows()),
        })
    }
}

/// Cost of a policy; none if it states no cost or does not fit the machine.
struct Cost {
    name: String,
    bits: Option<Complexity>,
}

struct Costs<'a> {
    machine: &'a Machine,
    shape: Shape,
    schedulers: Vec<Cost>,
    arbiters: Vec<Cost>,
    /// Combined cost of the machine's own scheduler and arbiter.
    own: Cost,
}

impl Costs<'_> {
    fn of(machine: &Machine) -> Result<Costs<'_>, ComplexityError> {
        let shape = shape_of(machine)?;
        let scheduler = |policy: &str| of_scheduler(policy, machine, &shape);
        let arbiter = |policy: &str| of_arbiter(policy, &shape);
        let policy = &machine.policy;
        let own = scheduler(&policy.dram_scheduler)?.zip(arbiter(&policy.arbiter)?);
        Ok(Costs {
            schedulers: each(SCHEDULERS.names(), scheduler),
            arbiters: each(ARBITERS.names(), arbiter),
            own: Cost {
                name: format!("{} + {}", policy.dram_scheduler, policy.arbiter),
                bits: own.map(|(scheduler, arbiter)| scheduler + arbiter),
            },
            machine,
            shape,
        })
    }

    /// Returns the kinds of costs, with their names in JSON and text.
    fn parts(&self) -> [(&'static str, &'static str, &[Cost]); 3] {
        [
            ("dram_scheduler", "DRAM schedulers", &self.schedulers),
            ("arbiter", "arbiters of the request network", &self.arbiters),
            ("machine", "the machine's own, together", std::slice::from_ref(&self.own)),
        ]
    }

    fn to_text(&self) -> String {
        let mut rows = vec![["", "bits stored", "bits compared"].map(str::to_owned).to_vec()];
        for (_, title, costs) in self.parts() {
            rows.push(vec![title.to_owned()]);
            rows.extend(costs.iter().map(Cost::to_row));
        }
        format!("{}\n{}", self.heading(), aligned(&rows, &[1, 2]))
    }

    fn heading(&self) -> String {
        let Shape { sms, controllers, queue, banks, row_bits, routers, .. } = self.shape;
        format!(
            "{}: {sms} SMs; {controllers} DRAM controllers, each with {queue} entries, {banks} banks, {} rows; {}: routers: {}, \
             each with {} pairs of an input and an output\n",
            self.machine.name,
            1u64 << row_bits,
            self.machine.policy.topology,
            routers.count,
            routers.crossings,
        )
    }

    fn to_rows(&self) -> Vec<Map<String, Value>> {
        let policy = &self.machine.policy;
        let row = |kind: &str, cost: &Cost| {
            let bits = |of: fn(Complexity) -> u64| Value::from(cost.bits.map(of));
            Map::from_iter([
                ("kind".to_owned(), kind.into()),
                ("name".to_owned(), cost.name.as_str().into()),
                ("machine".to_owned(), self.machine.name.as_str().into()),
                ("topology".to_owned(), policy.topology.as_str().into()),
                ("bits_stored".to_owned(), bits(|cost| cost.stored)),
                ("bits_compared".to_owned(), bits(|cost| cost.compared)),
            ])
        };
        let parts = self.parts();
        let rows =
            parts.iter().flat_map(|(kind, _, costs)| costs.iter().map(|cost| row(kind, cost)));
        rows.collect()
    }
}

/// Computes the costs of policies; policies that cannot be built on the machine have none.
fn each(
    names: impl Iterator<Item = &'static str>,
    cost: impl Fn(&str) -> Result<Option<Complexity>, PolicyError>,
) -> Vec<Cost> {
    names.map(|name| Cost { name: name.to_owned(), bits: cost(name).ok().flatten() }).collect()
}

impl Cost {
    fn to_row(&self) -> Vec<String> {
        let bits =
            |of: fn(Complexity) -> u64| self.bits.map_or("-".to_owned(), |c| of(c).to_string());
        vec![format!("  {}", self.name), bits(|cost| cost.stored), bits(|cost| cost.compared)]
    }
}
