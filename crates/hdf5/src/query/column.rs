//! [`Column`]: a member of elements, or the elements themselves.

use isotach_hdf5_types::{Class, Datatype};

use super::{condition::member_text, number::Number};
use crate::{Error, Result};

/// A member of elements, or the elements themselves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    pub(crate) member: Vec<String>,
    pub(crate) offset: usize,
    pub(crate) datatype: Datatype,
    /// `None` if it holds texts.
    pub(crate) number: Option<Number>,
}

impl Column {
    /// The member with this path.
    pub(crate) fn find(datatype: &Datatype, member: &[String]) -> Result<Self> {
        let (mut inner, mut offset) = (datatype, 0);
        for name in member {
            let Class::Compound { members } = &inner.class else {
                let what = format!("member {} in elements of {inner}", member_text(member));
                return Err(Error::invalid(what, "value: they have no members"));
            };
            let Some(found) = members.iter().find(|member| member.name == *name) else {
                let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
                let what = format!("member {}", member_text(member));
                return Err(Error::invalid(what, format!("one of {}", names.join(", "))));
            };
            offset += found.offset as usize;
            inner = &found.datatype;
        }
        if let Class::Compound { members } = &inner.class {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            let what = format!("{}, which has members", member_text(member));
            return Err(Error::invalid(what, format!("one of its members {}", names.join(", "))));
        }
        let number = Number::of(inner);
        Ok(Self { member: member.to_vec(), offset, datatype: inner.clone(), number })
    }

    /// All members that are numbers, also those of members.
    pub(crate) fn numbers(datatype: &Datatype) -> Vec<Vec<String>> {
        match &datatype.class {
            Class::Compound { members } => {
                let paths = |member: &isotach_hdf5_types::Member| {
                    let name = member.name.clone();
                    let below = Self::numbers(&member.datatype).into_iter();
                    below.map(move |path| [vec![name.clone()], path].concat()).collect::<Vec<_>>()
                };
                members.iter().flat_map(paths).collect()
            }
            _ if Number::of(datatype).is_some() => vec![Vec::new()],
            _ => Vec::new(),
        }
    }
}
