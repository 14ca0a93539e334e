//! Arrays in files: NumPy's `.npy`, and raw bytes under any other name. Pipes and devices may have no
//! end, so that no read goes beyond the array.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use npyz::{DType, NpyHeader, Order, TypeStr, WriteOptions, WriterBuilder};

use crate::element::Element;
use crate::error::CaptureError;

/// Most bytes of a pipe whose length nothing says.
const MOST_UNSIZED: u64 = 1 << 30;

/// An array in a file, before its values are read.
pub(crate) struct ArrayFile {
    path: PathBuf,
    reader: Box<dyn Read>,
    /// Of a `.npy` file.
    pub described: Option<Described>,
    /// Bytes of the array, if the file says.
    bytes: Option<u64>,
    /// The file is a device, which has more bytes than any array.
    is_endless: bool,
}

/// What a `.npy` file says of its array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub element: Element,
    pub shape: Vec<u64>,
}

impl ArrayFile {
    /// Opens a file, and reads what it says of its array.
    pub fn open(path: &Path) -> Result<ArrayFile, CaptureError> {
        let failed = |source| CaptureError::File { action: "read", path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let mut reader = BufReader::new(file);
        let described = match is_npy(path) {
            false => None,
            true => Some(describe(&NpyHeader::from_reader(&mut reader).map_err(failed)?, path)?),
        };
        let remaining = remaining(&mut reader, &metadata).map_err(failed)?;
        let bytes = match &described {
            None => remaining,
            Some(described) => Some(described.bytes(remaining, path)?),
        };
        Ok(ArrayFile {
            path: path.to_owned(),
            reader: Box::new(reader),
            described,
            bytes,
            is_endless: metadata.file_type().is_char_device(),
        })
    }

    /// Bytes of the array: as the file says, else as wanted, else as many as a pipe gives.
    pub fn bytes(&mut self, wanted: Option<u64>) -> Result<u64, CaptureError> {
        match (self.bytes, wanted) {
            (Some(bytes), _) | (None, Some(bytes)) => Ok(bytes),
            (None, None) if self.is_endless => {
                Err(self
                    .refused("a device has no end: write the size, as `buffer:f32[2^20]=@FILE`"))
            }
            (None, None) => self.gather(),
        }
    }

    /// Reads all that a pipe gives; returns its bytes.
    fn gather(&mut self) -> Result<u64, CaptureError> {
        let mut bytes = Vec::new();
        let length = self.copy(MOST_UNSIZED + 1, &mut bytes)?;
        if length > MOST_UNSIZED {
            return Err(self.refused(&format!(
                "more than {MOST_UNSIZED} bytes come: write the size, as `buffer:f32[2^30]=@FILE`"
            )));
        }
        self.reader = Box::new(Cursor::new(bytes));
        self.bytes = Some(length);
        Ok(length)
    }

    /// Fills `to`, which has the length of the array.
    pub fn read_into(&mut self, to: &mut [u8]) -> Result<(), CaptureError> {
        let wanted = to.len() as u64;
        let read = self.copy(wanted, &mut &mut *to)?;
        if read < wanted {
            return Err(self.refused(&format!("it ends after {read} bytes, of {wanted}")));
        }
        match self.is_endless || self.copy(1, &mut io::sink())? == 0 {
            true => Ok(()),
            false => {
                Err(self.refused(&format!("it holds more than the {wanted} bytes of the array")))
            }
        }
    }

    /// Copies up to `most` bytes; returns how many there were.
    fn copy(&mut self, most: u64, to: &mut dyn Write) -> Result<u64, CaptureError> {
        let copied = io::copy(&mut self.reader.by_ref().take(most), to);
        copied.map_err(|source| self.failed(source))
    }

    fn refused(&self, what: &str) -> CaptureError {
        CaptureError::Array { path: self.path.clone(), what: what.to_owned() }
    }

    fn failed(&self, source: io::Error) -> CaptureError {
        CaptureError::File { action: "read", path: self.path.clone(), source }
    }
}

/// Bytes behind the position of a reader; `None` of a pipe or device.
fn remaining(reader: &mut BufReader<File>, metadata: &Metadata) -> io::Result<Option<u64>> {
    match metadata.is_file() {
        true => Ok(Some(metadata.len().saturating_sub(reader.stream_position()?))),
        false => Ok(None),
    }
}

impl Described {
    /// Bytes of the array, as many as follow the header.
    fn bytes(&self, remaining: Option<u64>, path: &Path) -> Result<u64, CaptureError> {
        let element = self.element.bytes() as u64;
        let bytes = self.shape.iter().try_fold(element, |all, &n| all.checked_mul(n));
        match (bytes, remaining) {
            (Some(bytes), None) => Ok(bytes),
            (Some(bytes), Some(remaining)) if bytes == remaining => Ok(bytes),
            (_, remaining) => {
                let found = remaining.map_or("too few".into(), |remaining| remaining.to_string());
                let what = format!(
                    "{found} bytes follow the header of an array of {} {:?}",
                    self.element.name(),
                    self.shape
                );
                Err(CaptureError::Array { path: path.to_owned(), what })
            }
        }
    }
}

fn describe(header: &NpyHeader, path: &Path) -> Result<Described, CaptureError> {
    let refused = |what: String| CaptureError::Array { path: path.to_owned(), what };
    let described = match header.dtype() {
        DType::Plain(plain) => plain.to_string(),
        other => other.descr(),
    };
    let element = Element::of_numpy(&described)
        .ok_or_else(|| refused(format!("elements of type {described} are not supported")))?;
    let is_flat = header.shape().len() < 2;
    if header.order() == Order::Fortran && !is_flat {
        return Err(refused("it is in Fortran order; save `numpy.ascontiguousarray` of it".into()));
    }
    Ok(Described { element, shape: header.shape().to_vec() })
}

/// Writes an array; the file appears when it is whole.
pub(crate) fn write(
    path: &Path,
    element: Element,
    shape: &[u64],
    bytes: &[u8],
) -> Result<(), CaptureError> {
    let write = |staged: &Path| Ok(write_to(staged, element, shape, bytes)?);
    Ok(warpmem_support::files::staged::write(path, write)?)
}

fn write_to(path: &Path, element: Element, shape: &[u64], bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    if is_npy(path) {
        let plain: TypeStr = element.numpy().parse().expect("the types are NumPy's");
        let header = WriteOptions::new_header_only().dtype(DType::Plain(plain)).shape(shape);
        file = header.writer(file).write_header_only()?;
    }
    file.write_all(bytes)
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}
