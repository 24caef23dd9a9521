//! The table of a study as Apache Parquet, with the units in its metadata. Written here and not by a crate: flat columns without
//! compression are a small part of the format, and the library gains no dependency.
//!
//! ```text
//!   "PAR1"   for each group of rows, for each column: page header, definition levels, values   FileMetaData   length   "PAR1"
//! ```
//!
//! Key-value metadata: `units`, a JSON object of column and unit; `biela.model`, `biela.runs`, `biela.study`, `biela.version`.

use std::io::{Result as IoResult, Write};

use super::thrift::{
    ByteSource,
    ThriftValue::{self, Int32, Int64, List, Structure},
    write_varint,
};
use super::{Cell, CellKind, Column, TableNotes};

/// Rows of a row group. Part of our tables: other groups are other bytes.
const GROUP: usize = 65_536;

const MAGIC: &[u8; 4] = b"PAR1";

// Numbers of the enumerations of the format.
const TYPE_INT64: i32 = 2;
const TYPE_DOUBLE: i32 = 5;
const TYPE_BYTE_ARRAY: i32 = 6;
const OPTIONAL: i32 = 1;
const CONVERTED_UTF8: i32 = 0;
const ENCODING_PLAIN: i32 = 0;
const ENCODING_RLE: i32 = 3;
const UNCOMPRESSED: i32 = 0;
const DATA_PAGE: i32 = 0;

/// A table that was read.
pub struct ParquetTable {
    /// Its columns.
    pub columns: Vec<Column>,
    /// What it tells besides.
    pub notes: TableNotes,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
}

/// Writes a table of runs or of trajectories.
pub fn write(
    out: &mut dyn Write,
    columns: &[Column],
    notes: &TableNotes,
    rows: &mut dyn Iterator<Item = IoResult<Vec<Cell>>>,
) -> IoResult<()> {
    out.write_all(MAGIC)?;
    let mut offset = MAGIC.len();
    let (mut groups, mut count) = (Vec::new(), 0);
    loop {
        let group = rows.take(GROUP).collect::<IoResult<Vec<Vec<Cell>>>>()?;
        if group.is_empty() {
            break;
        }
        let begin = offset;
        let mut chunks = Vec::new();
        for (i, column) in columns.iter().enumerate() {
            let bytes = page(column.kind, &group, i);
            out.write_all(&bytes)?;
            chunks.push(chunk(column, offset, bytes.len(), group.len()));
            offset += bytes.len();
        }
        count += group.len();
        groups.push(Structure(vec![
            (1, List(chunks)),
            (2, long(offset - begin)),
            (3, long(group.len())),
        ]));
    }
    let metadata = Structure(vec![
        (1, Int32(1)),
        (2, List(schema(columns))),
        (3, long(count)),
        (4, List(groups)),
        (5, List(key_values(columns, notes))),
        (6, ThriftValue::text("biela")),
    ]);
    let mut bytes = Vec::new();
    metadata.write(&mut bytes);
    let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(MAGIC);
    out.write_all(&bytes)
}

fn long(value: usize) -> ThriftValue {
    Int64(value as i64)
}

fn physical_type(kind: CellKind) -> i32 {
    match kind {
        CellKind::Integer => TYPE_INT64,
        CellKind::Number => TYPE_DOUBLE,
        CellKind::Text => TYPE_BYTE_ARRAY,
    }
}

/// SchemaElement: the root, then a column each.
fn schema(columns: &[Column]) -> Vec<ThriftValue> {
    let mut elements = vec![Structure(vec![
        (4, ThriftValue::text("study")),
        (5, Int32(columns.len() as i32)),
    ])];
    for column in columns {
        let mut fields = vec![
            (1, Int32(physical_type(column.kind))),
            (3, Int32(OPTIONAL)),
            (4, ThriftValue::text(&column.name)),
        ];
        if column.kind == CellKind::Text {
            fields.push((6, Int32(CONVERTED_UTF8)));
            // LogicalType, its member STRING.
            fields.push((10, Structure(vec![(1, Structure(vec![]))])));
        }
        elements.push(Structure(fields));
    }
    elements
}

fn key_values(columns: &[Column], notes: &TableNotes) -> Vec<ThriftValue> {
    let units = columns.iter().filter(|column| !column.unit.is_empty());
    let units = units.map(|column| (column.name.clone(), column.unit.as_str().into()));
    let units = serde_json::Value::Object(units.collect()).to_string();
    let pair = |key: &str, value: &str| {
        Structure(vec![
            (1, ThriftValue::text(key)),
            (2, ThriftValue::text(value)),
        ])
    };
    vec![
        pair("units", &units),
        pair("biela.model", &notes.model),
        pair("biela.runs", &notes.runs.to_string()),
        pair("biela.study", &notes.study),
        pair("biela.version", env!("CARGO_PKG_VERSION")),
    ]
}

