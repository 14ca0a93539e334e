//! The switch of a crossbar: which input sends to which output when, whatever the inputs and
//! outputs are connected to.

use crate::Ports;
use crate::allocator::first_from;
use crate::arbiter::{Arbiter, Contest, Inputs, Output as Place, Packet};
use crate::ids::{EntranceId, ExitId};
use warpmem_sim::{Context, NetworkClock, NetworkCycle, Table, Ticks, bits};

/// What the inputs and outputs of a switch are connected to. Inputs and outputs are numbered within
/// the switch.
pub(crate) trait Ends {
    /// Time from which the packet at the head of an input can be sent; [`Ticks::NEVER`] if there is
    /// none.
    fn head_ready(&self, input: EntranceId, ctx: &Context) -> Ticks;

    /// The output that the packet at the head of an input wants, if it can be sent now.
    fn wanted(&self, input: EntranceId, now: Ticks, ctx: &Context) -> Option<ExitId>;

    /// What arbitration rules see of the packet at the head of an input.
    fn seen(&self, input: EntranceId, ctx: &Context) -> Packet;

    /// Whether an output has room for a packet. If not, the network is stepped when it has.
    fn room_or_wake(&mut self, output: ExitId, cycle: NetworkCycle, ctx: &mut Context) -> bool;

    /// Moves the packet at the head of `input` to `output`; returns its flits.
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
    /// Cycle from which it may send the next packet.
    free: NetworkCycle,
    /// Cycle in which it last sent, and the number of packets that it sent then.
    cycle: NetworkCycle,
    sent: u32,
}

#[derive(Clone)]
struct Output {
    wanted_by: Inputs,
    waiting: u32,
    free: NetworkCycle,
    /// It has been free and wanted, but had no room, so its last input could not go on.
    blocked: bool,
    /// Round-robin pointer, for choices that the arbitration rule leaves open.
    next: u32,
    /// Packets that it has taken while a crowd of inputs wanted it.
    crowded: u64,
}

/// A switch of up to 256 inputs and outputs.
pub(crate) struct Switch {
    clock: NetworkClock,
    input_speedup: u32,
    /// Inputs that are a crowd when all of them want the same output.
    crowd: u32,
    /// Its number among the switches of the network.
    number: usize,
    /// The number of its first output among those of all switches.
    first_output: usize,
    inputs: Table<EntranceId, Input>,
    outputs: Table<ExitId, Output>,
    /// Inputs whose head packet is not registered at an output.
    unknown: Inputs,
    /// Outputs that some input wants.
    wanted: Inputs,
}

/// Inputs that are a crowd when all of them want the same output: a quarter of the inputs, four times
/// as many as want each output when they are spread evenly, and at least four.
fn crowd(inputs: usize, outputs: usize) -> u32 {
    inputs.div_ceil(4).max((4 * inputs).div_ceil(outputs)).max(4) as u32
}

/// The arbitration rule of a network; none if it never decides.
pub(crate) type Rule = Option<Box<dyn Arbiter>>;

impl Switch {
    /// A switch between so many inputs and outputs, the only one of its network.
    pub fn new(clock: NetworkClock, input_speedup: u32, [inputs, outputs]: [usize; 2]) -> Switch {
        let input = Input { free: NetworkCycle::ZERO, cycle: NetworkCycle::ZERO, sent: 0 };
        let output = Output {
            wanted_by: [0; 4],
            waiting: 0,
            free: NetworkCycle::ZERO,
            blocked: false,
            next: 0,
            crowded: 0,
        };
        Switch {
            clock,
            input_speedup,
            crowd: crowd(inputs, outputs),
            number: 0,
            first_output: 0,
            inputs: Table::from_fn(inputs, |_| input.clone()),
            outputs: Table::from_fn(outputs, |_| output.clone()),
            unknown: [0; 4],
            wanted: [0; 4],
        }
    }

