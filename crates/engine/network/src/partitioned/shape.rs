//! The partition of each node, and the outputs of its switch.

use crate::Direction;
use crate::ids::{EntranceId, ExitId};
use warpmem_sim::{Table, ids};

ids! {
    /// A link between two partitions, numbered over all pairs, first those that leave partition 0.
    pub(super) LinkId(u16);
}

/// A partition: its nodes, and its incoming and outgoing links.
pub(super) struct Partition {
    /// Sending nodes of its first inputs, in order.
    pub senders: Vec<EntranceId>,
    /// Receiving nodes of its first outputs, in order.
    pub receivers: Vec<ExitId>,
    /// Links whose ends are its further inputs.
    pub incoming: Vec<LinkId>,
    /// First of the links that its further outputs begin.
    pub outgoing: LinkId,
    /// Output on the path to each receiving node.
    pub routes: Table<ExitId, ExitId>,
}

/// The partitions of a network.
pub(super) struct Shape {
    pub partitions: Vec<Partition>,
    /// Partition and input of each sending node.
    pub senders: Table<EntranceId, (usize, EntranceId)>,
    /// Partition of each receiving node.
    pub receivers: Table<ExitId, usize>,
    /// The two partitions that each link joins.
    pub links: Table<LinkId, [usize; 2]>,
}

impl Shape {
    /// Builds `count` partitions of these numbers of sending and receiving nodes, with `width`
    /// links from each partition to each other.
    pub fn new(
        direction: Direction,
        [senders, receivers]: [usize; 2],
        count: usize,
        width: usize,
    ) -> Shape {
        // SMs alternate, so that CTAs dispatched in the order of the SMs are spread over the
        // partitions; slices are contiguous, so that each partition has whole channels.
        let home = |are_sms: bool, nodes: usize| {
            move |node: usize| if are_sms { node % count } else { node * count / nodes }
        };
        let homes: Vec<usize> =
            (0..senders).map(home(direction == Direction::Request, senders)).collect();
        let homes_to = home(direction == Direction::Reply, receivers);
        let receivers = Table::from_fn(receivers, |exit: ExitId| homes_to(exit.index()));
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| [from, to]));
        let between = pairs.filter(|[from, to]| from != to);
        let links = between.flat_map(|pair| std::iter::repeat_n(pair, width)).collect();
        let partition = |own| partition(own, &homes, &receivers, &links, width);
        let partitions: Vec<Partition> = (0..count).map(partition).collect();
        let senders = homes.iter().enumerate().map(|(node, &home)| {
            let senders = &partitions[home].senders;
            let input = senders.iter().position(|&sender| sender.index() == node);
            (home, EntranceId::new(input.expect("a node is in its partition")))
        });
        Shape { senders: senders.collect(), partitions, receivers, links }
    }
}

/// Builds the partition of this number.
fn partition(
    own: usize,
    senders: &[usize],
    receivers: &Table<ExitId, usize>,
    links: &Table<LinkId, [usize; 2]>,
    width: usize,
) -> Partition {
    let senders = (0..senders.len()).filter(|&node| senders[node] == own).map(EntranceId::new);
    let mine: Vec<ExitId> = receivers.ids().filter(|&exit| receivers[exit] == own).collect();
    let outgoing = links.ids().find(|&link| links[link][0] == own);
    let outgoing = outgoing.unwrap_or(LinkId::new(0));
    // The receiving nodes alternate over the links to their partition, so that packets to one of
    // them keep their order.
    let route = |exit: ExitId| {
        let to = receivers[exit];
        let before = receivers.ids().take(exit.index());
        let place = before.filter(|&other| receivers[other] == to).count();
        if to == own {
            return ExitId::new(place);
        }
        let first = links.ids().find(|&link| links[link] == [own, to]);
        let first = first.expect("there are links between all partitions");
        ExitId::new(mine.len() + first.index() - outgoing.index() + place % width)
    };
    let routes = Table::from_fn(receivers.len(), route);
    let incoming = links.ids().filter(|&link| links[link][1] == own).collect();
    Partition { senders: senders.collect(), receivers: mine, incoming, outgoing, routes }
}
