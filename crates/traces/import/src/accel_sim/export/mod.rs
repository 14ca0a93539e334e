//! Writes traces as Accel-Sim text: `kernelslist.g` and one grouped file of version 5 per kernel.
//!
//! A trace stores only the class of compute instructions, so each becomes a representative opcode
//! of its class; registers are synthesised to reproduce the dependences and use distances of the
//! trace.

mod registers;
mod sass;
mod steps;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;
use warpmem_trace::{Instruction, Kernel, Record, Trace};

use self::registers::Registers;
use self::steps::Steps;
use crate::error::ImportError;
use crate::progress::Progress;

/// Options of the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExportOptions {
    /// Level 0 to 9 of xz compression of the kernel files; `None`: plain text.
    pub xz: Option<u32>,
}

/// Counts of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportSummary {
    pub kernels: u64,
    pub ctas: u64,
    pub warps: u64,
    pub warp_instructions: u64,
    /// Dependences, waits and active lanes that the text cannot reproduce.
    pub approximated: u64,
    /// Instructions with more source registers than Accel-Sim reads (4).
    pub over_register_limit: u64,
    /// Bytes of the kernel files' text, before compression.
    pub text_bytes: u64,
}

/// Writes `trace` to the new folder `folder`, which appears once it is complete.
///
/// # Errors
/// When the folder exists or cannot be written, the trace is damaged, an access width has no
/// opcode, or `progress` stops the export.
pub fn export_accel_sim(
    trace: &Trace,
    folder: &Path,
    options: ExportOptions,
    progress: &dyn Progress,
) -> Result<ExportSummary, ImportError> {
    if folder.exists() {
        return Err(ImportError::file(folder, "it exists already; name a new folder"));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let temporary = temporary_folder(parent).map_err(ImportError::io("write in", parent))?;
    let mut exporter = Exporter {
        trace,
        options,
        progress,
        steps: Steps::default(),
        registers: Registers::default(),
        summary: ExportSummary::default(),
    };
    exporter.write_list(&temporary.path().join("kernelslist.g"))?;
    for number in 0..trace.kernels().len() {
        exporter.write_kernel(number, &temporary.path().join(exporter.file_name(number)))?;
        progress.kernel(number + 1, trace.kernels().len());
    }
    std::fs::rename(temporary.path(), folder).map_err(ImportError::io("rename to", folder))?;
    let _ = temporary.keep();
    Ok(exporter.summary)
}

/// Creates a folder beside the final one, with ordinary permissions.
fn temporary_folder(parent: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".accel-sim-export-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(parent)
}

struct Exporter<'a> {
    trace: &'a Trace,
    options: ExportOptions,
    progress: &'a dyn Progress,
    steps: Steps,
    registers: Registers,
    summary: ExportSummary,
}

