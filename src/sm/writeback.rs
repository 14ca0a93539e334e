//! The port through which data from memory are written to registers.

/// Cycles ahead of which the port knows what is taken.
const SPAN: u64 = 128;

/// One datum a cycle: data take the first free cycle from the one on in which they are there.
pub(super) struct WritebackPort {
    /// Cycles from `first` on that are taken, one bit each.
    taken: u128,
    first: u64,
}

impl WritebackPort {
    pub fn new() -> WritebackPort {
        WritebackPort { taken: 0, first: 0 }
    }

    /// The cycle for a datum that is there in `cycle`, which is not before `now`. What lies far ahead, as the end of a
    /// long series of shared-memory passes, is its own cycle.
    pub fn take(&mut self, now: u64, cycle: u64) -> u64 {
        let passed = now - self.first;
        self.taken = if passed < SPAN { self.taken >> passed } else { 0 };
        self.first = now;
        let ahead = cycle - now;
        if ahead >= SPAN {
            return cycle;
        }
        let free = (!self.taken >> ahead).trailing_zeros();
        let at = (ahead + u64::from(free)).min(SPAN);
        if at < SPAN {
            self.taken |= 1 << at;
        }
        now + at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_one_cycle_take_one_after_the_other() {
        let mut port = WritebackPort::new();
        let cycles = [10, 10, 12, 10, 12].map(|cycle| port.take(5, cycle));
        assert_eq!(cycles, [10, 11, 12, 13, 14]);
    }

    #[test]
    fn what_comes_later_leaves_the_cycles_before_it_free() {
        let mut port = WritebackPort::new();
        assert_eq!(port.take(0, 30), 30);
        assert_eq!(port.take(3, 5), 5);
        assert_eq!(port.take(29, 30), 31);
        assert_eq!(port.take(1000, 1000), 1000);
    }

    #[test]
    fn far_ahead_every_datum_has_its_cycle() {
        let mut port = WritebackPort::new();
        assert_eq!([port.take(0, 500), port.take(0, 500)], [500, 500]);
        let near: Vec<u64> = (0..130).map(|_| port.take(0, 0)).collect();
        assert_eq!(near[..128], (0..128).collect::<Vec<u64>>());
        assert_eq!(near[128..], [128, 128]);
    }
}
