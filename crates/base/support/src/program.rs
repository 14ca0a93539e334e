//! The running program: its name, and a hash of its code.

use crc32fast::Hasher;
use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::time::SystemTime;

static NAME: OnceLock<String> = OnceLock::new();

/// Sets the name of the program; only the first call has an effect.
pub fn set_name(name: &str) {
    NAME.get_or_init(|| name.to_owned());
}

/// Returns the name of the program, `warpmem` unless it has set another.
pub fn name() -> &'static str {
    NAME.get().map_or("warpmem", String::as_str)
}

/// Returns a hash of the program's file, which changes with its code. A program whose file cannot
/// be read has a hash of its own in every process.
pub fn code_hash() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    *HASH.get_or_init(|| running().and_then(|file| hash_of(&file)).unwrap_or_else(|_| unique()))
}

/// Returns the path of the running program's file, even if another has replaced it since.
fn running() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Ok(running.to_owned()) } else { env::current_exe() }
}

/// Combines the checksum and the length of a file.
fn hash_of(file: &Path) -> io::Result<u64> {
    const BUFFER: usize = 256 << 10;
    let mut file = BufReader::with_capacity(BUFFER, File::open(file)?);
    let mut hasher = Hasher::new();
    let mut length = 0;
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(u64::from(hasher.finalize()) << 32 ^ length);
        }
        hasher.update(bytes);
        let read = bytes.len();
        length += read as u64;
        file.consume(read);
    }
}

fn unique() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 ^ u64::from(process::id()) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_change_of_a_file_changes_its_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let hash = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            hash_of(&path).unwrap()
        };
        let code = [7; 600_000];
        let mut changed = code;
        changed[500_000] = 8;
        assert_eq!(hash(&code), hash(&code));
        assert_ne!(hash(&code), hash(&changed));
        assert_ne!(hash(&code), hash(&code[1..]));
        assert!(hash_of(&folder.path().join("missing")).is_err());
    }

    #[test]
    fn the_hash_of_this_program_is_constant() {
        assert_eq!(code_hash(), hash_of(&env::current_exe().unwrap()).unwrap());
        assert_eq!(name(), "warpmem");
    }
}
