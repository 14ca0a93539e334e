//! Mbarrier updates of instructions, applied when the banks have served them.

use crate::sm::cluster::ClusterCta;
use warpmem_sim::{Arrival, Signal};
use warpmem_trace::Mbarrier;

/// Writes the signals of an instruction to its own CTA's mbarriers, one per mbarrier.
pub(in crate::sm) fn write_signals(
    operation: Mbarrier,
    addresses: &[u64],
    cta: ClusterCta,
    signals: &mut Vec<Signal>,
) {
    let mut left = addresses;
    while let Some((&first, rest)) = left.split_first() {
        left = rest;
        let offset = first as u32;
        if signals.iter().any(|signal: &Signal| signal.offset == offset) {
            continue;
        }
        let lanes = 1 + rest.iter().filter(|&&other| other == first).count() as u32;
        if let Some(arrival) = arrival(operation, lanes) {
            signals.push(Signal { kernel: cta.kernel, cta: cta.cta, offset, arrival });
        }
    }
}

/// Returns the immediate update of an operation of `lanes` lanes, if any.
pub(super) fn arrival(operation: Mbarrier, lanes: u32) -> Option<Arrival> {
    let all = |count: u32| count.saturating_mul(lanes);
    let bytes_of = |bytes: i32| bytes.saturating_mul(lanes as i32);
    match operation {
        Mbarrier::Init { arrivals } => {
            Some(Arrival { count: arrivals, begins: true, ..Arrival::default() })
        }
        Mbarrier::Arrive { arrivals, bytes } => {
            Some(Arrival { count: all(arrivals), bytes: bytes_of(bytes), ..Arrival::default() })
        }
        Mbarrier::ArriveAndDrop { arrivals, bytes } => {
            let (count, bytes) = (all(arrivals), bytes_of(bytes));
            Some(Arrival { count, bytes, drops: true, ..Arrival::default() })
        }
        Mbarrier::ArriveAfterCopies { .. } | Mbarrier::Wait { .. } | Mbarrier::Signal { .. } => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_at_one_mbarrier_are_one_signal() {
        let cta = ClusterCta { kernel: 1, cta: 7 };
        let mut signals = Vec::new();
        let operation = Mbarrier::Arrive { arrivals: 2, bytes: 16 };
        write_signals(operation, &[8, 64, 8, 8], cta, &mut signals);
        let signal = |offset, count, bytes| {
            let arrival = Arrival { count, bytes, ..Arrival::default() };
            Signal { kernel: 1, cta: 7, offset, arrival }
        };
        assert_eq!(signals, [signal(8, 6, 48), signal(64, 2, 16)]);
    }
}
