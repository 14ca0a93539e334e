//! The configuration of a machine's DRAM channels.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use warpmem_params::{Invalid, power_of_two, rule};
use warpmem_sim::{Address, AddressMap, AddressSpace, Layout};

type Check = Result<(), Invalid>;

/// DRAM channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    pub standard: String,
    /// The directory that `standard` is relative to, if it is a path; empty: the current one. It is
    /// not part of the machine's identity: runs depend on the file's content, not on where it lies.
    #[serde(skip)]
    pub standard_folder: PathBuf,
    pub channels: u32,
    /// Pseudo channels of one channel: each has a data bus, all share the command buses.
    #[serde(default = "one")]
    pub pseudo_channels: u32,
    /// Stacks (SIDs) of one pseudo channel.
    #[serde(default = "one")]
    pub stacks: u32,
    /// Banks of one channel, all its pseudo channels and stacks together.
    pub banks: u32,
    /// Bank groups of one stack.
    pub bank_groups: u32,
    /// Data bus of one pseudo channel.
    pub bus_bytes: u32,
    /// Transfers per column command.
    pub burst_length: u32,
    /// Transfers per command clock (2 = double, 4 = quad data rate, 8 = GDDR6 at its command
    /// clock).
    pub transfers_per_clock: u32,
    pub row_bytes: u32,
    /// Devices of one channel, side by side or stacked on its buses. Only energy depends on them.
    #[serde(default = "one")]
    pub devices: u32,
    /// Row and column commands have a bus each.
    pub dual_command_bus: bool,
    /// Requests waiting in a channel: reads, or both kinds where `write_queue` is 0.
    pub read_queue: u32,
    /// 0 = one queue for reads and writes.
    pub write_queue: u32,
    /// Writes waiting at which draining begins and ends (separate write queue only).
    pub write_high_watermark: u32,
    pub write_low_watermark: u32,
    /// Writes that a drain serves at least, once begun, while there are any.
    #[serde(default)]
    pub write_min_drain: u32,
    /// How the queues' entries are shared among the banks.
    #[serde(default)]
    pub queue_organisation: QueueOrganisation,
    /// When rows are closed: the name of a page policy.
    #[serde(default = "open_page")]
    pub page: String,
    /// Requests that may be assigned to idle banks in one cycle; 0 = one for every bank.
    #[serde(default)]
    pub picks_per_cycle: u32,
    /// Finished reads that wait for the slice.
    pub return_queue: u32,
    pub timing: Timing,
    #[serde(default)]
    pub power: Power,
    pub address: Address,
}

/// How a channel's queue is shared among its banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrganisation {
    /// Any bank's requests may take any entry.
    #[default]
    Channel,
    /// Every bank has an equal share of the entries.
    PerBank,
}

fn open_page() -> String {
    "open".to_owned()
}

/// DRAM timing, command clock cycles. `docs/machines.md` says which constraint each enters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// ACT to RD, same bank.
    pub trcd: u32,
    /// ACT to WR, same bank.
    pub trcdw: u32,
    /// ACT to PRE, same bank.
    pub tras: u32,
    /// PRE to ACT, same bank.
    pub trp: u32,
    /// ACT to ACT, same bank.
    pub trc: u32,
    /// Column command to column command, other bank group.
    pub tccds: u32,
    /// Column command to column command, same bank group.
    pub tccdl: u32,
    /// ACT to ACT, other bank group.
    pub trrds: u32,
    /// ACT to ACT, same bank group.
    pub trrdl: u32,
    /// Window that holds at most four ACTs; 0 = none.
    pub tfaw: u32,
    /// RD to first data.
    pub tcl: u32,
    /// WR to first data.
    pub twl: u32,
    /// End of write data to RD, other bank group (tCDLR).
    pub twtrs: u32,
    /// End of write data to RD, same bank group.
    pub twtrl: u32,
    /// RD to WR on the channel, beyond CL + burst - WL.
    pub trtw_gap: u32,
    /// End of write data to PRE, same bank.
    pub twr: u32,
    /// RD to PRE, same bank (tRTPL).
    pub trtp: u32,
    /// Between refreshes of all banks; 0 = no refresh.
    pub trefi: u32,
    /// REF to any command.
    pub trfc: u32,
    /// RD to RD, other stack of a pseudo channel.
    #[serde(default)]
    pub tccdr: u32,
    /// RD to WR, for standards that give it as such; others give `trtw_gap`.
    #[serde(default)]
    pub trtw: u32,
    /// Window that holds at most 32 ACTs; 0 = none.
    #[serde(default)]
    pub t32aw: u32,
    /// PRE to PRE, other bank.
    #[serde(default)]
    pub tppd: u32,
    /// Between refreshes of single banks; 0 = none.
    #[serde(default)]
    pub trefipb: u32,
    /// REFPB to any command, same bank.
    #[serde(default)]
    pub trfcpb: u32,
    /// REFPB to ACT or REFPB, other bank.
    #[serde(default)]
    pub trrefd: u32,
}

/// Supply and currents of one device, by the names of data sheets; 0 = not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Supply voltage, mV.
    pub vdd: u32,
    /// One bank opened and closed every tRC, mA.
    pub idd0: u32,
    /// Standby with all banks closed, mA.
    pub idd2n: u32,
    /// Standby with a row open, mA.
    pub idd3n: u32,
    /// Reading burst after burst, mA.
    pub idd4r: u32,
    /// Writing burst after burst, mA.
    pub idd4w: u32,
    /// Refresh of all banks, mA during tRFC.
    pub idd5ab: u32,
    /// Refresh of one bank, mA during tRFCpb.
    pub idd5pb: u32,
}

fn one() -> u32 {
    1
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

    /// The address map with this many LLC slices to a channel.
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
