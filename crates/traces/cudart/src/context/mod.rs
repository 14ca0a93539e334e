//! What the functions of the runtime and the driver do.

mod clock;
mod clusters;
mod copies;
mod current;
mod device;
mod engine;
mod kernels;
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
pub use textures::{TextureRequest, address_mode, texel_format};

/// All that the library knows.
#[derive(Default)]
struct Context {
    registry: Registry,
    engine: Option<Engine>,
}

static CONTEXT: Mutex<Option<Context>> = Mutex::new(None);

thread_local! {
    /// What `cudaGetLastError` returns (the manual: of this host thread).
    static LAST_ERROR: Cell<Status> = const { Cell::new(Status::SUCCESS) };
}

/// This process is a child of the one that has used the runtime.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

/// Marks the process as a child; to be called after a fork, in the child.
pub fn mark_forked() {
    IS_FORKED.store(true, Ordering::Relaxed);
}

fn with_context<T>(work: impl FnOnce(&mut Context) -> T) -> T {
    let mut context = CONTEXT.lock().unwrap_or_else(PoisonError::into_inner);
    work(context.get_or_insert_default())
}

/// Notes what the program registers before it runs; starts nothing.
pub fn register<T>(work: impl FnOnce(&mut Registry) -> T) -> T {
    with_context(|context| work(&mut context.registry))
}

/// Does what a function of the runtime asks of the device, which is started if it was not. The
/// primary context becomes current where none is (the manual, "Interactions with the Driver API").
pub fn run(work: impl FnOnce(&mut Engine, &Registry) -> Outcome<()>) -> Status {
    done(started(|engine, registry| {
        engine.contexts.use_primary();
        work(engine, registry)
    }))
}

/// Does what a function of the driver asks of the device, which `cuInit` or the runtime started.
pub fn drive(work: impl FnOnce(&mut Engine) -> Outcome<()>) -> Status {
    let is_started = with_context(|context| context.engine.is_some());
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

/// As [`run`], and what fails is what `cudaGetLastError` returns.
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

/// The last failure of this thread, which is forgotten if `forget` says so and it can be.
pub fn last_error(forget: bool) -> Status {
    let last = LAST_ERROR.get();
    if forget && !last.is_sticky() {
        LAST_ERROR.set(Status::SUCCESS);
    }
    last
}

fn started(work: impl FnOnce(&mut Engine, &Registry) -> Outcome<()>) -> Outcome<()> {
    // A child has the parent's state, which the manual does not let it use.
    if IS_FORKED.load(Ordering::Relaxed) {
        return Err(Status::NOT_INITIALIZED.into());
    }
    with_context(|context| {
        let Context { registry, engine } = context;
        let engine = engine.get_or_insert_with(|| Engine::start(process::id()));
        if let Some(status) = engine.broken() {
            return Err(status.into());
        }
        // A panic must not unwind into the program, which is C.
        let done = panic::catch_unwind(AssertUnwindSafe(|| work(engine, registry)));
        let done = done.unwrap_or_else(|_| Err(Failure::broken()));
        if let Err(Failure { status, why }) = &done {
            engine.failed(*status, why.as_deref());
        }
        done
    })
}
