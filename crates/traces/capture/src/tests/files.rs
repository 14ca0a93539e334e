//! Arrays in files, and launch files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::array_file::{self, ArrayFile};
use crate::launch_file::parse;
use crate::{CaptureError, Element};

#[test]
fn arrays_round_trip_through_files() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..48).collect();
    for (name, described) in [("a.npy", true), ("a.bin", false)] {
        let path = folder.path().join(name);
        array_file::write(&path, Element::S16, &[4, 6], &bytes).unwrap();
        assert_eq!(super::bytes(&path).unwrap(), bytes);
        assert_eq!(
            ArrayFile::open(&path).unwrap().described.map(|d| (d.element, d.shape)),
            described.then(|| (Element::S16, vec![4, 6]))
        );
    }
}

/// A `.npy` file as NumPy 2 writes it.
#[test]
fn numpy_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.npy");
    let mut header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".to_vec();
    header.resize(117, b' ');
    header.push(b'\n');
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(header);
    file.extend([1.5f32, -2.0].iter().flat_map(|value| value.to_le_bytes()));
    fs::write(&path, &file).unwrap();
    assert_eq!(super::floats(&path), [1.5, -2.0]);
    fs::write(&path, &file[..file.len() - 1]).unwrap();
    let error = super::bytes(&path).unwrap_err().to_string();
    assert!(error.ends_with("7 bytes follow the header of an array of f32 [2]"), "{error}");
}

fn fill(text: &str, folder: &Path) -> Result<(Element, Vec<u64>, usize), String> {
    let (element, shape, bytes) = super::filled(text, folder).map_err(|error| error.to_string())?;
    Ok((element, shape, bytes.len()))
}

#[test]
fn a_buffer_from_a_file_must_fit_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    array_file::write(&folder.join("a.npy"), Element::F32, &[2, 3], &[0; 24]).unwrap();
    fs::write(folder.join("a.bin"), [0; 24]).unwrap();
    assert_eq!(fill("@a.npy", folder), Ok((Element::F32, vec![2, 3], 24)));
    assert_eq!(fill("f32[6]=@a.npy", folder), Ok((Element::F32, vec![6], 24)));
    assert_eq!(fill("u64[]=@a.bin", folder), Ok((Element::U64, vec![3], 24)));
    for (text, what) in [
        ("u32[]=@a.npy", "it holds f32, not u32"),
        ("f32[7]=@a.npy", "it holds 6 elements, not 7"),
        ("@a.bin", "a raw file needs a type"),
        ("@none.npy", "failed to read"),
    ] {
        let error = fill(text, folder).unwrap_err();
        assert!(error.contains(what), "{text}: {error}");
    }
    fs::write(folder.join("a.bin"), [0; 23]).unwrap();
    assert!(fill("u64[]=@a.bin", folder).unwrap_err().contains("23 bytes are not an array of u64"));
}

#[test]
fn a_device_is_read_only_to_the_buffers_size() {
    let read = |text: &str| super::filled(text, Path::new(""));
    let (_, shape, bytes) = read("u32[1000]=@/dev/zero").unwrap();
    assert_eq!((shape, bytes), (vec![1000], vec![0; 4000]));
    let (_, _, bytes) = read("u64[2^10]=@/dev/urandom").unwrap();
    assert!(bytes.len() == 8 << 10 && bytes.iter().any(|&byte| byte > 0));
    let error = read("u32[]=@/dev/zero").unwrap_err().to_string();
    assert!(error.starts_with("/dev/zero: a device is endless: give the size"), "{error}");
    let error = read("u32[4]=@/dev/null").unwrap_err().to_string();
    assert_eq!(error, "/dev/null: it ends after 0 of 16 bytes");
}

/// A pipe does not state its length.
#[test]
fn a_pipe_must_deliver_exactly_the_buffers_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
    let read = |text: &str| {
        std::thread::scope(|scope| {
            scope.spawn(|| fs::write(&path, [7; 24]));
            super::filled(text, folder.path()).map_err(|error| error.to_string())
        })
    };
    assert_eq!(read("u64[]=@pipe"), Ok((Element::U64, vec![3], vec![7; 24])));
    assert_eq!(read("u32[2,3]=@pipe"), Ok((Element::U32, vec![2, 3], vec![7; 24])));
    assert!(read("u32[5]=@pipe").unwrap_err().ends_with("more than the 20 bytes of the array"));
    assert!(read("u32[7]=@pipe").unwrap_err().ends_with("it ends after 24 of 28 bytes"));
}

#[test]
fn values_beyond_host_memory_are_refused_before_any_write() {
    for fill in ["1", "random", "permutation", "sequence", "list(8)"] {
        let error = super::filled(&format!("u64[2^50]={fill}"), Path::new("")).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with("buffer `b`: its values need "), "{fill}: {error}");
    }
}

#[test]
fn launch_file_errors_name_place_and_reason() {
    const LAUNCH: &str = "[[launches]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n";
    let file = |rest: &str| format!("module = \"k.ptx\"\n{rest}\n");
    let cases = [
        (file(""), "missing field `launches`"),
        (file(&format!("sed = 1\n{LAUNCH}")), "unknown field `sed`"),
        (
            file(&LAUNCH.replace("grid = 1", "grid = [1, 0]")),
            "launches[0]: grid: expected one to three positive sizes, found [1, 0]",
        ),
        (
            file(&LAUNCH.replace("block = 1", "block = []")),
            "launches[0]: block: expected one to three positive sizes, found []",
        ),
        (
            file(&format!("{LAUNCH}cluster = [2, 0]")),
            "launches[0]: cluster: expected one to three positive sizes, found [2, 0]",
        ),
        (file(&format!("{LAUNCH}arguments = [1, \"?\"]")), "launches[0]: arguments[1]: `?`"),
        (
            file(&format!("{LAUNCH}repeat = 2147483647")),
            "launches[0].repeat: 2147483647 is too large: expected at most 1048576 launches in all",
        ),
        (
            file(&format!("{LAUNCH}[buffers.x]\ntype = \"f33\"\nshape = 1")),
            "buffers.x: type: `f33`",
        ),
        (file(&format!("{LAUNCH}[buffers.x]\nshape = 1")), "buffers.x: it needs a `type`"),
        (file(&format!("{LAUNCH}[buffers.x]\ntype = \"f32\"")), "buffers.x: it needs a `shape`"),
        (
            file(&format!("{LAUNCH}[buffers.x]\ntype = \"f32\"\nshape = 1\nfill = \"one\"")),
            "buffers.x: fill: `one`",
        ),
        (
            file(&format!("{LAUNCH}[buffers.x]\nfile = \"x\"\nfill = 1")),
            "`fill` and `file` exclude each other",
        ),
        (
            file(&format!(
                "{LAUNCH}[buffers.x]\ntype = \"f32\"\nshape = 1\nexpect = \"e\"\nabsolute = -1.0"
            )),
            "buffers.x.absolute: -1",
        ),
    ];
    for (text, what) in cases {
        let error = parse(&text, PathBuf::new()).unwrap_err();
        assert!(error.contains(what), "{text}\n{error}");
    }
    let folder = super::folder("module = 3");
    let error = crate::Plan::read(&folder.path().join("k.toml")).unwrap_err();
    assert!(matches!(error, CaptureError::LaunchFile { .. }));
    assert!(error.to_string().contains("line 1"), "{error}");
}
