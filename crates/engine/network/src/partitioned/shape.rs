//! Which partition each node belongs to, and which output of its switch leads where.

use crate::Direction;
use crate::ids::{EntranceId, ExitId};
use warpmem_sim::{Table, ids};

ids! {
    /// A link between two partitions, counted over all pairs: those that leave partition 0 first.
    pub(super) LinkId(u16);
}

/// A partition: its nodes, and the links that lead to it and from it.
pub(super) struct Partition {
    /// The sending nodes that are its first inputs, in their order.
    pub senders: Vec<EntranceId>,
    /// The receiving nodes that are its first outputs, in their order.
    pub receivers: Vec<ExitId>,
    /// The links whose ends are its further inputs.
    pub incoming: Vec<LinkId>,
    /// The links that its further outputs begin, from this one on.
    pub outgoing: LinkId,
    /// Its output on the way to each receiving node.
    pub routes: Table<ExitId, ExitId>,
}

/// The partitions of a network.
pub(super) struct Shape {
    pub partitions: Vec<Partition>,
    /// By sending node, its partition and its input there.
    pub senders: Table<EntranceId, (usize, EntranceId)>,
    /// By receiving node, its partition.
    pub receivers: Table<ExitId, usize>,
    /// By link, the partitions between which it leads.
    pub links: Table<LinkId, [usize; 2]>,
}

impl Shape {
    /// `count` partitions of so many sending and receiving nodes, with `width` links from each
    /// partition to each other.
    pub fn new(
        direction: Direction,
        [senders, receivers]: [usize; 2],
        count: usize,
        width: usize,
    ) -> Shape {
        // SMs take turns, so that CTAs that are handed out in the order of the SMs are spread over
        // the partitions; of the slices, each partition has a run, so that it has whole channels.
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

/// The partition of this number.
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
    // Of the links to a partition, the receiving nodes there take turns, so that packets to one of
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
