//! The configuration of a machine's DRAM channels.

use crate::GivenTimes;
use serde::Serialize;
use std::path::PathBuf;
use warpmem_params::limits::{CYCLES, ENTRIES};
use warpmem_params::{Invalid, choice, power_of_two, rule, section, serde_choice};
use warpmem_sim::{Address, AddressMap, AddressSpace, Layout};

type Check = Result<(), Invalid>;

/// Longest queue of a channel, entries: requests are numbered in 16 bits, and every bank needs one
/// more number.
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
        /// Name of a built-in standard, or the path of a `.toml` file. It defines the constraints
        /// that the timing below enters: see [DRAM standards](dram-standards.md). With an
        /// organisation, `NAME:ORGANISATION[:SPEED]`, it gives the channels too, see [DRAM
        /// parts](#dram-parts).
        standard: String, in "standard";
        /// Channels; a power of two if the address map has the channel.
        channels: u32, in 1..=256, unit "channels";
        /// Parts of a channel with a data bus each; they share the command buses. A power of two.
        pseudo_channels: u32 = 1, in 1..=64, unit "pseudo channels";
        /// Stacks (SIDs) of a pseudo channel: a power of two.
        stacks: u32 = 1, in 1..=64, unit "stacks";
        /// Banks of a channel, all its pseudo channels and stacks together: a power of two.
        banks: u32, in 1..=64, unit "banks";
        /// Bank groups of a stack: a power of two. The group is the low bits of the bank within its
        /// stack.
        bank_groups: u32, in 1..=64, unit "groups";
        /// Data bus of a pseudo channel.
        bus_bytes: u32, in 1..=128, unit "bytes";
        /// Transfers per column command. Bus x burst is a power of two and at most a sector; the
        /// burst takes no longer than tCCD.
        burst_length: u32, in 1..=64, unit "transfers";
        /// Transfers per command clock: 2 for double, 4 for quad data rate, 8 for GDDR6 at its
        /// command clock. Divides the burst.
        transfers_per_clock: u32, in 1..=64, unit "transfers";
        /// Row of a bank over all chips of a channel: a power of two.
        row_bytes: u32, in 32..=1 << 20, unit "bytes";
        /// Devices (chips) of one channel, side by side or stacked on its buses; only energy
        /// depends on them.
        devices: u32 = 1, in 1..=64, unit "devices";
        /// Row and column commands have a bus each (HBM, GDDR7).
        dual_command_bus: bool = false;
        /// Reads waiting in a channel; both kinds where there is no write queue.
        read_queue: u32, in 1..=CHANNEL_ENTRIES, unit "requests";
        /// Writes waiting in a channel; 0 = one queue for both kinds.
        write_queue: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Writes waiting at which draining begins; 0 without a write queue.
        write_high_watermark: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Writes waiting at which draining ends; below the high watermark.
        write_low_watermark: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// Minimum of writes that a drain serves once it has begun, while there are any.
        write_min_drain: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// How banks share the queues' entries. `channel`: a request may take any entry.
        /// `per-bank`: each bank has an equal share, at least one entry.
        queue_organisation: QueueOrganisation = QueueOrganisation::Channel;
        /// When rows are closed.
        page: String = "open", in "page policy";
        /// Requests that may be assigned to idle banks in one cycle; 0 = one for every bank.
        picks_per_cycle: u32 = 0, in 0..=64, unit "requests";
        /// Requests of one kind that may pass one in service that waits for the data bus to turn around;
        /// 0 = any number.
        turnaround_limit: u32 = 0, in 0..=CHANNEL_ENTRIES, unit "requests";
        /// The datum of its last column command with which a request is done: `last-datum`, or
        /// `first-datum` as in GPGPU-Sim.
        done_with: DoneWith = DoneWith::LastDatum;
        /// Finished reads that wait for the slice.
        return_queue: u32, in 1..=ENTRIES, unit "requests";
        /// From the cycle in which a read is done until its slice can take it.
        return_latency: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Timing, command clock cycles.
        timing: Timing;
        /// Supply and currents of one device.
        power: Power;
        /// The address map.
        address: Address;
    } beside {
        /// The directory that `standard` is relative to, if it is a path; empty: the current one. It
        /// is not part of the machine's identity: runs depend on the file's content, not on where it
        /// lies.
        #[serde(skip)]
        standard_folder: PathBuf;
        /// How its times were given. It is not part of the machine's identity, which has their cycles.
        #[serde(skip)]
        given: GivenTimes;
    }
}

choice! {
    /// How a channel's queue is shared among its banks.
    #[derive(Debug, PartialEq, Eq)]
    pub enum QueueOrganisation {
        /// Any bank's requests may take any entry.
        Channel = "channel",
        /// Every bank has an equal share of the entries.
        PerBank = "per-bank",
    }
}

serde_choice!(QueueOrganisation);

