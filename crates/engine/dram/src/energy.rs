//! Energy of a channel from its counts and the currents of its devices, after Micron's TN-41-01 and
//! DRAMsim3 (Li 2020): the energy of each command beyond standby, plus standby over the whole time.
//! Excludes power-down, self-refresh and bus termination.

use crate::{BankResult, ChannelResult, Dram};

/// The activity that consumes energy. Sums over channels give the energy of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Command clock cycles.
    pub cycles: u64,
    /// Cycles with an open row somewhere in the channel.
    pub open_cycles: u64,
    /// ACT commands, each with its later PRE.
    pub activations: u64,
    /// Read column commands.
    pub reads: u64,
    /// Write column commands.
    pub writes: u64,
    /// REF commands, one per pseudo channel.
    pub refreshes: u64,
    /// REFPB commands.
    pub bank_refreshes: u64,
}

impl Activity {
    /// Collects the activity of a channel, or of several added up, whose banks have these counts in
    /// total.
    pub fn new(channel: &ChannelResult, banks: &BankResult) -> Activity {
        Activity {
            cycles: channel.cycles,
            open_cycles: channel.open_cycles,
            activations: banks.activations,
            reads: banks.reads,
            writes: banks.writes,
            refreshes: channel.refreshes,
            bank_refreshes: channel.bank_refreshes,
        }
    }
}

/// Energy by cause, nJ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Energy of opening and closing rows.
    pub activate: f64,
    /// Energy of reads from open rows.
    pub read: f64,
    /// Energy of writes to open rows.
    pub write: f64,
    /// Energy of all-bank and single-bank refreshes.
    pub refresh: f64,
    /// Standby energy with an open row.
    pub active_standby: f64,
    /// Standby energy without an open row.
    pub precharge_standby: f64,
}

impl Energy {
    /// Computes the energy of a channel of `dram` with a command clock cycle of `cycle_ns`. Returns
    /// none if a required current is unknown.
    ///
    /// The devices are those of the whole channel: a command runs on the devices of its pseudo
    /// channel, while all devices are in active standby as soon as one pseudo channel has an open
    /// row.
    pub fn of(dram: &Dram, cycle_ns: f64, activity: &Activity) -> Option<Energy> {
        if !is_known(dram) {
            return None;
        }
        let (p, t) = (&dram.power, &dram.timing);
        // mV x mA x ns are 10^-6 nJ.
        let standby = f64::from(p.vdd) * cycle_ns * f64::from(dram.devices) * 1e-6;
        let command = standby / f64::from(dram.pseudo_channels);
        let product = |current: u32, cycles: u32| f64::from(current) * f64::from(cycles);
        let above_open = |count: u64, current: u32, cycles: u32| {
            count as f64 * (product(current, cycles) - product(p.idd3n, cycles)) * command
        };
        let row_cycle = product(p.idd0, t.trc)
            - product(p.idd3n, t.tras)
            - product(p.idd2n, t.trc.saturating_sub(t.tras));
        let burst = dram.burst_cycles();
        let open = activity.open_cycles as f64;
        let closed = activity.cycles.saturating_sub(activity.open_cycles) as f64;
        Some(Energy {
            activate: activity.activations as f64 * row_cycle * command,
            read: above_open(activity.reads, p.idd4r, burst),
            write: above_open(activity.writes, p.idd4w, burst),
            refresh: above_open(activity.refreshes, p.idd5ab, t.trfc)
                + above_open(activity.bank_refreshes, p.idd5pb, t.trfcpb),
            active_standby: open * f64::from(p.idd3n) * standby,
            precharge_standby: closed * f64::from(p.idd2n) * standby,
        })
    }

    /// Returns the sum of all parts, nJ.
    pub fn total(&self) -> f64 {
        self.activate
            + self.read
            + self.write
            + self.refresh
            + self.active_standby
            + self.precharge_standby
    }

    /// Returns the total energy per bit moved, pJ; none if no data moved.
    pub fn picojoules_per_bit(&self, bytes: u64) -> Option<f64> {
        (bytes > 0).then(|| self.total() * 1000.0 / (bytes as f64 * 8.0))
    }
}

/// Returns whether every current that a channel of `dram` can draw is known; refresh currents are
/// required only with refresh.
fn is_known(dram: &Dram) -> bool {
    let (p, t) = (&dram.power, &dram.timing);
    let always = [p.vdd, p.idd0, p.idd2n, p.idd3n, p.idd4r, p.idd4w];
    always.iter().all(|&value| value > 0)
        && (t.trefi == 0 || p.idd5ab > 0)
        && (t.trefipb == 0 || p.idd5pb > 0)
}
