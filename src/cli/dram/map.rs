//! `warpmem dram map`: where an address goes.

use super::super::format::{TextFormat, aligned};
use super::super::machines::{MACHINE_HELP, Overrides};
use super::super::output::print;
use clap::ValueHint;
use serde_json::{Value, json};
use warpmem::dram::{AddressMap, Location};

/// Explain where addresses go
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Byte addresses, decimal or hexadecimal
    #[arg(value_name = "ADDRESS", required = true, value_parser = parse_address)]
    addresses: Vec<u64>,
    #[arg(long, value_name = "NAME|FILE", default_value = "li2015", help = MACHINE_HELP, value_hint = ValueHint::FilePath)]
    machine: String,
    #[command(flatten)]
    overrides: Overrides,
    /// What to print
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
}

const AFTER_HELP: &str = "\
Examples:
  warpmem dram map 0x12345678 --machine v100
  warpmem dram map 0 256 512 --set dram.channels=5 --format json";

fn parse_address(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|error| format!("{error}; valid: a 64-bit number, as 4096 or 0x1000"))
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    let machine = args.overrides.apply(&args.machine)?;
    let map = AddressMap::new(&machine.dram, machine.llc.slices_per_channel)?;
    let places = args.addresses.iter().map(|&address| (address, map.locate(address)));
    print(&match args.format {
        TextFormat::Table => places.map(|(a, place)| text(a, place)).collect(),
        TextFormat::Json => {
            format!("{:#}\n", places.map(|(a, place)| object(a, place)).collect::<Value>())
        }
    })
}

fn text(address: u64, place: Location) -> String {
    let row = |name: &str, value: u32| vec![format!("  {name}"), value.to_string()];
    let rows = [
        row("channel", place.channel.into()),
        row("slice", place.slice.into()),
        row("bank", place.bank.into()),
        row("row", place.row),
        row("column", place.column),
    ];
    format!("{address:#x}\n{}", aligned(&rows, &[1]))
}

fn object(address: u64, place: Location) -> Value {
    json!({
        "address": address,
        "channel": place.channel,
        "slice": place.slice,
        "bank": place.bank,
        "row": place.row,
        "column": place.column,
    })
}
