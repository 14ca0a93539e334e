//! Generates the table of the presets, so that a preset is one file.

fn main() -> std::io::Result<()> {
    warpmem_support::embed::toml_files("src/presets", "presets")
}
