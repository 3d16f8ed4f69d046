//! Prints the key of every message of the files given, and how long ecCodes took for them.
//!
//! `cargo run -p isotach-grib --example keys -- FILE...`

use std::fs::File;
use std::time::{Duration, Instant};

use isotach_grib::{Eccodes, MessageScanner};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let eccodes = Eccodes::load()?;
    eprintln!("ecCodes {} from {}", eccodes.version(), eccodes.path().display());
    let (mut count, mut spent) = (0_u32, Duration::ZERO);
    for path in std::env::args().skip(1) {
        println!("{path}");
        for message in MessageScanner::new(File::open(&path)?).skip_bad(true) {
            let message = match message {
                Ok(message) => message,
                Err(error) => {
                    println!("  {error}");
                    continue;
                }
            };
            let start = Instant::now();
            let key = eccodes.message_key(&message.bytes);
            spent += start.elapsed();
            count += 1;
            match key {
                Ok(pairs) => {
                    let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    println!("  {{{}}}", pairs.join(","));
                }
                Err(error) => println!("  message {} at byte {}: {error}", message.number, message.offset),
            }
        }
    }
    eprintln!("{count} keys, {:.1} microseconds each", spent.as_secs_f64() * 1e6 / f64::from(count.max(1)));
    Ok(())
}
