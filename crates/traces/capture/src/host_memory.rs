//! Memory of the machine that runs a capture.

use std::fs;

/// Fails if the machine lacks memory for `bytes` bytes of values.
pub(crate) fn check(bytes: u64) -> Result<(), String> {
    match available() {
        Some(available) if bytes > available => Err(format!(
            "its values need {bytes} bytes of this machine's memory, of which {available} are \
             available; a buffer of zeros needs none until a kernel writes to it"
        )),
        _ => Ok(()),
    }
}

/// Returns the bytes of memory available to programs; `None` if the system does not report them.
fn available() -> Option<u64> {
    available_of(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_of(meminfo: &str) -> Option<u64> {
    let kilobytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    Some(1024 * (kilobytes("MemAvailable")? + kilobytes("SwapFree").unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_and_swap_count_as_available() {
        let meminfo = "MemTotal:  24 kB\nMemAvailable:   10 kB\nSwapFree:  3 kB\n";
        assert_eq!(available_of(meminfo), Some(13 << 10));
        assert_eq!(available_of("MemTotal:  24 kB\n"), None);
    }

    #[test]
    fn values_beyond_host_memory_are_refused() {
        check(0).unwrap();
        let error = check(u64::MAX).unwrap_err();
        assert!(error.starts_with("its values need 18446744073709551615 bytes of this"), "{error}");
    }
}
