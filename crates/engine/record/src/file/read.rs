//! A whole table read back into memory.

use super::Field;
use super::concatenate::{Values as Stored, append, open, unreadable};
use crate::ResultsError;
use crate::column::Values;
use parquet::errors::ParquetError;
use parquet::file::reader::FileReader;
use std::path::Path;

/// Reads a table that this crate wrote, after verifying its checksum. Returns its columns by name, in
/// order.
///
/// # Errors
/// If the file cannot be read, is damaged, or is no table of this crate.
pub fn read_table(path: &Path) -> Result<Vec<(String, Values)>, ResultsError> {
    let file = open(path)?;
    let fields = Field::of_file(&file);
    let mut columns: Vec<Stored> = fields.iter().map(Stored::new).collect();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(unreadable(path))?;
        append(&mut columns, group.as_ref()).map_err(unreadable(path))?;
    }
    let named =
        fields.into_iter().zip(columns).map(|(field, column)| Ok((field.name, values(column)?)));
    named.collect::<Result<_, ParquetError>>().map_err(unreadable(path))
}

fn values(column: Stored) -> Result<Values, ParquetError> {
    Ok(match column {
        Stored::Text(texts) => {
            let texts = texts.each(|text| text.as_utf8().map(str::to_owned));
            // A text is never null.
            Values::Text(texts.into_iter().flatten().collect::<Result<_, _>>()?)
        }
        Stored::Count(counts) => Values::Count(counts.each(|count| count)),
        Stored::Ratio(ratios) => Values::Ratio(ratios.each(|ratio| ratio)),
    })
}
