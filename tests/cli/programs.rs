//! Whole programs captured through the command line: a Python script that uses the driver as Python
//! libraries do.
#![cfg(unix)]

use super::support::{Bench, Ran};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A program `main.py`: its first argument is the number of launches of `add`, which adds 1 to each of
/// 1,000 numbers; its second argument is the exit status.
const PROGRAM: &str = r#"
import ctypes as c, sys
cu = c.CDLL("libcuda.so.1")
def call(name, *arguments):
    status = getattr(cu, name)(*arguments)
    assert status == 0, (name, status)
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n];
    setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
    ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r1, [%rd3]; add.u32 %r1, %r1, 1; st.global.u32 [%rd3], %r1;
    ret;
}
"""
call("cuInit", 0)
context = c.c_void_p(); call("cuDevicePrimaryCtxRetain", c.byref(context), 0)
call("cuCtxSetCurrent", context)
module = c.c_void_p(); call("cuModuleLoadData", c.byref(module), PTX)
add = c.c_void_p(); call("cuModuleGetFunction", c.byref(add), module, b"add")
n = c.c_uint32(1000); numbers = (c.c_uint32 * 1000)(*range(1000))
x = c.c_uint64(); call("cuMemAlloc_v2", c.byref(x), c.c_size_t(4000))
call("cuMemcpyHtoD_v2", x, numbers, c.c_size_t(4000))
arguments = (c.c_void_p * 2)(c.addressof(x), c.addressof(n))
for _ in range(int(sys.argv[1])):
    call("cuLaunchKernel", add, 8, 1, 1, 128, 1, 1, 0, None, arguments, None)
call("cuMemcpyDtoH_v2", numbers, x, c.c_size_t(4000))
print("last:", numbers[999])
sys.exit(int(sys.argv[2]))
"#;

/// Makes a directory with the program; `None` without Python.
fn bench() -> Option<Bench> {
    let mut python = Command::new("python3");
    python.args(["-c", "import ctypes"]).stderr(Stdio::null());
    if !python.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no python3 with ctypes");
        return None;
    }
    let bench = Bench::new();
    bench.write("main.py", PROGRAM);
    Some(bench)
}

fn capture(bench: &Bench, options: &[&str], launches: &str, status: &str) -> Ran {
    let program = ["--", "python3", "main.py", launches, status];
    bench.run(&[&["capture"], options, &program].concat())
}

#[test]
fn a_program_is_recorded_while_it_runs() {
    let Some(bench) = bench() else { return };
    let ran = capture(&bench, &["-o", "x.wmt"], "3", "0");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "last: 1002\n"), "{ran:?}");
    assert!(ran.stderr.contains("add            3         3       0"), "{ran:?}");
    assert!(ran.stderr.contains("x.wmt: kernels 3, records"), "{ran:?}");
    let text = bench.output(&["info", "x.wmt"]);
    assert!(text.contains("from     PTX 7.0 of python3 for sm_70"), "{text}");
    // A comparison accepts it like any other trace.
    assert!(bench.output(&["compare", "x.wmt"]).contains("fr-fcfs"));
}

#[test]
fn options_choose_launches() {
    let Some(bench) = bench() else { return };
    let kernels = |options: &[&str]| {
        let ran = capture(&bench, &[options, &["-o", "x.wmt"]].concat(), "6", "0");
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let info = bench.output(&["info", "x.wmt", "--format", "json"]);
        serde_json::from_str::<Value>(&info).unwrap()["kernels"].clone()
    };
    let count = |options: &[&str]| kernels(options).as_array().map_or(0, Vec::len);
    assert_eq!(count(&["--kernels", "2..4"]), 2);
    assert_eq!(count(&["--skip", "4"]), 2);
    assert_eq!(count(&["--every", "3"]), 2);
    // A launch executes 448 warp instructions.
    assert_eq!(count(&["--max-total", "600"]), 2);
    let none = capture(&bench, &["--name", "nothing", "-o", "none.wmt"], "1", "0");
    assert_eq!(none.status, Some(2), "{none:?}");
    assert!(!bench.path("none.wmt").exists());
}

#[test]
fn capture_returns_the_status_of_the_program() {
    let Some(bench) = bench() else { return };
    let ran = capture(&bench, &["-o", "x.wmt"], "2", "7");
    assert_eq!(ran.status, Some(7), "{ran:?}");
    let message = "error: the program ended with status 7; the trace has the finished launches: 2";
    assert!(ran.stderr.contains(message), "{ran:?}");
    let missing = bench.run(&["capture", "--check", "--", "./no-such-program"]);
    assert_eq!(missing.status, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("no-such-program"), "{missing:?}");
}

#[test]
fn a_check_lists_kernels_and_writes_nothing() {
    let Some(bench) = bench() else { return };
    let ran = capture(&bench, &["--check"], "2", "0");
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("last: 1001\nkernel  launches  recorded  failed"), "{ran:?}");
    assert_eq!(super::support::names_in(&bench.path("")), ["main.py"]);
    let json = capture(&bench, &["--check", "--format", "json"], "2", "0").stdout;
    let value: Value = serde_json::from_str(json.split_once('\n').unwrap().1).unwrap();
    assert_eq!(value["kernels"][0]["launches"], 2);
}

/// Ctrl-C keeps the finished launches, even if the program ignores it.
#[test]
fn an_interrupted_program_leaves_a_whole_trace() {
    let Some(bench) = bench() else { return };
    let mut command =
        bench.command(&["capture", "-o", "x.wmt", "--", "python3", "main.py", "1000000000", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    let is_writing = || super::support::names_in(&bench.path("")).len() > 1;
    while !is_writing() && since.elapsed() < Duration::from_secs(60) {
        assert_eq!(child.try_wait().unwrap(), None, "ended before it could be interrupted");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.status, Some(130), "{ran:?}");
    assert!(ran.stderr.contains("the trace has the finished launches"), "{ran:?}");
    assert!(bench.output(&["info", "x.wmt"]).contains("add"));
}
