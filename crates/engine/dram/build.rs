//! Makes a table of the built-in standards, so that a standard is one file.

fn main() -> std::io::Result<()> {
    warpmem_support::embed::toml_files("src/standard/built_in", "standards")
}
