//! Experiments on single parts of a machine: stand-alone DRAM channels, and hardware costs.

use crate::error::{Error, Result};
use std::ops::ControlFlow;
use warpmem_gpu::complexity::{of_arbiter, of_scheduler, shape_of};
use warpmem_machine::load;
use warpmem_standalone::dram::{Device, Mix, Origin, Pattern, Sources, Stream, run};
use warpmem_study::reproduce::{Bits, Counted, Paper, Streamed};

/// Returns the DRAM efficiency of a channel that reads `streamed`: data cycles over cycles with
/// pending requests.
///
/// # Errors
/// If the machine cannot be driven with this stream.
pub fn efficiency(paper: &Paper, streamed: &Streamed) -> Result<f64> {
    let Streamed { pattern, locality, requests, bytes, set } = streamed;
    let device = Device::load(&paper.machine, None, set)?;
    let pattern =
        Pattern::named(pattern).ok_or_else(|| Error::NoStream { pattern: pattern.clone() })?;
    let mix = Mix { requests: *requests, reads: 1.0, seed: 1 };
    let stream = Stream {
        origin: Origin::Pattern { pattern, locality: *locality, channels: 1, mix },
        bytes: *bytes,
        rate: None,
        sources: Sources { sms: 1, warps: 1, group: 1 },
    };
    let outcome = run(&device, &device.scheduler, &stream, &mut |_| ControlFlow::Continue(()))?;
    let channel = outcome.channels.first().ok_or(Error::NoChannel)?;
    channel.counts.dram_efficiency().ok_or(Error::NothingPending)
}

/// Counts the bits that a configuration's DRAM scheduler and arbiter store or compare per cycle,
/// over the whole machine.
///
/// # Errors
/// If the machine is not valid, or a policy states no cost.
pub fn cost(paper: &Paper, bits: &Bits) -> Result<f64> {
    let machine = load(&paper.machine, &paper.configuration(&bits.of)?.overrides)?;
    let shape = shape_of(&machine)?;
    let scheduler = of_scheduler(&machine.policy.dram_scheduler, &machine, &shape)?;
    let arbiter = of_arbiter(&machine.policy.arbiter, &shape)?;
    let (scheduler, arbiter) = scheduler.zip(arbiter).ok_or(Error::NoCost)?;
    let cost = scheduler + arbiter;
    Ok(match bits.count {
        Counted::Compared => cost.compared as f64,
        Counted::Stored => cost.stored as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpmem_study::reproduce::find;

    /// Table 1 of Yuan 2009; its formula gives 256 where it prints 320.
    #[test]
    fn bits_are_those_of_yuans_table() {
        let paper = find("yuan2009").unwrap();
        let bits = |count, name: &str| cost(&paper, &Bits { of: name.to_owned(), count }).unwrap();
        let compared = ["FR-FCFS", "BFIFO+HG", "BFIFO+HMHG4"].map(|of| bits(Counted::Compared, of));
        assert_eq!(compared, [3584.0, 224.0, 256.0]);
        let stored = ["BFIFO+RMHG", "BFIFO+RMHG @ mesh"].map(|of| bits(Counted::Stored, of));
        assert_eq!(stored, [608.0, 14_544.0]);
    }

    /// 8 cycles of data per row cycle of 34; the first row opens without delay.
    #[test]
    fn one_bank_has_its_closed_form() {
        let paper = find("yuan2009").unwrap();
        let streamed = |visits: u64| Streamed {
            pattern: "one-bank".to_owned(),
            locality: 2,
            requests: 2 * visits,
            bytes: 64,
            set: Vec::new(),
        };
        let of = |visits| efficiency(&paper, &streamed(visits)).unwrap();
        assert_eq!(of(1000), 8000.0 / (29.0 + 34.0 * 999.0));
    }
}
