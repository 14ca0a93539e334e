//! State and operations behind the C functions of the runtime and the driver.

mod arrays;
mod clock;
mod clusters;
mod copies;
mod current;
mod device;
mod engine;
mod kernels;
mod launch;
mod modules;
mod pools;
mod registry;
mod relayed;
mod textures;
mod windows;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::status::{Failure, Outcome, Status};

pub use device::{MEMORY_BYTES, Release, attribute, properties};
pub use engine::Engine;
pub use kernels::{KernelId, LaunchShape, ModuleId};
pub use pools::{ON_DEVICE, PINNED, PoolId, PoolValue};
pub use registry::{Registry, Symbol};
pub use relayed::warn;
pub use textures::{TextureSampling, address_mode, texel_format};

/// State of the library.
#[derive(Default)]
struct LibraryState {
    registry: Registry,
    engine: Option<Engine>,
}

static STATE: Mutex<Option<LibraryState>> = Mutex::new(None);

thread_local! {
    /// Status for `cudaGetLastError` (the manual: of this host thread).
    static LAST_ERROR: Cell<Status> = const { Cell::new(Status::SUCCESS) };
}

/// Whether this process was forked from one that had used the runtime.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Marks the process as a forked child; call it in the child, after the fork.
pub fn mark_forked() {
    IS_FORKED.store(true, Ordering::Relaxed);
}

fn with_state<T>(work: impl FnOnce(&mut LibraryState) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    work(state.get_or_insert_default())
}

/// Records a registration made before the program runs; does not start the device.
pub fn register<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    with_state(|state| work(&mut state.registry))
}

/// Runs the work of a runtime function on the device, starting it on first use. Makes the primary context
/// current if none is (the manual, "Interactions with the Driver API").
pub fn run(work: impl FnOnce(&mut Engine, &Registry) -> Outcome<()>) -> Status {
    done(started(|engine, registry| {
        engine.contexts.use_primary();
        work(engine, registry)
    }))
}

/// Runs the work of a driver function on the device, which `cuInit` or the runtime has started.
pub fn drive(work: impl FnOnce(&mut Engine) -> Outcome<()>) -> Status {
    let is_started = with_state(|state| state.engine.is_some());
    match is_started {
        true => done(started(|engine, _| work(engine))).of_driver(),
        false => Status::NOT_INITIALIZED,
    }
}

/// Starts the device, for `cuInit`.
pub fn start() -> Status {
    done(started(|_, _| Ok(())))
}

fn done(outcome: Outcome<()>) -> Status {
    outcome.map_or_else(|failure| failure.status, |()| Status::SUCCESS)
}

/// Runs work as [`run`] does, and keeps a failure for `cudaGetLastError`.
pub fn run_and_note(work: impl FnOnce(&mut Engine, &Registry) -> Outcome<()>) -> Status {
    noted(run(work))
}

/// Keeps a status for `cudaGetLastError`.
pub fn noted(status: Status) -> Status {
    if status != Status::SUCCESS {
        LAST_ERROR.set(status);
    }
    status
}

/// Returns the last failure of this thread; `forget` clears it unless it is sticky.
pub fn last_error(forget: bool) -> Status {
    let last = LAST_ERROR.get();
    if forget && !last.is_sticky() {
        LAST_ERROR.set(Status::SUCCESS);
    }
    last
}

fn started(work: impl FnOnce(&mut Engine, &Registry) -> Outcome<()>) -> Outcome<()> {
    // A child inherits the parent's state, which the manual forbids it to use.
    if IS_FORKED.load(Ordering::Relaxed) {
        return Err(Status::NOT_INITIALIZED.into());
    }
    with_state(|state| {
        let LibraryState { registry, engine } = state;
        let engine = engine.get_or_insert_with(|| Engine::start(process::id()));
        if let Some(status) = engine.broken() {
            return Err(status.into());
        }
        // A panic must not unwind into the program's C code.
        let done = panic::catch_unwind(AssertUnwindSafe(|| work(engine, registry)));
        let done = done.unwrap_or_else(|_| Err(Failure::broken()));
        if let Err(Failure { status, why }) = &done {
            engine.failed(*status, why.as_deref());
        }
        done
    })
}
