//! The capture at the other end of the socket, if there is one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use warpmem_capture::relay::{Device, Ended, Message, Relay, Reply, SOCKET, Settings};
use warpmem_simt::{
    Counts, DeviceMemory, LaunchError, Limits, NoRecorder, Progress, Run, TraceRecorder,
};
use warpmem_trace::KernelInfo;

/// Whom kernels are passed on to.
pub struct Relayed {
    relay: Option<Relay>,
    pub settings: Settings,
}

impl Relayed {
    /// Connects to the capture that the environment names. Without one, kernels are executed all the
    /// same.
    pub fn connect(process: u32) -> Relayed {
        let alone = Relayed { relay: None, settings: default_settings() };
        let Some(socket) = std::env::var_os(SOCKET) else { return alone };
        match Relay::connect(Path::new(&socket), process) {
            Ok((relay, reply)) => {
                let settings = reply.settings().cloned().unwrap_or(alone.settings);
                if let Reply::Busy { process: other, .. } = reply {
                    warn(&format!(
                        "process {process} is not recorded, as process {other} is being recorded"
                    ));
                }
                close_in_children(relay.descriptor());
                Relayed { relay: Some(relay), settings }
            }
            Err(error) => {
                warn(&format!("process {process} is not recorded: {error}"));
                alone
            }
        }
    }

    fn tell(&mut self, message: &Message<'_>) {
        // A capture that has ended does not stop the program.
        let told = self.relay.as_mut().map(|relay| relay.tell(message));
        if let Some(Err(_)) = told {
            self.relay = None;
        }
    }

    pub fn note(&mut self, text: &str) {
        match self.relay {
            Some(_) => self.tell(&Message::Note { text: text.into() }),
            None => warn(text),
        }
    }

    pub fn copied(&mut self, address: u64, bytes: u64) {
        self.tell(&Message::Copy { address, bytes });
    }

    pub fn reset_l2(&mut self) {
        self.tell(&Message::ResetL2);
    }

    pub fn failed(&mut self, kernel: &str, reason: &str) {
        warn(reason);
        self.tell(&Message::Failed { kernel: kernel.into(), reason: reason.into() });
    }

    /// Says that a module is loaded; returns the registers of kernels that are known.
    pub fn module(&mut self, text: &str) -> BTreeMap<String, u32> {
        let registers = self.relay.as_mut().map(|relay| relay.module(text));
        registers.and_then(Result::ok).unwrap_or_default()
    }

    /// Executes a kernel and passes on what it does.
    pub fn execute(
        &mut self,
        run: &Run<'_>,
        memory: &mut DeviceMemory,
        info: KernelInfo,
        module: u32,
    ) -> Result<Counts, LaunchError> {
        let Settings { max_instructions: instructions, threads, .. } = self.settings;
        let limits = Limits { instructions, threads, ..Limits::default() };
        let Some(relay) = &mut self.relay else {
            return run.execute(memory, &mut NoRecorder, limits, &Printer);
        };
        // A capture that has ended does not stop the program.
        let Ok(is_recorded) = relay.launch(&info, module) else {
            self.relay = None;
            return run.execute(memory, &mut NoRecorder, limits, &Printer);
        };
        let counts = match is_recorded {
            false => run.execute(memory, &mut NoRecorder, limits, &Told::to(relay))?,
            true => {
                let mut recorder = TraceRecorder::begin(relay, info)?;
                let counts = run.execute(memory, &mut recorder, limits, &Printer)?;
                recorder.end()?;
                counts
            }
        };
        let Counts { warps, warp_instructions, .. } = counts;
        if relay.ended(Ended { warps, warp_instructions }).is_err() {
            self.relay = None;
        }
        Ok(counts)
    }
}

/// Prints where the program does.
struct Printer;

impl Progress for Printer {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }

    fn print(&self, text: &str) {
        // The program's own output may wait in the buffer of C.
        let text = CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: both are strings of C, and the format takes one.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
    }
}

/// As [`Printer`], and tells the capture of a kernel that is not recorded how far it is.
struct Told<'r> {
    relay: RefCell<&'r mut Relay>,
    last: Cell<Instant>,
}

impl Told<'_> {
    fn to(relay: &mut Relay) -> Told<'_> {
        Told { relay: RefCell::new(relay), last: Cell::new(Instant::now()) }
    }
}

impl Progress for Told<'_> {
    fn advance(&self, ctas: u64, warp_instructions: u64) -> bool {
        const BETWEEN: Duration = Duration::from_millis(100);
        if self.last.get().elapsed() > BETWEEN {
            self.last.set(Instant::now());
            // A capture that has ended is found out at the end of the kernel.
            self.relay.borrow_mut().tell(&Message::Progress { ctas, warp_instructions }).ok();
        }
        true
    }

    fn print(&self, text: &str) {
        Printer.print(text);
    }
}

/// Without a capture: a device of the size of an RTX 2060 SUPER.
fn default_settings() -> Settings {
    let device = Device {
        name: "warpmem".into(),
        capability: (7, 5),
        sms: 34,
        clock_khz: 1_650_000,
        memory_clock_khz: 7_000_000,
        bus_bits: 256,
        l2_bytes: 4 << 20,
        registers: 65_536,
        shared_bytes: 64 << 10,
        threads: 1024,
        ctas: 16,
    };
    Settings { device, max_instructions: 10_000_000_000, threads: 1 }
}

/// Tells the user of a program at once, and of the same but once.
pub fn warn(text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.insert(text.to_owned()) {
        eprintln!("warpmem: {text}");
    }
}

/// Lets the capture see this process's end though a child of it lives on.
fn close_in_children(descriptor: std::os::fd::RawFd) {
    use std::sync::atomic::{AtomicI32, Ordering};
    static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
    extern "C" fn in_child() {
        super::mark_forked();
        // SAFETY: the socket is this library's, and the child, which is marked, does not use it.
        unsafe { libc::close(DESCRIPTOR.load(Ordering::Relaxed)) };
    }
    if DESCRIPTOR.swap(descriptor, Ordering::Relaxed) < 0 {
        // SAFETY: the handler only marks the child and closes a file, which a forked child may do.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}
