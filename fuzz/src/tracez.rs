//! `.tracez` files made from an input, so that mutations reach what stands behind the compression.

use std::io::Write;
use zstd::stream::write::Encoder;

/// Ends a part of an input.
pub const END: u8 = 0xff;
/// Ends a warp, and a CTA.
pub const WARP: u8 = 0xfe;
pub const CTA: u8 = 0xfd;

/// A kernel file of the parts of `input`: the header, the dictionary, changes to the footer, and the text of
/// the CTAs. A change is two bytes: its place in the footer, and what is put there.
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
        // What begins as a structured dictionary and is none.
        Err(_) => Encoder::new(Vec::new(), 1).expect("there is memory"),
    };
    encoder.write_all(text).and_then(|()| encoder.finish()).expect("there is memory")
}
