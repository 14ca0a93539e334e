//! Kernel lists: the files of an application's trace, and the copies between them.

use std::path::{Path, PathBuf};

use crate::error::{Expected, ImportError};
use crate::{input, text};

/// An entry of a kernel list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A host-to-device copy before the next kernel.
    Memcpy {
        address: u64,
        bytes: u64,
    },
    Kernel(PathBuf),
}

/// A kernel list with the paths of its files.
#[derive(Debug)]
pub struct List {
    pub path: PathBuf,
    pub commands: Vec<Command>,
    /// Notes on odd lines, and on kernel files beside the list that it does not name.
    pub notes: Vec<String>,
}

/// Longest list accepted, bytes; a line is about 30.
const MAX_LIST: usize = 16 << 20;
/// Maximum notes on odd lines.
const MAX_NOTES: usize = 100;

/// Reads the user's input: a list, a folder with one, or a single kernel file.
pub fn read(input: &Path) -> Result<List, ImportError> {
    if input.is_dir() {
        return read_list(&find_list(input)?);
    }
    if is_kernel_file(input)? {
        let commands = vec![Command::Kernel(input.to_path_buf())];
        return Ok(List { path: input.to_path_buf(), commands, notes: Vec::new() });
    }
    read_list(input)
}

fn find_list(folder: &Path) -> Result<PathBuf, ImportError> {
    let candidates = ["kernelslist.g", "kernelslist"].map(|name| folder.join(name));
    candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        ImportError::file(folder, "a folder without kernelslist.g or kernelslist; name a file")
    })
}

/// Detects a kernel file by its name, or else by the header lines at its start.
fn is_kernel_file(path: &Path) -> Result<bool, ImportError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if KernelName::parse(&name).form.is_some() {
        return Ok(true);
    }
    let head = input::read_head(path, 4096)?;
    let head = head.trim_ascii_start();
    if head.is_empty() {
        return Err(ImportError::file(
            path,
            "the file is empty; expected a kernel list or a kernel",
        ));
    }
    Ok(head.starts_with(b"-") || head.starts_with(b"#"))
}

fn read_list(path: &Path) -> Result<List, ImportError> {
    let text = input::read_small(path, MAX_LIST)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut finder = Finder::new(path, folder)?;
    let mut list = List { path: path.to_path_buf(), commands: Vec::new(), notes: Vec::new() };
    for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        match line.split(|&byte| byte == b',').next() {
            None | Some([] | [b'#', ..]) => {}
            Some(b"MemcpyHtoD") => {
                let command = parse_memcpy(line).map_err(|e| e.at(path, number, line))?;
                list.commands.push(command);
            }
            Some(name) if name.starts_with(b"Memcpy") || name.starts_with(b"nccl") => {
                if list.notes.len() == MAX_NOTES {
                    continue;
                }
                let name = String::from_utf8_lossy(name);
                list.notes.push(format!("line {number} of the list, a {name}, is left out"));
            }
            Some(_) => {
                let name = str::from_utf8(line)
                    .map_err(|_| Expected::from("a kernel file's name").at(path, number, line))?;
                list.commands.push(Command::Kernel(finder.find(name, number)?));
            }
        }
    }
    if !list.commands.iter().any(|command| matches!(command, Command::Kernel(_))) {
        return Err(ImportError::file(path, "no kernel is named in it; expected a kernel list"));
    }
    list.notes.extend(finder.unlisted(&list.commands));
    Ok(list)
}

/// `MemcpyHtoD,address,bytes[,file]`
fn parse_memcpy(line: &[u8]) -> Result<Command, Expected> {
    let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).skip(1);
    let address = fields.next().and_then(text::hex);
    let bytes = fields.next().and_then(text::decimal);
    match (address, bytes) {
        (Some(address), Some(bytes)) => Ok(Command::Memcpy { address, bytes }),
        _ => Err("`MemcpyHtoD,0xaddress,bytes`".into()),
    }
}

/// Finds kernel files whose names differ slightly from those in the list.
struct Finder<'a> {
    list: &'a Path,
    folder: &'a Path,
    /// Names of the kernel files in the folder, sorted.
    names: Vec<String>,
}

