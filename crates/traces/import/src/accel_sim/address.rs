//! Parses the address block of a line from text into a few bytes.

use crate::error::Expected;
use crate::packed::{AddressMode, write_signed, write_unsigned};
use crate::reach;
use crate::text::Tokens;

/// Reads the mode and the addresses of the lanes in `mask`, which access `width` bytes each, and
/// appends them to `out` for a [`crate::packed::Expander`]. Without active lanes only the mode is
/// read.
pub fn parse(
    tokens: &mut Tokens<'_>,
    mask: u32,
    width: u32,
    out: &mut Vec<u8>,
) -> Result<(), Expected> {
    let mode = match tokens.next() {
        Some(b"0") => AddressMode::List,
        Some(b"1") => AddressMode::Stride,
        Some(b"2") => AddressMode::Deltas,
        _ => return Err("an address mode (0 list, 1 base and stride, 2 base and deltas)".into()),
    };
    out.push(mode as u8);
    if mask == 0 {
        return Ok(());
    }
    let lanes = Lanes { mask, width };
    match mode {
        AddressMode::List => parse_list(tokens, lanes, out),
        AddressMode::Stride => parse_stride(tokens, lanes, out),
        AddressMode::Deltas => parse_deltas(tokens, lanes, out),
    }
}

/// The lanes of an access.
#[derive(Clone, Copy)]
struct Lanes {
    mask: u32,
    /// Bytes per lane.
    width: u32,
}

impl Lanes {
    fn count(self) -> u32 {
        self.mask.count_ones()
    }

    /// Returns the address of active lane number `active`, if it exists and its bytes fit.
    fn check(self, active: u32, address: Option<u64>) -> Result<u64, Expected> {
        match address {
            Some(address) if reach::fits(address, self.width) => Ok(address),
            Some(address) => Err(self.beyond(active, format_args!("{address:#x}"))),
            None => Err(self.beyond(active, "an address outside 64 bits")),
        }
    }

    #[cold]
    fn beyond(self, active: u32, begins: impl std::fmt::Display) -> Expected {
        let lane = (0..32).filter(|lane| self.mask >> lane & 1 == 1).nth(active as usize);
        reach::expected(lane.unwrap_or(0), self.width, begins).into()
    }
}

const ADDRESS: &str = "a hexadecimal address for every active lane";

fn parse_list(tokens: &mut Tokens<'_>, lanes: Lanes, out: &mut Vec<u8>) -> Result<(), Expected> {
    let base = lanes.check(0, Some(tokens.hex(ADDRESS)?))?;
    write_unsigned(out, base);
    let mut last = base;
    for active in 1..lanes.count() {
        let address = lanes.check(active, Some(tokens.hex(ADDRESS)?))?;
        write_signed(out, address.wrapping_sub(last) as i64);
        last = address;
    }
    Ok(())
}

fn parse_stride(tokens: &mut Tokens<'_>, lanes: Lanes, out: &mut Vec<u8>) -> Result<(), Expected> {
    if !is_one_run(lanes.mask) {
        return Err("one run of active lanes with address mode 1 (base and stride)".into());
    }
    let base = tokens.hex("a hexadecimal base address")?;
    let stride = tokens.signed("a decimal stride")?;
    // If the first and the last fit, so do those between.
    let last = lanes.count() - 1;
    lanes.check(0, Some(base))?;
    if lanes.check(last, reach::strided(base, stride, last)).is_err() {
        for active in 1..=last {
            lanes.check(active, reach::strided(base, stride, active))?;
        }
    }
    write_unsigned(out, base);
    write_signed(out, stride);
    Ok(())
}

fn parse_deltas(tokens: &mut Tokens<'_>, lanes: Lanes, out: &mut Vec<u8>) -> Result<(), Expected> {
    let mut address = lanes.check(0, Some(tokens.hex("a hexadecimal base address")?))?;
    write_unsigned(out, address);
    for active in 1..lanes.count() {
        let delta = tokens.signed("a decimal delta for every active lane but the first")?;
        address = lanes.check(active, address.checked_add_signed(delta))?;
        write_signed(out, delta);
    }
    Ok(())
}

