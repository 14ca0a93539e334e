//! Input texts of tasks.

use super::super::prelude::*;

/// Concatenated texts, one per task.
pub struct Texts {
    pub bytes: Vec<u8>,
    /// Start of each text, and the end of the last.
    pub offsets: Vec<u32>,
}

impl Texts {
    pub fn new() -> Texts {
        Texts { bytes: Vec::new(), offsets: vec![0] }
    }

    /// Ends a text.
    pub fn end(&mut self) {
        self.offsets.push(self.bytes.len() as u32);
    }

    pub fn len(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let bounds = self.offsets.windows(2);
        bounds.map(|w| std::str::from_utf8(&self.bytes[w[0] as usize..w[1] as usize]).unwrap())
    }
}

/// Texts on the device.
#[derive(Clone, Copy)]
pub struct DeviceTexts {
    pub bytes: Array<u8>,
    pub offsets: Array<u32>,
}

impl DeviceTexts {
    pub fn upload(gpu: &mut Gpu, texts: &Texts) -> DeviceTexts {
        DeviceTexts { bytes: gpu.upload(&texts.bytes), offsets: gpu.upload(&texts.offsets) }
    }
}

/// Generates distinct page addresses, 20 to 60 bytes long.
pub fn urls(n: u32, random: &mut Random) -> Vec<String> {
    let url = |number| {
        let (host, path) = (letters(4, 12, random), letters(4, 32, random));
        // The number makes each address unique.
        format!("http://{host}.org/{path}/{number}")
    };
    (0..n).map(url).collect()
}

/// Generates `least` to `most` letters.
pub fn letters(least: u32, most: u32, random: &mut Random) -> String {
    let length = least + random.index(most - least + 1);
    (0..length).map(|_| char::from(b'a' + random.index(26) as u8)).collect()
}
