//! The fields of a forecast, their keys and requests.

use isotach_mars::{Key, Request};
use serde::{Deserialize, Serialize};

use super::params::{self, Param};
use crate::{Error, Result};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) first_step: u32,
    pub(crate) steps: u32,
    /// The first member of the first writer.
    pub(crate) first_member: u32,
    /// The members of each writer.
    pub(crate) members: u32,
    pub(crate) levels: Vec<u32>,
    pub(crate) params: usize,
    /// Whether keys have a level.
    pub(crate) has_levels: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) step: u32,
    pub(crate) level: u32,
    pub(crate) param: Param,
}

impl Shape {
    pub(crate) fn steps(&self) -> std::ops::Range<u32> {
        self.first_step..self.first_step + self.steps
    }

    pub(crate) fn members(&self, writer: u32, writers: u32) -> std::ops::Range<u32> {
        let first = self.first_member + writer * self.members;
        first..first + writers * self.members
    }

    /// The number of fields of one step of one member.
    pub(crate) fn block(&self) -> usize {
        self.levels.len() * self.params
    }
}

/// Creates fields, keys and requests. The common part of all keys is parsed once; only the other pairs are set for each field.
#[derive(Debug)]
pub(crate) struct Keys {
    key: Key,
    common: String,
    shape: Shape,
    params: Vec<Param>,
}

impl Keys {
    pub(crate) fn new(common: &str, shape: &Shape) -> Result<Self> {
        let key = common.parse().map_err(|_| Error::invalid(common, "a key"))?;
        let mut params = params::all();
        params.truncate(shape.params);
        Ok(Self { key, common: common.to_owned(), shape: shape.clone(), params })
    }

    /// The fields of a step of a member, in the order of archiving.
    pub(crate) fn fields(&self, number: u32, step: u32) -> Vec<Field> {
        let (levels, params) = (&self.shape.levels, &self.params);
        let of = |level: &u32| {
            let level = *level;
            params.iter().map(move |param| Field { number, step, level, param: *param })
        };
        levels.iter().flat_map(of).collect()
    }

    /// The key of a field, until the next call.
    pub(crate) fn of(&mut self, field: &Field) -> &Key {
        self.key.set("step", &field.step.to_string());
        self.key.set("number", &field.number.to_string());
        if self.shape.has_levels {
            self.key.set("levelist", &field.level.to_string());
        }
        self.key.set("param", &field.param.id.to_string());
        &self.key
    }

    /// The field with this key; none if it is not part of the forecast.
    pub(crate) fn field(&self, key: &Key) -> Option<Field> {
        let number = |name: &str| key.get(name)?.parse::<u32>().ok();
        let level = match self.shape.has_levels {
            true => number("levelist")?,
            false => *self.shape.levels.first()?,
        };
        let param = number("param")?;
        let param = *self.params.iter().find(|one| one.id == param)?;
        let is_part = self.shape.levels.contains(&level) && self.shape.steps().contains(&number("step")?);
        is_part.then_some(Field { number: number("number")?, step: number("step")?, level, param })
    }

    /// The request for all fields of these members and steps.
    pub(crate) fn request(
        &self,
        numbers: impl IntoIterator<Item = u32>,
        steps: impl IntoIterator<Item = u32>,
    ) -> Result<Request> {
        let mut text = self.common.clone();
        let mut add = |name: &str, values: &mut dyn Iterator<Item = u32>| {
            let values: Vec<String> = values.map(|value| value.to_string()).collect();
            text.push_str(&format!(",{name}={}", values.join("/")));
        };
        add("step", &mut steps.into_iter());
        add("number", &mut numbers.into_iter());
        if self.shape.has_levels {
            add("levelist", &mut self.shape.levels.iter().copied());
        }
        add("param", &mut self.params.iter().map(|param| param.id));
        text.parse().map_err(|error| Error::from(isotach_fields::Error::from(error)))
    }
}
