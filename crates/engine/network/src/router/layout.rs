//! The layout of a network: its routers, the links between them, and the routes of packets.

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// An input of a router.
    Router { router: usize, input: usize },
    /// A receiving node.
    Node(usize),
}

/// The way in which a packet leaves a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Output of the router.
    pub output: u16,
    /// Number of its share among [`Layout::classes`] equal shares of the virtual channels of the
    /// link.
    pub class: u8,
}

/// A network of routers. Routing is deterministic: there is one route from each node to each other.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Ends of the links at its outputs, by router.
    pub outputs: Vec<Vec<End>>,
    /// Router and input that each sending node is connected to.
    pub sources: Vec<(usize, usize)>,
    /// Number of receiving nodes.
    pub destinations: usize,
    /// Route to each receiving node, by router.
    pub routes: Vec<Vec<Route>>,
    /// Number of equal shares of the virtual channels. Routes use shares in a way that rules out
    /// deadlock.
    pub classes: u8,
}

impl Layout {
    /// Builds a single router between all nodes.
    pub fn crossbar(sources: usize, destinations: usize) -> Layout {
        let route = |output| Route { output: output as u16, class: 0 };
        Layout {
            outputs: vec![(0..destinations).map(End::Node).collect()],
            sources: (0..sources).map(|input| (0, input)).collect(),
            destinations,
            routes: vec![(0..destinations).map(route).collect()],
            classes: 1,
        }
    }

    /// Returns the number of inputs of each router.
    pub fn inputs(&self) -> Vec<usize> {
        let mut inputs = vec![0; self.outputs.len()];
        let links = self.outputs.iter().flatten().filter_map(|end| match *end {
            End::Router { router, input } => Some((router, input)),
            End::Node(_) => None,
        });
        for (router, input) in links.chain(self.sources.iter().copied()) {
            inputs[router] = inputs[router].max(input + 1);
        }
        inputs
    }

    /// Returns the routers on the path from one node to another.
    #[cfg(test)]
    pub fn path(&self, source: usize, destination: usize) -> Vec<usize> {
        let (mut router, _) = self.sources[source];
        let mut path = vec![router];
        loop {
            let route = self.routes[router][destination];
            match self.outputs[router][usize::from(route.output)] {
                End::Node(node) => {
                    assert_eq!(node, destination, "a packet ends at its destination");
                    return path;
                }
                End::Router { router: next, .. } => router = next,
            }
            assert!(path.len() <= self.outputs.len(), "a packet visits no router twice");
            path.push(router);
        }
    }
}
