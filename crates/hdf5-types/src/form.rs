//! The layout of elements, in a file of the connector and in a program's memory.

use crate::{Class, Datatype, Member, ReferenceKind, Result, error::damaged};

/// Where elements are. What variable-length data and references look like depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// In a file of the connector. Variable-length data: its length in elements (4 bytes) and the name of a blob (16). References: a
    /// number (8 bytes); or kind, flags, and for an object the length and the bytes of its number, for anything else the length of a blob
    /// (4) and its name.
    File,
    /// In the memory of a program on a machine with 64 bits. Variable-length data: length and pointer, or a pointer to a text.
    Memory,
}

impl Elements {
    fn size(self, datatype: &Datatype) -> u32 {
        let (file, memory) = match datatype.class {
            Class::Sequence { .. } => (20, 16),
            Class::VariableText { .. } => (20, 8),
            Class::Reference(ReferenceKind::Object) => (8, 8),
            Class::Reference(ReferenceKind::Region) => (12, 12),
            Class::Reference(ReferenceKind::Standard) => (22, 64),
            _ => (datatype.size, datatype.size),
        };
        match self {
            Self::File => file,
            Self::Memory => memory,
        }
    }
}

impl Datatype {
    /// The same type as its elements are in a file of the connector.
    ///
    /// # Errors
    /// `Damaged` for elements of 4 GiB and more.
    pub fn file_form(&self) -> Result<Self> {
        self.form(Elements::File)
    }

    /// The same type as its elements are in memory.
    ///
    /// # Errors
    /// `Damaged` for elements of 4 GiB and more.
    pub fn memory_form(&self) -> Result<Self> {
        self.form(Elements::Memory)
    }

    /// The same type as its elements are in one of both places. Members of a compound move as HDF5 moves them: by what the members
    /// before them have grown.
    ///
    /// # Errors
    /// `Damaged` for elements of 4 GiB and more.
    pub fn form(&self, place: Elements) -> Result<Self> {
        let too_large = || damaged("elements of 4 GiB");
        match &self.class {
            Class::Compound { members } => self.compound_form(members, place),
            Class::Array { dims, base } => {
                let base = Box::new(base.form(place)?);
                let size = dims.iter().try_fold(base.size, |size, length| size.checked_mul(*length));
                Ok(Self {
                    size: size.ok_or_else(too_large)?,
                    class: Class::Array { dims: dims.clone(), base },
                })
            }
            Class::Sequence { base } => {
                let class = Class::Sequence { base: Box::new(base.form(place)?) };
                Ok(Self { size: place.size(self), class })
            }
            class => Ok(Self { size: place.size(self), class: class.clone() }),
        }
    }

    fn compound_form(&self, members: &[Member], place: Elements) -> Result<Self> {
        let mut moved = members.to_vec();
        let mut by_offset: Vec<&mut Member> = moved.iter_mut().collect();
        by_offset.sort_by_key(|member| member.offset);
        let mut grown = 0_i64;
        for member in by_offset {
            let datatype = member.datatype.form(place)?;
            member.offset = shifted(member.offset, grown)?;
            grown += i64::from(datatype.size) - i64::from(member.datatype.size);
            member.datatype = datatype;
        }
        let size = shifted(self.size, grown)?;
        let ends = moved.iter().map(|member| u64::from(member.offset) + u64::from(member.datatype.size));
        if ends.max().is_some_and(|end| end > size.into()) {
            return Err(damaged("members that overlap"));
        }
        Ok(Self { size, class: Class::Compound { members: moved } })
    }
}

fn shifted(number: u32, by: i64) -> Result<u32> {
    u32::try_from(i64::from(number) + by).map_err(|_| damaged("members that overlap"))
}