    /// The same switch as the one of this number in a network whose switches before it have
    /// `first_output` outputs.
    pub fn numbered(self, number: usize, first_output: usize) -> Switch {
        Switch { number, first_output, ..self }
    }

    /// By output, the packets that it took while a [crowd](crowd) of inputs wanted it.
    pub fn crowded(&self) -> impl Iterator<Item = u64> {
        self.outputs.iter().map(|output| output.crowded)
    }

    /// Its inputs and outputs.
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

    /// Registers the head packets of inputs at the outputs; returns the next cycle in which one
    /// could be registered.
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

    /// Registers the head packet of an input at its output, if there is one and it can be sent;
    /// returns the cycle in which to try again.
    fn look_at<E: Ends>(
        &mut self,
        index: EntranceId,
        cycle: NetworkCycle,
        ends: &E,
        ctx: &Context,
    ) -> NetworkCycle {
        let wanted = ends.wanted(index, self.clock.at(cycle), ctx);
        let Some(target) = wanted.filter(|_| self.inputs[index].free <= cycle) else {
            return self.look_again(index, ends, ctx);
        };
        self.register(index, target);
        NetworkCycle::NEVER
    }

    /// Notes that an input is to be looked at as soon as its head packet can be sent; returns the
    /// cycle. An input without packets is looked at when one arrives.
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

    /// Serves every output that is wanted and free, in the order of their numbers; returns the next
    /// cycle to do so.
    fn grant<E: Ends>(
        &mut self,
        cycle: NetworkCycle,
        rule: &mut Rule,
        ends: &mut E,
        ctx: &mut Context,
    ) -> NetworkCycle {
        let (mut first, mut next) = (0, NetworkCycle::NEVER);
        // Serving an output may add wanted outputs behind it.
        while let Some(output) = bits::next_from(&self.wanted, first) {
            first = output + 1;
            next = next.min(self.serve(ExitId::new(output), cycle, rule, ends, ctx));
        }
        next
    }

    /// Lets an output take a packet; returns the next cycle in which the output or the input may go
    /// on.
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
        output.crowded += u64::from(output.waiting >= self.crowd);
        output.waiting -= 1;
        (output.next, output.blocked) = (u32::from(source.0) + 1, false);
        let is_wanted = output.waiting > 0;
        if !is_wanted {
            bits::remove(&mut self.wanted, index.index());
        }
        let flits = ends.pass(source, index, cycle, ctx);
        self.outputs[index].free = cycle + flits;
        let next = self.sent(source, index, flits, cycle, ends, ctx);
        // An output that nobody wants is looked at when it is wanted again.
        if is_wanted { next.min(cycle + flits) } else { next }
    }

    /// The input that an output takes a packet from: by the rule, or else round robin.
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
        let place = Place { router: self.number, index: self.first_output + index.index() };
        let fresh = output.blocked || output.free == cycle;
        let contest = Contest { output: place, wanting: &output.wanted_by, fresh, packet: &packet };
        let source = rule.designate(&contest).unwrap_or_else(round_robin);
        rule.granted(place, source, packet(source));
        EntranceId::new(source)
    }

    /// Notes that an input has sent a packet to `output`; returns the cycle in which to look at the
    /// input again. Its next packet may go in the same cycle to an output that has not been served
    /// yet in this cycle, because GPGPU-Sim grants the outputs one by one
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
        if target <= output {
            bits::insert(&mut self.unknown, index.index());
            return cycle + 1;
        }
        self.register(index, target);
        NetworkCycle::NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::crowd;

    #[test]
    fn a_crowd_is_a_quarter_of_the_inputs_and_more_than_meet_by_chance() {
        assert_eq!((crowd(34, 32), crowd(80, 64)), (9, 20));
        assert_eq!(crowd(16, 4), 16, "four times the even share");
        assert_eq!(crowd(2, 64), 4, "two inputs are no crowd");
    }
}
