//! Shared libraries without code: a name, the symbol version that programs request from it, and a dependency
//! on the library that has the symbols.
//!
//! Programs request the symbols of a CUDA runtime under a version named after the release, and the loader
//! requires the library of that name to define the version. It then resolves each symbol in any library that
//! has no versions.

use std::io;

use object::Endianness;
use object::elf::{self, VersionFlags, VersionIndex};
use object::read::elf::{ElfFile64, FileHeader};
use object::write::StringId;
use object::write::elf::{FileHeader as Header, ProgramHeader, SinglePhaseWriter, Verdef, Writer};

const PAGE: u64 = 0x1000;
/// Versions that the stub defines: its own and that of its symbols.
const VERSIONS: u16 = 2;

/// Returns the architecture that a library is built for.
pub fn machine(library: &[u8]) -> io::Result<elf::Machine> {
    let file = ElfFile64::<Endianness>::parse(library).map_err(io::Error::other)?;
    Ok(file.elf_header().e_machine(file.endian()))
}

/// Builds a library called `name` that defines the version of the same name and depends on `needed`.
pub fn library(name: &str, needed: &str, machine: elf::Machine) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&mut bytes, name.as_bytes(), needed.as_bytes(), machine).map_err(io::Error::other)?;
    Ok(bytes)
}

fn write(
    bytes: &mut Vec<u8>,
    name: &[u8],
    needed: &[u8],
    machine: elf::Machine,
) -> object::write::Result<()> {
    const SYMBOL_BYTES: u64 = 24;
    let mut writer = Writer::new_single_phase(Endianness::Little, true, bytes);
    writer.write_file_header(&Header {
        os_abi: elf::ELFOSABI_SYSV,
        e_type: elf::ET_DYN,
        e_machine: machine,
        ..Header::default()
    })?;
    writer.write_program_headers_placeholder(2);
    let [own, other] = [name, needed].map(|text| writer.add_dynamic_string(text));
    let symbols = writer.write_null_dynamic_symbol();
    let (strings, string_bytes) = writer.write_dynstr()?;
    let of_symbols = writer.write_null_gnu_versym();
    let versions = writer.write_align_gnu_verdef(VERSIONS);
    write_versions(&mut writer, own, name);
    let hash = writer.write_hash(1, 1, |_| None);
    let dynamic = writer.write_align_dynamic();
    // File offsets equal virtual addresses.
    writer.write_dynamic_string(elf::DT_NEEDED, other)?;
    writer.write_dynamic_string(elf::DT_SONAME, own)?;
    for (tag, value) in [
        (elf::DT_HASH, hash),
        (elf::DT_SYMTAB, symbols),
        (elf::DT_SYMENT, SYMBOL_BYTES),
        (elf::DT_STRTAB, strings),
        (elf::DT_STRSZ, string_bytes.into()),
        (elf::DT_VERSYM, of_symbols),
        (elf::DT_VERDEF, versions),
        (elf::DT_VERDEFNUM, VERSIONS.into()),
        (elf::DT_NULL, 0),
    ] {
        writer.write_dynamic(tag, value)?;
    }
    let length = writer.offset();
    let segments = [
        segment(elf::PT_LOAD, 0, length, PAGE),
        segment(elf::PT_DYNAMIC, dynamic, length - dynamic, 8),
    ];
    let mut headers = Vec::new();
    writer.write_headers_to(&mut headers, &segments)?;
    bytes[..headers.len()].copy_from_slice(&headers);
    Ok(())
}

/// Writes the version of the library itself and the version of its symbols, both with its name.
fn write_versions(writer: &mut SinglePhaseWriter<'_>, own: StringId, name: &[u8]) {
    for (index, flags) in (1..).zip([elf::VER_FLG_BASE, VersionFlags(0)]) {
        let name_offset = writer.dynamic_string_offset(Some(own));
        writer.write_gnu_verdef(&Verdef {
            version: 1,
            flags,
            index: VersionIndex(index),
            aux_count: 1,
            name: name_offset,
            hash: elf::hash(name),
        });
    }
}

fn segment(kind: elf::ProgramType, offset: u64, bytes: u64, align: u64) -> ProgramHeader {
    ProgramHeader {
        p_type: kind,
        // The loader relocates the dynamic section in place.
        p_flags: elf::PF_R | elf::PF_W,
        p_offset: offset,
        p_vaddr: offset,
        p_paddr: offset,
        p_filesz: bytes,
        p_memsz: bytes,
        p_align: align,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_defines_its_version_and_depends_on_the_runtime() {
        let bytes = library("libcudart.so.13", "libother.so", elf::EM_X86_64).unwrap();
        assert_eq!(machine(&bytes).unwrap(), elf::EM_X86_64);
        let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
        assert!(holds(b"\0libcudart.so.13\0") && holds(b"\0libother.so\0"));
        assert!(holds(&elf::hash(b"libcudart.so.13").to_le_bytes()));
        assert!(machine(b"no ELF").is_err());
    }
}
