//! Tests of complete captures.

mod files;
mod sessions;
mod values;

use std::fs;
use std::path::Path;

use warpmem_support::random::Random;

use crate::{BufferSpec, CaptureError, Element};

/// `y[i] = a x[i] + y[i]` for i < n.
const AXPY: &str = ".version 7.8\n.target sm_75\n.address_size 64\n\
    .visible .entry axpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)\n{\n\
    .reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<6>;\n\
    mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n\
    mad.lo.u32 %r4, %r1, %r2, %r3;\nld.param.u32 %r5, [n];\nsetp.ge.u32 %p1, %r4, %r5;\n\
    @%p1 bra END;\nld.param.u64 %rd1, [x];\nld.param.u64 %rd2, [y];\nmul.wide.u32 %rd3, %r4, 4;\n\
    add.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\nld.param.f32 %f1, [a];\n\
    ld.global.f32 %f2, [%rd4];\nld.global.f32 %f3, [%rd5];\nfma.rn.f32 %f4, %f1, %f2, %f3;\n\
    st.global.f32 [%rd5], %f4;\nEND:\nret;\n}\n\
    .visible .entry pair(.param .align 8 .b8 p[16])\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n\
    ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [p+8];\nst.global.u32 [%rd1], %r1;\nret;\n}\n";

/// Creates a folder with the module and a launch file.
fn folder(launch_file: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.ptx"), AXPY).unwrap();
    fs::write(folder.path().join("k.toml"), launch_file).unwrap();
    folder
}

/// Returns the type, shape and values of a buffer at the nominal address 4096.
fn filled(text: &str, folder: &Path) -> Result<(Element, Vec<u64>, Vec<u8>), CaptureError> {
    let spec = BufferSpec::parse(text).unwrap();
    let mut sized = spec.sized("buffer `b`".into(), folder)?;
    // Large enough for every test that fills the buffer.
    let mut bytes = vec![0; sized.bytes.min(1 << 20) as usize];
    sized.fill(4096, &mut bytes, &mut Random::new(7))?;
    Ok((sized.element, sized.shape, bytes))
}

/// Reads the array in a file.
fn bytes(path: &Path) -> Result<Vec<u8>, CaptureError> {
    let mut file = crate::array_file::ArrayFile::open(path)?;
    let mut bytes = vec![0; file.bytes(None)? as usize];
    file.read_into(&mut bytes)?;
    Ok(bytes)
}

/// Reads the values of a raw or `.npy` file of f32.
fn floats(path: &Path) -> Vec<f32> {
    bytes(path)
        .unwrap()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(*bytes.first_chunk().unwrap()))
        .collect()
}
