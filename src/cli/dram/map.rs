//! `warpmem dram map`: explains address maps.

use super::super::format::{self, TextFormat};
use super::super::machines::{MACHINE_HELP, MachineName, Overrides};
use super::super::output::print;
use crate::machine::{DEFAULT_MACHINE, Machine};
use crate::sim::{AddressMap, BankId, ChannelId, IndexHash, Location, RowId};
use clap::ValueHint;
use serde_json::{Map, Value, json};
use warpmem_support::text::aligned;

/// Explain the location of addresses, the bits that select it, and the effect of hashes
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Byte addresses, decimal or hexadecimal
    #[arg(value_name = "ADDRESS", required = true, value_parser = parse_address)]
    addresses: Vec<u64>,
    #[arg(long, value_name = "NAME|FILE", default_value = DEFAULT_MACHINE, help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: MachineName,
    #[command(flatten)]
    overrides: Overrides,
    /// Format of the output
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem dram map 0x12345678 --machine v100
  warpmem dram map 0 256 512 --set dram.channels=5 --set dram.address.bank_hash=xor
  warpmem dram map 0x4000 --machine li2015 --set dram.address.map=RoBaCo --format json";

fn parse_address(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| format!("{error}; valid: a 64-bit number, as 4096 or 0x1000"))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let machine = args.overrides.apply(&args.machine)?;
    let map = machine.address_map()?;
    let explained = args.addresses.iter().map(|&address| Explained::new(&machine, &map, address));
    print(&match args.format {
        TextFormat::Table => {
            let blocks: Vec<String> = explained.map(|one| one.text()).collect();
            format!("{}\n{}", heading(&machine, &map), blocks.join("\n"))
        }
        TextFormat::Json => format::json(&explained.map(|one| one.row()).collect::<Vec<_>>()),
    })
}

/// Formats the layout shared by all addresses.
fn heading(machine: &Machine, map: &AddressMap) -> String {
    let layout = map.layout();
    let interleave = layout.interleave.map_or(String::new(), |bit| {
        let (channels, bytes) = (machine.dram.channels, 1u64 << bit);
        format!("{channels} channels are interleaved every {bytes} bytes; bits are those of the address within a channel\n")
    });
    format!("{}: {layout}, {} bytes\n{interleave}", machine.name, map.capacity())
}

/// A field of an address.
struct Part {
    key: &'static str,
    value: u32,
    before_hash: u32,
    /// Selecting bits of the address within the channel.
    bits: u64,
    /// Hash that is XORed onto the field, or by which interleaved channels are rotated.
    hash: Option<String>,
}

/// Location of an address, and its derivation.
struct Explained {
    address: u64,
    within_channel: u64,
    in_map: bool,
    /// Whether channels are interleaved without selecting bits.
    is_interleaved: bool,
    parts: Vec<Part>,
}

impl Explained {
    fn new(machine: &Machine, map: &AddressMap, address: u64) -> Explained {
        let within_channel = map.within_channel(address).1;
        let mut parts = parts(machine, map, address);
        let is_interleaved = map.layout().interleave.is_some();
        // A field without bits is not hashed, but interleaved channels are rotated.
        let is_rotated = |part: &Part| is_interleaved && matches!(part.key, "channel" | "slice");
        let without = parts.iter_mut().filter(|part| part.bits == 0 && !is_rotated(part));
        without.for_each(|part| part.hash = None);
        Explained {
            address,
            within_channel,
            in_map: address < map.capacity(),
            is_interleaved,
            parts,
        }
    }

    fn text(&self) -> String {
        let hashed = self.parts.iter().any(|part| part.hash.is_some());
        let hashing: &[&str] = if hashed { &["before hash", "hash"] } else { &[] };
        let heading = [&["  field", "value", "bits"], hashing].concat();
        let heading: Vec<String> = heading.into_iter().map(str::to_owned).collect();
        let rows: Vec<Vec<String>> =
            [heading].into_iter().chain(self.parts.iter().map(|part| self.cells(part))).collect();
        format!("{:#x}{}\n{}{}", self.address, self.inner(), aligned(&rows, &[1, 3]), self.beyond())
    }

    fn inner(&self) -> String {
        match self.is_interleaved {
            true => format!(", {:#x} within the channel", self.within_channel),
            false => String::new(),
        }
    }

