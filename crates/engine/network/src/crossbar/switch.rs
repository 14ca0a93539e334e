//! The switch of a crossbar. It decides which input sends to which output in which cycle, and knows
//! the connected ports or links only through [`Ends`].

use crate::Ports;
use crate::allocator::first_from;
use crate::arbiter::{Arbiter, Contest, Inputs, Output as ContestedOutput, PacketView};
use crate::ids::{EntranceId, ExitId};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, Table, Ticks, bits};

/// The ends that the inputs and outputs of a switch connect to. Inputs and outputs are numbered
/// within the switch.
pub(crate) trait Ends {
    /// Returns the time from which the head packet of an input can be sent; [`Ticks::NEVER`] if
    /// there is none.
    fn head_ready(&self, input: EntranceId, ctx: &Context) -> Ticks;

    /// Returns the output of the head packet of an input, if the packet can be sent now.
    fn wanted(&self, input: EntranceId, now: Ticks, ctx: &Context) -> Option<ExitId>;

    /// Returns the properties of an input's head packet that arbitration rules may use.
    fn seen(&self, input: EntranceId, ctx: &Context) -> PacketView;

    /// Returns whether an output has room for a packet. If not, the network is stepped when it has.
    fn room_or_wake(&mut self, output: ExitId, cycle: NetworkCycle, ctx: &mut Context) -> bool;

    /// Moves the head packet of `input` to `output`; returns its flits.
    fn pass(
        &mut self,
        input: EntranceId,
        output: ExitId,
        cycle: NetworkCycle,
        ctx: &mut Context,
    ) -> u64;
}

#[derive(Clone)]
struct Input {
    /// First cycle in which it may send the next packet.
    free: NetworkCycle,
    /// Cycle of its last packets, and their number.
    cycle: NetworkCycle,
    sent: u32,
}

#[derive(Clone)]
struct Output {
    wanted_by: Inputs,
    waiting: u32,
    free: NetworkCycle,
    /// Whether it has been free and requested without room, so that its last input could not
    /// continue.
    blocked: bool,
    /// Round-robin pointer, for choices that the arbitration rule leaves open.
    next: u32,
    /// Packets taken under contention.
    contended: u64,
}

/// A switch of up to 256 inputs and outputs.
pub(crate) struct Switch {
    clock: NetworkClock,
    input_speedup: u32,
    /// Number of inputs requesting the same output from which the output is contended.
    contended_from: u32,
    /// Number of the switch within the network.
    number: usize,
    /// Number of its first output among those of all switches.
    first_output: usize,
    inputs: Table<EntranceId, Input>,
    outputs: Table<ExitId, Output>,
    /// Inputs whose head packet is not registered at an output.
    unknown: Inputs,
    /// Outputs that some input requests.
    wanted: Inputs,
}

/// Returns the number of inputs requesting the same output from which the output is contended: a
/// quarter of the inputs, four times their even share per output, and at least four.
fn contended_from(inputs: usize, outputs: usize) -> u32 {
    inputs.div_ceil(4).max((4 * inputs).div_ceil(outputs)).max(4) as u32
}

/// The arbitration rule of a network; none if it never decides.
pub(crate) type Rule = Option<Box<dyn Arbiter>>;

impl Switch {
    /// Builds a switch between these numbers of inputs and outputs, the only one of its network.
    pub fn new(clock: NetworkClock, input_speedup: u32, [inputs, outputs]: [usize; 2]) -> Switch {
        let input = Input { free: NetworkCycle::ZERO, cycle: NetworkCycle::ZERO, sent: 0 };
        let output = Output {
            wanted_by: [0; 4],
            waiting: 0,
            free: NetworkCycle::ZERO,
            blocked: false,
            next: 0,
            contended: 0,
        };
        Switch {
            clock,
            input_speedup,
            contended_from: contended_from(inputs, outputs),
            number: 0,
            first_output: 0,
            inputs: Table::from_fn(inputs, |_| input.clone()),
            outputs: Table::from_fn(outputs, |_| output.clone()),
            unknown: [0; 4],
            wanted: [0; 4],
        }
    }