/// Returns whether the set bits are contiguous.
pub fn is_one_run(mask: u32) -> bool {
    let run = u64::from(mask) >> mask.trailing_zeros().min(31);
    run & (run + 1) == 0
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;
    use warpmem_trace::WARP_SIZE;

    use super::*;
    use crate::packed::Expander;

    fn decode(text: &str, mask: u32) -> Result<Vec<u64>, Expected> {
        let mut bytes = Vec::new();
        parse(&mut Tokens::new(text.as_bytes()), mask, 4, &mut bytes)?;
        let mut lanes = [0; WARP_SIZE];
        Ok(Expander::new(&bytes).next(mask, &mut lanes).1.to_vec())
    }

    #[test]
    fn a_stride_counts_active_lanes() {
        assert_eq!(decode("1 0x100 -4 0", 0x70), Ok(vec![0x100, 0xfc, 0xf8]));
    }

    #[test]
    fn deltas_are_relative_to_the_previous_active_lane() {
        let text = "2 0x7fa60fe01400 0 0 16 0 0";
        let base = 0x7fa6_0fe0_1400;
        let expected = [0, 0, 0, 16, 16, 16].map(|offset| base + offset);
        assert_eq!(decode(text, 0x707), Ok(expected.to_vec()));
    }

    #[test]
    fn an_empty_mask_has_no_address() {
        assert_eq!(decode("1 0x0 0", 0), Ok(vec![]));
    }

    #[test]
    fn a_stride_over_a_gap_is_refused() {
        assert!(decode("1 0x100 4", 0b101).is_err());
        assert!(is_one_run(0xffff_ffff) && is_one_run(0x8000_0000) && is_one_run(0));
    }

    #[test]
    fn missing_addresses_are_refused() {
        assert!(decode("0 0x100 0x104", 0b111).is_err());
        assert!(decode("2 0x100 4", 0b111).is_err());
        assert!(decode("1 0x100", 0b111).is_err());
        assert!(decode("3 0x100 4", 0b111).is_err());
    }

    #[test]
    fn addresses_that_wrap_are_refused_with_their_lane() {
        let last = u64::MAX - 3;
        assert_eq!(decode(&format!("1 {:#x} 4", last - 4), 0b110), Ok(vec![last - 4, last]));
        assert_eq!(decode("1 0x8 -4", 0b111), Ok(vec![8, 4, 0]));
        for (text, mask, part) in [
            ("1 0x8 -4".to_owned(), 0xf0, "the 4 of lane 7 begin at an address outside"),
            (format!("1 {last:#x} 4"), 0b11, "the 4 of lane 1 begin at an address outside"),
            (format!("1 {last:#x} 1"), 0b11, "the 4 of lane 1 begin at 0xfffffffffffffffd"),
            ("2 0x8 -4 -8".to_owned(), 0b10101, "the 4 of lane 4 begin at an address outside"),
            (format!("2 {last:#x} 4"), 0b11, "lane 1"),
            ("0 0x8 0xfffffffffffffffe".to_owned(), 0b11, "lane 1 begin at 0xfffffffffffffffe"),
            ("1 0x0 -9223372036854775808".to_owned(), 0b11, "lane 1"),
        ] {
            let refused = decode(&text, mask).unwrap_err().0;
            assert!(refused.contains(part), "{text}: {refused}");
        }
    }

    proptest! {
        /// Any addresses read back, in every mode that can hold them.
        #[test]
        fn every_mode_gives_the_addresses_back(
            mask in 1u32..,
            base in 1u64 << 46..1 << 62,
            stride in -(1i64 << 40)..(1i64 << 40),
            random in prop::array::uniform32(0u64..1 << 63),
        ) {
            let active = mask.count_ones() as usize;
            let addresses = &random[..active];
            let mut list = "0".to_string();
            let mut deltas = format!("2 {:#x}", addresses[0]);
            for (lane, address) in addresses.iter().enumerate() {
                write!(list, " {address:#018x}").unwrap();
                if lane > 0 {
                    let delta = address.wrapping_sub(addresses[lane - 1]) as i64;
                    write!(deltas, " {delta}").unwrap();
                }
            }
            prop_assert_eq!(&decode(&list, mask).unwrap(), addresses);
            prop_assert_eq!(&decode(&deltas, mask).unwrap(), addresses);

            let run = ((1u64 << active) - 1) as u32;
            let strided: Vec<u64> =
                (0..active as i64).map(|lane| base.wrapping_add_signed(stride * lane)).collect();
            prop_assert_eq!(decode(&format!("1 {base:#x} {stride}"), run).unwrap(), strided);
        }
    }
}
