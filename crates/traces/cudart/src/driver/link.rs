//! The linker. It concatenates PTX texts: the module loader accepts several texts as one module.

use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::fs;
use std::sync::{Mutex, PoisonError};

use warpmem_ptx::fatbin;

use crate::driver::functions;
use crate::host;
use crate::runtime::Address;
use crate::status::{Failure, Outcome, Status};

/// Links in progress, by handle.
#[derive(Default)]
struct Links {
    links: BTreeMap<Address, String>,
    last: Address,
}

static LINKS: Mutex<Links> = Mutex::new(Links { links: BTreeMap::new(), last: 0 });

fn with_links<T>(work: impl FnOnce(&mut Links) -> T) -> T {
    work(&mut LINKS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn with_link(handle: Address, work: impl FnOnce(&mut String) -> Outcome<()>) -> Outcome<()> {
    with_links(|links| work(links.links.get_mut(&handle).ok_or(Status::INVALID_HANDLE)?))
}

/// Adds PTX, or a container of PTX, to a link. `highest` is the device's architecture.
fn add(handle: Address, bytes: &[u8], highest: u32) -> Outcome<()> {
    let text = fatbin::ptx(bytes, highest)
        .map_err(|error| Failure::new(Status::INVALID_PTX, format!("a linked module: {error}")))?;
    with_link(handle, |link| {
        link.push_str(text.trim_end_matches('\0'));
        link.push('\n');
        Ok(())
    })
}

functions! { in_context:
    fn cuLinkCreate_v2(
        _count: u32,
        _options: *const u32,
        _values: *const *const c_void,
        to: *mut Address,
    ) |_engine| {
        let handle = with_links(|links| {
            links.last += 1;
            links.links.insert(links.last, String::new());
            links.last
        });
        host::put(to, handle)
    }

    fn cuLinkAddData_v2(
        link: Address,
        _kind: u32,
        data: *const u8,
        length: usize,
        _name: *const c_char,
        _count: u32,
        _options: *const u32,
        _values: *const *const c_void,
    ) |engine| {
        add(link, &host::bytes(data, length)?, engine.architecture())
    }

    fn cuLinkAddFile_v2(
        link: Address,
        _kind: u32,
        path: *const c_char,
        _count: u32,
        _options: *const u32,
        _values: *const *const c_void,
    ) |engine| {
        let path = host::text(path)?;
        let bytes = fs::read(&path).map_err(|error| {
            Failure::new(Status::FILE_NOT_FOUND, format!("cannot read module {path}: {error}"))
        })?;
        add(link, &bytes, engine.architecture())
    }

    /// Returns the linked text, which lives until the link is destroyed (the manual).
    fn cuLinkComplete(link: Address, to: *mut *const u8, bytes: *mut usize) |_engine| {
        with_link(link, |text| {
            text.push('\0');
            host::put(to, text.as_ptr())?;
            if bytes.is_null() { Ok(()) } else { host::put(bytes, text.len()) }
        })
    }

    fn cuLinkDestroy(link: Address) |_engine| {
        with_links(|links| match links.links.remove(&link) {
            Some(_) => Ok(()),
            None => Err(Status::INVALID_HANDLE.into()),
        })
    }
}