choice! {
    /// The datum with which a request is done.
    #[derive(Debug, PartialEq, Eq)]
    pub enum DoneWith {
        /// The last of its last column command.
        LastDatum = "last-datum",
        /// The first of its last column command.
        FirstDatum = "first-datum",
    }
}

serde_choice!(DoneWith);

section! {
    /// DRAM timing, command clock cycles. `docs/machines.md` says which constraint each enters. A
    /// speed of a standard may leave out the times that some standards do not have.
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
        /// Window that holds at most four ACTs; 0 = none.
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
        /// Between refreshes of all banks; 0 = no refresh.
        trefi: u32, in 0..=REFRESH_CYCLES, unit "command cycles";
        /// REF to any command; 0 without refresh, else below tREFI.
        trfc: u32, in 0..=CYCLES, unit "command cycles";
        /// RD to RD, other stack.
        tccdr: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// RD to WR, for standards that give it as such (GDDR7, HBM3); others give `trtw_gap`.
        trtw: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Window that holds at most 32 ACTs; 0 = none.
        t32aw: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// PRE to PRE, other bank.
        tppd: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// Between refreshes of single banks, one bank after the other; 0 = none, and 0 beside
        /// refresh of all banks.
        trefipb: u32 = 0, in 0..=REFRESH_CYCLES, unit "command cycles";
        /// REFPB to any command, same bank; 0 without such refresh.
        trfcpb: u32 = 0, in 0..=CYCLES, unit "command cycles";
        /// REFPB to ACT or REFPB, other bank; 0 without such refresh, else below tREFIpb.
        trrefd: u32 = 0, in 0..=CYCLES, unit "command cycles";
    }
}

section! {
    /// Supply and currents of one device, by the names of data sheets; 0 = not known.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Power {
        /// Supply voltage.
        vdd: u32, in 0..=MILLIVOLTS, unit "mV";
        /// One bank opened and closed every tRC; at least IDD3N.
        idd0: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Standby with all banks closed.
        idd2n: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Standby with a row open; at least IDD2N.
        idd3n: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Reading burst after burst; at least IDD3N.
        idd4r: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Writing burst after burst; at least IDD3N.
        idd4w: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Refresh of all banks, during tRFC; at least IDD3N. Needed where `trefi` is above 0.
        idd5ab: u32, in 0..=MILLIAMPERES, unit "mA";
        /// Refresh of one bank, during tRFCpb; at least IDD3N. Needed where `trefipb` is above 0.
        idd5pb: u32 = 0, in 0..=MILLIAMPERES, unit "mA";
    }
}

impl Dram {
    /// Banks of one stack of one pseudo channel.
    pub fn banks_per_stack(&self) -> u32 {
        self.banks / (self.pseudo_channels * self.stacks)
    }

    /// Bytes moved by one column command.
    pub fn burst_bytes(&self) -> u32 {
        self.bus_bytes * self.burst_length
    }

    /// Command clock cycles for which one column command holds the data bus.
    pub fn burst_cycles(&self) -> u32 {
        self.burst_length / self.transfers_per_clock
    }

    /// Bytes that the data buses of one channel move in a command clock cycle.
    pub fn bytes_per_cycle(&self) -> u32 {
        self.pseudo_channels * self.bus_bytes * self.transfers_per_clock
    }

    /// Bytes per second of all data buses together, at a command clock of `mhz`.
    pub fn peak_bytes_per_second(&self, mhz: u32) -> u64 {
        u64::from(self.channels * self.bytes_per_cycle()) * u64::from(mhz) * 1_000_000
    }

    /// The parts of the channels that addresses are divided among.
    ///
    /// # Errors
    /// [`Invalid`] if an address bit could not select the parts of a channel.
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

    /// What the address map says, whichever way it is spelt.
    ///
    /// # Errors
    /// [`Invalid`] if the channels' organisation or the map is not valid.
    pub fn layout(&self) -> Result<Layout, Invalid> {
        self.address_space()?.layout()
    }

    /// The address map with this many L2 slices to a channel.
    ///
    /// # Errors
    /// As [`Dram::layout`], or if the slices are not valid.
    pub fn address_map(&self, slices_per_channel: u32) -> Result<AddressMap, Invalid> {
        AddressMap::new(&self.address_space()?, slices_per_channel)
    }
}

/// How a channel is divided: everything that an address bit can select comes in powers of two.
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

/// A bank without an entry of its own would never take a request.
fn check_shares(dram: &Dram) -> Check {
    if dram.queue_organisation == QueueOrganisation::Channel {
        return Ok(());
    }
    let banks = dram.banks;
    let valid = format!("an entry for each of the {banks} banks, as each has its own queue");
    rule(dram.read_queue >= banks, "dram.read_queue", dram.read_queue, valid.clone())?;
    let (writes, shared) = (dram.write_queue, dram.write_queue == 0);
    rule(shared || writes >= banks, "dram.write_queue", writes, valid)
}
