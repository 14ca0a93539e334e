//! Connection to the capture at the other end of the socket, if there is one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use warpmem_capture::relay::{Device, Ended, Message, Relay, Reply, SOCKET, Settings};
use warpmem_simt::{Counts, DeviceMemory, LaunchError, Limits, Progress, Run, TraceRecorder};
use warpmem_trace::KernelInfo;

/// Destination of the kernels' records.
pub struct Relayed {
    relay: Option<Relay>,
    pub settings: Settings,
}

impl Relayed {
    /// Connects to the capture that the environment names. Without a capture, kernels are executed but not
    /// recorded.
    pub fn connect(process: u32) -> Relayed {
        let alone = Relayed { relay: None, settings: default_settings() };
        let Some(socket) = std::env::var_os(SOCKET) else { return alone };
        match Relay::connect(Path::new(&socket), process) {
            Ok((relay, reply)) => {
                let settings = reply.settings().cloned().unwrap_or(alone.settings);
                if let Reply::Busy { process: other, .. } = reply {
                    warn(&format!(
                        "process {process} is not recorded: process {other} is being recorded"
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

    fn send(&mut self, message: &Message<'_>) {
        // A capture that has ended does not stop the program.
        let sent = self.relay.as_mut().map(|relay| relay.send(message));
        if let Some(Err(_)) = sent {
            self.relay = None;
        }
    }

    pub fn note(&mut self, text: &str) {
        match self.relay {
            Some(_) => self.send(&Message::Note { text: text.into() }),
            None => warn(text),
        }
    }

    pub fn copied(&mut self, address: u64, bytes: u64) {
        self.send(&Message::Copy { address, bytes });
    }

    pub fn reset_l2(&mut self) {
        self.send(&Message::ResetL2);
    }

    pub fn failed(&mut self, kernel: &str, reason: &str) {
        warn(reason);
        self.send(&Message::Failed { kernel: kernel.into(), reason: reason.into() });
    }

    /// Announces a loaded module; returns the registers of kernels where they are known.
    pub fn module(&mut self, text: &str) -> BTreeMap<String, u32> {
        let registers = self.relay.as_mut().map(|relay| relay.module(text));
        registers.and_then(Result::ok).unwrap_or_default()
    }

    /// Executes a kernel and sends its records to the capture.
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
            return run.execute(memory, None, limits, &Printer);
        };
        // A capture that has ended does not stop the program.
        let Ok(is_recorded) = relay.launch(&info, module) else {
            self.relay = None;
            return run.execute(memory, None, limits, &Printer);
        };
        let counts = match is_recorded {
            false => run.execute(memory, None, limits, &RelayedProgress::to(relay))?,
            true => {
                let mut recorder = TraceRecorder::begin(relay, info)?;
                let counts = run.execute(memory, Some(&mut recorder), limits, &Printer)?;
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

/// Prints a kernel's text to the program's standard output.
struct Printer;

impl Progress for Printer {
    fn advance(&self, _: u64, _: u64) -> bool {
        true
    }

    fn print(&self, text: &str) {
        // The program's own output may still be in C's buffer, so print through C.
        let text = CString::new(text.replace('\0', "")).unwrap_or_default();
        // SAFETY: both are C strings, and the format takes one string.
        unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
    }
}

/// Prints as [`Printer`] does, and reports the progress of an unrecorded kernel to the capture.
struct RelayedProgress<'r> {
    relay: RefCell<&'r mut Relay>,
    last: Cell<Instant>,
}

impl RelayedProgress<'_> {
    fn to(relay: &mut Relay) -> RelayedProgress<'_> {
        RelayedProgress { relay: RefCell::new(relay), last: Cell::new(Instant::now()) }
    }
}

impl Progress for RelayedProgress<'_> {
    fn advance(&self, ctas: u64, warp_instructions: u64) -> bool {
        const BETWEEN: Duration = Duration::from_millis(100);
        if self.last.get().elapsed() > BETWEEN {
            self.last.set(Instant::now());
            // The end of the kernel detects a capture that has ended.
            self.relay.borrow_mut().send(&Message::Progress { ctas, warp_instructions }).ok();
        }
        true
    }

    fn print(&self, text: &str) {
        Printer.print(text);
    }
}

/// Returns the settings without a capture: a device of the size of an RTX 2060 SUPER.
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

/// Warns the user of a program at once; repeats no message.
pub fn warn(text: &str) {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.insert(text.to_owned()) {
        eprintln!("warpmem: {text}");
    }
}

/// Closes the socket in forked children, so that the capture sees this process end while a child lives on.
fn close_in_children(descriptor: std::os::fd::RawFd) {
    use std::sync::atomic::{AtomicI32, Ordering};
    static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
    extern "C" fn in_child() {
        super::mark_forked();
        // SAFETY: the socket belongs to this library, and the child, which is marked, never uses it.
        unsafe { libc::close(DESCRIPTOR.load(Ordering::Relaxed)) };
    }
    if DESCRIPTOR.swap(descriptor, Ordering::Relaxed) < 0 {
        // SAFETY: the handler only marks the child and closes a file, both permitted in a forked child.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
}