/// ColumnChunk with its ColumnMetaData.
fn chunk(column: &Column, offset: usize, size: usize, rows: usize) -> ThriftValue {
    let metadata = Structure(vec![
        (1, Int32(physical_type(column.kind))),
        (2, List(vec![Int32(ENCODING_PLAIN), Int32(ENCODING_RLE)])),
        (3, List(vec![ThriftValue::text(&column.name)])),
        (4, Int32(UNCOMPRESSED)),
        (5, long(rows)),
        (6, long(size)),
        (7, long(size)),
        (9, long(offset)),
    ]);
    Structure(vec![(2, long(offset)), (3, metadata)])
}

/// A data page with its header: definition levels (1: there is a value), then the values that are there.
fn page(kind: CellKind, rows: &[Vec<Cell>], column: usize) -> Vec<u8> {
    let mut levels = Vec::new();
    for run in rows.chunk_by(|a, b| (a[column] == Cell::Missing) == (b[column] == Cell::Missing)) {
        write_varint((run.len() as u64) << 1, &mut levels);
        levels.push(u8::from(run[0][column] != Cell::Missing));
    }
    let mut data = (levels.len() as u32).to_le_bytes().to_vec();
    data.append(&mut levels);
    for row in rows {
        match (&row[column], kind) {
            (Cell::Integer(count), CellKind::Integer) => data.extend(count.to_le_bytes()),
            (Cell::Integer(count), CellKind::Number) => data.extend((*count as f64).to_le_bytes()),
            (Cell::Number(value), CellKind::Number) => data.extend(value.to_le_bytes()),
            (Cell::Text(text), CellKind::Text) => {
                data.extend((text.len() as u32).to_le_bytes());
                data.extend(text.as_bytes());
            }
            (Cell::Missing, _) => {}
            (cell, kind) => unreachable!("{cell:?} in a column of {kind:?}"),
        }
    }
    let size = Int32(data.len() as i32);
    let header = Structure(vec![
        (1, Int32(DATA_PAGE)),
        (2, size.clone()),
        (3, size),
        (
            5,
            Structure(vec![
                (1, Int32(rows.len() as i32)),
                (2, Int32(ENCODING_PLAIN)),
                (3, Int32(ENCODING_RLE)),
                (4, Int32(ENCODING_RLE)),
            ]),
        ),
    ]);
    let mut bytes = Vec::new();
    header.write(&mut bytes);
    bytes.append(&mut data);
    bytes
}

/// Reads a table of a study that was written here. The error is a sentence.
pub fn read(bytes: &[u8]) -> Result<ParquetTable, String> {
    const FOREIGN: &str = "it is no Parquet table of a sweep, or it is damaged";
    let metadata = metadata(bytes).ok_or(FOREIGN)?;
    let values = |key: &str| {
        let pairs = metadata.list(5).iter();
        pairs
            .filter(|pair| pair.string(1).as_deref() == Some(key))
            .find_map(|pair| pair.string(2))
    };
    let units = values("units").ok_or(FOREIGN)?;
    let units: serde_json::Value = serde_json::from_str(&units).map_err(|_| FOREIGN)?;
    let columns: Option<Vec<Column>> = (metadata.list(2).iter().skip(1))
        .map(|element| {
            let name = element.string(4)?;
            let unit = units
                .get(&name)
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let kind = match i32::try_from(element.number(1)?).ok()? {
                TYPE_INT64 => CellKind::Integer,
                TYPE_DOUBLE => CellKind::Number,
                TYPE_BYTE_ARRAY => CellKind::Text,
                _ => return None,
            };
            Some(Column { name, unit, kind })
        })
        .collect();
    let columns = columns.ok_or(FOREIGN)?;
    let mut rows = Vec::new();
    for group in metadata.list(4) {
        rows.append(&mut read_group(bytes, group, &columns).ok_or(FOREIGN)?);
    }
    if metadata.number(3) != Some(rows.len() as i64) {
        return Err(FOREIGN.to_owned());
    }
    let runs = values("biela.runs")
        .and_then(|text| text.parse().ok())
        .ok_or(FOREIGN)?;
    let notes = TableNotes {
        model: values("biela.model").ok_or(FOREIGN)?,
        runs,
        study: values("biela.study").ok_or(FOREIGN)?,
    };
    Ok(ParquetTable {
        columns,
        notes,
        rows,
    })
}

