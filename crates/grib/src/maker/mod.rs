//! Generates messages of any size from ecCodes' samples: a small forecast with plausible values.
//!
//! For demonstrations and tests. Everything is derived from the [`ForecastPlan`] and the [`FieldName`], so the same
//! question gives the same bytes in every process.

mod layout;
mod weather;

use std::collections::HashMap;

pub use layout::Layout;
use weather::Weather;

use isotach_engine_kit::context::Context;

use crate::eccodes::{Eccodes, EccodesError};
use crate::ffi::Handle;

/// What all fields of a generated forecast have in common.
///
/// ```
/// use isotach_grib::ForecastPlan;
///
/// let plan = ForecastPlan { date: 20240101, message_size: 4096, ..ForecastPlan::default() };
/// assert_eq!((plan.stream.as_str(), plan.members), ("enfo", Some(50)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForecastPlan {
    /// MARS class.
    pub class: String,
    /// MARS experiment version, four characters.
    pub expver: String,
    /// MARS stream.
    pub stream: String,
    /// MARS type (the key `type`).
    pub kind: String,
    /// Date of the forecast's start, as in 20240101.
    pub date: u32,
    /// Time of the forecast's start in hours and minutes, as in 1200.
    pub time: u32,
    /// Size of the ensemble, written in each message. `None`: not an ensemble, and messages carry no number.
    pub members: Option<u32>,
    /// Length to come near to, in bytes, for each message. The message is never longer.
    pub message_size: usize,
    /// The seed of the weather.
    pub seed: u64,
}

impl Default for ForecastPlan {
    /// An ensemble of 50 members with messages of 1 MiB.
    fn default() -> Self {
        Self {
            class: "od".to_owned(),
            expver: "0001".to_owned(),
            stream: "enfo".to_owned(),
            kind: "pf".to_owned(),
            date: 20_240_101,
            time: 0,
            members: Some(50),
            message_size: 1 << 20,
            seed: 0,
        }
    }
}

/// Which field of the forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FieldName {
    /// Ensemble member (the key `number`). Not written if the plan is no ensemble.
    pub member: u32,
    /// Hours since the forecast's start.
    pub step: u32,
    /// Pressure in hPa (the key `levelist`).
    pub level: u32,
    /// Parameter id: 129 z, 130 t, 131 u, 132 v, 133 q, 157 r look like what they are, any other like waves around zero.
    pub param: u32,
}

/// Makes messages of one forecast.
///
/// ```no_run
/// use isotach_grib::{Eccodes, FieldName, ForecastPlan, MessageMaker};
///
/// let mut maker = MessageMaker::new(Eccodes::load()?, ForecastPlan::default())?;
/// let message = maker.message(FieldName { member: 1, step: 6, level: 850, param: 130 })?;
/// assert!(message.len() <= 1 << 20);
/// # Ok::<(), isotach_grib::EccodesError>(())
/// ```
pub struct MessageMaker {
    plan: ForecastPlan,
    layout: Layout,
    weather: Weather,
    /// The plan's sample on its grid, without values.
    blank: Vec<u8>,
    eccodes: &'static Eccodes,
    /// Opened messages by (param, level), of which only step, number and values change.
    opened: HashMap<(u32, u32), Opened>,
    values: Vec<f64>,
}

struct Opened {
    handle: Handle<'static>,
    /// Whether it holds values of some step and member.
    filled: bool,
}

/// The most open messages; each takes about a message's length of memory.
const OPENED_MAX: usize = 16;

impl MessageMaker {
    /// A maker for `plan`.
    ///
    /// # Errors
    /// [`EccodesError::Specification`] if the message size leaves no room for values, [`EccodesError::Refused`] if ecCodes
    /// has no such class, stream, type or date.
    pub fn new(eccodes: &'static Eccodes, plan: ForecastPlan) -> Result<Self, EccodesError> {
        let headers =
            blank(eccodes, &plan, Layout { columns: 2, rows: 2 })?.len() - layout::BYTES_PER_VALUE * 4;
        let layout = Layout::for_size(plan.message_size, headers)?;
        let blank = blank(eccodes, &plan, layout)?;
        let weather = Weather::new(layout, plan.seed);
        Ok(Self { plan, layout, weather, blank, eccodes, opened: HashMap::new(), values: Vec::new() })
    }

    /// The grid of the messages.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// A message whose values are those of `name` alone: they move with the step and differ between members.
    ///
    /// # Errors
    /// [`EccodesError::Refused`] if ecCodes does not know the parameter or does not accept the level.
    pub fn message(&mut self, name: FieldName) -> Result<Vec<u8>, EccodesError> {
        self.weather.fill(name, &mut self.values);
        let values = std::mem::take(&mut self.values);
        let opened = self.opened(name)?;
        opened.handle.set_doubles(c"values", &values).context(|| "encode the values".to_owned())?;
        opened.filled = true;
        let message = labelled(opened, name);
        self.values = values;
        message
    }

