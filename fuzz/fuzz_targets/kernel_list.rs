//! Imports any text as a kernel list in a folder with one kernel.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::LazyLock;
use tempfile::TempDir;
use warpmem_fuzz::MEMORY;
use warpmem_fuzz::import::import;

const KERNEL: &str = "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
                      -binary version = 70\n-accelsim tracer version = 5\n\n\
                      #BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 1\n0010 ffffffff 0 EXIT 0 0\n#END_TB\n";

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = TempDir::with_prefix_in("warpmem-fuzz-", MEMORY).expect("there is memory");
    fs::write(folder.path().join("kernel-1.traceg"), KERNEL).expect("there is memory");
    folder
});

fuzz_target!(|bytes: &[u8]| {
    let list = FOLDER.path().join("kernelslist.g");
    fs::write(&list, bytes).expect("there is memory");
    let _ = import(&list);
});
