//! Destinations of packets: the traffic patterns of Dally and Towles (2004), section 3.2, and those
//! of a GPU's memory system.

use super::StandaloneError;
use super::source::Chance;
use warpmem_network::Direction;
use warpmem_params::{Entry, PolicyInfo, Registry, params};
use warpmem_support::random::Random;

/// A pattern by name, before the number of terminals is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Uniform,
    Transpose,
    BitComplement,
    Tornado,
    Neighbor,
    Hotspot(Hotspot),
    ManyToFew,
    FewToMany,
}

params! {
    /// Parameters of `hotspot`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Hotspot {
        /// fraction of the packets that go to a hot node
        fraction: f64 = 0.1, in 0.0..=1.0;
        /// number of hot nodes, evenly spread; at most all
        nodes: u64 = 1, in 1.., unit "nodes";
    }
}

const TEXTBOOK: &str = "Dally and Towles 2004, section 3.2";

const fn info(name: &'static str, summary: &'static str, source: &'static str) -> PolicyInfo {
    PolicyInfo { name, summary, source, params: Vec::new }
}

const HOTSPOT: PolicyInfo = PolicyInfo {
    params: Hotspot::params,
    ..info(
        "hotspot",
        "any node, but a fraction of the packets goes to a few hot nodes",
        "Pfister and Norton 1985",
    )
};

macro_rules! plain {
    ($kind:ident, $name:literal, $summary:literal, $source:expr) => {
        Entry { info: info($name, $summary, $source), build: |(), _| Ok(Box::new(Kind::$kind)) }
    };
}

/// All patterns.
pub static PATTERNS: Registry<Kind, ()> = Registry::new(
    "pattern",
    &[
        plain!(Uniform, "uniform", "any node including itself, all equally likely", TEXTBOOK),
        plain!(Transpose, "transpose", "from column x and row y to column y and row x", TEXTBOOK),
        plain!(BitComplement, "bit-complement", "from n to all nodes - 1 - n", TEXTBOOK),
        plain!(Tornado, "tornado", "from n to just less than half-way around the nodes", TEXTBOOK),
        plain!(Neighbor, "neighbor", "from n to n + 1", TEXTBOOK),
        Entry {
            info: HOTSPOT,
            build: |(), params| {
                let given: Hotspot = params.read();
                Ok(Box::new(Kind::Hotspot(given)))
            },
        },
        plain!(
            ManyToFew,
            "many-to-few",
            "requests: from every SM of the machine to any of its L2 slices",
            "Bakhoda, Kim, Aamodt 2010"
        ),
        plain!(
            FewToMany,
            "few-to-many",
            "replies: from every L2 slice of the machine to any of its SMs",
            "Bakhoda, Kim, Aamodt 2010"
        ),
    ],
);

/// The terminals that a pattern is applied to.
#[derive(Clone, Copy, Debug)]
pub struct PatternContext {
    /// Number of nodes that all send and receive; [`PatternContext::NODES`] by default.
    pub nodes: Option<usize>,
    pub sms: usize,
    pub slices: usize,
}

impl PatternContext {
    pub const NODES: usize = 64;
    /// Most terminals of a network.
    const MOST: usize = 256;

    /// Returns the number of nodes, for patterns between nodes.
    fn nodes(&self) -> Result<usize, StandaloneError> {
        let nodes = self.nodes.unwrap_or(PatternContext::NODES);
        valid_nodes(nodes, (2..=PatternContext::MOST).contains(&nodes), "2 to 256")
    }

    /// Rejects a number of nodes for patterns that use the machine's terminals.
    fn no_nodes(&self) -> Result<(), StandaloneError> {
        let Some(nodes) = self.nodes else { return Ok(()) };
        valid_nodes(nodes, false, "none: the terminals are the machine's SMs and slices").map(drop)
    }
}

fn valid_nodes(nodes: usize, is_valid: bool, valid: &str) -> Result<usize, StandaloneError> {
    if is_valid { Ok(nodes) } else { Err(StandaloneError::option("nodes", &nodes, valid)) }
}

/// The destinations of every source.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Number of nodes that send and receive; none: the machine's SMs and slices.
    pub(super) nodes: Option<usize>,
    pub(super) direction: Direction,
    pub(super) sources: usize,
    pub(super) destinations: usize,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Any of the destinations.
    Any,
    /// One destination per source.
    One(Vec<usize>),
    /// One of these with the given probability, otherwise any destination.
    Some { hot: Vec<usize>, fraction: f64, chance: Chance },
}

