//! Switch allocation: which flits cross a router in a cycle.

use super::buffers::Buffers;
use super::channel::{InputChannel, OutputChannel};
use super::choosers::{Chooser, Choosers};
use super::ids::{InputId, InputVc, LinkId, OutputVc, RouterId};
use super::layout::Layout;
use super::wires::RouterPorts;
use crate::arbiter::Inputs;
use warpmem_sim::{Table, bits};

/// The flits that could cross their router, and the match of a router's inputs and outputs.
pub(super) struct SwitchAllocator {
    /// Virtual channels with a flit that could cross, one bit each, by input.
    ready: Table<InputId, u64>,
    /// Inputs with such a virtual channel, by router.
    ready_inputs: Table<RouterId, Inputs>,
    // The match of one router, reused.
    /// Inputs that propose to the output, by output of the router.
    proposals: Vec<Inputs>,
    /// Outputs with a proposal.
    proposed: Vec<usize>,
    /// Whether an earlier iteration has matched the output, by output of the router.
    taken: Vec<bool>,
    /// Virtual channel that the input proposes, by input of the router.
    chosen: Vec<InputVc>,
    /// Matched virtual channels, in order of matching.
    matched: Vec<InputVc>,
}

/// The state of a router that switch allocation reads.
pub(super) struct SwitchView<'a> {
    pub ports: RouterPorts,
    pub buffers: &'a Buffers,
    pub outputs: &'a Table<OutputVc, OutputChannel>,
}

impl SwitchView<'_> {
    /// Returns the link to which the first packet of `channel` goes.
    #[inline]
    fn link_of(&self, channel: &InputChannel) -> LinkId {
        self.outputs[channel.output].link
    }

    /// Returns the output of the router at which that link starts.
    #[inline]
    fn output_of(&self, channel: &InputChannel) -> usize {
        self.ports.output(self.link_of(channel))
    }
}

impl SwitchAllocator {
    pub fn new(layout: &Layout) -> SwitchAllocator {
        let inputs = layout.inputs();
        let most_inputs = inputs.iter().copied().max().unwrap_or(0);
        let most_outputs = layout.outputs.iter().map(Vec::len).max().unwrap_or(0);
        SwitchAllocator {
            ready: Table::from_fn(inputs.iter().sum(), |_| 0),
            ready_inputs: Table::from_fn(inputs.len(), |_| Inputs::default()),
            proposals: vec![Inputs::default(); most_outputs],
            proposed: Vec::new(),
            taken: vec![false; most_outputs],
            chosen: vec![InputVc::NONE; most_inputs],
            matched: Vec::new(),
        }
    }

    /// Marks an input virtual channel with a flit that could cross.
    #[inline]
    pub fn set_ready(&mut self, channel: &InputChannel) {
        self.ready[channel.input] |= 1 << channel.index;
        let inputs = &mut self.ready_inputs[channel.router];
        bits::insert(inputs, channel.local.into());
    }

    /// Unmarks an input virtual channel without a flit that could cross.
    #[inline]
    pub fn clear_ready(&mut self, channel: &InputChannel) {
        let ready = &mut self.ready[channel.input];
        *ready &= !(1 << channel.index);
        if *ready == 0 {
            let inputs = &mut self.ready_inputs[channel.router];
            bits::remove(inputs, channel.local.into());
        }
    }

    /// Returns whether no flit could cross a router.
    #[inline]
    pub fn is_idle(&self, router: RouterId) -> bool {
        bits::is_empty(&self.ready_inputs[router])
    }

    /// Matches inputs and outputs of a router, at most one flit from each input and to each output.
    /// Returns the input virtual channels whose flits cross; return the list to
    /// [`SwitchAllocator::recycle`].
    pub fn allocate(
        &mut self,
        router: RouterId,
        view: &SwitchView,
        choosers: &mut Choosers,
    ) -> Vec<InputVc> {
        let unmatched = self.ready_inputs[router];
        match bits::only(&unmatched) {
            Some(input) => self.match_alone(input, view, choosers),
            None => self.match_all(unmatched, view, choosers),
        }
        std::mem::take(&mut self.matched)
    }

