//! Reading events from their Parquet file, one group of rows at a time. Each group belongs to one process.

use std::{fs::File, path::Path};

use parquet::{
    column::reader::get_typed_column_reader,
    data_type::{BoolType, ByteArrayType, DataType, Int32Type, Int64Type},
    errors::ParquetError,
    file::reader::{FileReader, RowGroupReader, SerializedFileReader},
};

use super::{LogEntry, Moment, Operation, ProcessLog};
use crate::{Error, Result};

type ParquetResult<T> = std::result::Result<T, ParquetError>;

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
        Ok(column::<Int32Type>(group, name)?.first().copied().flatten().unwrap_or(0) as u32)
    };
    let longs = |name: &str| column::<Int64Type>(group, name);
    let (bytes, wrong) = (longs("bytes")?, column::<BoolType>(group, "wrong")?);
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
    let phase = column::<ByteArrayType>(group, "phase")?.into_iter().flatten().next();
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
fn column<T: DataType>(group: &dyn RowGroupReader, name: &str) -> ParquetResult<Vec<Option<T::T>>> {
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
    use super::*;
    use crate::harness::events::EventsFile;

    fn sample(process: u32) -> LogEntry {
        let operation = |iteration: u64| Operation {
            iteration,
            bytes: 7,
            wrong: iteration == 1,
            times: [100, 0, 0, 110, 120, 0, 0, 130 + iteration as i64],
        };
        let operations = (0..3).map(operation).collect();
        let log = ProcessLog { execution_start: 90, execution_end: 140, operations, ..ProcessLog::default() };
        LogEntry { case: 4, repetition: 1, phase: "write".to_owned(), node: 2, process, log }
    }

    #[test]
    fn entries_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.parquet");
        let mut file = EventsFile::create(&path).unwrap();
        file.add(&sample(0)).unwrap();
        file.add(&sample(1)).unwrap();
        file.finish().unwrap();
        let mut found = Vec::new();
        read_events(&path, |entry| found.push(entry)).unwrap();
        assert_eq!(found, [sample(0), sample(1)]);
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
