//! Writes tables as Parquet.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use serde_json::Value;

use super::tables::Object;

/// Rows per row group.
const GROUP: usize = 25;

/// Writes rows with these columns; `codec` selects the compression.
pub fn write(path: &Path, columns: &[&str], rows: &[Object], codec: usize) {
    let fields: String = columns.iter().map(|column| field(column)).collect();
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}")).unwrap());
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let properties = WriterProperties::builder().set_compression(codecs[codec]).build();
    let file = File::create(path).unwrap();
    let mut table = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(GROUP) {
        let mut group = table.next_row_group().unwrap();
        for column in columns {
            let cells: Vec<Option<&Value>> = rows.iter().map(|row| row.get(column)).collect();
            let mut writer = group.next_column().unwrap().unwrap();
            fill(column, &mut writer, &cells);
            writer.close().unwrap();
        }
        group.close().unwrap();
    }
    table.close().unwrap();
}

fn is_list(column: &str) -> bool {
    ["cta", "grid", "block", "dst", "src", "addresses"].contains(&column)
}

fn is_text(column: &str) -> bool {
    ["name", "op", "space", "cache", "l2"].contains(&column)
}

fn field(column: &str) -> String {
    let list = "repeated group list { required int64 element (UINT_64); }";
    match column {
        _ if is_list(column) => format!("optional group {column} (LIST) {{ {list} }} "),
        _ if is_text(column) => format!("optional binary {column} (UTF8); "),
        _ => format!("optional int64 {column} (UINT_64); "),
    }
}

fn number(value: &Value) -> i64 {
    value.as_u64().unwrap() as i64
}

fn fill(column: &str, writer: &mut SerializedColumnWriter<'_>, cells: &[Option<&Value>]) {
    let present = cells.iter().copied().flatten();
    let defined: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    if is_list(column) {
        let lists: Vec<Option<&Vec<Value>>> =
            cells.iter().map(|cell| cell.map(|value| value.as_array().unwrap())).collect();
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for list in lists {
            let Some(list) = list.filter(|list| !list.is_empty()) else {
                defined.push(i16::from(list.is_some()));
                repeated.push(0);
                continue;
            };
            for (place, value) in list.iter().enumerate() {
                values.push(number(value));
                defined.push(2);
                repeated.push(i16::from(place > 0));
            }
        }
        writer.typed::<Int64Type>().write_batch(&values, Some(&defined), Some(&repeated)).unwrap();
    } else if is_text(column) {
        let texts: Vec<ByteArray> =
            present.map(|value| ByteArray::from(value.as_str().unwrap())).collect();
        writer.typed::<ByteArrayType>().write_batch(&texts, Some(&defined), None).unwrap();
    } else {
        let numbers: Vec<i64> = present.map(number).collect();
        writer.typed::<Int64Type>().write_batch(&numbers, Some(&defined), None).unwrap();
    }
}
