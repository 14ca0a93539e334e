//! Execution of plans.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use warpmem_simt::Limits;
use warpmem_trace::Trace;

use super::{floats, folder};
use crate::{CaptureError, Captured, Observer, Options, Plan, Registers, Selection, capture};

/// Two launches: y = 2 x + y, then y = 3 x + y.
const TWICE: &str = r#"
module = "k.ptx"
[buffers.x]
type = "f32"
shape = [10, 10]
fill = "sequence"
[buffers.y]
type = "f32"
shape = 100
fill = 1
output = "y.npy"
expect = "expected.bin"
[[launches]]
kernel = "axpy"
grid = 2
block = 64
arguments = [2.0, "x", "y", 100]
[[launches]]
kernel = "axpy"
grid = [2, 1]
block = [64]
arguments = ["f32=3", "x", "y+0", "u32=100"]
"#;

fn options(folder: &Path) -> Options {
    Options {
        output: Some(folder.join("k.wmt")),
        selection: Selection::all(),
        limits: Limits::default(),
        registers: Registers::Estimated,
        command: "test".into(),
    }
}

fn expected(change: f32) -> Vec<u8> {
    (0..100)
        .flat_map(|i| (5.0 * i as f32 + 1.0 + if i == 7 { change } else { 0.0 }).to_le_bytes())
        .collect()
}