impl Pattern {
    /// Builds the pattern that `text` names.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or the pattern does not fit the terminals.
    pub fn new(text: &str, context: &PatternContext) -> Result<Pattern, StandaloneError> {
        let between = |rule| {
            let nodes = context.nodes()?;
            Ok(Pattern {
                nodes: Some(nodes),
                direction: Direction::Request,
                sources: nodes,
                destinations: nodes,
                rule,
            })
        };
        let of_machine = |direction, sources, destinations| {
            context.no_nodes()?;
            Ok(Pattern { nodes: None, direction, sources, destinations, rule: Rule::Any })
        };
        let one = |to: &dyn Fn(usize, usize) -> usize| {
            let nodes = context.nodes()?;
            between(Rule::One((0..nodes).map(|node| to(node, nodes)).collect()))
        };
        match *PATTERNS.build(text, &())? {
            Kind::Uniform => between(Rule::Any),
            Kind::Transpose => {
                let nodes = context.nodes()?;
                let side = nodes.isqrt();
                valid_nodes(nodes, side * side == nodes, "a square number with `transpose`")?;
                one(&|node, _| node % side * side + node / side)
            }
            Kind::BitComplement => {
                let nodes = context.nodes()?;
                let valid = "a power of two with `bit-complement`";
                valid_nodes(nodes, nodes.is_power_of_two(), valid)?;
                one(&|node, nodes| nodes - 1 - node)
            }
            Kind::Tornado => one(&|node, nodes| (node + nodes.div_ceil(2) - 1) % nodes),
            Kind::Neighbor => one(&|node, nodes| (node + 1) % nodes),
            Kind::Hotspot(Hotspot { fraction, nodes: hot }) => {
                let nodes = context.nodes()?;
                let hot = usize::try_from(hot).unwrap_or(usize::MAX);
                valid_nodes(
                    nodes,
                    hot <= nodes,
                    &format!("at least {hot}, the number of hot nodes"),
                )?;
                let hot = (0..hot).map(|n| (2 * n + 1) * nodes / (2 * hot)).collect();
                between(Rule::Some { hot, fraction, chance: Chance::new(fraction) })
            }
            Kind::ManyToFew => of_machine(Direction::Request, context.sms, context.slices),
            Kind::FewToMany => of_machine(Direction::Reply, context.slices, context.sms),
        }
    }

    /// Returns the destination of a packet of `source`.
    pub(super) fn destination(&self, source: usize, random: &mut Random) -> usize {
        match &self.rule {
            Rule::One(to) => to[source],
            Rule::Some { hot, chance, .. } if chance.falls(random) => {
                hot[random.below(hot.len() as u64) as usize]
            }
            Rule::Any | Rule::Some { .. } => random.below(self.destinations as u64) as usize,
        }
    }

    /// Returns the fraction of the packets of `source` that go to `destination`.
    pub(super) fn share(&self, source: usize, destination: usize) -> f64 {
        let any = 1.0 / self.destinations as f64;
        match &self.rule {
            Rule::Any => any,
            Rule::One(to) => f64::from(u8::from(to[source] == destination)),
            Rule::Some { hot, fraction, .. } => {
                let is_hot = f64::from(u8::from(hot.contains(&destination)));
                is_hot * fraction / hot.len() as f64 + (1.0 - fraction) * any
            }
        }
    }