impl<'a> Finder<'a> {
    fn new(list: &'a Path, folder: &'a Path) -> Result<Finder<'a>, ImportError> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(here).map_err(ImportError::io("list", here))?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| KernelName::parse(name).form.is_some()).collect();
        names.sort_unstable();
        Ok(Finder { list, folder, names })
    }

    /// Returns the file of that name, or the one that differs least: in compression, in form
    /// (`.trace`, `.traceg`, `.tracez`), or by `-ctx_…`.
    fn find(&mut self, name: &str, line: u64) -> Result<PathBuf, ImportError> {
        let exact = self.folder.join(name);
        if exact.is_file() {
            return Ok(exact);
        }
        let wanted = KernelName::parse(name);
        let differences = |other: &KernelName| {
            (other.stem == wanted.stem && other.agrees_in_context(&wanted))
                .then(|| (other.context != wanted.context, other.form != wanted.form))
        };
        let candidates = self.names.iter().filter_map(|name| {
            let other = KernelName::parse(name);
            differences(&other).map(|d| (d, other.compression.is_some(), name))
        });
        let mut candidates: Vec<_> = candidates.collect();
        candidates.sort_unstable();
        match &candidates[..] {
            [] => Err(ImportError::MissingKernel {
                list: self.list.to_path_buf(),
                line,
                name: name.to_string(),
                directory: self.folder.to_path_buf(),
            }),
            [first, second, ..] if (first.0, first.1) == (second.0, second.1) => {
                let names: Vec<&str> = candidates.iter().map(|c| c.2.as_str()).collect();
                Err(ImportError::AmbiguousKernel {
                    list: self.list.to_path_buf(),
                    line,
                    name: name.to_string(),
                    candidates: names.join(", "),
                })
            }
            [first, ..] => Ok(self.folder.join(first.2)),
        }
    }

    /// Returns a note on kernel files that the list omits. Other forms or compressions of a listed
    /// kernel do not count.
    fn unlisted(&self, commands: &[Command]) -> Option<String> {
        let listed: Vec<String> = commands
            .iter()
            .filter_map(|command| match command {
                Command::Kernel(path) => path.file_name().map(|n| n.to_string_lossy().into_owned()),
                Command::Memcpy { .. } => None,
            })
            .collect();
        let listed: std::collections::HashSet<&str> =
            listed.iter().map(|name| KernelName::parse(name).stem).collect();
        let missing = |name: &&String| !listed.contains(KernelName::parse(name).stem);
        let count = self.names.iter().filter(missing).count();
        (count > 0).then(|| format!("{count} kernel files beside the list are not named in it"))
    }
}

/// The parts of a kernel file's name: `kernel-1` `-ctx_0x2356c30` `.traceg` `.xz`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct KernelName<'a> {
    stem: &'a str,
    context: Option<&'a str>,
    form: Option<&'a str>,
    compression: Option<&'a str>,
}

