//! Buffers of a launch: type, size and initial values.

use std::path::Path;

use warpmem_params::parse_whole;
use warpmem_support::random::Random;

use crate::array_file::ArrayFile;
use crate::element::Element;
use crate::error::CaptureError;
use crate::fill::Fill;
use crate::host_memory;

/// An array in device memory, as the user describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferSpec {
    /// Element type; `None` to take it from the file.
    pub element: Option<Element>,
    /// Elements along each dimension; empty to take it from the file.
    pub shape: Vec<u64>,
    pub fill: Fill,
}

/// A buffer of known type and size whose values are still unread.
pub(crate) struct SizedBuffer<'s> {
    /// Name in messages.
    name: String,
    pub element: Element,
    pub shape: Vec<u64>,
    pub bytes: u64,
    values: Values<'s>,
}

enum Values<'s> {
    Fill(&'s Fill),
    File(ArrayFile),
}

impl SizedBuffer<'_> {
    /// Writes the initial values into the buffer at `address`, whose bytes are 0.
    pub fn fill(
        &mut self,
        address: u64,
        to: &mut [u8],
        random: &mut Random,
    ) -> Result<(), CaptureError> {
        let needed = match &self.values {
            Values::Fill(fill) => fill.host_bytes(self.element, self.bytes),
            Values::File(_) => self.bytes,
        };
        let refused = |what: String| CaptureError::Buffer { name: self.name.clone(), what };
        host_memory::check(needed).map_err(refused)?;
        match &mut self.values {
            Values::File(file) => file.read_into(to),
            Values::Fill(fill) => fill.write(self.element, address, to, random).map_err(refused),
        }
    }
}

const SYNTAX: &str = "`buffer:TYPE[SIZE]=FILL`, as `buffer:f32[2^20]=random` or \
                      `buffer:f32[256,256]=@a.npy`, or `buffer:@a.npy`";

impl BufferSpec {
    /// Parses `f32[1048576]=random`, `f32[64,64]`, `u32[]=@indices.npy` or `@x.npy`.
    ///
    /// # Errors
    /// When the text is none of these; the message lists the accepted forms.
    pub fn parse(text: &str) -> Result<BufferSpec, String> {
        if let Some(path) = text.strip_prefix('@') {
            let fill = Fill::File(path.into());
            return Ok(BufferSpec { element: None, shape: Vec::new(), fill });
        }
        let malformed = || format!("`{text}` is not a buffer; valid: {SYNTAX}");
        let (array, fill) = text.split_once('=').unwrap_or((text, "zero"));
        let (name, shape) = array
            .strip_suffix(']')
            .and_then(|array| array.split_once('['))
            .ok_or_else(malformed)?;
        let element = Element::named(name)
            .ok_or_else(|| format!("`{name}` is not a type; valid: {}", Element::names()))?;
        let fill = Fill::parse(fill, element)?;
        let sizes = shape.split(',').map(|size| parse_whole(size.trim()).filter(|&size| size > 0));
        let shape = match (shape, &fill) {
            ("", Fill::File(_)) => Vec::new(),
            _ => sizes.collect::<Option<Vec<u64>>>().ok_or_else(malformed)?,
        };
        Ok(BufferSpec { element: Some(element), shape, fill })
    }

    /// Resolves the type and size of the buffer, called `name` in messages; files are relative to `folder`.
    pub(crate) fn sized(
        &self,
        name: String,
        folder: &Path,
    ) -> Result<SizedBuffer<'_>, CaptureError> {
        if let Fill::File(path) = &self.fill {
            return self.sized_by(name, &folder.join(path));
        }
        let refused = |what: String| CaptureError::Buffer { name: name.clone(), what };
        let element = self.element.ok_or_else(|| refused("its type is not given".into()))?;
        let count = self.shape.iter().try_fold(1, |all: u64, &n| all.checked_mul(n));
        let bytes = count.and_then(|count| count.checked_mul(element.bytes() as u64));
        let bytes =
            bytes.ok_or_else(|| refused(format!("{:?} elements are too many", self.shape)))?;
        let values = Values::Fill(&self.fill);
        Ok(SizedBuffer { name, element, shape: self.shape.clone(), bytes, values })
    }

    fn sized_by(&self, name: String, path: &Path) -> Result<SizedBuffer<'_>, CaptureError> {
        let refused = |what: String| CaptureError::Array { path: path.to_owned(), what };
        let mut file = ArrayFile::open(path)?;
        let element = match (&file.described, self.element) {
            (Some(described), None) => described.element,
            (Some(described), Some(given)) if is_of(described.element, given) => given,
            (Some(described), Some(given)) => {
                let found = described.element.name();
                return Err(refused(format!("it holds {found}, not {}", given.name())));
            }
            (None, Some(element)) => element,
            (None, None) => return Err(refused("a raw file needs a type".into())),
        };
        let size = element.bytes() as u64;
        let wanted = self.shape.iter().try_fold(1, |all: u64, &n| all.checked_mul(n));
        let wanted = wanted.filter(|_| !self.shape.is_empty());
        let bytes = file.bytes(wanted.and_then(|count| count.checked_mul(size)))?;
        if !bytes.is_multiple_of(size) {
            return Err(refused(format!("{bytes} bytes are not an array of {}", element.name())));
        }
        let found = bytes / size;
        if let Some(wanted) = wanted.filter(|&wanted| wanted != found) {
            return Err(refused(format!("it holds {found} elements, not {wanted}")));
        }
        let shape = match (&file.described, self.shape.is_empty()) {
            (_, false) => self.shape.clone(),
            (Some(described), true) => described.shape.clone(),
            (None, true) => vec![found],
        };
        Ok(SizedBuffer { name, element, shape, bytes, values: Values::File(file) })
    }
}

/// Returns whether a file's elements may fill the buffer; bf16 is stored as its bits.
fn is_of(found: Element, wanted: Element) -> bool {
    found == wanted || (found == Element::U16 && wanted == Element::Bf16)
}
