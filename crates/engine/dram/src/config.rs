//! The configuration of the DRAM channels of a machine.

use crate::GivenTimes;
use serde::Serialize;
use std::path::PathBuf;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{Invalid, choice, power_of_two, rule, section, serde_choice};
use warpmem_sim::{Address, AddressMap, AddressSpace, Layout};

type Check = Result<(), Invalid>;

/// Longest queue of a channel, entries: slots are numbered in 16 bits, and every bank needs one
/// more slot.
const CHANNEL_ENTRIES: u64 = 32_768;
/// Longest interval between refreshes, cycles.
const REFRESH_CYCLES: u64 = 100_000_000;
/// Highest supply and current of a device.
const MILLIVOLTS: u64 = 10_000;
const MILLIAMPERES: u64 = 100_000;

section! {
    /// DRAM channels.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Dram {
        /// Name of a built-in standard, or path of a `.toml` file. It defines the constraints of
        /// the timing below: see [DRAM standards](dram-standards.md). With an organisation,
        /// `NAME:ORGANISATION[:SPEED]`, it also defines the channels, see [DRAM
        /// parts](#dram-parts).
        standard: String, in "standard";
        /// Number of channels; a power of two if the address map names the channel.
        channels: u32, in 1..=256, unit "channels";
        /// Divisions of a channel with separate data buses and shared command buses. A power of
        /// two.
        pseudo_channels: u32 = 1, in 1..=64, unit "pseudo channels";
        /// Stacks (SIDs) of a pseudo channel. A power of two.
        stacks: u32 = 1, in 1..=64, unit "stacks";
        /// Banks of a channel over all its pseudo channels and stacks. A power of two.
        banks: u32, in 1..=64, unit "banks";
        /// Bank groups of a stack. A power of two. The group is the low bits of the bank within its
        /// stack.
        bank_groups: u32, in 1..=64, unit "groups";
        /// Width of the data bus of a pseudo channel.
        bus_bytes: u32, in 1..=128, unit "bytes";
        /// Transfers per column command. Bus x burst is a power of two and at most a sector; the
        /// burst takes at most tCCD.
        burst_length: u32, in 1..=64, unit "transfers";
        /// Transfers per command clock: 2 for double, 4 for quad data rate, 8 for GDDR6 at its
        /// command clock. Divides the burst.
        transfers_per_clock: u32, in 1..=64, unit "transfers";
        /// Row size of a bank over all chips of a channel. A power of two.
        row_bytes: u32, in 32..=1 << 20, unit "bytes";
        /// Devices (chips) of one channel, side by side or stacked on its buses; they affect energy
        /// only.
        devices: u32 = 1, in 1..=64, unit "devices";
        /// Separate buses for row and column commands (HBM, GDDR7).
        dual_command_bus: bool = false;
        /// Capacity of the read queue of a channel, or of the shared queue if there is no write
        /// queue.
        read_queue: u32, in 1..=CHANNEL_ENTRIES, unit "requests";
        /// Capacity of the write queue of a channel; 0 = one queue for reads and writes.
        write_queue: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Waiting writes at which a drain begins; 0 without a write queue.
        write_high_watermark: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Waiting writes at which a drain ends; below the high watermark.
        write_low_watermark: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Minimum number of writes that a drain serves while there are any.
        write_min_drain: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Sharing of the queue entries between banks. `channel`: a request may take any entry.
        /// `per-bank`: each bank has an equal share, at least one entry.
        queue_organisation: QueueOrganisation = QueueOrganisation::Channel;
        /// Page policy: when rows are closed.
        page: String = "open", in "page policy";
        /// Requests that may be assigned to idle banks per cycle; 0 = one for every bank.
        picks_per_cycle: u32 = 0, in 0..=64, unit "requests";
        /// Requests of one direction that may bypass one in service that waits for the data bus to
        /// turn around; 0 = unlimited.
        turnaround_limit: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Datum of the last column command that completes a request: `last-datum`, or
        /// `first-datum` as in GPGPU-Sim.
        done_with: DoneWith = DoneWith::LastDatum;
        /// Completed reads waiting for the slice.
        return_queue: u32, in 1..=ENTRIES, unit "requests";
        /// Latency from the completion of a read until its slice can take it.
        return_latency: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Timing, command clock cycles.
        timing: Timing;
        /// Supply and currents of one device.
        power: Power;
        /// The address map.
        address: Address;
    } beside {
        /// Directory that a path in `standard` is relative to; empty: the current one. It is not
        /// part of the identity of the machine: runs depend on the content of the file, not on its
        /// location.
        #[serde(skip)]
        standard_folder: PathBuf;
        /// Units in which the times were given. They are not part of the identity of the machine,
        /// which has the times in cycles.
        #[serde(skip)]
        given: GivenTimes;
    }
}

choice! {
    /// Sharing of the queue entries of a channel between its banks.
    #[derive(Debug, PartialEq, Eq)]
    pub enum QueueOrganisation {
        /// Requests of any bank may take any entry.
        Channel = "channel",
        /// Every bank has an equal share of the entries.
        PerBank = "per-bank",
    }
}