    /// Makes the switch the one of this number in a network whose earlier switches have
    /// `first_output` outputs.
    pub fn numbered(self, number: usize, first_output: usize) -> Switch {
        Switch { number, first_output, ..self }
    }

    /// Iterates over the packets that each output took under [contention](contended_from).
    pub fn contended(&self) -> impl Iterator<Item = u64> {
        self.outputs.iter().map(|output| output.contended)
    }

    /// Returns the number of inputs and outputs.
    pub fn ports(&self) -> Ports {
        Ports { inputs: self.inputs.len(), outputs: self.outputs.len() }
    }

    /// Simulates a cycle in which the inputs `arrivals`, which had no packets, have received some;
    /// returns the next cycle that must be simulated, or [`NetworkCycle::NEVER`].
    pub fn step<E: Ends>(
        &mut self,
        arrivals: &Inputs,
        cycle: NetworkCycle,
        rule: &mut Rule,
        ends: &mut E,
        ctx: &mut Context,
    ) -> NetworkCycle {
        let heads = self.register_heads(arrivals, cycle, ends, ctx);
        self.grant(cycle, rule, ends, ctx).min(heads)
    }

    /// Registers the head packets of inputs at the outputs; returns the cycle of the next possible
    /// registration.
    fn register_heads<E: Ends>(
        &mut self,
        arrivals: &Inputs,
        cycle: NetworkCycle,
        ends: &E,
        ctx: &Context,
    ) -> NetworkCycle {
        let mut next = NetworkCycle::NEVER;
        for (word, arrived) in arrivals.iter().enumerate() {
            let unknown = std::mem::take(&mut self.unknown[word]) | arrived;
            for bit in bits::ones(unknown) {
                let input = EntranceId::new(word * bits::WORD + bit);
                next = next.min(self.look_at(input, cycle, ends, ctx));
            }
        }
        next
    }

    /// Registers the head packet of an input at its output, if it can be sent; returns the cycle of
    /// the next attempt.
    fn look_at<E: Ends>(
        &mut self,
        index: EntranceId,
        cycle: NetworkCycle,
        ends: &E,
        ctx: &Context,
    ) -> NetworkCycle {
        if self.inputs[index].free > cycle {
            return self.look_again(index, ends, ctx);
        }
        let Some(target) = ends.wanted(index, self.clock.at(cycle), ctx) else {
            return self.look_again(index, ends, ctx);
        };
        self.register(index, target);
        NetworkCycle::NEVER
    }

    /// Schedules an input for the cycle in which its head packet can be sent; returns the cycle. An
    /// input without packets is checked when one arrives.
    fn look_again<E: Ends>(&mut self, index: EntranceId, ends: &E, ctx: &Context) -> NetworkCycle {
        let ready = ends.head_ready(index, ctx);
        if ready == Ticks::NEVER {
            return NetworkCycle::NEVER;
        }
        bits::insert(&mut self.unknown, index.index());
        let free = self.inputs[index].free;
        if ready <= self.clock.at(free) { free } else { self.clock.cycle_from(ready) }
    }

    fn register(&mut self, input: EntranceId, target: ExitId) {
        let output = &mut self.outputs[target];
        bits::insert(&mut output.wanted_by, input.index());
        output.waiting += 1;
        bits::insert(&mut self.wanted, target.index());
    }

