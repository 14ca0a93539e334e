//! Builds `.tracez` files from an input, so that mutations reach the parsers behind the decompression.

use std::io::Write;
use zstd::stream::write::Encoder;

/// Separates the parts of an input.
pub const END: u8 = 0xff;
/// Separates warps, and CTAs.
pub const WARP: u8 = 0xfe;
pub const CTA: u8 = 0xfd;

/// Builds a kernel file from the parts of `input`: header, dictionary, changes to the footer, and text of the CTAs. A
/// change is two bytes: an offset in the footer, and the value stored there.
pub fn write(input: &[u8]) -> Vec<u8> {
    let mut parts = input.splitn(4, |&byte| byte == END);
    let mut part = || parts.next().unwrap_or_default();
    let (header, dictionary, changes, text) = (part(), part(), part(), part());
    let mut file = [header, &[0]].concat();
    file.extend((dictionary.len() as u32).to_le_bytes());
    file.extend(2u32.to_le_bytes());
    file.extend(dictionary);
    let ctas: Vec<&[u8]> = text.split(|&byte| byte == CTA).collect();
    let mut footer = (ctas.len() as u32).to_le_bytes().to_vec();
    for (cta, number) in ctas.into_iter().zip(0u32..) {
        let warps: Vec<&[u8]> = cta.split(|&byte| byte == WARP).collect();
        let numbers = [number, 0, 0].into_iter().chain([0; 7]).chain([warps.len() as u32]);
        footer.extend(numbers.flat_map(u32::to_le_bytes));
        for warp in warps {
            let has_instruction = |line: &&[u8]| !line.trim_ascii().is_empty();
            let lines = warp.split(|&byte| byte == b'\n' || byte == 0);
            let lines = lines.filter(has_instruction).count() as u32;
            footer.extend([lines, 1].into_iter().flat_map(u32::to_le_bytes));
            footer.extend((file.len() as u64).to_le_bytes());
            footer.extend(lines.to_le_bytes());
            let frame = frame(warp, dictionary);
            file.extend([0; 8]);
            file.extend((frame.len() as u32).to_le_bytes());
            file.extend(frame);
        }
    }
    for change in changes.chunks_exact(2) {
        if let Some(byte) = footer.get_mut(usize::from(change[0])) {
            *byte = change[1];
        }
    }
    let start = file.len() as u64;
    file.extend(footer);
    file.extend(start.to_le_bytes());
    file
}

fn frame(text: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut encoder = match Encoder::with_dictionary(Vec::new(), 1, dictionary) {
        Ok(encoder) => encoder,
        // It has the magic of a structured dictionary but is malformed.
        Err(_) => Encoder::new(Vec::new(), 1).expect("there is memory"),
    };
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("there is memory")
}