serde_choice!(QueueOrganisation);

choice! {
    /// The datum that completes a request.
    #[derive(Debug, PartialEq, Eq)]
    pub enum DoneWith {
        /// The last datum of its last column command.
        LastDatum = "last-datum",
        /// The first datum of its last column command.
        FirstDatum = "first-datum",
    }
}

serde_choice!(DoneWith);

section! {
    /// DRAM timing, command clock cycles. `docs/machines.md` lists the constraints that each time
    /// enters. The speed of a standard may omit the times that some standards do not define.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Timing {
        /// ACT to RD, same bank.
        trcd: u32, in 1..=CYCLES, unit "command cycles";
        /// ACT to WR, same bank.
        trcdw: u32, in 1..=CYCLES, unit "command cycles";
        /// ACT to PRE, same bank; at least tRCD.
        tras: u32, in 1..=CYCLES, unit "command cycles";
        /// PRE to ACT, same bank.
        trp: u32, in 1..=CYCLES, unit "command cycles";
        /// ACT to ACT, same bank; at least tRAS + tRP, but for `gddr6-gpgpusim`: at least tRAS.
        trc: u32, in 1..=CYCLES, unit "command cycles";
        /// Column command to column command of the same kind, other bank group.
        tccds: u32, in 1..=CYCLES, unit "command cycles";
        /// Column command to column command of the same kind, same bank group; at least tCCDS.
        tccdl: u32, in 1..=CYCLES, unit "command cycles";
        /// ACT to ACT, other bank group.
        trrds: u32, in 1..=CYCLES, unit "command cycles";
        /// ACT to ACT, same bank group; at least tRRDS.
        trrdl: u32, in 1..=CYCLES, unit "command cycles";
        /// Window of at most four ACTs; 0 = none.
        tfaw: u32, in 0..=CYCLES, unit "command cycles";
        /// RD to first data.
        tcl: u32, in 1..=CYCLES, unit "command cycles";
        /// WR to first data.
        twl: u32, in 1..=CYCLES, unit "command cycles";
        /// End of write data to RD, other bank group (tCDLR).
        twtrs: u32, in 0..=CYCLES, unit "command cycles";
        /// End of write data to RD, same bank group; at least tWTRS.
        twtrl: u32, in 0..=CYCLES, unit "command cycles";
        /// RD to WR beyond CL + burst - WL.
        trtw_gap: u32, in 0..=CYCLES, unit "command cycles";
        /// End of write data to PRE, same bank.
        twr: u32, in 0..=CYCLES, unit "command cycles";
        /// RD to PRE, same bank (tRTPL).
        trtp: u32, in 0..=CYCLES, unit "command cycles";
        /// Interval between refreshes of all banks; 0 = no refresh.
        trefi: u32, in 0..=REFRESH_CYCLES, unit "command cycles";
        /// REF to any command; 0 without refresh, else below tREFI.
        trfc: u32, in 0..=CYCLES, unit "command cycles";
        /// RD to RD, other stack.
        tccdr: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// RD to WR, for standards that define it directly (GDDR7, HBM3); others use `trtw_gap`.
        trtw: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Window of at most 32 ACTs; 0 = none.
        t32aw: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// PRE to PRE, other bank.
        tppd: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Interval between refreshes of single banks, one bank at a time; 0 = none, and 0 with
        /// refresh of all banks.
        trefipb: u32 = 0, in 0..=REFRESH_CYCLES, unit "command cycles";
        /// REFPB to any command, same bank; 0 without refresh of single banks.
        trfcpb: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// REFPB to ACT or REFPB, other bank; 0 without refresh of single banks, else below
        /// tREFIpb.
        trrefd: u32 = 0, in 0..=CYCLES, unit "command cycles";
    }
}

section! {
    /// Supply and currents of one device, named as in data sheets; 0 = unknown.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Power {
        /// Supply voltage.
        vdd: u32, in 0..=MILLIVOLTS, unit "mV";
        /// Current while one bank is opened and closed every tRC; at least IDD3N.
        idd0: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Standby current with all banks closed.
        idd2n: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Standby current with an open row; at least IDD2N.
        idd3n: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Current of continuous read bursts; at least IDD3N.
        idd4r: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Current of continuous write bursts; at least IDD3N.
        idd4w: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Current of an all-bank refresh during tRFC; at least IDD3N. Required if `trefi` is above
        /// 0.
        idd5ab: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Current of a single-bank refresh during tRFCpb; at least IDD3N. Required if `trefipb` is
        /// above 0.
        idd5pb: u32 = 0, in 0..=MILLIAMPERES, unit "mA";
    }
}

impl Dram {
    /// Returns the banks of one stack of one pseudo channel.
    pub fn banks_per_stack(&self) -> u32 {
        self.banks / (self.pseudo_channels * self.stacks)
    }

    /// Returns the bytes moved by one column command.
    pub fn burst_bytes(&self) -> u32 {
        self.bus_bytes * self.burst_length
    }

    /// Returns the data-bus occupancy of one column command, command clock cycles.
    pub fn burst_cycles(&self) -> u32 {
        self.burst_length / self.transfers_per_clock
    }

