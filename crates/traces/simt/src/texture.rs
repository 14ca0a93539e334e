//! Textures: maps coordinates to texels, and texels to the result of a fetch (CUDA C++ Programming Guide,
//! appendix "Texture Fetching").

use std::collections::BTreeMap;

use half::f16;
use thiserror::Error;

/// Bytes of the largest texel: four channels of 32 bits.
pub(crate) const MAX_BYTES: usize = 16;

/// A texture: texels in device memory, and their sampling mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Address of the first texel.
    pub address: u64,
    /// Texels per row, and rows: 1 for a one-dimensional texture.
    pub width: u32,
    pub height: u32,
    /// Bytes from one row to the next.
    pub pitch: u64,
    pub format: TexelFormat,
    pub read: ReadMode,
    pub filter: Filter,
    /// Address modes of x and y.
    pub address_modes: [AddressMode; 2],
    /// Whether floating-point coordinates are fractions of the width and height.
    pub normalised: bool,
}

/// Channels of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelFormat {
    pub kind: TexelKind,
    /// Bits per channel: 8, 16 or 32.
    pub bits: u8,
    /// Channels: 1, 2 or 4.
    pub channels: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexelKind {
    Signed,
    Unsigned,
    Float,
}

/// Conversion of integer texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Integers, unchanged.
    Element,
    /// Floating-point numbers in [0, 1], or [-1, 1] if signed.
    NormalisedFloat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The texel that contains the coordinate.
    Point,
    /// The weighted mean of the two or four texels around the coordinate.
    Linear,
}

/// Treatment of coordinates outside the texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// Repeats the texture; for normalised coordinates only.
    Wrap,
    /// Clamps to the edge texel.
    Clamp,
    /// Repeats the texture, mirroring every other repetition; for normalised coordinates only.
    Mirror,
    /// Returns 0.
    Border,
}

/// Reason why a texture or a binding is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TextureError {
    #[error(
        "texels of {channels} channels of {bits} bits; a texel has 1, 2 or 4 channels of 8, 16 or \
         32 bits, and floating-point ones have 16 or 32"
    )]
    Format { channels: u8, bits: u8 },
    #[error("{width} × {height} texels: both must be above 0")]
    Empty { width: u32, height: u32 },
    #[error("rows of {row} bytes are {pitch} bytes apart")]
    Pitch { row: u64, pitch: u64 },
    #[error("channels of {bits} bits cannot be read as normalised numbers; 8 and 16 can")]
    Normalised { bits: u8 },
    #[error("linear filtering needs texels that are read as floating-point numbers")]
    Filter,
    #[error("{bytes} bytes of texels at {address:#x} do not lie in one allocation")]
    Memory { address: u64, bytes: u64 },
    #[error("there is no texture with handle {0}")]
    Handle(u64),
    #[error("the module has no texture reference `{name}`; it has {known}")]
    Reference { name: String, known: String },
}

/// Coordinate along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coordinate {
    /// Index of a texel.
    Texel(i32),
    Float(f32),
}

/// A texel that a fetch reads: column, row, and weight in the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pick {
    pub x: u32,
    pub y: u32,
    pub weight: f64,
}

/// Texels along one axis: the second one only for linear filtering. Texels outside a border are `None`.
type AxisPicks = [(Option<u32>, f64); 2];

impl TexelFormat {
    /// Returns the size of a texel, bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits) / 8 * u64::from(self.channels)
    }

    fn is_known(self) -> bool {
        let bits: &[u8] = if self.kind == TexelKind::Float { &[16, 32] } else { &[8, 16, 32] };
        bits.contains(&self.bits) && matches!(self.channels, 1 | 2 | 4)
    }
}

impl Texture {
    /// Returns the bytes from the first texel to the end of the last.
    pub(crate) fn bytes(&self) -> u64 {
        let rows = self.pitch.saturating_mul(u64::from(self.height).saturating_sub(1));
        rows.saturating_add(self.row_bytes())
    }

    fn row_bytes(&self) -> u64 {
        u64::from(self.width).saturating_mul(self.format.bytes())
    }

    pub(crate) fn check(&self) -> Result<(), TextureError> {
        let Texture { format, width, height, pitch, .. } = *self;
        if !format.is_known() {
            return Err(TextureError::Format { channels: format.channels, bits: format.bits });
        }
        if width == 0 || height == 0 {
            return Err(TextureError::Empty { width, height });
        }
        if height > 1 && pitch < self.row_bytes() {
            return Err(TextureError::Pitch { row: self.row_bytes(), pitch });
        }
        let is_integer = format.kind != TexelKind::Float;
        if is_integer && self.read == ReadMode::NormalisedFloat && format.bits == 32 {
            return Err(TextureError::Normalised { bits: format.bits });
        }
        match self.filter == Filter::Linear && !self.returns_floats() {
            true => Err(TextureError::Filter),
            false => Ok(()),
        }
    }

    fn returns_floats(&self) -> bool {
        self.format.kind == TexelKind::Float || self.read == ReadMode::NormalisedFloat
    }

    /// Returns the address of a texel.
    pub(crate) fn address_of(&self, pick: &Pick) -> u64 {
        let offset = u64::from(pick.y) * self.pitch + u64::from(pick.x) * self.format.bytes();
        self.address.wrapping_add(offset)
    }

    /// Returns the texels that a fetch reads, lower coordinates first.
    pub(crate) fn picks(&self, x: Coordinate, y: Coordinate) -> [Option<Pick>; 4] {
        let columns = self.along(x, self.width, self.address_modes[0]);
        let rows = self.along(y, self.height, self.address_modes[1]);
        let pick = |row: usize, column: usize| {
            let ((y, y_weight), (x, x_weight)) = (rows[row], columns[column]);
            Some(Pick { x: x?, y: y?, weight: x_weight * y_weight })
        };
        [pick(0, 0), pick(0, 1), pick(1, 0), pick(1, 1)]
    }

