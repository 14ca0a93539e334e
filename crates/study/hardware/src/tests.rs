//! Measurements under the project's own driver, which executes PTX without timing: its clock counts
//! instructions.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use warpmem_capture::PtxModule;
use warpmem_simt::{Launch, Params};

use crate::driver::{DriverError, Gpu, Module};
use crate::instruments::Instruments;
use crate::program::Loaded;
use crate::results::{Measured, MeasuredFigure, ResultsFile, Samples};
use crate::work::{Cycles, Parameters, Program, Unit, Work};
use crate::{DeviceInfo, HardwareError, MEASUREMENTS, Session, measurement};

/// Path of the library, which is built with the tests as their dependency.
fn driver() -> PathBuf {
    let executable = std::env::current_exe().unwrap();
    executable.with_file_name("libwarpmem_cudart.so")
}

/// Opens the device. The lock admits one test at a time: the clock is shared by the whole process.
fn gpu() -> (MutexGuard<'static, ()>, Gpu) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (alone, Gpu::open(driver().as_os_str(), 0).unwrap())
}

fn parameters<const N: usize>(sizes: [(&str, u64); N]) -> Parameters {
    sizes.map(|(name, size)| (name.to_owned(), size)).into()
}

/// Runs a measurement's first program; returns it with the cycles of its launches.
fn ran<'g>(gpu: &'g Gpu, work: &'g Work) -> (Loaded<'g>, Vec<f64>) {
    let device = DeviceInfo::read(gpu).unwrap();
    let instruments = Instruments::new(gpu, &device).unwrap();
    let loaded = Loaded::new(gpu, &work.programs[0]).unwrap();
    let run = loaded.run(&instruments, instruments.empty_launch().unwrap()).unwrap();
    (loaded, run.cycles)
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word)).collect()
}

#[test]
fn the_driver_describes_the_device() {
    let (_alone, gpu) = gpu();
    let device = DeviceInfo::read(&gpu).unwrap();
    assert_eq!((device.name.as_str(), device.sms, device.l2_bytes), ("warpmem", 34, 4 << 20));
    assert_eq!((device.compute_capability, device.driver_version), ([7, 5], 13_000));
    assert_eq!(device.peak_bytes_per_second(), 448e9);
}

#[test]
fn missing_drivers_and_devices_are_errors() {
    let refused = |library: &str, device| match Gpu::open(OsStr::new(library), device) {
        Ok(_) => panic!("{library} was opened"),
        Err(error) => error.to_string(),
    };
    let missing = refused("libnothing.so.7", 0);
    assert!(missing.contains("libnothing.so.7") && missing.contains("--driver"), "{missing}");
    let other = refused("libc.so.6", 0);
    assert!(other.contains("libc.so.6") && other.contains("cuInit"), "{other}");
    let missing = refused(driver().to_str().unwrap(), 3);
    assert_eq!(missing, "there is no device 3; the driver has 1, numbered from 0");
}

#[test]
fn a_chase_follows_its_list_for_the_given_hops() {
    let (_alone, gpu) = gpu();
    for (name, hops) in [("l1-latency", 24u64), ("l2-latency", 64), ("dram-latency", 40)] {
        let sizes = [("bytes", 8192), ("spacing", 128), ("fewer", hops), ("more", 2 * hops)];
        let work = measurement(name).unwrap().work(&parameters(sizes)).unwrap();
        let (loaded, cycles) = ran(&gpu, &work);
        let list = words(&loaded.buffer("list", 8192).unwrap());
        let last = words(&loaded.buffer("last", 8).unwrap())[0];
        // Each node points to the next: 64 nodes of 16 words.
        let base = *list.iter().filter(|&&word| word != 0).min().unwrap();
        let next = |at: u64| list[((at - base) / 8) as usize];
        let expected = (0..hops).fold(base, |at, _| next(at));
        assert_eq!(last, expected, "{name}");
        assert_eq!(last == base, hops == 64, "{name}: the list has 64 nodes");
        // The first clock read precedes eight hops and three loop instructions; the second follows two more.
        assert_eq!(cycles, [(11 * hops / 8 + 3) as f64], "{name}");
    }
}

