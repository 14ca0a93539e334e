//! Replaces the CUDA runtime that nvcc embeds in a program by default with the functions of this
//! library.
//!
//! ```text
//!  program: cudaMalloc ─▶ mov r11, address ─▶ this library: cudaMalloc
//!                         jmp r11
//! ```
//!
//! `LD_PRELOAD` makes the loader load this library before the program's own code runs. The program's
//! symbol table gives the start of each function, and a jump is written there. A function that this
//! library lacks is left alone, and fails when it looks for the driver's tables.

use std::ffi::{CString, c_int, c_void};
use std::fs;
use std::ops::Range;
use std::sync::OnceLock;

use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::context;
use crate::loader;

/// Initializer that the loader runs when it loads the library.
const JUMP: usize = 13;

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    if std::env::var_os(warpmem_capture::relay::EMBEDDED_RUNTIME).is_none() {
        return;
    }
    if let Err(why) = replace() {
        context::warn(&format!("the program's CUDA runtime cannot be replaced: {why}"));
    }
}

/// A function of the program's runtime and its replacement.
#[derive(Debug, PartialEq, Eq)]
struct Replaced {
    address: usize,
    by: usize,
}

/// Release of the embedded runtime, deduced from its functions.
static RELEASE: OnceLock<c_int> = OnceLock::new();

/// Returns the release of the runtime that the program embeds, if it embeds one.
pub fn release() -> Option<c_int> {
    RELEASE.get().copied()
}

fn replace() -> Result<(), String> {
    let program = fs::read("/proc/self/exe").map_err(|error| error.to_string())?;
    let file = ElfFile64::<object::Endianness>::parse(&*program).map_err(|e| e.to_string())?;
    let defined = |name: &str| file.symbol_by_name(name).is_some_and(|s| s.is_definition());
    // The variable is inherited by every process that the program starts; most are not CUDA programs.
    if !defined("__cudaRegisterFatBinary") {
        return Ok(());
    }
    RELEASE.get_or_init(|| release_of(defined));
    let base = base_of_program();
    let functions = functions(&file);
    let mut replaced = Vec::new();
    for (at, &(address, name)) in functions.iter().enumerate() {
        let is_of_runtime = name.starts_with("cuda") || name.starts_with("__cuda");
        let own = is_of_runtime.then(|| CString::new(name).ok()).flatten();
        let Some(by) = own.and_then(|name| loader::function(&name)) else { continue };
        let next = functions[at..].iter().find(|(next, _)| *next > address);
        if next.is_some_and(|(next, _)| next - address < JUMP as u64) {
            return Err(format!("{name} is too short for a jump"));
        }
        replaced.push(Replaced { address: base + address as usize, by: by.addr() });
    }
    write(&replaced)
}

/// Returns the program's functions by address. The padding up to the next function is available for the jump.
fn functions<'f>(file: &ElfFile64<'f>) -> Vec<(u64, &'f str)> {
    let defined = file.symbols().filter(|symbol| symbol.is_definition());
    let functions = defined.filter(|symbol| symbol.kind() == SymbolKind::Text);
    let mut functions: Vec<_> =
        functions.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?))).collect();
    functions.sort_unstable();
    functions
}

/// Deduces the release: CUDA 12 has its own form of one function, and CUDA 13 dropped another.
fn release_of(defined: impl Fn(&str) -> bool) -> c_int {
    match (defined("cudaGetDeviceProperties_v2"), defined("cudaThreadSynchronize")) {
        (true, _) => 12_090,
        (false, true) => 11_080,
        (false, false) => 13_000,
    }
}

/// Returns the load bias of the program, which the loader lists first.
fn base_of_program() -> usize {
    unsafe extern "C" fn first(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        to: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description, and the caller of `dl_iterate_phdr` a valid pointer.
        unsafe { to.cast::<usize>().write((*info).dlpi_addr as usize) };
        1
    }
    let mut base = 0usize;
    // SAFETY: the callback writes `base` and ends the iteration.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut base).cast()) };
    base
}

fn write(replaced: &[Replaced]) -> Result<(), String> {
    let Some(pages) = pages(replaced) else { return Ok(()) };
    protect(&pages, libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    for &Replaced { address, by } in replaced {
        let place = std::ptr::with_exposed_provenance_mut::<[u8; JUMP]>(address);
        // SAFETY: the function belongs to the program, is at least as long as a jump, and its page is
        // writable. No code of the program runs yet.
        unsafe { place.write_unaligned(jump(by)) };
    }
    protect(&pages, libc::PROT_READ | libc::PROT_EXEC)
}

/// Encodes `mov r11, to; jmp r11`; calls may clobber r11, which carries no argument.
fn jump(to: usize) -> [u8; JUMP] {
    let mut code = [0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0xe3];
    code[2..10].copy_from_slice(&to.to_le_bytes());
    code
}

/// Returns the pages that hold the functions.
fn pages(replaced: &[Replaced]) -> Option<Range<usize>> {
    const PAGE: usize = 4096;
    let first = replaced.iter().map(|one| one.address).min()?;
    let last = replaced.iter().map(|one| one.address + JUMP).max()?;
    Some(first / PAGE * PAGE..last.next_multiple_of(PAGE))
}

fn protect(pages: &Range<usize>, how: c_int) -> Result<(), String> {
    let first = std::ptr::with_exposed_provenance_mut(pages.start);
    // SAFETY: the pages are program code, and nothing executes them while they are writable.
    match unsafe { libc::mprotect(first, pages.len(), how) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_encodes_its_target() {
        let code = jump(0x1122_3344_5566_7788);
        assert_eq!(code[..2], [0x49, 0xbb]);
        assert_eq!(code[2..10], 0x1122_3344_5566_7788usize.to_le_bytes());
        assert_eq!(code[10..], [0x41, 0xff, 0xe3]);
    }

    #[test]
    fn the_pages_cover_every_jump() {
        let at = |address| Replaced { address, by: 0 };
        assert_eq!(pages(&[at(0x1ff8), at(0x3000)]), Some(0x1000..0x4000));
        assert_eq!(pages(&[at(0x1ff8)]), Some(0x1000..0x3000));
        assert_eq!(pages(&[]), None);
    }

    #[test]
    fn the_release_follows_from_the_functions() {
        let of = |known: &'static [&str]| release_of(|name| known.contains(&name));
        assert_eq!(of(&["cudaGetDeviceProperties_v2", "cudaThreadSynchronize"]), 12_090);
        assert_eq!(of(&["cudaThreadSynchronize"]), 11_080);
        assert_eq!(of(&[]), 13_000);
    }
}
