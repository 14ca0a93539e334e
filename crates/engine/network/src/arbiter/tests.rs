//! Properties of every rule, and a bench to test them on.

use super::{ARBITERS, Arbiter, ArbiterContext, Contest, Inputs, Output, PacketView};
use crate::Direction;
use warpmem_sim::{NetworkCycle, RowId, bits};

/// Outputs of each router of the bench.
pub const OUTPUTS: usize = 4;
const ROUTERS: usize = 2;
const BANKS: usize = 8;

/// A rule over the outputs of two routers; each input has a packet, at first to row 0 of bank 0.
pub struct Bench {
    rule: Box<dyn Arbiter>,
    packets: Vec<PacketView>,
}

impl Bench {
    pub fn new(rule: &str) -> Bench {
        Bench::of(rule, Direction::Request)
    }

    fn of(rule: &str, direction: Direction) -> Bench {
        let outputs = ROUTERS * OUTPUTS;
        let context = ArbiterContext { direction, routers: ROUTERS, outputs, banks: BANKS };
        let rule = ARBITERS.build(rule, &context).unwrap();
        Bench {
            rule,
            packets: vec![PacketView { since: NetworkCycle::ZERO, bank: 0, row: RowId(0) }; 256],
        }
    }

    /// Returns the packet with which an input requests outputs.
    pub fn wants(&mut self, input: usize) -> &mut PacketView {
        &mut self.packets[input]
    }

    /// Returns the input that the rule assigns an output that became free in this cycle.
    pub fn designate(&mut self, output: usize, inputs: &[usize]) -> Option<usize> {
        self.contest(output, inputs, true)
    }

    /// Returns the input that the rule assigns an output that became free earlier.
    pub fn designate_late(&mut self, output: usize, inputs: &[usize]) -> Option<usize> {
        self.contest(output, inputs, false)
    }

    fn contest(&mut self, output: usize, inputs: &[usize], fresh: bool) -> Option<usize> {
        let mut wanting: Inputs = [0; 4];
        inputs.iter().for_each(|input| bits::insert(&mut wanting, *input));
        let packets = &self.packets;
        let chosen = self.rule.designate(&Contest {
            output: place(output),
            wanting: &wanting,
            fresh,
            packet: &|input| {
                assert!(
                    inputs.contains(&input),
                    "a rule reads only packets of inputs that request the output"
                );
                packets[input]
            },
        });
        assert!(chosen.is_none_or(|input| bits::contains(&wanting, input)));
        chosen
    }

    pub fn grant(&mut self, output: usize, input: usize) {
        self.rule.granted(place(output), input, self.packets[input]);
    }
}

/// Returns the output with this number over all routers.
fn place(output: usize) -> Output {
    Output { router: output / OUTPUTS, index: output }
}

/// Returns the decisions of a rule in a long series of contests.
pub fn draws(rule: &str, direction: Direction) -> Vec<Option<usize>> {
    let mut bench = Bench::of(rule, direction);
    let mut draw = |n: usize| {
        let inputs: Vec<usize> = (0..2 + n % 5).map(|input| (input * 37 + n / 12) % 256).collect();
        for (age, &input) in inputs.iter().enumerate() {
            let since = NetworkCycle::new((n * 7 + age * 3) as u64 % 11);
            *bench.wants(input) =
                PacketView { since, bank: n as u32 % 2, row: RowId(n as u32 / 9) };
        }
        let output = n / 3 % (ROUTERS * OUTPUTS);
        let chosen = bench.contest(output, &inputs, !n.is_multiple_of(4));
        bench.grant(output, chosen.unwrap_or(inputs[0]));
        chosen
    };
    (0..1000).map(&mut draw).collect()
}

#[test]
fn every_rule_chooses_a_requesting_input_deterministically() {
    for rule in ARBITERS.names() {
        for direction in [Direction::Request, Direction::Reply] {
            assert_eq!(draws(rule, direction), draws(rule, direction), "{rule}");
        }
    }
}

#[test]
fn rules_that_hold_grants_do_not_decide_over_replies() {
    for rule in ["hold-grant", "row-matching-hold-grant", "hash-matching-hold-grant"] {
        assert!(draws(rule, Direction::Request).iter().any(Option::is_some), "{rule}");
        assert!(draws(rule, Direction::Reply).iter().all(Option::is_none), "{rule}");
    }
}

#[test]
fn round_robin_never_decides() {
    assert!(draws("round-robin", Direction::Request).iter().all(Option::is_none));
}

#[test]
fn a_hash_has_1_to_32_bits() {
    let context = ArbiterContext { direction: Direction::Reply, routers: 1, outputs: 1, banks: 1 };
    let build = |bits| ARBITERS.build(&format!("hash-matching-hold-grant(bits={bits})"), &context);
    assert!([1, 32].into_iter().all(|bits| build(bits).is_ok()));
    for bits in [0, 33] {
        let error = build(bits).map(drop).unwrap_err().to_string();
        assert!(error.contains("arbiter") && error.contains("1 to 32"), "{error}");
    }
}