impl<'a> KernelName<'a> {
    fn parse(name: &'a str) -> KernelName<'a> {
        let (rest, compression) = cut(name, &[".xz", ".gz", ".zst"]);
        let (rest, form) = cut(rest, &[".trace", ".traceg", ".tracez"]);
        let (stem, context) = match rest.find("-ctx_") {
            Some(at) => (&rest[..at], Some(&rest[at..])),
            None => (rest, None),
        };
        KernelName { stem, context, form, compression }
    }

    /// Returns whether the contexts agree; a missing context agrees with any.
    fn agrees_in_context(&self, other: &KernelName<'_>) -> bool {
        self.context.is_none() || other.context.is_none() || self.context == other.context
    }
}

/// Removes one of the endings.
fn cut<'a>(name: &'a str, endings: &[&str]) -> (&'a str, Option<&'a str>) {
    let cut = endings.iter().find_map(|ending| name.strip_suffix(ending));
    cut.map_or((name, None), |rest| (rest, Some(&name[rest.len()..])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str, files: &[&str]) -> Result<List, ImportError> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            std::fs::write(folder.path().join(file), "-kernel id = 1\n").unwrap();
        }
        let path = folder.path().join("my-list");
        std::fs::write(&path, text).unwrap();
        read(&path)
    }

    fn found(text: &str, files: &[&str]) -> String {
        match &list(text, files).unwrap().commands[0] {
            Command::Kernel(path) => path.file_name().unwrap().to_string_lossy().into_owned(),
            command @ Command::Memcpy { .. } => panic!("{command:?}"),
        }
    }

    #[test]
    fn copies_and_kernels_keep_their_order() {
        let text = "MemcpyHtoD,0x00007f4e34a00000,800000,copied.bin\r\n\n# comment\n\
                    kernel-1.traceg\nMemcpyHtoD,0x10,4\nMemcpyDtoH,0x10,4\nkernel-2.traceg\n";
        let list = list(text, &["kernel-1.traceg", "kernel-2.traceg", "kernel-3.traceg"]).unwrap();
        let memcpy = |address, bytes| Command::Memcpy { address, bytes };
        assert_eq!(list.commands[0], memcpy(0x7f4e_34a0_0000, 800_000));
        assert_eq!(list.commands[2], memcpy(0x10, 4));
        assert_eq!(list.commands.len(), 4);
        assert!(list.notes[0].contains("line 6"), "{:?}", list.notes);
        assert!(list.notes[1].contains("1 kernel files"), "{:?}", list.notes);
    }

    #[test]
    fn names_may_differ_in_compression_form_and_context() {
        assert_eq!(found("kernel-1.traceg", &["kernel-1.traceg.xz"]), "kernel-1.traceg.xz");
        assert_eq!(found("kernel-1.traceg.xz", &["kernel-1.traceg"]), "kernel-1.traceg");
        assert_eq!(found("kernel-1.traceg.gz", &["kernel-1.traceg.zst"]), "kernel-1.traceg.zst");
        let with_context = "kernel-1-ctx_0x2356c30.traceg.xz";
        assert_eq!(found("kernel-1.traceg", &[with_context]), with_context);
        assert_eq!(found(with_context, &["kernel-1.traceg"]), "kernel-1.traceg");
        assert_eq!(found("kernel-1.traceg", &["kernel-1.trace.xz"]), "kernel-1.trace.xz");
        let both = ["kernel-1.trace.xz", "kernel-1.traceg.xz", "kernel-11.traceg"];
        assert_eq!(found("kernel-1.traceg", &both), "kernel-1.traceg.xz");
        let plain = ["kernel-1.traceg", "kernel-1.traceg.xz"];
        assert_eq!(found("kernel-1.traceg.gz", &plain), "kernel-1.traceg");
    }

    #[test]
    fn a_missing_or_ambiguous_kernel_is_named_with_its_line() {
        let error = list("\nkernel-2.traceg\n", &["kernel-1.traceg"]).unwrap_err().to_string();
        assert!(error.contains("my-list:2: no kernel file for `kernel-2.traceg`"), "{error}");
        let contexts = ["kernel-1-ctx_0x1.traceg", "kernel-1-ctx_0x2.traceg"];
        let error = list("kernel-1.traceg\n", &contexts).unwrap_err().to_string();
        assert!(error.contains("0x1.traceg, kernel-1-ctx_0x2"), "{error}");
        assert!(list("kernel-1-ctx_0x3.traceg\n", &contexts).is_err());
    }

    #[test]
    fn files_other_than_lists_are_refused() {
        assert!(list("", &[]).unwrap_err().to_string().contains("empty"));
        assert!(list("MemcpyHtoD,0x0,4\n", &[]).unwrap_err().to_string().contains("no kernel"));
        let error = list("MemcpyHtoD,0x0\nkernel-1.traceg\n", &["kernel-1.traceg"]).unwrap_err();
        assert!(error.to_string().contains("my-list:1: expected `MemcpyHtoD"), "{error}");
    }

    #[test]
    fn the_input_may_be_a_kernel_file_or_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let kernel = folder.path().join("mine");
        std::fs::write(&kernel, "\n-kernel name = k\n").unwrap();
        assert_eq!(read(&kernel).unwrap().commands, [Command::Kernel(kernel)]);
        assert!(read(folder.path()).unwrap_err().to_string().contains("kernelslist.g"));
        std::fs::write(folder.path().join("kernel-1.trace"), "").unwrap();
        std::fs::write(folder.path().join("kernelslist"), "kernel-1.trace").unwrap();
        let kernel = Command::Kernel(folder.path().join("kernel-1.trace"));
        assert_eq!(read(folder.path()).unwrap().commands, [kernel]);
    }
}