fn run(
    folder: &Path,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Captured, CaptureError> {
    let plan = Plan::read(&folder.join("k.toml")).unwrap();
    capture(&plan, options, observer)
}

#[test]
fn consecutive_launches_share_the_buffers() {
    let folder = folder(TWICE);
    let folder = folder.path();
    fs::write(folder.join("expected.bin"), expected(0.0)).unwrap();
    let captured = run(folder, &options(folder), &()).unwrap();
    assert!(captured.mismatches.is_empty() && !captured.interrupted);
    assert_eq!(floats(&folder.join("y.npy")), floats(&folder.join("expected.bin")));
    let trace = Trace::open(&folder.join("k.wmt")).unwrap();
    assert_eq!(trace.kernels().len(), 2);
    let info = &trace.kernels()[0].info;
    assert_eq!(
        (info.name.as_str(), info.grid, info.block, info.sm_version),
        ("axpy", [2, 1, 1], [64, 1, 1], 75)
    );
    assert_eq!(info.registers_per_thread, captured.launches[0].registers_per_thread);
    let source = &trace.header().provenance.source;
    assert_eq!(source, "PTX 7.8 of k.ptx for sm_75; registers estimated from live values");
    assert_eq!(
        trace.header().memcpys.iter().map(|copy| copy.bytes).collect::<Vec<_>>(),
        [400, 400]
    );

    let first = fs::read(folder.join("k.wmt")).unwrap();
    run(folder, &options(folder), &()).unwrap();
    assert!(first == fs::read(folder.join("k.wmt")).unwrap(), "two captures differ");
}

/// In a launch with clusters of two by two, CTAs appear in the trace cluster by cluster.
#[test]
fn launch_files_set_clusters() {
    const GRID: &str = "grid = 2\nblock = 64\narguments = [2.0";
    let clustered = GRID.replace("grid = 2", "grid = [4, 4]\ncluster = [2, 2]");
    let folder =
        folder(&TWICE.replace("expect = \"expected.bin\"\n", "").replace(GRID, &clustered));
    let folder = folder.path();
    run(folder, &options(folder), &()).unwrap();
    let trace = Trace::open(&folder.join("k.wmt")).unwrap();
    let clusters = [0, 1].map(|kernel| trace.kernels()[kernel].info.cluster);
    assert_eq!(clusters, [Some([2, 2, 1]), None]);
    let chunk = trace.chunk(0, 0).unwrap();
    let blocks: Vec<_> = chunk.ctas().iter().map(|cta| [cta.block[0], cta.block[1]]).collect();
    assert_eq!(blocks[..6], [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [3, 0]]);

    let file = fs::read_to_string(folder.join("k.toml")).unwrap();
    fs::write(folder.join("k.toml"), file.replace("[2, 2]", "[3, 1]")).unwrap();
    let error = run(folder, &options(folder), &()).unwrap_err().to_string();
    assert!(error.contains("3 x 1 x 1 CTAs do not divide the grid of 4 x 4 x 1"), "{error}");
}

#[test]
fn mismatches_are_reported_with_their_index() {
    let folder = folder(TWICE);
    let folder = folder.path();
    fs::write(folder.join("expected.bin"), expected(0.5)).unwrap();
    let captured = run(folder, &options(folder), &()).unwrap();
    let told: Vec<String> = captured.mismatches.iter().map(ToString::to_string).collect();
    let expected = "buffer `y`: 1 of 100 elements are not as expected; element 7 is 36, not 36.5";
    assert_eq!(told, [expected]);
    for tolerance in ["absolute = 0.5", "relative = 0.014"] {
        let file = TWICE.replace("expect =", &format!("{tolerance}\nexpect ="));
        fs::write(folder.join("k.toml"), file).unwrap();
        assert!(run(folder, &options(folder), &()).unwrap().mismatches.is_empty(), "{tolerance}");
    }
    fs::write(folder.join("expected.bin"), [0; 10]).unwrap();
    let error = run(folder, &options(folder), &()).unwrap_err().to_string();
    assert!(error.ends_with("it has 10 bytes, buffer `y` has 400"), "{error}");
}

#[test]
fn unselected_launches_are_executed_but_not_recorded() {
    let folder = folder(TWICE);
    let folder = folder.path();
    fs::write(folder.join("expected.bin"), expected(0.0)).unwrap();
    let select = |launches: &str, name: &str| {
        let name = Some(regex::Regex::new(name).unwrap());
        let selection = Selection { launches: launches.parse().unwrap(), name, ..Selection::all() };
        run(folder, &Options { selection, ..options(folder) }, &())
    };
    let captured = select("1", "ax").unwrap();
    assert!(captured.mismatches.is_empty());
    assert_eq!(captured.launches.iter().map(|l| l.recorded).collect::<Vec<_>>(), [false, true]);
    assert_eq!(captured.trace.unwrap().kernels, 1);
    assert!(select("1..4", "ax").unwrap_err().to_string().contains("go beyond the end"));
    let error = select("..", "spmv").unwrap_err().to_string();
    assert_eq!(error, "none of the 2 launches is selected");
}

/// Stops the capture in the launch of this number.
struct StopIn(usize, Cell<usize>);

impl Observer for StopIn {
    fn launch(&self, number: usize, launches: usize, kernel: &str, ctas: u64) {
        assert_eq!((launches, kernel, ctas), (2, "axpy", 2));
        self.1.set(number);
    }

    fn advance(&self, _: u64, _: u64) -> bool {
        self.1.get() != self.0
    }
}

#[test]
fn a_stopped_capture_keeps_completed_launches() {
    let folder = folder(TWICE);
    let folder = folder.path();
    let captured = run(folder, &options(folder), &StopIn(1, Cell::default())).unwrap();
    assert!(captured.interrupted);
    assert_eq!(captured.launches.len(), 1);
    assert_eq!(Trace::open(&folder.join("k.wmt")).unwrap().kernels().len(), 1);
    assert!(!folder.join("y.npy").exists());

    fs::remove_file(folder.join("k.wmt")).unwrap();
    let captured = run(folder, &options(folder), &StopIn(0, Cell::default())).unwrap();
    assert!(captured.interrupted && captured.trace.is_none());
    assert!(!folder.join("k.wmt").exists(), "a trace without kernels");
}

fn failure(launch_file: &str) -> String {
    let folder = folder(launch_file);
    let options = Options {
        limits: Limits { instructions: 1000, ..Limits::default() },
        ..options(folder.path())
    };
    let error = run(folder.path(), &options, &()).unwrap_err().to_string();
    assert!(!folder.path().join("k.wmt").exists(), "a failed capture left a trace");
    error
}

#[test]
fn failures_name_the_argument_the_buffer_or_the_access() {
    let with = |arguments: &str| {
        failure(
            &TWICE
                .replace("expect = \"expected.bin\"", "")
                .replace("[2.0, \"x\", \"y\", 100]", arguments),
        )
    };
    let cases = [
        (
            "[2.0, \"x\", \"z\", 100]",
            "launch 0 (counted from 0): there is no buffer `z`; there are x, y",
        ),
        ("[2.0, \"x\"]", "takes 4 arguments (.f32 a, .u64 x, .u64 y, .u32 n), 2 are given"),
        (
            "[\"u32=2\", \"x\", \"y\", 100]",
            "argument 1 of kernel `axpy`, `a` (.f32): a u32 is given",
        ),
        ("[\"x\", \"x\", \"y\", 100]", "`a` (.f32): the parameter is a float, not an address"),
        ("[2, \"x\", \"y\", 1.5]", "`n` (.u32): the parameter does not say that it is a float"),
        ("[2, \"x\", \"y\", 4294967296]", "`n` (.u32): 4294967296 is not of type u32"),
        ("[2, \"x\", \"y\", [\"u32=1\", \"u32=1\"]]", "8 bytes are given, the parameter has 4"),
        ("[2, \"x+396\", \"y\", 100]", "access of 4 bytes"),
    ];
    for (arguments, what) in cases {
        let error = with(arguments);
        assert!(error.contains(what), "{arguments}: {error}");
    }
    let error = failure(&TWICE.replace("grid = 2", "grid = 100000"));
    assert!(error.contains("has executed 1000 warp instructions, the limit"), "{error}");
}

#[test]
fn structures_are_laid_out_as_in_c() {
    let folder = folder(
        "module = \"k.ptx\"\n[buffers.x]\ntype = \"u32\"\nshape = 4\noutput = \"x.bin\"\n\
         [[launches]]\nkernel = \"pair\"\ngrid = 1\nblock = 1\narguments = [[\"x+4\", \"u32=7\"]]\n",
    );
    run(folder.path(), &options(folder.path()), &()).unwrap();
    let written = fs::read(folder.path().join("x.bin")).unwrap();
    assert_eq!(written[..8], [0, 0, 0, 0, 7, 0, 0, 0]);
}

/// The texel selected by each thread's number, blended with half of the next.
#[test]
fn a_kernel_fetches_from_a_texture_of_the_launch_file() {
    let fetch = ".version 7.8\n.target sm_75\n.address_size 64\n.global .texref old;\n\
        .visible .entry fetch(.param .u64 t, .param .u64 y)\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<6>;\n\
        .reg .b64 %rd<5>;\nmov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f5, %f5, 0f3F800000;\n\
        ld.param.u64 %rd1, [t];\ntex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5}];\n\
        ld.param.u64 %rd2, [y];\nmul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd4, %rd2, %rd3;\n\
        st.global.f32 [%rd4], %f1;\nret;\n}\n";
    let file = "module = \"f.ptx\"\n[buffers.x]\ntype = \"f32\"\nshape = 8\nfill = \"sequence(0,2)\"\n\
        [buffers.y]\ntype = \"f32\"\nshape = 6\noutput = \"y.bin\"\n\
        [textures.t]\nbuffer = \"x\"\nwidth = 8\nfilter = \"linear\"\nbind = \"old\"\n\
        [[launches]]\nkernel = \"fetch\"\ngrid = 1\nblock = 6\narguments = [\"t\", \"y\"]\n";
    let run_with = |file: &str| {
        let folder = folder(file);
        fs::write(folder.path().join("f.ptx"), fetch).unwrap();
        let ran = run(folder.path(), &options(folder.path()), &());
        ran.map(|_| floats(&folder.path().join("y.bin"))).map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error}: {}", source.unwrap_or_default())
        })
    };
    assert_eq!(run_with(file).unwrap(), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
    for (from, to, what) in [
        ("width = 8", "width = 9", "texture `t`: 36 bytes of texels at"),
        ("buffer = \"x\"", "buffer = \"z\"", "texture `t`: there is no buffer `z`; there are x, y"),
        ("bind = \"old\"", "bind = \"new\"", "no texture reference `new`; it has old"),
        ("[\"t\", \"y\"]", "[\"t+1\", \"y\"]", "there is no buffer `t`"),
    ] {
        let error = run_with(&file.replace(from, to)).unwrap_err();
        assert!(error.contains(what), "{to}: {error}");
    }
}

