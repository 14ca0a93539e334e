//! The driver's C functions, under the names that programs import or pass to `cuGetProcAddress` (the manual,
//! "CUDA Driver API"). Triton, Numba and CuPy launch kernels through them.

#![allow(non_snake_case, reason = "the names are those of the manual")]

mod cluster;
mod context;
mod copy;
mod device;
mod event;
mod fill;
mod jit;
mod launch;
mod link;
mod memory;
mod module;
mod no_effect;
mod pointer;
mod pool;
mod start;
mod stream;
mod tensor;
mod unsupported;

/// Defines functions that return a status. The body works on the engine; functions marked `in_context` fail
/// if no context is current.
macro_rules! functions {
    ($(#[$meta:meta])* in_context: $($rest:tt)*) => {
        $crate::driver::functions!(@ (|engine: &$crate::context::Engine| {
            engine.contexts.current().map(drop)
        }) $($rest)*);
    };
    (anywhere: $($rest:tt)*) => {
        $crate::driver::functions!(@ (|_: &$crate::context::Engine| Ok(())) $($rest)*);
    };
    (@ ($check:expr) $(
        $(#[$meta:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$engine:ident| $work:block
    )*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $crate::status::Status {
                let check: fn(&$crate::context::Engine) -> $crate::status::Outcome<()> = $check;
                $crate::context::drive(|$engine: &mut $crate::context::Engine| {
                    check($engine)?;
                    #[allow(unused_unsafe, reason = "some use no pointer")]
                    // SAFETY: the caller guarantees that the pointers are null or as the manual requires.
                    let done: $crate::status::Outcome<()> = unsafe { $work };
                    done
                })
            }
        )*
    };
}
use functions;
