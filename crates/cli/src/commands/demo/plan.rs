//! The forecast of the demo: an ensemble, field by field.

use clap::Args;
use isotach_grib::{Eccodes, FieldName, ForecastPlan, MessageMaker};
use isotach_mars::{Key, Request};
use serde::{Deserialize, Serialize};

use crate::{
    failure::{Failure, Outcome},
    output::count,
};

/// Pressure levels in hPa, the most used ones first.
const LEVELS: [u32; 13] = [850, 500, 250, 1000, 925, 700, 300, 200, 100, 50, 400, 150, 70];
/// The ids of parameters: temperature, wind, geopotential, humidity.
const PARAMS: [u32; 6] = [130, 131, 132, 129, 133, 157];
/// The hours between steps.
const INTERVAL: u32 = 6;

/// The flags that choose the forecast.
#[derive(Debug, Args)]
pub(crate) struct PlanFlags {
    /// Ensemble members
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    members: u32,
    /// Forecast steps, six hours apart
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    steps: u32,
    /// Pressure levels
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=13))]
    levels: u32,
    /// Parameters: t, u, v, z, q, r
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=6))]
    params: u32,
    /// Size of a field
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = parse_size)]
    size: u64,
    /// Writer processes, at most one for each member
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=256))]
    writers: u32,
    /// Reader processes
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=256))]
    readers: u32,
}

/// The forecast, and the number of its writers and readers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    members: u32,
    /// Hours.
    pub(crate) steps: Vec<u32>,
    levels: Vec<u32>,
    params: Vec<u32>,
    /// The maximum size of a message in bytes.
    size: usize,
    pub(crate) writers: u32,
    pub(crate) readers: u32,
    /// The key of the first field, from ecCodes.
    example: Vec<(String, String)>,
}

impl Plan {
    /// The plan of these flags.
    pub(crate) fn new(eccodes: &'static Eccodes, flags: &PlanFlags) -> Outcome<Self> {
        let mut plan = Self {
            members: flags.members,
            steps: (0..flags.steps).map(|step| step * INTERVAL).collect(),
            levels: first(&LEVELS, flags.levels),
            params: first(&PARAMS, flags.params),
            size: usize::try_from(flags.size).unwrap_or(usize::MAX),
            writers: flags.writers.min(flags.members),
            readers: flags.readers,
            example: Vec::new(),
        };
        let mut maker = plan.maker(eccodes).map_err(|failure| failure.about("--size"))?;
        let name = plan.fields_of(0, 0).next().ok_or_else(|| Failure::failed("a forecast without fields"))?;
        plan.example = eccodes.message_key(&maker.message(name)?)?;
        Ok(plan)
    }

    /// A maker of the messages.
    pub(crate) fn maker(&self, eccodes: &'static Eccodes) -> Outcome<MessageMaker> {
        let forecast = ForecastPlan {
            class: "rd".to_owned(),
            expver: "demo".to_owned(),
            members: Some(self.members),
            message_size: self.size,
            ..ForecastPlan::default()
        };
        Ok(MessageMaker::new(eccodes, forecast)?)
    }

    /// The fields of a step that this writer archives: all of its members.
    pub(crate) fn fields_of(&self, writer: u32, step: u32) -> impl Iterator<Item = FieldName> {
        let members = (1..=self.members).filter(move |member| (member - 1) % self.writers == writer);
        members.flat_map(move |member| {
            self.levels.iter().flat_map(move |level| {
                self.params.iter().map(move |param| FieldName { member, step, level: *level, param: *param })
            })
        })
    }

    /// The number of fields of a step.
    pub(crate) fn fields_per_step(&self) -> u64 {
        u64::from(self.members) * self.levels.len() as u64 * self.params.len() as u64
    }

    /// The number of all fields.
    pub(crate) fn fields(&self) -> u64 {
        self.fields_per_step() * self.steps.len() as u64
    }

    /// The approximate size of all fields in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.fields() * self.size as u64
    }

    /// The key of the first field.
    pub(crate) fn example_key(&self) -> Key {
        Key::from(self.example.clone())
    }

    /// Every field of a step.
    pub(crate) fn request(&self, step: u32) -> Request {
        let mut request = Request::from(&self.example_key());
        request.set("number", (1..=self.members).map(|member| member.to_string()));
        request.set("step", [step.to_string()]);
        request.set("levelist", self.levels.iter().map(ToString::to_string));
        request.set("param", self.params.iter().map(ToString::to_string));
        request
    }

    /// Every field of the last step.
    pub(crate) fn last_step(&self) -> Request {
        self.request(self.steps.last().copied().unwrap_or_default())
    }

    /// One field of the last step, for the map.
    pub(crate) fn one_field(&self) -> Request {
        let mut request = Request::from(&self.example_key());
        request.set("step", [self.steps.last().copied().unwrap_or_default().to_string()]);
        request
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members = count(self.members.into(), "member");
        let [steps, levels, params] =
            [(self.steps.len(), "step"), (self.levels.len(), "level"), (self.params.len(), "parameter")]
                .map(|(number, noun)| count(number as u64, noun));
        write!(f, "{members}, {steps}, {levels}, {params}")
    }
}

fn first(all: &[u32], count: u32) -> Vec<u32> {
    all.iter().copied().take(count as usize).collect()
}

/// Parses a size: `4096`, `64KiB`, `1MiB`.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = text[digits.len()..].trim().to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return Err("expected a number of bytes, or one with KiB, MiB or GiB".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "expected a size such as 4096, 64KiB or 1MiB".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "expected a size below 16 EiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_and_without_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("1 mib"), Ok(1 << 20));
        for wrong in ["", "MiB", "1.5MiB", "1MB", "-1", "99999999999GiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