    fn along(&self, at: Coordinate, size: u32, mode: AddressMode) -> AxisPicks {
        let at = match at {
            // An out-of-range fetch by index returns 0 in every address mode (section "tex1Dfetch").
            Coordinate::Texel(at) => {
                let inside = u32::try_from(at).ok().filter(|&at| at < size);
                return [(inside, 1.0), (None, 0.0)];
            }
            Coordinate::Float(at) => f64::from(at),
        };
        let (mode, scaled) = match self.normalised {
            true => (mode, repeated(at, mode) * f64::from(size)),
            false => (without_repetition(mode), at),
        };
        // Coordinates further out select the same texels; NaN counts as 0.
        let scaled = if scaled.is_nan() { 0.0 } else { scaled };
        let scaled = scaled.clamp(-2.0, f64::from(size) + 2.0);
        match self.filter {
            Filter::Point => [(addressed(scaled.floor() as i64, size, mode), 1.0), (None, 0.0)],
            Filter::Linear => {
                let (first, part) = split(scaled - 0.5);
                let texel = |at: i64| addressed(at, size, mode);
                [(texel(first), 1.0 - part), (texel(first + 1), part)]
            }
        }
    }

    /// Returns a channel of a fetch from the bytes of its texels; those outside the border are 0. The format
    /// alone determines the type of the result, as the machine instruction has none. Channels absent from a
    /// texel are 0.
    pub(crate) fn value(&self, channel: u8, texels: &[(Pick, [u8; MAX_BYTES])]) -> u32 {
        if channel >= self.format.channels {
            return 0;
        }
        match self.filter {
            Filter::Point => texels.first().map_or(0, |(_, bytes)| self.element(channel, bytes)),
            Filter::Linear => {
                let float = |bytes: &[u8]| f64::from(f32::from_bits(self.element(channel, bytes)));
                let sum: f64 = texels.iter().map(|(pick, bytes)| pick.weight * float(bytes)).sum();
                (sum as f32).to_bits()
            }
        }
    }

    /// Returns an unfiltered channel of a texel.
    fn element(&self, channel: u8, texel: &[u8]) -> u32 {
        let TexelFormat { kind, bits, .. } = self.format;
        let length = usize::from(bits / 8);
        let bytes = texel.iter().skip(length * usize::from(channel)).take(length);
        let word = bytes.rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
        let spare = u32::BITS - u32::from(bits);
        match (kind, self.read) {
            (TexelKind::Float, _) if bits == 16 => f16::from_bits(word as u16).to_f32().to_bits(),
            (TexelKind::Float, _) | (TexelKind::Unsigned, ReadMode::Element) => word,
            (TexelKind::Signed, ReadMode::Element) => ((word << spare) as i32 >> spare) as u32,
            (TexelKind::Unsigned, ReadMode::NormalisedFloat) => {
                (word as f32 / (u32::MAX >> spare) as f32).to_bits()
            }
            (TexelKind::Signed, ReadMode::NormalisedFloat) => {
                let value = (word << spare) as i32 >> spare;
                (value as f32 / (i32::MAX >> spare) as f32).max(-1.0).to_bits()
            }
        }
    }
}

/// Maps a normalised coordinate into the first repetition of the texture.
fn repeated(at: f64, mode: AddressMode) -> f64 {
    let fraction = at - at.floor();
    match mode {
        AddressMode::Wrap => fraction,
        AddressMode::Mirror if at.floor() % 2.0 == 0.0 => fraction,
        AddressMode::Mirror => 1.0 - fraction,
        AddressMode::Clamp | AddressMode::Border => at,
    }
}

/// Replaces repeating modes by clamping for coordinates that are not normalised
/// (`cudaTextureDesc::addressMode`).
fn without_repetition(mode: AddressMode) -> AddressMode {
    match mode {
        AddressMode::Wrap | AddressMode::Mirror => AddressMode::Clamp,
        mode => mode,
    }
}

/// Resolves a texel index that may be out of range.
fn addressed(at: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let size = i64::from(size);
    let texel = match mode {
        AddressMode::Wrap => at.rem_euclid(size),
        // One beyond a mirrored edge is the edge texel.
        AddressMode::Clamp | AddressMode::Mirror => at.clamp(0, size - 1),
        AddressMode::Border if (0..size).contains(&at) => at,
        AddressMode::Border => return None,
    };
    u32::try_from(texel).ok()
}

/// Returns the texel index at a coordinate, and the weight of the next texel: fixed point with 9 bits, 8 of
/// them fractional (section "Linear Filtering").
fn split(at: f64) -> (i64, f64) {
    let floor = at.floor();
    (floor as i64, ((at - floor) * 256.0).round() / 256.0)
}

/// The textures of a device, by handle.
#[derive(Debug, Default)]
pub(crate) struct TextureTable {
    textures: BTreeMap<u64, Texture>,
    last: u64,
}

impl TextureTable {
    /// Adds a texture; handles are 1, 2, 3 …, the same in every run, and never reused.
    pub fn add(&mut self, texture: Texture) -> u64 {
        self.last += 1;
        self.textures.insert(self.last, texture);
        self.last
    }

    pub fn remove(&mut self, handle: u64) -> bool {
        self.textures.remove(&handle).is_some()
    }

    pub fn get(&self, handle: u64) -> Option<&Texture> {
        self.textures.get(&handle)
    }
}