    /// Returns the bytes that the data buses of one channel move per command clock cycle.
    pub fn bytes_per_cycle(&self) -> u32 {
        self.pseudo_channels * self.bus_bytes * self.transfers_per_clock
    }

    /// Returns the bytes per second of all data buses together at a command clock of `mhz`.
    pub fn peak_bytes_per_second(&self, mhz: u32) -> u64 {
        u64::from(self.channels * self.bytes_per_cycle()) * u64::from(mhz) * 1_000_000
    }

    /// Returns the dimensions of the channels that address bits select.
    ///
    /// # Errors
    /// Returns [`Invalid`] if address bits cannot select one of the dimensions.
    pub fn address_space(&self) -> Result<AddressSpace, Invalid> {
        check_organisation(self)?;
        Ok(AddressSpace {
            channels: self.channels,
            pseudo_channels: self.pseudo_channels,
            stacks: self.stacks,
            banks: self.banks,
            bank_groups: self.bank_groups,
            burst_bytes: self.burst_bytes(),
            row_bytes: self.row_bytes,
            address: self.address.clone(),
        })
    }

    /// Returns the address map, parsed from either notation.
    ///
    /// # Errors
    /// Returns [`Invalid`] if the organisation of the channels or the map is not valid.
    pub fn layout(&self) -> Result<Layout, Invalid> {
        self.address_space()?.layout()
    }

    /// Returns the address map with `slices_per_channel` L2 slices per channel.
    ///
    /// # Errors
    /// As [`Dram::layout`], or if the slices are not valid.
    pub fn address_map(&self, slices_per_channel: u32) -> Result<AddressMap, Invalid> {
        AddressMap::new(&self.address_space()?, slices_per_channel)
    }
}

/// Checks the organisation of a channel: every dimension that address bits select is a power of
/// two.
pub(crate) fn check_organisation(dram: &Dram) -> Check {
    rule(dram.channels > 0, "dram.channels", dram.channels, "at least 1")?;
    power_of_two("dram.banks", dram.banks)?;
    power_of_two("dram.pseudo_channels", dram.pseudo_channels)?;
    power_of_two("dram.stacks", dram.stacks)?;
    power_of_two("dram.bank_groups", dram.bank_groups)?;
    let stacks = u64::from(dram.pseudo_channels) * u64::from(dram.stacks);
    let banks =
        format!("at least one per stack: `dram.pseudo_channels` x `dram.stacks` = {stacks}",);
    rule(u64::from(dram.banks) >= stacks, "dram.banks", dram.banks, banks)?;
    let of_stack = dram.banks_per_stack();
    let groups =
        format!("at most one per bank of a stack: {of_stack} of `dram.banks` = {}", dram.banks);
    rule(dram.bank_groups <= of_stack, "dram.bank_groups", dram.bank_groups, groups)?;
    let transfers = dram.transfers_per_clock;
    let whole = format!("a multiple of `dram.transfers_per_clock` = {transfers}");
    rule(
        dram.burst_length.is_multiple_of(transfers),
        "dram.burst_length",
        dram.burst_length,
        whole,
    )?;
    let bytes = dram.burst_bytes();
    let width = format!(
        "a width whose burst ({} bytes x {} transfers = {bytes} bytes) is a power of two",
        dram.bus_bytes, dram.burst_length
    );
    rule(bytes.is_power_of_two(), "dram.bus_bytes", dram.bus_bytes, width)?;
    power_of_two("dram.row_bytes", dram.row_bytes)?;
    let row = format!("at least a column command: {bytes} bytes");
    rule(dram.row_bytes >= bytes, "dram.row_bytes", dram.row_bytes, row)
}

pub(crate) fn check_queues(dram: &Dram) -> Check {
    check_shares(dram)?;
    let (low, high) = (dram.write_low_watermark, dram.write_high_watermark);
    if dram.write_queue == 0 {
        let valid = "0 without a write queue (`dram.write_queue` = 0)";
        rule(high == 0, "dram.write_high_watermark", high, valid)?;
        return rule(low == 0, "dram.write_low_watermark", low, valid);
    }
    let high_valid = format!("1 to `dram.write_queue` = {}", dram.write_queue);
    rule((1..=dram.write_queue).contains(&high), "dram.write_high_watermark", high, high_valid)?;
    let low_valid = format!("below `dram.write_high_watermark` = {high}");
    rule(low < high, "dram.write_low_watermark", low, low_valid)
}

/// Checks that every bank has an entry; a bank without one would never take a request.
fn check_shares(dram: &Dram) -> Check {
    if dram.queue_organisation == QueueOrganisation::Channel {
        return Ok(());
    }
    let banks = dram.banks;
    let valid = format!("at least {banks}, one entry for each bank queue");
    rule(dram.read_queue >= banks, "dram.read_queue", dram.read_queue, valid.clone())?;
    let (writes, shared) = (dram.write_queue, dram.write_queue == 0);
    rule(shared || writes >= banks, "dram.write_queue", writes, valid)
}
