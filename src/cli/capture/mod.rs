//! `warpmem capture`: executes kernels in PTX, or those of a whole program, without a GPU and
//! records a trace.

mod arguments;
mod program;
mod summary;
mod watch;

use super::exit::Interrupted;
use super::format::TextFormat;
use super::interrupt::Interrupt;
use super::output::{note, print};
use crate::capture::{
    Argument, CaptureError, Captured, Dimensions, Options, Plan, PtxModule, Registers, Selection,
    capture_module,
};
use crate::cli::files::{InputFile, OutputFile};
use crate::cli::machines::MachineName;
use crate::files::claims::{Claims, Clash};
use crate::params::parse_whole;
use crate::simt::Limits;
use crate::trace::Ranges;
use anyhow::Context;
use clap::ValueHint;
use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::thread::available_parallelism;

pub use arguments::{Saved, command_line};
use program::Capability;
pub use watch::Bar;

/// Execute a CUDA program, or kernels in PTX, without a GPU and write the trace
#[derive(clap::Args, Debug)]
#[command(after_help = AFTER_HELP, allow_negative_numbers = true)]
pub struct Args {
    /// PTX, or a fat binary that holds PTX
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["launch", "program"])]
    ptx: Option<InputFile>,
    /// Launch file (TOML): several launches, and buffers from and to files
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["ptx", "kernel", "grid", "block", "cluster", "shared", "arguments", "saves", "seed"])]
    launch: Option<InputFile>,
    /// Kernel to launch, as PTX names it
    #[arg(long, value_name = "NAME", requires_all = ["grid", "block"])]
    kernel: Option<String>,
    /// CTAs along x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]")]
    grid: Option<Dimensions>,
    /// Threads of a CTA along x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]")]
    block: Option<Dimensions>,
    /// CTAs of a cluster along x, y and z; by default as declared by the kernel
    #[arg(long, value_name = "X[,Y[,Z]]")]
    cluster: Option<Dimensions>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    shared: u32,
    /// Argument of the kernel; repeated in the order of its parameters
    #[arg(long = "arg", value_name = "ARGUMENT", value_parser = Argument::parse)]
    arguments: Vec<Argument>,
    /// Write the buffer of an argument, counted from 1, after the launch (.npy or raw)
    #[arg(long = "save", value_name = "N=FILE", value_parser = Saved::parse)]
    saves: Vec<Saved>,
    /// Seed of random values
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_number)]
    seed: u64,
    /// Trace to write (.wmt)
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, required_unless_present_any = ["list", "check"], conflicts_with_all = ["list", "check"])]
    output: Option<OutputFile>,
    /// List the launches with their instructions, or, without a launch, the kernels of the PTX, and
    /// write no trace
    #[arg(long)]
    list: bool,
    /// Run the program, list the kernels that it launches with the unsupported features that they
    /// need, and write no trace
    #[arg(long, requires = "program", conflicts_with = "list")]
    check: bool,
    /// Launches to record, numbered from 0, B excluded; all by default
    #[arg(long, value_name = "A..B,…", value_parser = str::parse::<Ranges>)]
    kernels: Option<Ranges>,
    /// Record only launches of kernels whose name matches
    #[arg(long, value_name = "REGEX")]
    name: Option<regex::Regex>,
    /// Skip the first N of the selected launches
    #[arg(long, value_name = "N", default_value = "0", value_parser = parse_number)]
    skip: u64,
    /// Record the first launch of each selected kernel, then every Nth
    #[arg(long, value_name = "N", default_value = "1")]
    every: NonZeroU64,
    /// Record no further launch once this many warp instructions are recorded
    #[arg(long, value_name = "N", value_parser = parse_number)]
    max_total: Option<u64>,
    /// Warp instructions after which a launch is considered endless
    #[arg(long, value_name = "N", default_value = "10_000_000_000", value_parser = parse_number)]
    max_instructions: u64,
    /// Threads that execute CTAs; by default one per processor. The trace does not depend on their
    /// number
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Take registers per thread from this `ptxas` instead of estimating them
    #[arg(long, value_name = "PROGRAM", value_hint = ValueHint::CommandName)]
    ptxas: Option<InputFile>,
    /// Machine whose device the program sees: name (see `warpmem list machines`) or TOML file
    #[arg(long, value_name = "MACHINE", default_value = "rtx2060s", requires = "program")]
    machine: MachineName,
    /// Compute capability of the device, which selects among the PTX versions of a program
    #[arg(long, value_name = "X.Y", default_value = "7.5", value_parser = Capability::parse, requires = "program")]
    capability: Capability,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = TextFormat::Table)]
    format: TextFormat,
    /// Program, unmodified, and its arguments
    #[arg(last = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments, conflicts_with_all = ["ptx", "launch"])]
    program: Vec<InputFile>,
}