#[test]
fn invalid_modules_are_refused() {
    let folder = folder(TWICE);
    let read = |bytes: &[u8]| {
        fs::write(folder.path().join("k.ptx"), bytes).unwrap();
        let error = run(folder.path(), &options(folder.path()), &()).unwrap_err();
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", cause.unwrap_or_default())
    };
    let error = read(b"\xc3\x28");
    assert!(
        error.contains("k.ptx: byte 0 is not text: the file is neither PTX nor a fat binary"),
        "{error}"
    );
    let error = read(b".version 7.0\n.target sm_50\n.address_size 32\n");
    assert!(error.contains("failed to parse") && error.contains("32"), "{error}");
    let error = read(b".version 7.0\n.target sm_50\n.address_size 64\n.entry axpy() {\n");
    assert!(error.contains("k.ptx: line 4"), "{error}");
}

/// Launches kernels from two sections of a listing of `cuobjdump -ptx`, one after the other.
#[test]
fn kernels_of_all_listing_sections_are_launched() {
    let section = |kernel: &str, value: u32| {
        format!(
            "\nFatbin ptx code:\n================\narch = sm_75\ncode version = [9,0]\nhost = linux\n\
             compile_size = 64bit\ncompressed\nptxasOptions = \n\n.version 9.0\n.target sm_75\n\
             .address_size 64\n.visible .entry {kernel}(.param .u64 p)\n{{\n.reg .b64 %rd<2>;\n\
             ld.param.u64 %rd1, [p];\nst.global.f32 [%rd1+{at}], {value}.0;\nret;\n}}\n\n\
             Fatbin elf code:\n================\narch = sm_80\ncompile_size = 64bit\n",
            at = 4 * value
        )
    };
    let launch = |kernel: &str| {
        format!("[[launches]]\nkernel = \"{kernel}\"\ngrid = 1\nblock = 1\narguments = [\"x\"]\n")
    };
    let buffer = "module = \"k.ptx\"\n[buffers.x]\ntype = \"f32\"\nshape = 3\noutput = \"x.npy\"\n";
    let folder = folder(&[buffer, &launch("a"), &launch("b")].concat());
    let folder = folder.path();
    fs::write(folder.join("k.ptx"), section("a", 1) + &section("b", 2)).unwrap();
    run(folder, &options(folder), &()).unwrap();
    assert_eq!(floats(&folder.join("x.npy")), [0.0, 1.0, 2.0]);
}