impl Exporter<'_> {
    fn file_name(&self, kernel: usize) -> String {
        let compression = if self.options.xz.is_some() { ".xz" } else { "" };
        format!("kernel-{}.traceg{compression}", kernel + 1)
    }

    fn write_list(&self, path: &Path) -> Result<(), ImportError> {
        let mut list = String::new();
        for kernel in 0..=self.trace.kernels().len() {
            let memcpys = self.trace.header().memcpys.iter();
            for copy in memcpys.filter(|copy| copy.before_kernel as usize == kernel) {
                list += &format!("MemcpyHtoD,{:#018x},{}\n", copy.address, copy.bytes);
            }
            if kernel < self.trace.kernels().len() {
                list += &self.file_name(kernel);
                list.push('\n');
            }
        }
        std::fs::write(path, list).map_err(ImportError::io("write", path))
    }

    fn write_kernel(&mut self, number: usize, path: &Path) -> Result<(), ImportError> {
        let file = File::create(path).map_err(ImportError::io("create", path))?;
        let file = BufWriter::new(file);
        match self.options.xz {
            None => {
                let mut file = file;
                self.write_text(number, path, &mut file)?;
                file.flush().map_err(ImportError::io("write", path))?;
            }
            Some(level) => {
                let mut encoder = liblzma::write::XzEncoder::new(file, level.min(9));
                self.write_text(number, path, &mut encoder)?;
                let finished = encoder.finish().and_then(|mut file| file.flush());
                finished.map_err(ImportError::io("write", path))?;
            }
        }
        Ok(())
    }

    fn write_text(
        &mut self,
        number: usize,
        path: &Path,
        out: &mut dyn Write,
    ) -> Result<(), ImportError> {
        let trace = self.trace;
        let kernel = &trace.kernels()[number];
        let instructions = trace.instructions(number)?;
        sass::check(&instructions, &kernel.info)
            .map_err(|what| ImportError::file(trace.path(), what))?;
        let mut text = header(kernel, number + 1);
        for chunk in kernel.chunks.clone() {
            let chunk = trace.chunk(number, chunk)?;
            for (cta, entry) in chunk.ctas().iter().enumerate() {
                if self.progress.cancelled() {
                    return Err(ImportError::Cancelled);
                }
                let [x, y, z] = entry.block;
                text += &format!("#BEGIN_TB\n\nthread block = {x},{y},{z}\n");
                for (warp, warp_entry) in entry.warps.iter().enumerate() {
                    let mut cursor = chunk.warp(cta, warp);
                    let mut record = Record::new();
                    self.steps.begin();
                    while cursor.next(&mut record)? {
                        self.steps.push(&instructions[record.instruction.0 as usize], &record);
                    }
                    text += &format!("\nwarp = {}\n", warp_entry.warp_in_cta);
                    self.write_warp(&instructions, &mut text)?;
                    self.summary.warps += 1;
                }
                text += "\n#END_TB\n\n";
                self.summary.ctas += 1;
                self.summary.text_bytes += text.len() as u64;
                out.write_all(text.as_bytes()).map_err(ImportError::io("write", path))?;
                text.clear();
            }
        }
        self.summary.text_bytes += text.len() as u64;
        out.write_all(text.as_bytes()).map_err(ImportError::io("write", path))?;
        self.summary.kernels += 1;
        Ok(())
    }

    fn write_warp(
        &mut self,
        instructions: &[Instruction],
        text: &mut String,
    ) -> Result<(), ImportError> {
        self.steps.finish();
        self.registers.allocate(&self.steps);
        let steps = self.steps.steps();
        *text += &format!("insts = {}\n", steps.len());
        for (position, step) in steps.iter().enumerate() {
            let operands = self.registers.operands(position);
            self.summary.over_register_limit += u64::from(operands.srcs.len() > sass::MAX_SOURCES);
            let addresses = self.steps.addresses(step);
            sass::write(step, instructions, operands, addresses, text)
                .map_err(|what| ImportError::file(self.trace.path(), what))?;
        }
        self.summary.warp_instructions += steps.len() as u64;
        self.summary.approximated += self.steps.approximated() + self.registers.approximated();
        Ok(())
    }
}

fn header(kernel: &Kernel, number: usize) -> String {
    /// Turing, the first with every class of compute, for traces without an architecture.
    const DEFAULT_SM: u32 = 75;
    let info = &kernel.info;
    let name = info.name.replace(['\n', '\r'], " ");
    // Accel-Sim launches this number of CTAs and stops at the end of a shorter file, as in a
    // partial trace.
    let launched = info.grid.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    let grid = if launched == u64::from(kernel.ctas) { info.grid } else { [kernel.ctas, 1, 1] };
    let dimensions = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
    let sm = if info.sm_version == 0 { DEFAULT_SM } else { info.sm_version };
    format!(
        "-kernel name = {name}\n-kernel id = {number}\n-grid dim = {}\n-block dim = {}\n\
         -shmem = {}\n-nregs = {}\n-binary version = {sm}\n-cuda stream id = {}\n\
         -shmem base_addr = 0x0000000000000000\n-local mem base_addr = 0x0000000000000000\n\
         -nvbit version = none\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n\
         #traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] \
         mem_width [adrrescompress?] [mem_addresses] immediate\n\n",
        dimensions(grid),
        dimensions(info.block),
        info.shared_bytes,
        info.registers_per_thread,
        info.stream,
    )
}
