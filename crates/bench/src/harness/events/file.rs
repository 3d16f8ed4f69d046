//! Events as a Parquet file: a row for each operation, a column for each moment. Each group of rows belongs to one process.

use std::{borrow::Borrow, fs::File, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    column::reader::get_typed_column_reader,
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{
        properties::WriterProperties,
        reader::{FileReader, RowGroupReader, SerializedFileReader},
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::Type,
};

use super::{LogEntry, Moment, Operation, ProcessLog};
use crate::{Error, Result};

type ParquetResult<T> = std::result::Result<T, ParquetError>;

/// Rows of a group.
const ROWS: usize = 1 << 16;

pub(crate) struct EventsFile {
    name: String,
    writer: SerializedFileWriter<File>,
}

fn column(name: &str, physical: Physical, logical: Option<LogicalType>, repetition: Repetition) -> Arc<Type> {
    let column = Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build();
    // The types above match; a test writes and reads them.
    #[expect(clippy::expect_used, reason = "a schema that is fixed")]
    Arc::new(column.expect("a column of a fixed schema"))
}

fn schema() -> ParquetResult<Arc<Type>> {
    let number = |name: &str| column(name, Physical::INT32, None, Repetition::REQUIRED);
    let long = |name: &str| column(name, Physical::INT64, None, Repetition::REQUIRED);
    let time = |name: &str, repetition| {
        let unit = LogicalType::timestamp(true, TimeUnit::NANOS);
        column(name, Physical::INT64, Some(unit), repetition)
    };
    let mut fields = vec![
        number("case"),
        number("repetition"),
        column("phase", Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        number("node"),
        number("process"),
        long("iteration"),
        long("bytes"),
        column("wrong", Physical::BOOLEAN, None, Repetition::REQUIRED),
        time("execution_start", Repetition::REQUIRED),
    ];
    fields.extend(Moment::NAMES.map(|name| time(name, Repetition::OPTIONAL)));
    fields.push(time("execution_end", Repetition::REQUIRED));
    Ok(Arc::new(Type::group_type_builder("operations").with_fields(fields).build()?))
}

impl EventsFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(Error::io("create", path))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = schema().and_then(|schema| SerializedFileWriter::new(file, schema, properties.into()));
        Ok(Self { writer: writer.map_err(failed(&name))?, name })
    }

    pub(crate) fn add(&mut self, entry: &LogEntry<impl Borrow<ProcessLog>>) -> Result<()> {
        let all = entry.log.borrow().operations.len();
        (0..all).step_by(ROWS).try_for_each(|from| {
            let group = self.writer.next_row_group();
            let written = group.and_then(|group| write(group, entry, from..all.min(from + ROWS)));
            written.map_err(failed(&self.name))
        })
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.writer.close().map(drop).map_err(failed(&self.name))
    }
}

fn failed(name: &str) -> impl FnOnce(ParquetError) -> Error {
    let what = format!("write {name}");
    move |error| Error::Io { what, source: std::io::Error::other(error) }
}

fn write(
    mut group: SerializedRowGroupWriter<'_, File>,
    entry: &LogEntry<impl Borrow<ProcessLog>>,
    rows: std::ops::Range<usize>,
) -> ParquetResult<()> {
    let (log, count) = (entry.log.borrow(), rows.len());
    let operations = &log.operations[rows];
    for number in [entry.case, entry.repetition] {
        put::<Int32Type>(&mut group, &vec![number as i32; count], None)?;
    }
    put::<ByteArrayType>(&mut group, &vec![ByteArray::from(&*entry.phase); count], None)?;
    for number in [entry.node, entry.process] {
        put::<Int32Type>(&mut group, &vec![number as i32; count], None)?;
    }
    for of in [|one: &Operation| one.iteration, |one: &Operation| one.bytes] {
        put::<Int64Type>(&mut group, &operations.iter().map(|one| of(one) as i64).collect::<Vec<_>>(), None)?;
    }
    put::<BoolType>(&mut group, &operations.iter().map(|one| one.wrong).collect::<Vec<_>>(), None)?;
    put::<Int64Type>(&mut group, &vec![log.execution_start; count], None)?;
    for moment in 0..Moment::COUNT {
        let times = operations.iter().map(|one| one.times[moment]);
        let present: Vec<i16> = times.clone().map(|time| i16::from(time != 0)).collect();
        let times: Vec<i64> = times.filter(|time| *time != 0).collect();
        put::<Int64Type>(&mut group, &times, Some(&present))?;
    }
    put::<Int64Type>(&mut group, &vec![log.execution_end; count], None)?;
    group.close().map(drop)
}

/// Writes the next column of a group. `present` has a 1 for each row with a value.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> ParquetResult<()> {
    let missing = || ParquetError::General("more columns than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

/// Passes the entries of a file to `each`. A process with many operations has several entries, in order.
pub(crate) fn read_events(path: &Path, mut each: impl FnMut(LogEntry)) -> Result<()> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let wrong = |error: ParquetError| {
        Error::wrong(format!("{} ({error})", path.display()), "events as Parquet, whole and of this version")
    };
    let reader = SerializedFileReader::new(file).map_err(wrong)?;
    for group in 0..reader.num_row_groups() {
        let entry = reader.get_row_group(group).and_then(|group| read_group(&*group));
        entry.map_err(wrong)?.into_iter().for_each(&mut each);
    }
    Ok(())
}

