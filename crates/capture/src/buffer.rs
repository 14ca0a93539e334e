//! Buffers of a launch: their type, size and first values.

use std::path::Path;

use warpmem_params::parse_whole;
use warpmem_random::Random;

use crate::array_file;
use crate::element::Element;
use crate::error::CaptureError;
use crate::fill::Fill;

/// An array in device memory.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferSpec {
    /// `None`: as the file says.
    pub element: Option<Element>,
    /// Elements along each dimension; none: as the file says.
    pub shape: Vec<u64>,
    pub fill: Fill,
}

/// A buffer with its values.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    pub element: Element,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
    /// Bytes from one node of a list to the next; nodes hold offsets from the buffer's beginning.
    nodes: Option<u64>,
}

impl Filled {
    /// The bytes, for a buffer at this address.
    pub fn at(mut self, address: u64) -> Vec<u8> {
        if let Some(spacing) = self.nodes {
            for node in self.bytes.chunks_mut(spacing as usize) {
                let Some(link) = node.first_chunk_mut() else { continue };
                *link = (u64::from_le_bytes(*link) + address).to_le_bytes();
            }
        }
        self.bytes
    }
}

const SYNTAX: &str = "`buffer:TYPE[SIZE]=FILL`, as `buffer:f32[2^20]=random` or \
                      `buffer:f32[256,256]=@a.npy`, or `buffer:@a.npy`";

impl BufferSpec {
    /// `f32[1048576]=random`, `f32[64,64]`, `u32[]=@indices.npy`, `@x.npy`.
    ///
    /// # Errors
    /// When it is none; says what would be.
    pub fn parse(text: &str) -> Result<BufferSpec, String> {
        if let Some(path) = text.strip_prefix('@') {
            let fill = Fill::File(path.into());
            return Ok(BufferSpec { element: None, shape: Vec::new(), fill });
        }
        let malformed = || format!("`{text}` is no buffer; valid: {SYNTAX}");
        let (array, fill) = text.split_once('=').unwrap_or((text, "zero"));
        let (name, shape) = array
            .strip_suffix(']')
            .and_then(|array| array.split_once('['))
            .ok_or_else(malformed)?;
        let element = Element::named(name)
            .ok_or_else(|| format!("`{name}` is no type; valid: {}", Element::names()))?;
        let fill = Fill::parse(fill, element)?;
        let sizes = shape.split(',').map(|size| parse_whole(size.trim()).filter(|&size| size > 0));
        let shape = match (shape, &fill) {
            ("", Fill::File(_)) => Vec::new(),
            _ => sizes.collect::<Option<Vec<u64>>>().ok_or_else(malformed)?,
        };
        Ok(BufferSpec { element: Some(element), shape, fill })
    }

    /// The buffer with its values; files are found from `folder`.
    pub(crate) fn filled(
        &self,
        name: &str,
        folder: &Path,
        random: &mut Random,
    ) -> Result<Filled, CaptureError> {
        let refused = |what: String| CaptureError::Buffer { name: name.to_owned(), what };
        if let Fill::File(path) = &self.fill {
            return self.read(&folder.join(path));
        }
        let element = self.element.ok_or_else(|| refused("its type is not given".into()))?;
        let count = self.shape.iter().try_fold(1, |all: u64, &n| all.checked_mul(n));
        let count = count.filter(|&count| count <= MOST_BYTES / element.bytes() as u64);
        let count =
            count.ok_or_else(|| refused(format!("{:?} elements are too many", self.shape)))?;
        let bytes = self.fill.bytes(element, count, random).map_err(refused)?;
        let nodes = match self.fill {
            Fill::List(spacing) => Some(spacing),
            _ => None,
        };
        Ok(Filled { element, shape: self.shape.clone(), bytes, nodes })
    }

    fn read(&self, path: &Path) -> Result<Filled, CaptureError> {
        let refused = |what: String| CaptureError::Array { path: path.to_owned(), what };
        let array = array_file::read(path)?;
        let (element, shape) = match (&array.described, self.element) {
            (Some(described), given)
                if given.is_none_or(|given| is_of(described.element, given)) =>
            {
                (given.unwrap_or(described.element), described.shape.clone())
            }
            (Some(described), given) => {
                let given = given.map_or("", Element::name);
                return Err(refused(format!("it holds {}, not {given}", described.element.name())));
            }
            (None, Some(element)) if array.bytes.len() % element.bytes() == 0 => {
                (element, vec![array.bytes.len() as u64 / element.bytes() as u64])
            }
            (None, Some(element)) => {
                let bytes = array.bytes.len();
                return Err(refused(format!("{bytes} bytes are no array of {}", element.name())));
            }
            (None, None) => return Err(refused("a raw file needs a type".into())),
        };
        let [found, wanted] = [&shape, &self.shape].map(|shape| shape.iter().product::<u64>());
        if !self.shape.is_empty() && found != wanted {
            return Err(refused(format!("it holds {found} elements, not {wanted}")));
        }
        let shape = if self.shape.is_empty() { shape } else { self.shape.clone() };
        Ok(Filled { element, shape, bytes: array.bytes, nodes: None })
    }
}

/// Bytes of device memory that one buffer may take.
const MOST_BYTES: u64 = 64 << 30;

/// Whether elements of a file may be taken as those of a buffer: bf16 are stored as their bits.
fn is_of(found: Element, wanted: Element) -> bool {
    found == wanted || (found == Element::U16 && wanted == Element::Bf16)
}
