//! A butterfly (k-ary n-fly): stages of switches, with one path for each pair of terminals.

use super::router::layout::{End, Layout, Route};
use super::{TopologyEntry, router};
use warpmem_params::{PolicyInfo, params};

const INFO: PolicyInfo = PolicyInfo {
    name: "butterfly",
    summary: "stages of switches; in each, a digit of the destination selects the output (k-ary n-fly)",
    source: "Dally and Towles 2004, chapter 4",
    params: Parameters::params,
};

pub(super) const ENTRY: TopologyEntry = TopologyEntry {
    info: INFO,
    build: |context, params| {
        let Parameters { radix } = params.read();
        router::build(&layout(context.inputs.len(), context.outputs.len(), radix), context, &INFO)
    },
};

params! {
    struct Parameters {
        /// inputs and outputs of a switch (k); the number of stages is the least that reaches all
        /// nodes
        radix: usize = 4, in 2..=256, unit "ports";
    }
}

/// Builds a butterfly in which source i enters at terminal i, and destination d leaves at terminal
/// d.
pub(super) fn layout(sources: usize, destinations: usize, radix: usize) -> Layout {
    let stages = stages(sources.max(destinations), radix);
    let switches = radix.pow(stages as u32 - 1);
    let place = |stage: usize, line: usize| (stage * switches + line / radix, line % radix);
    // Stage s replaces the last digit of a line's number by the digit of the destination of this
    // weight. On the way to the next stage the last digit and the digit of this weight are
    // exchanged.
    let weight = |stage: usize| radix.pow((stages - 1 - stage) as u32);
    let end = |stage: usize, line: usize| {
        if stage + 1 == stages {
            return (line < destinations).then_some(End::Node(line));
        }
        let (router, input) = place(stage + 1, exchanged(line, weight(stage), radix));
        Some(End::Router { router, input })
    };
    let outputs = |router: usize| {
        let (stage, switch) = (router / switches, router % switches);
        (0..radix).filter_map(|output| end(stage, switch * radix + output)).collect()
    };
    let routes = |router: usize| {
        let weight = weight(router / switches);
        let digit = |destination: usize| (destination / weight % radix) as u16;
        (0..destinations).map(|d| Route { output: digit(d), class: 0 }).collect()
    };
    Layout {
        outputs: (0..stages * switches).map(outputs).collect(),
        sources: (0..sources).map(|source| place(0, source)).collect(),
        destinations,
        routes: (0..stages * switches).map(routes).collect(),
        classes: 1,
    }
}

/// Returns the least number of stages, at least one, that joins `terminals` terminals.
fn stages(terminals: usize, radix: usize) -> usize {
    (1..).find(|&stages| radix.pow(stages) >= terminals).expect("powers grow") as usize
}

/// Exchanges the digit of the given weight and the last digit of `number`.
fn exchanged(number: usize, weight: usize, radix: usize) -> usize {
    let (digit, last) = (number / weight % radix, number % radix);
    number - digit * weight - last + last * weight + digit
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn stages_are_the_least_that_join_all_terminals() {
        let cases = [
            (1, 4, 1),
            (4, 4, 1),
            (5, 4, 2),
            (16, 4, 2),
            (17, 4, 3),
            (28, 4, 3),
            (8, 2, 3),
            (9, 2, 4),
        ];
        for (terminals, radix, expected) in cases {
            assert_eq!(
                stages(terminals, radix),
                expected,
                "{terminals} terminals of radix {radix}"
            );
            let fly = layout(terminals, 1, radix);
            assert_eq!(fly.outputs.len(), expected * radix.pow(expected as u32 - 1));
        }
    }

    /// [`Layout::path`] checks that a packet ends at its destination.
    #[test]
    fn every_source_reaches_every_destination_in_one_hop_per_stage() {
        for (sources, destinations, radix) in
            [(8, 8, 2), (16, 16, 4), (28, 8, 4), (8, 28, 4), (3, 27, 3), (9, 2, 2)]
        {
            let fly = layout(sources, destinations, radix);
            let stages = stages(sources.max(destinations), radix);
            for (a, b) in (0..sources).flat_map(|a| (0..destinations).map(move |b| (a, b))) {
                let switches = fly.outputs.len() / stages;
                let passed: Vec<usize> =
                    fly.path(a, b).iter().map(|router| router / switches).collect();
                assert_eq!(passed, (0..stages).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn no_two_links_end_in_one_port() {
        let fly = layout(27, 27, 3);
        let links: Vec<(usize, usize)> = (fly.outputs.iter().flatten())
            .filter_map(|end| match *end {
                End::Router { router, input } => Some((router, input)),
                End::Node(_) => None,
            })
            .chain(fly.sources.iter().copied())
            .collect();
        assert_eq!(links.len(), 3 * 27);
        assert_eq!(links.iter().collect::<BTreeSet<_>>().len(), links.len());
        assert_eq!(fly.inputs(), [3; 27]);
    }

    /// The lines that packets follow, for example from terminal 1 to 5, worked out by hand.
    #[test]
    fn stages_are_connected_by_a_digit_exchange() {
        let fly = layout(8, 8, 2);
        assert_eq!(fly.path(0, 1), [0, 4, 8]);
        assert_eq!(fly.path(4, 0), [2, 4, 8]);
        assert_eq!(fly.path(1, 5), [0, 6, 10]);
        assert_eq!(fly.path(7, 2), [3, 5, 9]);
    }
}
