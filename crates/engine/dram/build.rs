//! Collects the built-in standards into a table, so that adding a standard adds one file.

fn main() -> std::io::Result<()> {
    warpmem_support::embed::toml_files("src/standard/built_in", "standards")
}