    /// Returns the load at which the most frequent destination receives a flit in every cycle, or
    /// each source sends one: no network accepts more.
    pub fn capacity(&self) -> f64 {
        let taken = |to| (0..self.sources).map(|from| self.share(from, to)).sum::<f64>();
        let most = (0..self.destinations).map(taken).fold(1.0, f64::max);
        1.0 / most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: PatternContext = PatternContext { nodes: Some(16), sms: 6, slices: 2 };

    fn pattern(text: &str) -> Pattern {
        let nodes = CONTEXT.nodes.filter(|_| !text.contains("few"));
        Pattern::new(text, &PatternContext { nodes, ..CONTEXT }).unwrap()
    }

    fn destinations(text: &str) -> Vec<usize> {
        let pattern = pattern(text);
        (0..16).map(|source| pattern.destination(source, &mut Random::new(1))).collect()
    }

    #[test]
    fn permutations_send_each_source_to_one_node() {
        let transposed = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        assert_eq!(destinations("transpose"), transposed);
        assert_eq!(destinations("bit-complement"), (0..16).rev().collect::<Vec<_>>());
        let shifted = |by: usize| (0..16).map(|node| (node + by) % 16).collect::<Vec<_>>();
        assert_eq!(destinations("neighbor"), shifted(1));
        assert_eq!(destinations("tornado"), shifted(7));
    }

    #[test]
    fn terminals_are_nodes_or_units_of_the_machine() {
        for (text, ends) in
            [("uniform", (16, 16)), ("many-to-few", (6, 2)), ("few-to-many", (2, 6))]
        {
            let pattern = pattern(text);
            assert_eq!((pattern.sources, pattern.destinations), ends, "{text}");
        }
        let unsaid = Pattern::new("uniform", &PatternContext { nodes: None, ..CONTEXT }).unwrap();
        assert_eq!(unsaid.sources, PatternContext::NODES);
    }

    /// Every pattern; 4 standard deviations of a binomial variable.
    #[test]
    fn destinations_follow_their_shares() {
        const DRAWS: usize = 20_000;
        let names = PATTERNS.names().map(str::to_owned);
        for text in names.chain(["hotspot(fraction=0.5,nodes=3)".to_owned()]) {
            let pattern = pattern(&text);
            let mut random = Random::new(5);
            let source = pattern.sources - 1;
            let mut counts = vec![0u32; pattern.destinations];
            (0..DRAWS).for_each(|_| counts[pattern.destination(source, &mut random)] += 1);
            for (destination, &count) in counts.iter().enumerate() {
                let share = pattern.share(source, destination);
                let error = (f64::from(count) - share * DRAWS as f64).abs();
                let deviation = (DRAWS as f64 * share * (1.0 - share)).sqrt();
                assert!(error <= 4.0 * deviation, "{text}: {count} to {destination}, not {share}");
            }
            let all: f64 = (0..pattern.destinations).map(|to| pattern.share(source, to)).sum();
            assert!((all - 1.0).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn hot_nodes_are_spread() {
        let hot = |text| {
            let pattern = pattern(text);
            (0..16).filter(|&to| pattern.share(0, to) > 0.07).collect::<Vec<_>>()
        };
        assert_eq!(hot("hotspot"), [8]);
        assert_eq!(hot("hotspot(nodes=4,fraction=0.5)"), [2, 6, 10, 14]);
    }

    #[test]
    fn the_busiest_end_bounds_the_load() {
        let cases = [
            ("uniform", 1.0),
            ("tornado", 1.0),
            ("many-to-few", 2.0 / 6.0),
            ("few-to-many", 1.0),
            ("hotspot(fraction=1)", 1.0 / 16.0),
            ("hotspot(fraction=0.5,nodes=2)", 1.0 / (16.0 * 0.25 + 0.5)),
        ];
        for (text, capacity) in cases {
            assert!((pattern(text).capacity() - capacity).abs() < 1e-12, "{text}");
        }
    }

    #[test]
    fn mismatched_options_are_refused() {
        let refuses = |text, nodes, part: &str| {
            let error =
                Pattern::new(text, &PatternContext { nodes, ..CONTEXT }).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refuses("unifrm", None, "did you mean `uniform`?");
        refuses("uniform(x=1)", None, "unknown key `x`");
        refuses("uniform", Some(1), "`nodes` = 1 is not valid; valid: 2 to 256");
        refuses("uniform", Some(257), "2 to 256");
        refuses("transpose", Some(32), "a square number");
        refuses("bit-complement", Some(36), "a power of two");
        refuses("many-to-few", Some(16), "the machine's SMs and slices");
        refuses("hotspot(nodes=17)", Some(16), "at least 17, the number of hot nodes");
        refuses(
            "hotspot(nodes=0)",
            None,
            "`nodes` = 0 is not valid: expected a whole number from 1 to",
        );
        refuses("hotspot(fraction=1.5)", None, "is not valid: expected a number from 0 to 1");
        refuses("hotspot(fraction=nan)", None, "pattern `hotspot`");
    }
}
