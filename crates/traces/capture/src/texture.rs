//! Textures of a launch file: buffers that kernels sample.

use serde::Deserialize;
use warpmem_simt::{AddressMode, Filter, ReadMode, TexelFormat, TexelKind, Texture};

use crate::element::Element;

/// A texture over a buffer of the plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextureSpec {
    pub buffer: String,
    /// Texels per row.
    pub width: u32,
    /// Rows.
    #[serde(default = "one")]
    pub height: u32,
    /// Bytes from one row to the next; defaults to the bytes of a row.
    pub pitch: Option<u64>,
    /// Buffer elements per texel.
    #[serde(default = "one")]
    pub channels: u8,
    #[serde(default)]
    pub filter: Filtering,
    /// Treatment of coordinates outside the texture.
    #[serde(default)]
    pub address: Addressing,
    /// Whether coordinates are fractions of the width and height.
    #[serde(default)]
    pub normalised: bool,
    /// Whether integer texels are read as fractions of their range: 0 to 1, or -1 to 1.
    #[serde(default)]
    pub read_normalised: bool,
    /// Texture reference of the module (`.texref`) that this texture is bound to.
    pub bind: Option<String>,
}

fn one<T: From<u8>>() -> T {
    T::from(1)
}

/// Filter of a launch file; see [`Filter`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filtering {
    #[default]
    Point,
    Linear,
}

/// Addressing mode of a launch file; see [`AddressMode`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addressing {
    Wrap,
    #[default]
    Clamp,
    Mirror,
    Border,
}

impl TextureSpec {
    /// Returns the texture over a buffer of this type at an address.
    pub(crate) fn over(&self, element: Element, address: u64) -> Texture {
        let bits = 8 * element.bytes() as u8;
        let kind = match element {
            _ if element.is_float() => TexelKind::Float,
            Element::S8 | Element::S16 | Element::S32 | Element::S64 => TexelKind::Signed,
            _ => TexelKind::Unsigned,
        };
        let row = u64::from(self.width) * u64::from(self.channels) * element.bytes() as u64;
        let mode = match self.address {
            Addressing::Wrap => AddressMode::Wrap,
            Addressing::Clamp => AddressMode::Clamp,
            Addressing::Mirror => AddressMode::Mirror,
            Addressing::Border => AddressMode::Border,
        };
        Texture {
            address,
            width: self.width,
            height: self.height,
            pitch: self.pitch.unwrap_or(row),
            format: TexelFormat { kind, bits, channels: self.channels },
            read: if self.read_normalised { ReadMode::NormalisedFloat } else { ReadMode::Element },
            filter: match self.filter {
                Filtering::Point => Filter::Point,
                Filtering::Linear => Filter::Linear,
            },
            address_modes: [mode; 2],
            normalised: self.normalised,
        }
    }
}