    fn beyond(&self) -> &'static str {
        let hashed = self.parts.iter().any(|part| part.key == "channel" && part.hash.is_some());
        match (self.in_map, hashed) {
            (true, _) => "",
            (false, false) => "  beyond the map: the bits above it are ignored\n",
            (false, true) => {
                "  beyond the map: the bits above it enter only the hash of channel and slice\n"
            }
        }
    }

    fn cells(&self, part: &Part) -> Vec<String> {
        let bits = match (part.key, self.is_interleaved) {
            ("channel", true) => "interleaved".to_owned(),
            ("slice", true) => format!("interleaved, {}", ranges(part.bits)),
            _ => ranges(part.bits),
        };
        let [before, hash] = match &part.hash {
            Some(hash) => [part.before_hash.to_string(), hash.clone()],
            None => [String::new(), String::new()],
        };
        vec![
            format!("  {}", part.key.replace('_', " ")),
            part.value.to_string(),
            bits,
            before,
            hash,
        ]
    }

    fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        row.insert("address".to_owned(), self.address.into());
        row.insert("within_channel".to_owned(), self.within_channel.into());
        row.insert("in_map".to_owned(), self.in_map.into());
        for part in &self.parts {
            row.insert(part.key.to_owned(), part.value.into());
        }
        row.insert("before_hash".to_owned(), self.by_part(|part| part.before_hash.into()));
        row.insert("bits".to_owned(), self.by_part(|part| positions(part.bits).collect()));
        row.insert("hash".to_owned(), self.by_part(|part| json!(part.hash)));
        row
    }

    fn by_part(&self, value: fn(&Part) -> Value) -> Value {
        let fields = self.parts.iter().map(|part| (part.key.to_owned(), value(part)));
        Value::Object(fields.collect())
    }
}

fn parts(machine: &Machine, map: &AddressMap, address: u64) -> Vec<Part> {
    let (dram, slices) = (&machine.dram, machine.l2.slices_per_channel as u16);
    let (place, before) = (map.locate(address), map.unhashed(address));
    let hashed = map.hashed();
    let bits = match *hashed.end() == u64::BITS - 1 {
        true => format!("bits {} and up", hashed.start()),
        false => format!("bits {} to {}", hashed.start(), hashed.end()),
    };
    let [of_channel, of_slice] = partition_hashes(machine, map, &bits);
    let by_row = hash(dram.address.bank_hash, "the row");
    let field = |key, value: fn(&Location) -> u32, all: Location, hash: &Option<String>| Part {
        key,
        value: value(&place),
        before_hash: value(&before),
        bits: map.bits(&all),
        hash: hash.clone(),
    };
    let bank_part = |key, unit: u32, count: u32| Part {
        key,
        value: u32::from(place.bank.0) / unit % count,
        before_hash: u32::from(before.bank.0) / unit % count,
        bits: map
            .bits(&Location { bank: BankId((unit * (count - 1)) as u16), ..Location::default() }),
        hash: by_row.clone(),
    };
    let none = Location::default();
    let channel = Location { channel: ChannelId(u16::MAX), ..none };
    let (groups, of_stack) = (dram.bank_groups, dram.banks_per_stack());
    let byte = address & u64::from(dram.burst_bytes() - 1);
    vec![
        field("channel", |at| at.channel.0.into(), channel, &of_channel),
        field(
            "slice",
            |at| at.slice.0.into(),
            Location { bank: BankId(slices - 1), ..channel },
            &of_slice,
        ),
        bank_part("pseudo_channel", of_stack * dram.stacks, dram.pseudo_channels),
        bank_part("stack", of_stack, dram.stacks),
        bank_part("bank_group", 1, groups),
        bank_part("bank_in_group", groups, of_stack / groups),
        bank_part("bank", 1, dram.banks),
        field("row", |at| at.row.0, Location { row: RowId(u32::MAX), ..none }, &None),
        field("column", |at| at.column.into(), Location { column: u16::MAX, ..none }, &None),
        Part {
            key: "byte",
            value: byte as u32,
            before_hash: byte as u32,
            bits: u64::from(dram.burst_bytes() - 1),
            hash: None,
        },
    ]
}

/// Returns the hashes of channel and slice; the hash of address bits takes `bits`.
fn partition_hashes(machine: &Machine, map: &AddressMap, bits: &str) -> [Option<String>; 2] {
    let kind = machine.dram.address.partition_hash;
    let of_bits = hash(kind, bits);
    let Some(bit) = map.layout().interleave else { return [of_bits.clone(), of_bits] };
    let rotation = hash(kind, &format!("bits {bit} and up"));
    let rotation = rotation.map(|hash| format!("{hash}, modulo {}", machine.dram.channels));
    let of_slice = match machine.l2.slices_per_channel {
        1 => rotation.clone(),
        _ => of_bits.map(|of_bits| format!("that of the channel; {of_bits}")),
    };
    [rotation, of_slice]
}

/// Describes a hash and its input bits; none if it changes nothing.
fn hash(kind: IndexHash, of: &str) -> Option<String> {
    match kind {
        IndexHash::Linear => None,
        IndexHash::Xor => Some(format!("xor of {of}")),
        IndexHash::Ipoly => Some(format!("ipoly of {of}")),
    }
}

fn positions(bits: u64) -> impl Iterator<Item = u32> {
    (0..u64::BITS).filter(move |bit| bits >> bit & 1 == 1)
}

/// Formats bits as `5-7, 14`, or a dash for no bits.
fn ranges(bits: u64) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for bit in positions(bits) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == bit => *last = bit,
            _ => runs.push((bit, bit)),
        }
    }
    let run = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    match runs.is_empty() {
        true => "-".to_owned(),
        false => runs.into_iter().map(run).collect::<Vec<_>>().join(", "),
    }
}
