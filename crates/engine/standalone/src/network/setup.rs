//! The setup of a measurement.

use super::{Pattern, PatternContext, StandaloneError};
use warpmem_machine::Machine;

/// The window in which packets are counted.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Cycles before the window.
    pub warmup: u64,
    pub cycles: u64,
}

impl Window {
    /// Returns the first cycle after the window.
    pub(super) fn end(self) -> u64 {
        self.warmup + self.cycles
    }

    pub(super) fn contains(self, cycle: u64) -> bool {
        (self.warmup..self.end()).contains(&cycle)
    }

    /// Returns the cycle in which the run is abandoned. A network that accepts a fifth of the
    /// offered load has delivered the packets of the window by then.
    pub(super) fn limit(self) -> u64 {
        5 * self.end() + 10_000
    }
}

/// A network and its traffic, except for the load.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Machine of the network, with topology and arbiter. All its clocks are equal.
    pub(super) machine: Machine,
    /// Pattern as given by the user.
    pub(super) pattern_text: String,
    pub(super) pattern: Pattern,
    pub(super) packet_flits: u64,
    pub(super) seed: u64,
    pub(super) window: Window,
}

/// Longest window and warm-up.
const MOST_CYCLES: u64 = 1 << 40;
const MOST_FLITS: u64 = 1 << 16;

impl Setup {
    /// Builds the setup of the network of `machine`, with packets of `packet_flits` flits.
    ///
    /// # Errors
    /// Returns an error if the pattern or a number is not valid.
    pub fn new(
        machine: &Machine,
        pattern: &str,
        nodes: Option<usize>,
        packet_flits: u64,
        seed: u64,
        window: Window,
    ) -> Result<Setup, StandaloneError> {
        within("packet-flits", packet_flits, 1, MOST_FLITS)?;
        within("warmup", window.warmup, 0, MOST_CYCLES)?;
        within("cycles", window.cycles, 1, MOST_CYCLES)?;
        let context = PatternContext {
            nodes,
            sms: machine.sm.count as usize,
            slices: machine.slices() as usize,
        };
        let pattern_text = pattern.to_owned();
        let pattern = Pattern::new(pattern, &context)?;
        let mut machine = machine.clone();
        let mhz = machine.clocks.network_mhz;
        let clocks = &mut machine.clocks;
        (clocks.core_mhz, clocks.l2_mhz, clocks.dram_mhz) = (mhz, mhz, mhz);
        if pattern.nodes.is_some() {
            machine.network.sms_per_node = 1;
        }
        Ok(Setup { machine, pattern_text, pattern, packet_flits, seed, window })
    }

    /// Returns the same traffic with another topology and another arbitration rule.
    pub fn with(&self, topology: &str, arbiter: &str) -> Setup {
        let mut setup = self.clone();
        topology.clone_into(&mut setup.machine.policy.topology);
        arbiter.clone_into(&mut setup.machine.policy.arbiter);
        setup
    }

    /// Returns the most flits per source and cycle that any network accepts of this traffic.
    pub fn capacity(&self) -> f64 {
        self.pattern.capacity()
    }

    /// Returns the default loads: even steps up to the capacity, and as far beyond it as needed to
    /// saturate a network that comes close to it.
    pub fn loads(&self) -> Vec<f64> {
        steps(self.capacity())
    }
}

/// Number of steps up to the capacity, and up to the end.
const STEPS: u32 = 20;
const ALL_STEPS: u32 = 24;

/// Returns steps rounded to six decimals, to remove the error of binary fractions.
fn steps(capacity: f64) -> Vec<f64> {
    let load = |n: u32| (capacity * f64::from(n) / f64::from(STEPS) * 1e6).round() / 1e6;
    (1..=ALL_STEPS).map(load).take_while(|&load| load <= 1.0).collect()
}

fn within(option: &'static str, value: u64, least: u64, most: u64) -> Result<(), StandaloneError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(StandaloneError::option(option, &value, format!("{least} to {most}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_loads_end_beyond_the_capacity_within_the_source_rate() {
        let loads = steps(2.0 / 3.0);
        assert_eq!((loads.len(), loads[0], loads[19], loads[23]), (24, 0.033333, 0.666667, 0.8));
        let loads = steps(1.0);
        assert_eq!((loads.len(), loads[2], loads[19]), (20, 0.15, 1.0));
    }
}