#[test]
fn the_difference_of_two_chases_is_the_cost_of_a_hop() {
    let (_alone, gpu) = gpu();
    let session = Session::new(&gpu).unwrap();
    let sizes = [("bytes", 8192), ("spacing", 128), ("fewer", 64), ("more", 192)];
    let work = measurement("l1-latency").unwrap().work(&parameters(sizes)).unwrap();
    let samples = session.measure(&work, 3, &()).unwrap();
    assert!((samples.clock_mhz - 1000.0).abs() < 1.0, "{}", samples.clock_mhz);
    let figure = &samples.figures[0];
    assert_eq!((figure.samples.as_slice(), figure.unit), (&[1.375; 3][..], Unit::Cycles));
}

#[test]
fn equal_line_latencies_are_one_level() {
    let (_alone, gpu) = gpu();
    let sizes = [("lines", 9), ("spacing", 256), ("ctas", 3), ("fewer", 8), ("more", 24)];
    let work = measurement("l2-lines").unwrap().work(&parameters(sizes)).unwrap();
    let samples = Session::new(&gpu).unwrap().measure(&work, 1, &()).unwrap();
    assert_eq!(samples.figures.len(), 1);
    assert_eq!((samples.figures[0].name.as_str(), samples.figures[0].median), ("l2-near", 1.375));
}

#[test]
fn copy_and_triad_compute_their_definitions() {
    let (_alone, gpu) = gpu();
    let sizes = parameters([("bytes", 1 << 16)]);
    let copy = measurement("dram-copy").unwrap().work(&sizes).unwrap();
    let (loaded, _) = ran(&gpu, &copy);
    let [from, to] = ["from", "to"].map(|name| floats(&loaded.buffer(name, 1 << 16).unwrap()));
    assert!(to == from && from[16_383] == 16_383.0);
    let triad = measurement("dram-triad").unwrap().work(&sizes).unwrap();
    let (loaded, _) = ran(&gpu, &triad);
    let to = floats(&loaded.buffer("to", 1 << 16).unwrap());
    // Both vectors hold 0, 1, 2, …
    assert!((0..16_384).all(|at| to[at] == 4.0 * at as f32));
}

#[test]
fn bandwidth_excludes_the_time_of_an_empty_launch() {
    let (_alone, gpu) = gpu();
    let copy = measurement("dram-copy").unwrap().work(&parameters([("bytes", 1 << 16)])).unwrap();
    let (_, cycles) = ran(&gpu, &copy);
    // 128 warps of 12 instructions take a nanosecond each, and an empty launch takes one.
    let nanoseconds = 128.0 * 12.0 - 1.0;
    assert!((cycles[0] / nanoseconds - 1.0).abs() < 1e-3, "{cycles:?}");
    let figures = copy.figures(&Cycles { launches: vec![vec![1e6]], hz: 1e9 });
    assert_eq!(figures[0].value, 2.0 * 65_536.0 / 1e-3 / 1e9);
}

/// Runs a kernel that only reads on the words of this file; returns the contents of `to`.
fn left(
    gpu: &Gpu,
    instruments: &Instruments<'_>,
    file: &Path,
    [kernel, ptx, arguments]: [&str; 3],
) -> u32 {
    let launch_file = format!(
        "module = 'k.ptx'\n[buffers.from]\ntype = 'u32'\nfile = '{}'\n\
         [buffers.to]\ntype = 'u32'\nshape = 1\n\
         [[launches]]\nkernel = '{kernel}'\ngrid = 4\nblock = 64\narguments = {arguments}\n",
        file.display()
    );
    let program = Program::of_text(&launch_file, ptx).unwrap();
    let loaded = Loaded::new(gpu, &program).unwrap();
    loaded.run(instruments, 0.0).unwrap();
    u32::from_le_bytes(*loaded.buffer("to", 4).unwrap().first_chunk().unwrap())
}