    /// Takes a list of matched virtual channels back for reuse.
    #[inline]
    pub fn recycle(&mut self, mut matched: Vec<InputVc>) {
        matched.clear();
        self.matched = matched;
    }

    /// Matches the only input of a router with a flit that could cross.
    fn match_alone(&mut self, input: usize, view: &SwitchView, choosers: &mut Choosers) {
        let number = view.ports.input(input);
        let channel = choose_channel(number, self.ready[number], view, choosers);
        self.accept(channel, input, 0, view, choosers);
    }

    /// Matches by proposals: every unmatched input proposes to an output, which accepts one of its
    /// proposals, once per iteration of the allocator.
    fn match_all(&mut self, mut unmatched: Inputs, view: &SwitchView, choosers: &mut Choosers) {
        let iterations = choosers.iterations();
        for iteration in 0..iterations {
            self.propose(&unmatched, iteration, view, choosers);
            if self.proposed.is_empty() {
                break;
            }
            while let Some(output) = self.proposed.pop() {
                self.taken[output] = iterations > 1;
                let input = self.choose_proposal(output, view, choosers);
                self.accept(self.chosen[input], input, iteration, view, choosers);
                bits::remove(&mut unmatched, input);
            }
        }
        if iterations > 1 {
            self.taken.fill(false);
        }
    }

    /// Lets each unmatched input propose one of its flits whose output is not taken.
    fn propose(
        &mut self,
        unmatched: &Inputs,
        iteration: u32,
        view: &SwitchView,
        choosers: &mut Choosers,
    ) {
        for input in bits::members(unmatched) {
            let number = view.ports.input(input);
            let mut mask = self.ready[number];
            if iteration > 0 {
                mask &= self.open(number, view);
            }
            if mask != 0 {
                let channel = choose_channel(number, mask, view, choosers);
                self.propose_one(input, channel, view);
            }
        }
    }

    fn propose_one(&mut self, input: usize, channel: InputVc, view: &SwitchView) {
        self.chosen[input] = channel;
        let output = view.output_of(view.buffers.channel(channel));
        let proposals = &mut self.proposals[output];
        if bits::is_empty(proposals) {
            self.proposed.push(output);
        }
        bits::insert(proposals, input);
    }

    /// Returns the virtual channels of an input whose output is not taken.
    fn open(&self, input: InputId, view: &SwitchView) -> u64 {
        let own = view.buffers.of_input(input).iter();
        let open = own.filter(|channel| {
            channel.output != OutputVc::NONE && !self.taken[view.output_of(channel)]
        });
        open.fold(0, |mask, channel| mask | 1 << channel.index)
    }

    /// Returns the input whose proposal an output, `output` within the router, accepts.
    fn choose_proposal(
        &mut self,
        output: usize,
        view: &SwitchView,
        choosers: &mut Choosers,
    ) -> usize {
        let proposals = std::mem::take(&mut self.proposals[output]);
        if let Some(input) = bits::only(&proposals) {
            return input;
        }
        let chooser = Chooser::Output(view.ports.link(output));
        let since = |input: usize| view.buffers.first(self.chosen[input]).seen.since;
        choosers.choose(chooser, &proposals, &since)
    }

    /// Matches a virtual channel, of `input` within its router, with its output.
    fn accept(
        &mut self,
        channel: InputVc,
        input: usize,
        iteration: u32,
        view: &SwitchView,
        choosers: &mut Choosers,
    ) {
        let state = view.buffers.channel(channel);
        choosers.matched(Chooser::Input(state.input), state.index.into(), iteration);
        choosers.matched(Chooser::Output(view.link_of(state)), input, iteration);
        self.matched.push(channel);
    }
}

/// Returns the virtual channel, one of `mask`, that an input chooses.
#[inline]
fn choose_channel(
    input: InputId,
    mask: u64,
    view: &SwitchView,
    choosers: &mut Choosers,
) -> InputVc {
    if let Some(channel) = bits::only(&[mask]) {
        return view.buffers.vc(input, channel);
    }
    let since = |channel| view.buffers.first(view.buffers.vc(input, channel)).seen.since;
    view.buffers.vc(input, choosers.choose(Chooser::Input(input), &[mask], &since))
}