    /// A message labelled `name` with the values that the same parameter and level had when last made, or first here.
    ///
    /// For filling a store fast: computing and packing values costs far more than changing labels.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn relabelled(&mut self, name: FieldName) -> Result<Vec<u8>, EccodesError> {
        let opened = self.opened(name)?;
        if opened.filled { labelled(opened, name) } else { self.message(name) }
    }

    /// The opened message for the parameter and level of `name`.
    fn opened(&mut self, name: FieldName) -> Result<&mut Opened, EccodesError> {
        let place = (name.param, name.level);
        if !self.opened.contains_key(&place) {
            if self.opened.len() >= OPENED_MAX {
                self.opened.clear();
            }
            let handle = self.open(name)?;
            self.opened.insert(place, Opened { handle, filled: false });
        }
        self.opened.get_mut(&place).ok_or_else(|| EccodesError::Specification {
            reason: format!("no message for parameter {} at {} hPa", name.param, name.level),
        })
    }

    fn open(&self, name: FieldName) -> Result<Handle<'static>, EccodesError> {
        let mut handle =
            Handle::copy(self.eccodes.api()?, &self.blank).context(|| "open its own sample".to_owned())?;
        set(&mut handle, c"paramId", name.param)?;
        // The parameter may bring a level type of its own; pressure is what was asked for.
        set_text(&mut handle, c"typeOfLevel", "isobaricInhPa")?;
        set(&mut handle, c"level", name.level)?;
        if self.plan.members.is_some() {
            set(&mut handle, c"number", name.member)?;
        }
        Ok(handle)
    }
}

impl std::fmt::Debug for MessageMaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { plan, layout, .. } = self;
        f.debug_struct("MessageMaker").field("plan", plan).field("layout", layout).finish_non_exhaustive()
    }
}

/// Writes step and number of `name`, and copies the message out.
fn labelled(opened: &mut Opened, name: FieldName) -> Result<Vec<u8>, EccodesError> {
    set(&mut opened.handle, c"step", name.step)?;
    if opened.handle.long(c"number").is_ok() {
        set(&mut opened.handle, c"number", name.member)?;
    }
    opened.handle.message().context(|| "return the message".to_owned())
}

/// The sample with the plan's labels and a grid of `layout`, all values zero.
fn blank(eccodes: &'static Eccodes, plan: &ForecastPlan, layout: Layout) -> Result<Vec<u8>, EccodesError> {
    let mut handle = Handle::sample(eccodes.api()?, c"regular_ll_pl_grib2")
        .context(|| "open the sample regular_ll_pl_grib2".to_owned())?;
    layout.write(&mut handle)?;
    set(&mut handle, c"setLocalDefinition", 1)?;
    // Template 1 is an ensemble member's, 0 has no number.
    set(&mut handle, c"productDefinitionTemplateNumber", u32::from(plan.members.is_some()))?;
    check_start(plan)?;
    set(&mut handle, c"dataDate", plan.date)?;
    set(&mut handle, c"dataTime", plan.time)?;
    for (key, value) in
        [(c"class", &plan.class), (c"stream", &plan.stream), (c"type", &plan.kind), (c"expver", &plan.expver)]
    {
        set_text(&mut handle, key, value)?;
    }
    if let Some(members) = plan.members {
        set(&mut handle, c"numberOfForecastsInEnsemble", members)?;
    }
    set(&mut handle, c"bitsPerValue", layout::BYTES_PER_VALUE as u32 * 8)?;
    // Values that differ, for ecCodes packs a constant field into no bytes at all.
    let mut values = vec![0.0; layout.points()];
    if let Some(first) = values.first_mut() {
        *first = 1.0;
    }
    handle.set_doubles(c"values", &values).context(|| "encode a field of zeros".to_owned())?;
    handle.message().context(|| "return the message".to_owned())
}

/// Refuses a start that does not exist. ecCodes would write it without a word.
fn check_start(plan: &ForecastPlan) -> Result<(), EccodesError> {
    let (date, time) = (plan.date, plan.time);
    let day_in_month = (1..=31).contains(&(date % 100));
    let month = (1..=12).contains(&(date / 100 % 100));
    let reason = if !day_in_month || !month || !(1..=9999).contains(&(date / 10_000)) {
        format!("date {date}, expected year, month and day as in 20240101")
    } else if time > 2359 || time % 100 > 59 {
        format!("time {time}, expected hours and minutes as in 1200")
    } else {
        return Ok(());
    };
    Err(EccodesError::Specification { reason })
}

pub(super) fn set(
    handle: &mut Handle<'static>,
    key: &std::ffi::CStr,
    value: u32,
) -> Result<(), EccodesError> {
    handle.set_long(key, value.into()).context(|| format!("set {} to {value}", key.to_string_lossy()))
}

fn set_text(handle: &mut Handle<'static>, key: &std::ffi::CStr, value: &str) -> Result<(), EccodesError> {
    handle.set_string(key, value).context(|| format!("set {} to {value}", key.to_string_lossy()))
}

#[cfg(test)]
mod tests;
