//! Device memory in the program's address space, at addresses that are the same in every run.

use std::ptr;

use warpmem_simt::Mapping;

/// Where device memory begins: far from where systems of 47 and 48 bits of addresses put programs,
/// their libraries and their stacks, wherever they put them.
const BASE: u64 = 0x2000_0000_0000;

/// Pages of the host at fixed addresses.
pub struct HostPages;

impl Mapping for HostPages {
    fn base(&self) -> u64 {
        BASE
    }

    fn map(&mut self, address: u64, bytes: u64) -> Option<&'static mut [u8]> {
        let length = usize::try_from(bytes).ok()?;
        let place = ptr::with_exposed_provenance_mut(usize::try_from(address).ok()?);
        // SAFETY: the pages are new, as MAP_FIXED_NOREPLACE touches nothing that is there.
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
        // A kernel before Linux 4.17 takes the address as a wish.
        (mapped == place).then(|| {
            // SAFETY: the pages were just mapped, are 0, and live until `unmap`, after which device
            // memory has no reference to them. The program reaches them through pointers that it
            // has from this library, between calls of it, when no kernel runs.
            unsafe { std::slice::from_raw_parts_mut(mapped.cast(), length) }
        })
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        let place = ptr::with_exposed_provenance_mut(address as usize);
        // SAFETY: the pages were mapped by `map`, and nobody uses them any more.
        unsafe { libc::munmap(place, bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_lie_where_they_are_asked_for_and_are_new_each_time() {
        let mut pages = HostPages;
        let address = BASE + (60 << 30);
        for _ in 0..2 {
            let bytes = pages.map(address, 1 << 21).unwrap();
            assert_eq!(bytes.as_ptr() as u64, address);
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(1);
            assert!(pages.map(address, 1 << 21).is_none(), "what is there is not replaced");
            pages.unmap(address, 1 << 21);
        }
    }
}