fn read_group(group: &dyn RowGroupReader) -> ParquetResult<Option<LogEntry>> {
    let first_number = |name: &str| -> ParquetResult<u32> {
        Ok(read_column::<Int32Type>(group, name)?.first().copied().flatten().unwrap_or(0) as u32)
    };
    let longs = |name: &str| read_column::<Int64Type>(group, name);
    let (bytes, wrong) = (longs("bytes")?, read_column::<BoolType>(group, "wrong")?);
    let mut operations: Vec<Operation> = longs("iteration")?
        .into_iter()
        .zip(bytes)
        .zip(wrong)
        .map(|((iteration, bytes), wrong)| Operation {
            iteration: iteration.unwrap_or(0) as u64,
            bytes: bytes.unwrap_or(0) as u64,
            wrong: wrong.unwrap_or(false),
            times: [0; Moment::COUNT],
        })
        .collect();
    for (moment, name) in Moment::NAMES.iter().enumerate() {
        operations.iter_mut().zip(longs(name)?).for_each(|(one, time)| one.times[moment] = time.unwrap_or(0));
    }
    let (Some(Some(execution_start)), Some(Some(execution_end))) =
        (longs("execution_start")?.first().copied(), longs("execution_end")?.first().copied())
    else {
        return Ok(None);
    };
    let phase = read_column::<ByteArrayType>(group, "phase")?.into_iter().flatten().next();
    Ok(Some(LogEntry {
        case: first_number("case")?,
        repetition: first_number("repetition")?,
        phase: phase.map(|phase| String::from_utf8_lossy(phase.data()).into_owned()).unwrap_or_default(),
        node: first_number("node")?,
        process: first_number("process")?,
        log: ProcessLog { execution_start, execution_end, operations, ..ProcessLog::default() },
    }))
}

/// The values of a column; none for nulls.
fn read_column<T: DataType>(group: &dyn RowGroupReader, name: &str) -> ParquetResult<Vec<Option<T::T>>> {
    let schema = group.metadata().schema_descr();
    let number = schema.columns().iter().position(|column| column.name() == name);
    let number = number.ok_or_else(|| ParquetError::General(format!("no column {name}")))?;
    let expected = T::get_physical_type();
    if schema.column(number).physical_type() != expected {
        return Err(ParquetError::General(format!("column {name} is not of type {expected}")));
    }
    let rows = group.metadata().num_rows() as usize;
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(number)?);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while reader.read_records(rows, Some(&mut levels), None, &mut values)?.0 > 0 {}
    if schema.column(number).max_def_level() == 0 {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.iter().map(|level| if *level > 0 { values.next() } else { None }).collect())
}

#[cfg(test)]
mod tests {
    use parquet::record::RowAccessor;

    use super::*;

    fn sample(process: u32) -> LogEntry {
        let operation = |iteration: u64| Operation {
            iteration,
            bytes: 1 << 20,
            wrong: iteration == 1,
            times: [100, 0, 0, 110, 120, 0, 0, 130 + iteration as i64],
        };
        let operations = (0..3).map(operation).collect();
        let log = ProcessLog { execution_start: 90, execution_end: 140, operations, ..ProcessLog::default() };
        LogEntry { case: 4, repetition: 1, phase: "write".to_owned(), node: 2, process, log }
    }

    #[test]
    fn rows_are_read_as_written_and_missing_moments_are_null() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.parquet");
        let mut file = EventsFile::create(&path).unwrap();
        [9, 10].iter().for_each(|process| file.add(&sample(*process)).unwrap());
        file.finish().unwrap();
        let mut found = Vec::new();
        read_events(&path, |entry| found.push(entry)).unwrap();
        assert_eq!(found, [sample(9), sample(10)]);
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(std::result::Result::unwrap).collect();
        assert_eq!(rows.len(), 6);
        let row = &rows[1];
        let numbers = [0, 1, 3, 4].map(|column| row.get_int(column).unwrap());
        assert_eq!((numbers, row.get_string(2).unwrap().as_str()), ([4, 1, 2, 9], "write"));
        assert_eq!((row.get_long(5).unwrap(), row.get_long(6).unwrap()), (1, 1 << 20));
        assert!(row.get_bool(7).unwrap());
        let text = row.to_string();
        assert!(text.contains("open_start: null") && !text.contains("io_end: null"), "{text}");
    }

    #[test]
    fn a_truncated_or_foreign_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.parquet");
        std::fs::write(&path, b"PAR1 and then nothing").unwrap();
        let error = read_events(&path, |_| ()).unwrap_err().to_string();
        assert!(error.contains("events.parquet") && error.contains("expected events as Parquet"), "{error}");
    }
}