fn metadata(bytes: &[u8]) -> Option<ThriftValue> {
    let body = bytes.strip_prefix(MAGIC)?.strip_suffix(MAGIC)?;
    let (body, length) = body.split_last_chunk::<4>()?;
    let begin = body
        .len()
        .checked_sub(u32::from_le_bytes(*length) as usize)?;
    ByteSource::new(&body[begin..]).structure()
}

fn read_group(bytes: &[u8], group: &ThriftValue, columns: &[Column]) -> Option<Vec<Vec<Cell>>> {
    let count = usize::try_from(group.number(3)?).ok()?;
    let chunks = group.list(1);
    // A row has at least one bit of a level.
    if chunks.len() != columns.len() || count > GROUP {
        return None;
    }
    let mut rows = vec![Vec::with_capacity(columns.len()); count];
    for (column, chunk) in columns.iter().zip(chunks) {
        let metadata = chunk.field(3)?;
        let compressed = metadata.number(4)? != i64::from(UNCOMPRESSED);
        let offset = usize::try_from(metadata.number(9)?).ok()?;
        let mut source = ByteSource::new(bytes.get(offset..)?);
        let header = source.structure()?;
        let page = header.field(5)?;
        if compressed
            || page.number(1)? != count as i64
            || page.number(2)? != i64::from(ENCODING_PLAIN)
        {
            return None;
        }
        let data = source.take(usize::try_from(header.number(3)?).ok()?)?;
        read_page(data, column.kind, &mut rows)?;
    }
    Some(rows)
}

fn read_page(data: &[u8], kind: CellKind, rows: &mut [Vec<Cell>]) -> Option<()> {
    let mut data = ByteSource::new(data);
    let length = u32::from_le_bytes(data.take(4)?.try_into().ok()?);
    let mut levels = ByteSource::new(data.take(length as usize)?);
    let mut next = 0;
    while next < rows.len() {
        let run = usize::try_from(levels.varint()? >> 1).ok()?;
        let present = levels.take(1)?[0] == 1;
        let part = rows.get_mut(next..next.checked_add(run).filter(|_| run > 0)?)?;
        for row in part {
            row.push(match (present, kind) {
                (false, _) => Cell::Missing,
                (true, CellKind::Integer) => {
                    Cell::Integer(u64::from_le_bytes(data.take(8)?.try_into().ok()?))
                }
                (true, CellKind::Number) => {
                    Cell::Number(f64::from_le_bytes(data.take(8)?.try_into().ok()?))
                }
                (true, CellKind::Text) => {
                    let length = u32::from_le_bytes(data.take(4)?.try_into().ok()?);
                    let text = data.take(length as usize)?.to_vec();
                    Cell::Text(String::from_utf8(text).ok()?)
                }
            });
        }
        next += run;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (Vec<Column>, Vec<Vec<Cell>>) {
        let columns = vec![
            Column::new("run", "", CellKind::Integer),
            Column::new("x", "m", CellKind::Number),
            Column::new("message", "", CellKind::Text),
        ];
        // Two row groups.
        let rows = (0..70_000u64).map(|k| {
            let x = if k % 7 == 3 {
                Cell::Missing
            } else {
                Cell::Number(k as f64 / 3.0)
            };
            vec![Cell::Integer(k + 1), x, Cell::Text(format!("µ{}", k % 5))]
        });
        (columns, rows.collect())
    }

    fn notes(runs: u64) -> TableNotes {
        TableNotes {
            model: "m".to_owned(),
            runs,
            study: "s".to_owned(),
        }
    }

    #[test]
    fn a_table_reads_back() {
        let (columns, rows) = table();
        let notes = notes(70_000);
        let mut bytes = Vec::new();
        write(
            &mut bytes,
            &columns,
            &notes,
            &mut rows.iter().cloned().map(Ok),
        )
        .unwrap();
        let found = read(&bytes).unwrap();
        assert_eq!((found.columns, found.notes), (columns, notes));
        assert!(found.rows == rows);
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let (columns, rows) = table();
        let mut bytes = Vec::new();
        write(
            &mut bytes,
            &columns,
            &notes(9),
            &mut rows[..9].iter().cloned().map(Ok),
        )
        .unwrap();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length}");
        }
        // Any byte may be wrong: an answer or an error, no panic.
        for at in 0..bytes.len() {
            for flip in [1, 0x80, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let _ = read(&damaged);
            }
        }
    }
}
