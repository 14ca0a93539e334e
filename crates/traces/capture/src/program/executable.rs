//! Checks, before a program runs, the libraries it links against.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, FileHeader, Sym};
use object::{Endianness, Object, ObjectSection, elf};

use crate::error::CaptureError;

/// NVIDIA libraries whose kernels exist only as machine code.
const MACHINE_CODE: [&str; 9] = [
    "libcublas",
    "libcufft",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcudnn",
    "libnccl",
    "libnpp",
    "libnvrtc",
];

/// Whether a program's embedded runtime can be replaced: the jumps that redirect it are machine code.
const REPLACES_RUNTIMES: bool = cfg!(target_arch = "x86_64");

/// Compiler flags that a capturable program needs.
const FLAGS: &str = "-cudart shared -gencode arch=compute_75,code=compute_75";

/// An ELF executable.
#[derive(Debug, Default)]
pub struct Executable {
    path: PathBuf,
    /// Shared libraries it names.
    libraries: Vec<String>,
    /// CUDA functions it imports.
    functions: Vec<String>,
    /// Whether it has a section of kernels.
    has_kernels: bool,
    /// Whether it embeds a CUDA runtime whose functions its symbols name.
    embeds_runtime: bool,
}

impl Executable {
    /// Resolves a command to its executable; `None` if it is missing or not an ELF file (a script).
    pub fn find(name: &OsStr) -> Option<Executable> {
        let path = match Path::new(name).components().count() > 1 {
            true => PathBuf::from(name),
            false => {
                let folders = std::env::var_os("PATH")?;
                let mut places = std::env::split_paths(&folders).map(|folder| folder.join(name));
                places.find(|place| place.is_file())?
            }
        };
        let is_file = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file());
        let bytes = is_file.then(|| fs::read(&path).ok()).flatten()?;
        Executable::parse(path, &bytes)
    }

    fn parse(path: PathBuf, bytes: &[u8]) -> Option<Executable> {
        let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
        let mut names =
            file.sections().filter_map(|section| section.name().ok().map(str::to_owned));
        let has_kernels = names.any(|name| name == ".nv_fatbin" || name == "__nv_relfatbin");
        let functions = imports(&file).into_iter().filter(|name| is_of_cuda(name)).collect();
        let libraries = libraries(&file).unwrap_or_default();
        let own = file.symbols().chain(file.dynamic_symbols());
        let embeds_runtime = own.into_iter().any(|symbol| {
            use object::ObjectSymbol;
            symbol.is_definition() && symbol.name() == Ok("__cudaRegisterFatBinary")
        });
        Some(Executable { path, libraries, functions, has_kernels, embeds_runtime })
    }

    /// Checks that the program can be captured with `runtime`.
    ///
    /// # Errors
    /// When it embeds a runtime that cannot be replaced, needs machine-code libraries, or calls functions
    /// that `runtime` lacks.
    pub fn check(&self, runtime: &Path) -> Result<(), CaptureError> {
        let refused =
            |what: String| Err(CaptureError::Program { program: self.path.clone(), what });
        // A driver-API program has this section too: nvcc adds it to everything it links.
        let is_cuda =
            |name: &String| name.starts_with("libcudart.") || name.starts_with("libcuda.");
        let is_shared = self.libraries.iter().any(is_cuda);
        if self.embeds_runtime && !REPLACES_RUNTIMES {
            return refused(format!(
                "it is linked with the static CUDA runtime, which is only replaced on x86-64; link \
                 it with `{FLAGS}`"
            ));
        }
        if self.has_kernels && !self.embeds_runtime && !is_shared {
            return refused(format!(
                "it is linked with the static CUDA runtime and stripped of the symbols by which \
                 that is replaced; keep them, or link it with `{FLAGS}`"
            ));
        }
        let is_machine_code = |name: &&String| MACHINE_CODE.iter().any(|l| name.starts_with(l));
        if let Some(library) = self.libraries.iter().find(is_machine_code) {
            return refused(format!(
                "it needs {library}, whose kernels are machine code that cannot be executed here"
            ));
        }
        let known = exports(runtime)?;
        let unknown: Vec<&str> = self
            .functions
            .iter()
            .filter(|name| !known.contains(name))
            .map(String::as_str)
            .collect();
        match unknown.as_slice() {
            [] => Ok(()),
            names => refused(format!(
                "it calls {}, which the runtime of capture does not have; capture the kernel alone \
                 with `warpmem capture --ptx`, or ask for the function",
                names.join(", ")
            )),
        }
    }

    /// Returns whether the program embeds a CUDA runtime that must be replaced.
    pub fn embeds_runtime(&self) -> bool {
        self.embeds_runtime
    }

    /// Returns a likely reason why the program did not reach the captured runtime.
    pub fn hint(&self) -> Option<String> {
        let loads = self.libraries.iter().any(|name| name.starts_with("libcud"));
        (!loads && !self.embeds_runtime).then(|| {
            format!(
                "{} does not name the CUDA runtime among its libraries; a program that carries it \
                 must be linked with `{FLAGS}`",
                self.path.display()
            )
        })
    }
}

