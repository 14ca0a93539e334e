//! Arrays in files: NumPy's `.npy`, and raw bytes under any other name. Never reads beyond the array, because
//! pipes and devices may be endless.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read, Seek, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use npyz::{DType, NpyHeader, Order, TypeStr, WriteOptions, WriterBuilder};

use crate::element::Element;
use crate::error::CaptureError;

/// Maximum bytes read from a pipe of unknown length.
const MAX_UNSIZED: u64 = 1 << 30;

/// An array in a file whose values are still unread.
pub(crate) struct ArrayFile {
    path: PathBuf,
    reader: Box<dyn Read>,
    /// Header of a `.npy` file.
    pub described: Option<Described>,
    /// Size of the array, bytes, if the file states it.
    bytes: Option<u64>,
    /// Whether the file is a device, which never ends.
    is_endless: bool,
}

/// Array description in the header of a `.npy` file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub element: Element,
    pub shape: Vec<u64>,
}

impl ArrayFile {
    /// Opens a file and reads its header.
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

    /// Returns the size of the array, bytes: the stated size, else `wanted`, else all that a pipe delivers.
    pub fn bytes(&mut self, wanted: Option<u64>) -> Result<u64, CaptureError> {
        match (self.bytes, wanted) {
            (Some(bytes), _) | (None, Some(bytes)) => Ok(bytes),
            (None, None) if self.is_endless => {
                Err(self.refused("a device is endless: give the size, as `buffer:f32[2^20]=@FILE`"))
            }
            (None, None) => self.gather(),
        }
    }

    /// Reads a pipe to its end; returns its length, bytes.
    fn gather(&mut self) -> Result<u64, CaptureError> {
        let mut bytes = Vec::new();
        let length = self.copy(MAX_UNSIZED + 1, &mut bytes)?;
        if length > MAX_UNSIZED {
            return Err(self.refused(&format!(
                "the pipe holds more than {MAX_UNSIZED} bytes: give the size, as `buffer:f32[2^30]=@FILE`"
            )));
        }
        self.reader = Box::new(Cursor::new(bytes));
        self.bytes = Some(length);
        Ok(length)
    }

    /// Reads the whole array into `to`, which has its length.
    pub fn read_into(&mut self, to: &mut [u8]) -> Result<(), CaptureError> {
        let wanted = to.len() as u64;
        let read = self.copy(wanted, &mut &mut *to)?;
        if read < wanted {
            return Err(self.refused(&format!("it ends after {read} of {wanted} bytes")));
        }
        match self.is_endless || self.copy(1, &mut io::sink())? == 0 {
            true => Ok(()),
            false => {
                Err(self.refused(&format!("it holds more than the {wanted} bytes of the array")))
            }
        }
    }

    /// Copies up to `most` bytes; returns the number of bytes copied.
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

/// Returns the bytes after the reader's position; `None` for a pipe or device.
fn remaining(reader: &mut BufReader<File>, metadata: &Metadata) -> io::Result<Option<u64>> {
    match metadata.is_file() {
        true => Ok(Some(metadata.len().saturating_sub(reader.stream_position()?))),
        false => Ok(None),
    }
}

impl Described {
    /// Returns the size of the array, bytes; checks it against the bytes that follow the header.
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

/// Writes an array; the file appears only when complete.
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