    /// Serves every output that is requested and free, in the order of their numbers; returns the
    /// next cycle to do so.
    fn grant<E: Ends>(
        &mut self,
        cycle: NetworkCycle,
        rule: &mut Rule,
        ends: &mut E,
        ctx: &mut Context,
    ) -> NetworkCycle {
        let mut next = NetworkCycle::NEVER;
        for word in 0..self.wanted.len() {
            let mut left = self.wanted[word];
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                let output = ExitId::new(word * bits::WORD + bit);
                next = next.min(self.serve(output, cycle, rule, ends, ctx));
                // Serving an output may add requested outputs with higher numbers.
                left = self.wanted[word] & (u64::MAX << 1 << bit);
            }
        }
        next
    }

    /// Lets an output take a packet; returns the next cycle in which the output or the input may
    /// continue.
    fn serve<E: Ends>(
        &mut self,
        index: ExitId,
        cycle: NetworkCycle,
        rule: &mut Rule,
        ends: &mut E,
        ctx: &mut Context,
    ) -> NetworkCycle {
        let output = &mut self.outputs[index];
        if output.free > cycle {
            return output.free;
        }
        if !ends.room_or_wake(index, cycle, ctx) {
            output.blocked = true;
            return NetworkCycle::NEVER;
        }
        let source = self.choose(index, cycle, rule, ends, ctx);
        let output = &mut self.outputs[index];
        bits::remove(&mut output.wanted_by, source.index());
        output.contended += u64::from(output.waiting >= self.contended_from);
        output.waiting -= 1;
        (output.next, output.blocked) = (u32::from(source.0) + 1, false);
        let is_wanted = output.waiting > 0;
        if !is_wanted {
            bits::remove(&mut self.wanted, index.index());
        }
        let flits = ends.pass(source, index, cycle, ctx);
        self.outputs[index].free = cycle + flits;
        let next = self.sent(source, index, flits, cycle, ends, ctx);
        // An output without requests is checked when it is requested again.
        if is_wanted { next.min(cycle + flits) } else { next }
    }

    /// Returns the input that an output takes a packet from: by the rule, or else round robin.
    fn choose<E: Ends>(
        &self,
        index: ExitId,
        cycle: NetworkCycle,
        rule: &mut Rule,
        ends: &E,
        ctx: &Context,
    ) -> EntranceId {
        let output = &self.outputs[index];
        let round_robin = || first_from(&output.wanted_by, output.next as usize);
        let Some(rule) = rule else { return EntranceId::new(round_robin()) };
        let packet = |input: usize| ends.seen(EntranceId::new(input), ctx);
        let place =
            ContestedOutput { router: self.number, index: self.first_output + index.index() };
        let fresh = output.blocked || output.free == cycle;
        let contest = Contest { output: place, wanting: &output.wanted_by, fresh, packet: &packet };
        let source = rule.designate(&contest).unwrap_or_else(round_robin);
        rule.granted(place, source, packet(source));
        EntranceId::new(source)
    }

    /// Records that an input has sent a packet to `output`; returns the cycle in which to check the
    /// input again. Its next packet may go in the same cycle to an output that has not been served
    /// in this cycle, because GPGPU-Sim grants the outputs one by one
    /// (`xbar_router::iSLIP_Advance`).
    fn sent<E: Ends>(
        &mut self,
        index: EntranceId,
        output: ExitId,
        flits: u64,
        cycle: NetworkCycle,
        ends: &E,
        ctx: &Context,
    ) -> NetworkCycle {
        let input = &mut self.inputs[index];
        input.sent = if input.cycle == cycle { input.sent + 1 } else { 1 };
        input.cycle = cycle;
        if input.sent >= self.input_speedup {
            input.free = cycle + flits;
            return self.look_again(index, ends, ctx);
        }
        let Some(target) = ends.wanted(index, self.clock.at(cycle), ctx) else {
            return self.look_again(index, ends, ctx);
        };
        self.register(index, target);
        if target <= output { cycle + 1 } else { NetworkCycle::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::contended_from;

    #[test]
    fn contention_is_a_quarter_of_the_inputs_and_above_chance() {
        assert_eq!((contended_from(34, 32), contended_from(80, 64)), (9, 20));
        assert_eq!(contended_from(16, 4), 16, "four times the even share");
        assert_eq!(contended_from(2, 64), 4, "at least four inputs");
    }
}
