//! [`Plan`]: what of a file is copied.

use std::collections::{HashSet, VecDeque};

use isotach_hdf5::{Header, Kind};
use isotach_hdf5_types::{Datatype, ReferenceKind, Stored};

use crate::{Error, Refusal, Result, Source, target::Limits};

/// What of a file is copied, and what is not.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// All objects that are copied, groups before what is in them, with a path of each.
    pub(crate) objects: Vec<Planned>,
    /// What cannot be copied.
    pub(crate) refused: Vec<Refusal>,
    /// The objects that cannot.
    pub(crate) left_out: HashSet<u64>,
    /// The links that cannot: group and name.
    pub(crate) left_out_links: HashSet<(u64, String)>,
    /// The attributes that cannot: object and name.
    pub(crate) left_out_attributes: HashSet<(u64, String)>,
    /// The datasets whose chunks are copied as they are stored.
    pub(crate) by_chunk: HashSet<u64>,
    /// The stored bytes of all datasets.
    pub(crate) bytes: u64,
}

/// An object that is copied.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    pub(crate) path: String,
}

/// The datatype of a stored form.
pub(crate) fn datatype(stored: &[u8], place: &str) -> Result<Datatype> {
    Stored::parse(stored).and_then(|stored| stored.datatype()).map_err(Error::at(place))
}

/// The datatype of a stored form, as elements are in the file.
pub(crate) fn file_form(stored: &[u8], place: &str) -> Result<Datatype> {
    datatype(stored, place)?.file_form().map_err(Error::at(place))
}

/// Why elements of a datatype cannot be copied.
fn type_obstacle(datatype: &Datatype) -> Option<String> {
    datatype.has_reference(ReferenceKind::Region).then(|| "region references".to_owned())
}

impl Plan {
    /// Walks the source, and asks what the target can hold.
    pub(crate) fn new(source: &dyn Source, limits: &dyn Limits) -> Result<Self> {
        let root = source.root()?;
        let mut plan = Self::default();
        let mut seen = HashSet::from([root]);
        let mut left = VecDeque::from([Planned { number: root, kind: Kind::Group, path: "/".to_owned() }]);
        while let Some(object) = left.pop_front() {
            let path = object.path.clone();
            let about = Error::about(&path);
            let why = plan.object(source, limits, &object, object.number == root).map_err(&about)?;
            if let Some(why) = why {
                plan.left_out.insert(object.number);
                plan.refused.push(Refusal { path: object.path, why });
                continue;
            }
            if object.kind == Kind::Group {
                let above = path.trim_end_matches('/');
                for (name, link) in source.links(object.number).map_err(&about)? {
                    let path = format!("{above}/{name}");
                    if let Some(why) = limits.link_obstacle(&link) {
                        plan.left_out_links.insert((object.number, name.clone()));
                        plan.refused.push(Refusal { path, why });
                        continue;
                    }
                    let isotach_hdf5::Target::Hard { number, kind } = link.target else { continue };
                    if seen.insert(number) {
                        left.push_back(Planned { number, kind, path });
                    }
                }
            }
            plan.objects.push(object);
        }
        Ok(plan)
    }

    /// Looks at an object and its attributes. Returns why it cannot be copied.
    fn object(
        &mut self,
        source: &dyn Source,
        limits: &dyn Limits,
        object: &Planned,
        is_root: bool,
    ) -> Result<Option<String>> {
        let Planned { number, path, .. } = object;
        if let Some(why) = source.obstacle(*number)? {
            return Ok(Some(why));
        }
        let header = source.header(*number)?;
        if let Some(why) = obstacle(&header, path, limits, is_root)? {
            return Ok(Some(why));
        }
        if header.kind == Kind::Dataset {
            if source.moves_chunks(*number)? && !is_bound(&header, path)? && limits.takes_chunks(&header)? {
                self.by_chunk.insert(*number);
            } else if !source.decodes(&header) {
                let filters = header.data.iter().flat_map(|data| &data.filters);
                let names: Vec<String> =
                    filters.map(|filter| format!("{} {}", filter.id, filter.name)).collect();
                return Ok(Some(format!("a filter that is not known: {}", names.join(", "))));
            }
            self.bytes += source.storage_size(*number)?;
        }
        for name in source.attributes(*number)? {
            let attribute = source.attribute(*number, &name)?;
            source.forget_blobs();
            let place = format!("attribute {name} of {path}");
            if let Some(why) = type_obstacle(&datatype(&attribute.datatype, &place)?) {
                self.left_out_attributes.insert((*number, name));
                self.refused.push(Refusal { path: place, why });
            }
        }
        source.forget_blobs();
        Ok(None)
    }
}

fn is_bound(header: &Header, place: &str) -> Result<bool> {
    Ok(datatype(&header.datatype, place)?.is_bound_to_its_file())
}

fn obstacle(header: &Header, path: &str, limits: &dyn Limits, is_root: bool) -> Result<Option<String>> {
    if !header.datatype.is_empty() {
        let datatype = datatype(&header.datatype, path)?;
        if matches!(header.kind, Kind::Dataset | Kind::Map)
            && let Some(why) = type_obstacle(&datatype)
        {
            return Ok(Some(why));
        }
    }
    if is_root { Ok(None) } else { limits.obstacle(header) }
}
