//! Device memory in the program's address space, at the same addresses in every run.

use std::ptr;

use warpmem_simt::Mapping;

/// Start of device memory, far from where systems with 47- or 48-bit addresses place programs, libraries and
/// stacks.
const BASE: u64 = 0x2000_0000_0000;

/// Host pages at fixed addresses.
pub struct HostPages;

impl Mapping for HostPages {
    fn base(&self) -> u64 {
        BASE
    }

    fn map(&mut self, address: u64, bytes: u64) -> Option<&'static mut [u8]> {
        let length = usize::try_from(bytes).ok()?;
        let place = ptr::with_exposed_provenance_mut(usize::try_from(address).ok()?);
        // SAFETY: the pages are new: MAP_FIXED_NOREPLACE never replaces a mapping.
        let mapped = unsafe {
            libc::mmap(
                place,
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE
                    | libc::MAP_ANONYMOUS
                    | libc::MAP_NORESERVE
                    | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        // Linux before 4.17 takes the address as a hint only.
        (mapped == place).then(|| {
            // SAFETY: the pages have just been mapped, are zeroed, and live until `unmap`, after which device
            // memory holds no reference to them. The program accesses them through pointers from this
            // library, between calls, when no kernel runs.
            unsafe { std::slice::from_raw_parts_mut(mapped.cast(), length) }
        })
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        let place = ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: `map` mapped the pages, and nothing uses them any longer.
        unsafe { libc::munmap(place, bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_mapped_at_fixed_addresses_and_zeroed() {
        let mut pages = HostPages;
        let address = BASE + (60 << 30);
        for _ in 0..2 {
            let bytes = pages.map(address, 1 << 21).unwrap();
            assert_eq!(bytes.as_ptr() as u64, address);
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(1);
            assert!(pages.map(address, 1 << 21).is_none(), "existing mappings are not replaced");
            pages.unmap(address, 1 << 21);
        }
    }
}
