//! Measures one point of many fields in a store against reading and decoding the fields as a whole by ecCodes.
//!
//! `cargo run --release -p isotach-values --example points [FOLDER [FIELDS [BYTES]]]`: 1000 fields of 1 MiB in a store in a new
//! folder below FOLDER, or the folder for temporary files. It also measures what jump indexes cost when fields are archived.

use std::{
    error::Error,
    path::PathBuf,
    time::{Duration, Instant},
};

use isotach_fields::{Config, FieldStore};
use isotach_grib::{Eccodes, FieldName, ForecastPlan, MessageMaker};
use isotach_mars::{Key, Request};
use isotach_open::{registry, with_grib};
use isotach_values::{Points, ValuesOptions, index_fields, values};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How often each operation is timed.
const ROUNDS: usize = 5;
/// Messages that differ; the others repeat them under other keys.
const MESSAGES: u32 = 8;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let below = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let fields: usize = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let bytes: usize = arguments.next().map_or(Ok(1 << 20), |text| text.parse())?;
    let eccodes = Eccodes::load()?;
    println!("ecCodes {}, {fields} fields of {bytes} bytes; medians of {ROUNDS}", eccodes.version());
    for packing in ["grid_simple", "grid_ccsds"] {
        let messages = messages(eccodes, bytes, packing)?;
        let folder = tempfile_below(&below)?;
        measure(eccodes, packing, &messages, fields, &folder)?;
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

fn tempfile_below(below: &std::path::Path) -> Outcome<PathBuf> {
    let folder = below.join(format!("isotach-points-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn messages(eccodes: &'static Eccodes, bytes: usize, packing: &str) -> Outcome<Vec<Vec<u8>>> {
    let plan = ForecastPlan { message_size: bytes, ..ForecastPlan::default() };
    let mut maker = MessageMaker::new(eccodes, plan)?;
    let message = |step| {
        let message = maker.message(FieldName { member: 1, step, level: 850, param: 130 })?;
        Ok(eccodes.edit_message(&message, [("packingType", packing)])?)
    };
    (0..MESSAGES).map(message).collect()
}

fn measure(
    eccodes: &'static Eccodes,
    packing: &str,
    messages: &[Vec<u8>],
    fields: usize,
    folder: &std::path::Path,
) -> Outcome<()> {
    let key = Key::from(eccodes.message_key(&messages[0])?);
    let open = |name: &str| -> Outcome<FieldStore> {
        let config = Config::single(&format!("posix:{}/{name}", folder.display()).parse()?);
        Ok(FieldStore::create(&config, &registry())?)
    };
    let archive = |store: &FieldStore| -> Outcome<Duration> {
        let begin = Instant::now();
        for number in 0..fields {
            let key = key.clone().with("step", &number.to_string());
            store.archive(&key, &messages[number % messages.len()])?;
        }
        store.flush()?;
        Ok(begin.elapsed())
    };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let open_anew = |name: &str| -> Outcome<FieldStore> {
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
        open(name)
    };
    for _ in 0..ROUNDS {
        without.push(archive(&open_anew("without")?)?);
        with.push(archive(&with_grib(open_anew("with")?))?);
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / fields as f64;
    println!("{packing}:");
    println!(
        "  archive and flush: {:.1} us a field, with indexes {:.1} us",
        each(median(without)),
        each(median(with))
    );

    let store = with_grib(open("with")?);
    let begin = Instant::now();
    let made = index_fields(&store, &"".parse()?, 0, &|_, _| ())?;
    println!("  index --jump: {} made, {:.1} us a field", made.indexed, each(begin.elapsed()));
    let mut request = Request::from(&key);
    request.set("step", (0..fields).map(|step| step.to_string()));
    let whole = timed(|| {
        let mut sum = 0.0;
        for field in store.retrieve(&request)? {
            sum += eccodes.values(&field?.bytes)?[1000];
        }
        Ok(sum)
    })?;
    println!("  whole, ecCodes:      {:.1} us a field", each(whole));
    let points = Points::Ranges(std::iter::once(1000..1001).collect());
    for threads in [1, 2] {
        let options = ValuesOptions { threads, ..ValuesOptions::default() };
        let point = timed(|| {
            let found = values(&store, &request, &points, &options)?;
            if found.rows.len() != fields || found.whole + found.indexed > 0 {
                return Err("not all fields were read by their indexes".into());
            }
            Ok(found.rows.iter().map(|row| row.values[0]).sum())
        })?;
        let ratio = whole.as_secs_f64() / point.as_secs_f64();
        println!("  one point, {threads} thread(s): {:.1} us a field, {ratio:.0} times as fast", each(point));
    }
    Ok(())
}

/// The median time of an operation.
fn timed(mut work: impl FnMut() -> Outcome<f64>) -> Outcome<Duration> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        std::hint::black_box(work()?);
        times.push(begin.elapsed());
    }
    Ok(median(times))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
