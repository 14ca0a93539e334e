//! The machine that the networks of these tests belong to.

use crate::{Network, NetworkSpec};
use std::fs;
use std::path::Path;

/// Returns the network of the preset li2015 between one SM and two channels of two slices, with
/// `overrides`: keys of `network` and fields of [`NetworkSpec`].
pub fn spec(overrides: &[&str]) -> NetworkSpec {
    let mut fields = Fields {
        network: preset(),
        topology: "crossbar".to_owned(),
        arbiter: "round-robin".to_owned(),
        sms: 1,
        channels: 2,
        slices_per_channel: 2,
        sector_bytes: 128,
        largest_request_bytes: None,
    };
    overrides.iter().for_each(|text| fields.set(text));
    NetworkSpec {
        network: fields.network.try_into().unwrap(),
        topology: fields.topology,
        arbiter: fields.arbiter,
        sms: fields.sms,
        slices: fields.channels * fields.slices_per_channel,
        channels: fields.channels,
        banks: 16,
        sector_bytes: fields.sector_bytes,
        largest_request_bytes: fields.largest_request_bytes.unwrap_or(fields.sector_bytes),
    }
}

struct Fields {
    network: toml::Table,
    topology: String,
    arbiter: String,
    sms: u32,
    channels: u32,
    slices_per_channel: u32,
    sector_bytes: u32,
    largest_request_bytes: Option<u32>,
}

impl Fields {
    fn set(&mut self, text: &str) {
        let (key, value) = text.split_once('=').unwrap();
        let number = || value.parse().unwrap();
        match key {
            "topology" => self.topology = value.to_owned(),
            "arbiter" => self.arbiter = value.to_owned(),
            "sms" => self.sms = number(),
            "channels" => self.channels = number(),
            "slices_per_channel" => self.slices_per_channel = number(),
            "sector_bytes" => self.sector_bytes = number(),
            "largest_request_bytes" => self.largest_request_bytes = Some(number()),
            _ => {
                let name = key.strip_prefix("network.").unwrap_or_else(|| panic!("{text}"));
                let old = self.network.get_mut(name).unwrap_or_else(|| panic!("{text}"));
                *old = match old {
                    toml::Value::String(_) => value.into(),
                    _ => value.parse().unwrap(),
                };
            }
        }
    }
}

/// Returns every key of the network of li2015, defaults included.
fn preset() -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machine/src/presets/li2015.toml");
    let machine: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let network: Network = machine["network"].clone().try_into().unwrap();
    toml::Table::try_from(&network).unwrap()
}
