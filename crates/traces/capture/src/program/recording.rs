//! Turns the messages of a program into a trace and a tally of its kernels.

use std::collections::BTreeMap;

use crate::relay::{Ended, Message, Reply};
use warpmem_trace::{CtaBuilder, Instruction, KernelInfo, Provenance, TraceWriter, WriterOptions};

use crate::error::CaptureError;
use crate::module::PtxModule;
use crate::ptxas;
use crate::selection::Selector;
use crate::session::{Launched, Observer, Registers};

use super::{KernelTally, ProgramCapture, ProgramOptions, ProgramStatus};

/// Recording of a program's kernels.
pub struct Recording<'o> {
    options: &'o ProgramOptions,
    program: String,
    observer: &'o (dyn Observer + Sync),
    selector: Selector<'o>,
    writer: Option<TraceWriter>,
    /// Process whose kernels are recorded.
    owner: Option<u32>,
    /// Launch in progress.
    open: Option<Open>,
    launches: Vec<Launched>,
    /// Launches started.
    begun: usize,
    kernels: Vec<KernelTally>,
    /// Index of each kernel in `kernels`.
    places: BTreeMap<String, usize>,
    /// PTX version and architecture of the first module.
    ptx: Option<String>,
    notes: Vec<String>,
    /// Reason why the trace cannot be written.
    failure: Option<CaptureError>,
}

struct Open {
    info: KernelInfo,
    is_recorded: bool,
    /// CTAs completed.
    ctas: u64,
}