/// Reading kernels store only where all bits are one, so the stored words show that each byte was read.
#[test]
fn reading_kernels_read_every_byte() {
    let (_alone, gpu) = gpu();
    let instruments = Instruments::new(&gpu, &DeviceInfo::read(&gpu).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("from");
    let stream = include_str!("ptx/stream.ptx");
    let again = include_str!("ptx/l2_read.ptx");
    // 256 threads read 256 vectors at once, or 2048 vectors in two rounds of four, each thread at a fixed
    // stride.
    for (kernel, ptx, arguments, bytes) in [
        ("read", stream, r#"["from", "to"]"#, 16 * 256),
        ("read_again", again, r#"["from", 2047, 2, "to"]"#, 16 * 2048),
    ] {
        for at in [0, 1, bytes / 2 + 5, bytes - 1] {
            let is_same_thread = |byte: usize| byte / 16 % 256 == at / 16 % 256;
            let mut content: Vec<u8> =
                (0..bytes).map(|byte| if is_same_thread(byte) { 0xff } else { 0 }).collect();
            fs::write(&file, &content).unwrap();
            let all = left(&gpu, &instruments, &file, [kernel, ptx, arguments]);
            content[at] = 0;
            fs::write(&file, &content).unwrap();
            let all_but_one = left(&gpu, &instruments, &file, [kernel, ptx, arguments]);
            assert_eq!((all, all_but_one), (u32::MAX, 0), "{kernel}: byte {at}");
        }
    }
}

#[test]
fn rejected_ptx_reports_the_compiler_log() {
    let (_alone, gpu) = gpu();
    let text = include_str!("ptx/stream.ptx");
    let parsed = PtxModule::of_text("k.ptx".into(), text.to_owned()).unwrap().module;
    let broken = format!("{text}\nnonsense");
    let Err(DriverError::Compilation { what, log }) = Module::load(&gpu, &broken, parsed) else {
        panic!("it was compiled")
    };
    assert!(what.starts_with("CUDA_ERROR_INVALID_PTX (218)"), "{what}");
    assert!(log.contains("found `nonsense`"), "{log}");
}

#[test]
fn mismatched_arguments_are_refused_before_the_driver_call() {
    let (_alone, gpu) = gpu();
    let text = include_str!("ptx/stream.ptx");
    let parsed = PtxModule::of_text("k.ptx".into(), text.to_owned()).unwrap().module;
    let module = Module::load(&gpu, text, parsed).unwrap();
    let copy = module.function("copy").unwrap();
    for given in [vec![], vec![vec![0; 8]], vec![vec![0; 8], vec![0; 4]]] {
        let [grid, block] = [[1; 3]; 2];
        let launch = Launch { grid, block, params: Params(given), ..Launch::default() };
        let error = copy.launch(&launch).unwrap_err().to_string();
        assert!(error.ends_with("it takes [8, 8]"), "{error}");
    }
    let missing = module.function("nothing").err().unwrap().to_string();
    assert!(missing.contains("kernel `nothing`: CUDA_ERROR_NOT_FOUND"), "{missing}");
}

/// Writes a launch file that copies 4 numbers and expects these results.
fn expecting(folder: &Path, expected: [f32; 4]) -> PathBuf {
    fs::write(folder.join("k.ptx"), include_str!("ptx/stream.ptx")).unwrap();
    let bytes: Vec<u8> = expected.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(folder.join("expected"), bytes).unwrap();
    let path = folder.join("k.toml");
    let text = "module = 'k.ptx'\n[buffers.x]\ntype = 'f32'\nshape = 4\nfill = 'sequence'\n\
        [buffers.y]\ntype = 'f32'\nshape = 4\nexpect = 'expected'\n\
        [[launches]]\nkernel = 'copy'\ngrid = 1\nblock = 1\narguments = ['x', 'y']\n";
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn expectations_of_launch_files_are_checked_on_the_device() {
    let (_alone, gpu) = gpu();
    let session = Session::new(&gpu).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let right = expecting(folder.path(), [0.0, 1.0, 2.0, 3.0]);
    let work = Work::of_launch_file("k", &right).unwrap();
    assert_eq!(session.measure(&work, 1, &()).unwrap().figures[0].name, "0 copy");
    let wrong = expecting(folder.path(), [0.0, 1.0, 2.0, 4.0]);
    let work = Work::of_launch_file("k", &wrong).unwrap();
    let error = session.measure(&work, 1, &()).unwrap_err();
    assert!(error.to_string().contains("element 3 is 3, not 4"), "{error}");
}

fn h100() -> DeviceInfo {
    DeviceInfo {
        name: "NVIDIA H100 80GB HBM3".into(),
        compute_capability: [9, 0],
        sms: 132,
        threads_per_sm: 2048,
        clock_khz: 1_980_000,
        memory_clock_khz: 2_619_000,
        bus_bits: 5120,
        l2_bytes: 50 << 20,
        memory_bytes: 80 << 30,
        driver_version: 12_040,
    }
}

#[test]
fn every_measurement_is_reproducible_from_its_parameters() {
    let mut names: Vec<&str> = MEASUREMENTS.iter().map(|measurement| measurement.name).collect();
    for measurement in MEASUREMENTS {
        let work = measurement.work(&(measurement.parameters)(&h100())).unwrap();
        assert_eq!(work.name, measurement.name);
        for program in &work.programs {
            for launch in &program.plan.launches {
                let kernel = program.module.module.kernel(&launch.kernel);
                assert!(kernel.is_some(), "{}: {}", work.name, launch.kernel);
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MEASUREMENTS.len());
    let error = measurement("l1-latencies").err().unwrap().to_string();
    assert!(error.contains("(did you mean `l1-latency`?); valid: l1-latency, "), "{error}");
    let error = measurement("dram-copy").unwrap().work(&Parameters::new()).err().unwrap();
    assert!(error.to_string().contains("`bytes` is missing"), "{error}");
}

#[test]
fn results_round_trip_and_other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let launch_file = expecting(folder.path(), [0.0; 4]);
    let path = folder.path().join("hardware.json");
    let mut results = ResultsFile::new("warpmem hardware".into(), h100(), 3, 2000.0);
    let crc32 = Work::of_launch_file("k", &launch_file).unwrap().fingerprint();
    let figure = MeasuredFigure {
        name: "0 copy".into(),
        unit: Unit::Cycles,
        median: 5.5,
        samples: vec![5.0, 6.0],
    };
    let samples = Samples { clock_mhz: 1700.0, figures: vec![figure] };
    let measured = Measured {
        name: "k".into(),
        parameters: Parameters::new(),
        launch_file: Some("k.toml".into()),
        crc32,
        samples,
    };
    results.measurements.push(measured);
    results.write(&path).unwrap();
    let read = ResultsFile::read(&path).unwrap();
    assert_eq!(read, results);
    assert!(read.measurements[0].work(folder.path()).is_ok());
    let another = format!("{}// another", include_str!("ptx/stream.ptx"));
    fs::write(folder.path().join("k.ptx"), another).unwrap();
    let changed = read.measurements[0].work(folder.path()).err().unwrap();
    assert!(matches!(changed, HardwareError::Changed { .. }), "{changed}");
    // The fingerprint includes the sizes.
    let sizes = parameters([("bytes", 1 << 16)]);
    let copy = measurement("dram-copy").unwrap().work(&sizes).unwrap();
    let mut measured = results.measurements[0].clone();
    measured.name = "dram-copy".into();
    measured.launch_file = None;
    (measured.parameters, measured.crc32) = (sizes, copy.fingerprint());
    assert!(measured.work(folder.path()).is_ok());
    measured.parameters = parameters([("bytes", 1 << 17)]);
    assert!(matches!(measured.work(folder.path()), Err(HardwareError::Changed { .. })));
    for (text, part) in [
        ("{}", "missing field `warpmem_hardware`"),
        (r#"{"warpmem_hardware": 2}"#, "has format 2, this version reads 1"),
        (r#"{"warpmem_hardware": 1}"#, "missing field `version`"),
    ] {
        fs::write(&path, text).unwrap();
        let error = ResultsFile::read(&path).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
