//! Exits: the ports at which packets leave the network.

use super::ids::RouterId;
use crate::NetworkContext;
use crate::ids::{DestinationId, ExitId};
use warpmem_sim::{Context, PortId, RequestId, Table, Ticks};

/// All exits of a network, in the order of the units that read them.
pub(super) struct Exits {
    exits: Table<ExitId, Exit>,
    /// Exits that had no room for a packet, each with the router in which the packet waits.
    full: Vec<(RouterId, ExitId)>,
}

struct Exit {
    port: PortId,
    /// Node of the port.
    node: DestinationId,
    /// Packets that are crossing the last router towards the port.
    reserved: usize,
    /// Whether it is in [`Exits::full`].
    awaited: bool,
}

impl Exit {
    /// Returns whether the port has room for one more packet than have reserved it.
    #[inline]
    fn has_room(&self, ctx: &Context) -> bool {
        ctx.room(self.port) > self.reserved
    }
}

impl Exits {
    pub fn new(context: &NetworkContext) -> Exits {
        let nodes = DestinationId::all(context.outputs.len()).zip(&context.outputs);
        let exits = nodes.flat_map(|(node, ports)| {
            ports.iter().map(move |&port| Exit { port, node, reserved: 0, awaited: false })
        });
        Exits { exits: exits.collect(), full: Vec::new() }
    }

    /// Returns the node of an exit.
    #[inline]
    pub fn node(&self, exit: ExitId) -> DestinationId {
        self.exits[exit].node
    }

    /// Returns whether an exit has room for a packet that waits in `router`; if not, the network is
    /// woken when it has, and [`Exits::collect_freed`] reports the router.
    pub fn has_room(&mut self, exit: ExitId, router: RouterId, ctx: &mut Context) -> bool {
        let state = &mut self.exits[exit];
        if state.has_room(ctx) {
            return true;
        }
        ctx.wake_writer(state.port);
        if !state.awaited {
            state.awaited = true;
            self.full.push((router, exit));
        }
        false
    }

    /// Calls `wake` with every router that waits for an exit which now has room.
    pub fn collect_freed(&mut self, ctx: &Context, mut wake: impl FnMut(RouterId)) {
        self.full.retain(|&(router, exit)| {
            let exit = &mut self.exits[exit];
            let has_room = exit.has_room(ctx);
            if has_room {
                exit.awaited = false;
                wake(router);
            }
            !has_room
        });
    }

    /// Reserves room for a packet that has started to leave its last router.
    #[inline]
    pub fn reserve(&mut self, exit: ExitId) {
        self.exits[exit].reserved += 1;
    }

    /// Hands a packet to its reader, which may take it from `ready` on.
    #[inline]
    pub fn deliver(&mut self, exit: ExitId, request: RequestId, ready: Ticks, ctx: &mut Context) {
        let exit = &mut self.exits[exit];
        exit.reserved -= 1;
        ctx.push(exit.port, request, ready);
    }

    /// Returns whether no packet has reserved an exit.
    pub fn are_idle(&self) -> bool {
        self.exits.iter().all(|exit| exit.reserved == 0)
    }
}
