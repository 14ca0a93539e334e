//! Arrays in files: NumPy's `.npy`, and raw bytes under any other name.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use npyz::{DType, NpyHeader, Order, TypeStr, WriteOptions, WriterBuilder};

use crate::element::Element;
use crate::error::CaptureError;

/// An array as a file holds it.
pub(crate) struct Array {
    /// Of a `.npy` file.
    pub described: Option<Described>,
    pub bytes: Vec<u8>,
}

/// What a `.npy` file says of its array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Described {
    pub element: Element,
    pub shape: Vec<u64>,
}

pub(crate) fn read(path: &Path) -> Result<Array, CaptureError> {
    let failed = |source| CaptureError::File { action: "read", path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let described = match is_npy(path) {
        false => None,
        true => Some(describe(&NpyHeader::from_reader(&mut reader).map_err(failed)?, path)?),
    };
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(failed)?;
    if let Some(Described { element, shape }) = &described {
        let count = shape.iter().try_fold(element.bytes() as u64, |all, &n| all.checked_mul(n));
        if count != Some(bytes.len() as u64) {
            let what = format!(
                "{} bytes follow the header of an array of {} {shape:?}",
                bytes.len(),
                element.name()
            );
            return Err(CaptureError::Array { path: path.to_owned(), what });
        }
    }
    Ok(Array { described, bytes })
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
    Ok(warpmem_files::staged::write(path, write)?)
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
