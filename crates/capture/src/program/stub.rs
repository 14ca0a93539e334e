//! Shared libraries without code: a name, the version that programs ask of it, and another library
//! that has the symbols.
//!
//! Programs ask a release of the CUDA runtime for symbols of a version of the release's name, and
//! the loader wants the library of that name to define the version. The symbols themselves it takes
//! from any library, if that has no versions.

use std::io;

use object::Endianness;
use object::elf::{self, VersionFlags, VersionIndex};
use object::read::elf::{ElfFile64, FileHeader};
use object::write::StringId;
use object::write::elf::{FileHeader as Header, ProgramHeader, Verdef, Writer};

const PAGE: u64 = 0x1000;
/// Versions that the stub defines: its own and that of its symbols.
const VERSIONS: u16 = 2;

/// The machine that a library is for.
pub fn machine(library: &[u8]) -> io::Result<elf::Machine> {
    let file = ElfFile64::<Endianness>::parse(library).map_err(io::Error::other)?;
    Ok(file.elf_header().e_machine(file.endian()))
}

/// A library of a name that defines the version of the same name and needs another library.
pub fn library(name: &str, needed: &str, machine: elf::Machine) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Stub::write(&mut bytes, name, needed, machine).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Where the parts of the file lie, which is also where they are in memory.
struct Stub {
    name: StringId,
    needed: StringId,
    dynsym: u64,
    dynstr: u64,
    versym: u64,
    verdef: u64,
    hash: u64,
    dynamic: u64,
}

impl Stub {
    const SEGMENTS: u32 = 2;
    /// Entries of the dynamic section.
    const ENTRIES: usize = 11;

    fn write(
        bytes: &mut Vec<u8>,
        name: &str,
        needed: &str,
        machine: elf::Machine,
    ) -> object::write::Result<()> {
        let mut writer = Writer::new(Endianness::Little, true, bytes);
        writer.reserve_file_header();
        writer.reserve_program_headers(Stub::SEGMENTS);
        let (text, needed) = (name.as_bytes(), needed.as_bytes());
        let [name, needed] = [writer.add_dynamic_string(text), writer.add_dynamic_string(needed)];
        writer.reserve_null_dynamic_symbol_index();
        let stub = Stub {
            name,
            needed,
            dynsym: writer.reserve_dynsym(),
            dynstr: writer.reserve_dynstr()?,
            versym: writer.reserve_gnu_versym(),
            verdef: writer.reserve_gnu_verdef(VERSIONS, VERSIONS.into()),
            hash: writer.reserve_hash(1, 1),
            dynamic: writer.reserve_dynamic(Stub::ENTRIES),
        };
        let length = writer.reserved_len();
        writer.write_file_header(&Header {
            os_abi: elf::ELFOSABI_SYSV,
            abi_version: 0,
            e_type: elf::ET_DYN,
            e_machine: machine,
            e_entry: 0,
            e_flags: elf::FileFlags(0),
        })?;
        writer.write_align_program_headers();
        writer.write_program_header(&segment(elf::PT_LOAD, 0, length, PAGE));
        let dynamic = length - stub.dynamic;
        writer.write_program_header(&segment(elf::PT_DYNAMIC, stub.dynamic, dynamic, 8));
        writer.write_null_dynamic_symbol();
        writer.write_dynstr();
        stub.write_versions(&mut writer, text);
        writer.write_hash(1, 1, |_| None);
        stub.write_dynamic(&mut writer)
    }

    fn write_versions(&self, writer: &mut Writer<'_>, name: &[u8]) {
        writer.write_null_gnu_versym();
        writer.write_align_gnu_verdef();
        let flags = [elf::VER_FLG_BASE, VersionFlags(0)];
        for (index, flags) in (1..).zip(flags) {
            writer.write_gnu_verdef(&Verdef {
                version: 1,
                flags,
                index: VersionIndex(index),
                aux_count: 1,
                name: writer.dynamic_string_offset(Some(self.name)),
                hash: elf::hash(name),
            });
        }
    }

    fn write_dynamic(&self, writer: &mut Writer<'_>) -> object::write::Result<()> {
        const SYMBOL_BYTES: u64 = 24;
        let dynstr = writer.dynstr_len().into();
        writer.write_align_dynamic();
        writer.write_dynamic_string(elf::DT_NEEDED, self.needed)?;
        writer.write_dynamic_string(elf::DT_SONAME, self.name)?;
        let entries = [
            (elf::DT_HASH, self.hash),
            (elf::DT_SYMTAB, self.dynsym),
            (elf::DT_SYMENT, SYMBOL_BYTES),
            (elf::DT_STRTAB, self.dynstr),
            (elf::DT_STRSZ, dynstr),
            (elf::DT_VERSYM, self.versym),
            (elf::DT_VERDEF, self.verdef),
            (elf::DT_VERDEFNUM, VERSIONS.into()),
            (elf::DT_NULL, 0),
        ];
        entries.into_iter().try_for_each(|(tag, value)| writer.write_dynamic(tag, value))
    }
}

fn segment(kind: elf::ProgramType, offset: u64, bytes: u64, align: u64) -> ProgramHeader {
    ProgramHeader {
        p_type: kind,
        // The loader adds the base to what the dynamic section says, in place.
        p_flags: elf::PF_R | elf::PF_W,
        p_offset: offset,
        p_vaddr: offset,
        p_paddr: offset,
        p_filesz: bytes,
        p_memsz: bytes,
        p_align: align,
    }
}