impl<'o> Recording<'o> {
    pub fn new(
        options: &'o ProgramOptions,
        program: &str,
        observer: &'o (dyn Observer + Sync),
    ) -> Result<Recording<'o>, CaptureError> {
        let provenance = Provenance {
            tool: format!("warpmem {}", env!("CARGO_PKG_VERSION")),
            source: String::new(),
            command: options.command.clone(),
        };
        let writer = match &options.output {
            Some(path) => Some(TraceWriter::create(path, provenance, WriterOptions::default())?),
            None => None,
        };
        Ok(Recording {
            options,
            program: program.to_owned(),
            observer,
            selector: Selector::new(&options.selection),
            writer,
            owner: None,
            open: None,
            launches: Vec::new(),
            begun: 0,
            kernels: Vec::new(),
            places: BTreeMap::new(),
            ptx: None,
            notes: Vec::new(),
            failure: None,
        })
    }

    /// Starts a process; it is recorded if no other process is.
    pub fn begin(&mut self, process: u32) -> Reply {
        let settings = Box::new(self.options.settings.clone());
        match self.owner {
            Some(process) => Reply::Busy { process, settings },
            None => {
                self.owner = Some(process);
                Reply::Settings(settings)
            }
        }
    }

    /// Ends the recorded process, possibly within a kernel.
    pub fn end(&mut self, process: u32) {
        if self.owner != Some(process) {
            return;
        }
        self.owner = None;
        if let Some(open) = self.open.take() {
            self.fail(&open.info.name, "the process ended within it");
        }
    }

    pub fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Handles a message of the recorded process; returns the answer to a question.
    pub fn take(&mut self, message: Message<'_>) -> Option<Reply> {
        match message {
            Message::Begin { .. } => None,
            Message::Module { text } => Some(Reply::Registers(self.module(text.into_owned()))),
            Message::Copy { address, bytes } => {
                if let Some(writer) = &mut self.writer {
                    writer.memcpy(address, bytes);
                }
                None
            }
            Message::ResetL2 => {
                if let Some(writer) = &mut self.writer {
                    writer.reset_l2();
                }
                None
            }
            Message::Launch { info, .. } => {
                Some(Reply::Launch { is_recorded: self.launch(info.into_owned()) })
            }
            Message::Cta { instructions, cta } => {
                self.cta(&instructions, &cta);
                None
            }
            Message::Progress { ctas, warp_instructions } => {
                self.observer.advance(ctas, warp_instructions);
                None
            }
            Message::End(ended) => {
                self.ended(ended);
                None
            }
            Message::Failed { kernel, reason } => {
                // A launch that failed to start counts as a launch.
                self.tally(&kernel).launches += 1;
                if let Some(open) = self.open.take() {
                    self.tally(&open.info.name).launches -= 1;
                }
                self.fail(&kernel, &reason);
                None
            }
            Message::Note { text } => {
                self.note(text.into_owned());
                None
            }
        }
    }

    /// Adds a loaded module; returns the exactly known register counts of its kernels.
    fn module(&mut self, text: String) -> BTreeMap<String, u32> {
        let Ok(module) = PtxModule::of_text(self.program.clone().into(), text) else {
            return BTreeMap::new();
        };
        let (major, minor) = module.module.version;
        let target = &module.module.target;
        self.ptx
            .get_or_insert_with(|| format!("PTX {major}.{minor} of {} for {target}", self.program));
        for summary in module.kernels() {
            let unsupported = summary.unsupported.clone();
            if !self.places.contains_key(&summary.name) {
                self.add(KernelTally::of(summary));
            } else {
                self.tally(&summary.name).unsupported = unsupported;
            }
        }
        match &self.options.registers {
            Registers::Estimated => BTreeMap::new(),
            Registers::Ptxas(program) => match ptxas::registers(program, &module) {
                Ok(registers) => registers,
                Err(error) => {
                    self.note(error.to_string());
                    BTreeMap::new()
                }
            },
        }
    }

    fn add(&mut self, tally: KernelTally) {
        self.places.insert(tally.kernel.clone(), self.kernels.len());
        self.kernels.push(tally);
    }

    fn tally(&mut self, kernel: &str) -> &mut KernelTally {
        if !self.places.contains_key(kernel) {
            self.add(KernelTally { kernel: kernel.to_owned(), ..KernelTally::default() });
        }
        &mut self.kernels[self.places[kernel]]
    }

    /// Begins a launch; returns whether it is recorded.
    fn launch(&mut self, info: KernelInfo) -> bool {
        self.tally(&info.name).launches += 1;
        let is_recorded = self.selector.takes(&info.name) && self.failure.is_none();
        let ctas = info.grid.iter().map(|&n| u64::from(n)).product();
        self.begun += 1;
        self.observer.launch(self.begun, 0, &info.name, ctas);
        if is_recorded && let Some(writer) = &mut self.writer {
            let begun = writer.begin_kernel(info.clone());
            self.keep(begun);
        }
        self.open = Some(Open { info, is_recorded, ctas: 0 });
        is_recorded && self.writer.is_some()
    }

    fn cta(&mut self, instructions: &[Instruction], cta: &CtaBuilder) {
        let Some(open) = self.open.as_mut().filter(|open| open.is_recorded) else { return };
        open.ctas += 1;
        self.observer.advance(open.ctas, 0);
        let Some(writer) = &mut self.writer else { return };
        for instruction in instructions {
            writer.dictionary().intern(instruction);
        }
        let written = writer.cta(cta);
        self.keep(written);
    }

    /// Keeps the writer's first error until the end.
    fn keep(&mut self, result: Result<(), warpmem_trace::TraceError>) {
        if let Err(error) = result
            && self.failure.is_none()
        {
            self.failure = Some(error.into());
            self.writer = None;
        }
    }

    fn ended(&mut self, ended: Ended) {
        let Some(Open { info, is_recorded, .. }) = self.open.take() else { return };
        let ctas = info.grid.iter().map(|&n| u64::from(n)).product();
        self.observer.advance(ctas, ended.warp_instructions);
        if is_recorded {
            self.selector.recorded(ended.warp_instructions);
            if let Some(writer) = &mut self.writer {
                let ended = writer.end_kernel();
                self.keep(ended);
            }
        }
        let recorded = is_recorded && self.writer.is_some();
        let tally = self.tally(&info.name);
        tally.recorded += u64::from(recorded);
        tally.warp_instructions += ended.warp_instructions;
        self.launches.push(Launched {
            number: self.begun - 1,
            kernel: info.name,
            grid: info.grid,
            block: info.block,
            registers_per_thread: info.registers_per_thread,
            shared_bytes: info.shared_bytes,
            warps: ended.warps,
            warp_instructions: ended.warp_instructions,
            recorded,
        });
    }

    /// Records that a launch failed.
    fn fail(&mut self, kernel: &str, reason: &str) {
        if let Some(writer) = &mut self.writer {
            let abandoned = writer.abandon_kernel();
            self.keep(abandoned);
        }
        let tally = self.tally(kernel);
        tally.failed += 1;
        tally.failure.get_or_insert_with(|| reason.to_owned());
    }

    /// Completes the trace.
    pub fn finish(mut self, status: ProgramStatus) -> Result<ProgramCapture, CaptureError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let registers = match &self.options.registers {
            Registers::Estimated => "estimated from live values",
            Registers::Ptxas(_) => "of ptxas",
        };
        let is_recorded = self.launches.iter().any(|launch| launch.recorded);
        let trace = match self.writer.filter(|_| is_recorded) {
            None => None,
            Some(mut writer) => {
                let ptx = self.ptx.unwrap_or_default();
                let note = self.options.selection.note();
                let note = note.map_or(String::new(), |note| format!("; {note}"));
                writer.set_source(format!("{ptx}; registers {registers}{note}"));
                Some(writer.finish()?)
            }
        };
        // Launched kernels come first.
        self.kernels.sort_by_key(|tally| tally.launches == 0);
        Ok(ProgramCapture {
            status,
            launches: self.launches,
            kernels: self.kernels,
            trace,
            notes: self.notes,
            interrupted: false,
        })
    }
}