const AFTER_HELP: &str = "\
An argument is a number, typed by the kernel's parameter; TYPE=VALUE, as f32=2.0; or a buffer,
buffer:TYPE[SIZE]=FILL, whose address the kernel receives. Types: u8, s8, u16, s16, u32,
s32, u64, s64, f16, bf16, f32, f64. Fills: zero, a number, random, random(LOW,HIGH), permutation,
sequence, sequence(FIRST,STEP), @FILE (.npy or raw).

A program must have PTX: nvcc -gencode arch=compute_75,code=compute_75. If it has no symbols, or is
not for x86-64, it must be linked with the shared CUDA runtime: -cudart shared. Its output and exit
status are passed on.

Examples:
  warpmem capture -o bfs.wmt -- ./bfs graph.txt
  warpmem capture --check -- ./bfs graph.txt
  warpmem capture -o solver.wmt --name spmv --skip 3 --every 10 -- ./solver matrix.mtx
  warpmem capture --list --ptx axpy.ptx
  warpmem capture --ptx axpy.ptx --kernel axpy --grid 1024 --block 256 --arg 2.0 \\
    --arg 'buffer:f32[2^18]=random' --arg 'buffer:f32[2^18]' --arg 2^18 -o axpy.wmt
  warpmem capture --launch gemm.toml -o gemm.wmt
  warpmem capture --launch solver.toml --name 'spmv.*' --kernels 10..12 -o spmv.wmt";

fn parse_number(text: &str) -> Result<u64, String> {
    parse_whole(text).ok_or_else(|| "valid: a whole number, as 7 or 2^10".into())
}

pub fn execute(args: &Args) -> anyhow::Result<()> {
    if !args.program.is_empty() {
        let command: Vec<OsString> =
            args.program.iter().map(|word| word.as_os_str().into()).collect();
        return program::run(args, &command);
    }
    match (&args.launch, &args.ptx, &args.kernel) {
        (Some(path), ..) => run(args, &Plan::read(path)?),
        (None, Some(ptx), Some(kernel)) => run(args, &arguments::plan(args, ptx, kernel)?),
        (None, Some(ptx), None) if args.list => {
            print(&summary::kernels(&PtxModule::read(ptx)?, args.format)?)
        }
        _ => anyhow::bail!("no kernel is named: give --kernel, --grid and --block, or --launch"),
    }
}

fn run(args: &Args, plan: &Plan) -> anyhow::Result<()> {
    check_files(args, plan)?;
    let failed = || format!("failed to capture {}", plan.module.display());
    // Until there is something to keep, Ctrl-C terminates the program.
    let module = PtxModule::read(&plan.module).with_context(failed)?;
    let bar = Bar::new(Interrupt::install()?);
    let captured = capture_module(module, plan, &options(args), &bar).with_context(failed);
    let seconds = bar.finish();
    let captured = captured?;
    print(&summary::launches(&captured, args.format)?)?;
    note(&summary::line(&captured, seconds));
    check(&captured)
}

/// Refuses an output that would overwrite a file of the launch.
fn check_files(args: &Args, plan: &Plan) -> Result<(), Clash> {
    let mut files = Claims::default();
    args.launch.iter().for_each(|launch| files.read("--launch", launch));
    plan.claim_inputs(&mut files);
    plan.claim_outputs(&mut files);
    args.output.iter().for_each(|output| files.write("--output", output));
    files.check()
}

fn options(args: &Args) -> Options {
    Options {
        output: args.output.as_deref().map(Path::to_owned),
        selection: selection(args),
        limits: Limits {
            instructions: args.max_instructions,
            threads: threads(args),
            ..Limits::default()
        },
        registers: registers(args),
        command: arguments::command_line(),
    }
}

fn selection(args: &Args) -> Selection {
    Selection {
        launches: args.kernels.clone().unwrap_or_else(Ranges::all),
        name: args.name.clone(),
        skip: args.skip,
        every: args.every.get(),
        max_total: args.max_total.unwrap_or(u64::MAX),
    }
}

fn registers(args: &Args) -> Registers {
    let ptxas = args.ptxas.as_deref().map(Path::to_owned);
    ptxas.map_or(Registers::Estimated, Registers::Ptxas)
}

fn threads(args: &Args) -> usize {
    let all = || available_parallelism().map_or(1, NonZeroUsize::get);
    args.threads.map_or_else(all, NonZeroUsize::get)
}

/// Fails if the capture was interrupted, or computed wrong values.
fn check(captured: &Captured) -> anyhow::Result<()> {
    if captured.interrupted {
        let kept = match &captured.trace {
            Some(trace) => format!("the trace has the finished launches: {}", trace.kernels),
            None => "nothing is written".to_owned(),
        };
        return Err(Interrupted { kept }.into());
    }
    match captured.mismatches.is_empty() {
        true => Ok(()),
        false => Err(CaptureError::Mismatches(captured.mismatches.clone()).into()),
    }
}
