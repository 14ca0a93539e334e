//! Packs the addresses of an instruction into a few bytes until their CTA is complete.

use warpmem_trace::WARP_SIZE;

/// The encoding of an instruction's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// One address per active lane.
    List,
    /// A base and a stride over one contiguous run of active lanes.
    Stride,
    /// A base and, for each further active lane, its difference from the previous active lane.
    Deltas,
}

impl AddressMode {
    const ALL: [AddressMode; 3] = [AddressMode::List, AddressMode::Stride, AddressMode::Deltas];
}

/// Appends addresses for an [`Expander`].
pub fn write_addresses(out: &mut Vec<u8>, addresses: &[u64]) {
    let stride = stride(addresses);
    out.push(if stride.is_some() { AddressMode::Stride } else { AddressMode::Deltas } as u8);
    let Some((&base, others)) = addresses.split_first() else { return };
    write_unsigned(out, base);
    match stride {
        Some(stride) => write_signed(out, stride),
        None => {
            let befores = addresses.iter().zip(others);
            befores
                .for_each(|(before, &lane)| write_signed(out, lane.wrapping_sub(*before) as i64));
        }
    }
}

/// Returns the common difference between consecutive addresses, if any.
fn stride(addresses: &[u64]) -> Option<i64> {
    let mut steps = addresses.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
    let first = steps.next().unwrap_or(0);
    steps.all(|step| step == first).then_some(first)
}

pub fn write_unsigned(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn write_signed(out: &mut Vec<u8>, value: i64) {
    write_unsigned(out, (value << 1 ^ value >> 63) as u64);
}

/// Reads back packed addresses.
#[derive(Debug)]
pub struct Expander<'a> {
    rest: &'a [u8],
}

impl<'a> Expander<'a> {
    pub fn new(bytes: &'a [u8]) -> Expander<'a> {
        Expander { rest: bytes }
    }

    /// Returns the next block, written for `mask`: its mode and the addresses of the active lanes.
    pub fn next<'b>(
        &mut self,
        mask: u32,
        lanes: &'b mut [u64; WARP_SIZE],
    ) -> (AddressMode, &'b [u64]) {
        let mode = AddressMode::ALL[usize::from(self.byte())];
        let active = mask.count_ones() as usize;
        if active == 0 {
            return (mode, &[]);
        }
        let mut address = self.unsigned();
        let stride = (mode == AddressMode::Stride).then(|| self.signed());
        lanes[0] = address;
        for lane in &mut lanes[1..active] {
            address = address.wrapping_add_signed(stride.unwrap_or_else(|| self.signed()));
            *lane = address;
        }
        (mode, &lanes[..active])
    }

    /// Returns whether all blocks are read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.rest.split_first().expect("blocks are written whole");
        self.rest = rest;
        first
    }

    /// Reads a number of [`write_unsigned`].
    pub fn unsigned(&mut self) -> u64 {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }

    fn signed(&mut self) -> i64 {
        let value = self.unsigned();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(addresses: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_addresses(&mut bytes, addresses);
        bytes
    }

    #[test]
    fn equal_steps_take_a_few_bytes() {
        let strided: Vec<u64> = (0..32).map(|lane| 0x7f00_0000_0000 + 4 * lane).collect();
        assert!(block(&strided).len() < 10);
        assert!(block(&[7; 32]).len() < 10);
    }

    proptest! {
        #[test]
        fn addresses_are_read_back(
            mask: u32,
            strided: bool,
            random in prop::array::uniform32(any::<u64>()),
        ) {
            let mut addresses = random[..mask.count_ones() as usize].to_vec();
            if strided && addresses.len() > 1 {
                let step = addresses[1];
                (1..addresses.len()).for_each(|i| addresses[i] = addresses[i - 1].wrapping_add(step));
            }
            let bytes = block(&addresses);
            let mut expander = Expander::new(&bytes);
            let mut lanes = [0; WARP_SIZE];
            prop_assert_eq!(expander.next(mask, &mut lanes).1, &addresses);
            prop_assert!(expander.is_empty());
        }
    }
}