/// Returns whether a name has the prefix of a CUDA runtime or driver function.
fn is_of_cuda(name: &str) -> bool {
    let rest = name.strip_prefix("__cuda").or_else(|| name.strip_prefix("cuda"));
    let driver = || name.strip_prefix("cu");
    rest.or_else(driver).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn imports(file: &ElfFile64<'_>) -> Vec<String> {
    let symbols = file.elf_dynamic_symbol_table();
    let undefined = symbols.iter().filter(|symbol| symbol.is_undefined(file.endian()));
    let names = undefined.filter_map(|symbol| symbol.name(file.endian(), symbols.strings()).ok());
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Lists the functions that a shared library exports.
fn exports(library: &Path) -> Result<Vec<String>, CaptureError> {
    let failed = |source| CaptureError::File { action: "read", path: library.to_owned(), source };
    let bytes = fs::read(library).map_err(failed)?;
    let file = ElfFile64::<Endianness>::parse(&*bytes)
        .map_err(|error| failed(std::io::Error::other(error)))?;
    let symbols = file.elf_dynamic_symbol_table();
    let defined = symbols.iter().filter(|symbol| !symbol.is_undefined(file.endian()));
    let names = defined.filter_map(|symbol| symbol.name(file.endian(), symbols.strings()).ok());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// Lists the shared libraries that a file names.
fn libraries(file: &ElfFile64<'_>) -> Option<Vec<String>> {
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data).ok()?;
    let (entries, strings) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, strings).ok()?;
    let needed = entries.iter().filter(|entry| entry.d_tag.get(endian) == elf::DT_NEEDED);
    let names = needed.filter_map(|entry| strings.get(entry.d_val.get(endian) as u32).ok());
    Some(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a library without CUDA functions; any such library will do.
    fn runtime() -> PathBuf {
        std::env::current_exe().unwrap()
    }

    fn refusal(executable: &Executable) -> String {
        executable.check(&runtime()).unwrap_err().to_string()
    }

    fn with(libraries: &[&str]) -> Executable {
        let libraries = libraries.iter().map(|&name| name.to_owned()).collect();
        Executable { path: "a.out".into(), libraries, has_kernels: true, ..Executable::default() }
    }

    #[test]
    fn a_program_with_the_shared_runtime_is_accepted() {
        with(&["libcudart.so.13", "libc.so.6"]).check(&runtime()).unwrap();
        with(&["libcuda.so.1", "libc.so.6"]).check(&runtime()).unwrap();
    }

    #[test]
    fn an_embedded_runtime_without_symbols_is_refused_with_the_compiler_flag() {
        let flag = "link it with `-cudart shared -gencode arch=compute_75,code=compute_75`";
        let stripped = refusal(&with(&["libc.so.6"]));
        assert!(stripped.contains("a.out") && stripped.contains(flag), "{stripped}");
        let embedded = Executable { embeds_runtime: true, ..with(&["libc.so.6"]) };
        assert_eq!(embedded.check(&runtime()).is_ok(), REPLACES_RUNTIMES);
        assert!(embedded.embeds_runtime() && embedded.hint().is_none());
    }

    #[test]
    fn machine_code_libraries_and_unknown_functions_are_named() {
        let library = refusal(&with(&["libcudart.so.12", "libcublas.so.12"]));
        assert!(library.contains("needs libcublas.so.12, whose kernels are machine code"));
        let functions = vec!["cudaFrobnicate".to_owned(), "cuFrobnicate".to_owned()];
        let unknown = Executable { functions, ..with(&["libcudart.so.13"]) };
        assert!(refusal(&unknown).contains("it calls cudaFrobnicate, cuFrobnicate, which"));
    }

    #[test]
    fn cuda_functions_are_recognized_by_name() {
        for name in ["cudaMalloc", "__cudaRegisterFatBinary", "cuInit", "cuMemAlloc_v2"] {
            assert!(is_of_cuda(name), "{name}");
        }
        for name in ["current", "cudart", "curl_easy_init", "cudapp_run", "malloc"] {
            assert!(!is_of_cuda(name), "{name}");
        }
    }

    #[test]
    fn an_executable_without_cuda_is_read() {
        let own = Executable::find(runtime().as_os_str()).unwrap();
        assert!(own.libraries.iter().any(|name| name.starts_with("libc.")), "{own:?}");
        assert!(!own.has_kernels && !own.embeds_runtime && own.functions.is_empty());
        assert!(own.hint().unwrap().contains("does not name the CUDA runtime"));
        own.check(&runtime()).unwrap();
        // A script, and a device, which is endless.
        for other in ["/proc/self/status", "/dev/zero"] {
            assert!(Executable::find(OsStr::new(other)).is_none(), "{other}");
        }
    }
}
