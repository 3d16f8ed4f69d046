//! Dump: the structure of datasets, as records that print as text.

use std::fmt;

use isotach_mars::{Key, Request};
use isotach_object::ObjectId;

use crate::{Answer, DatasetStatus, FieldStore, Result, Selection};

/// A dataset with its collocations.
#[derive(Debug, Clone)]
pub struct DatasetDump {
    /// Its status.
    pub status: DatasetStatus,
    /// The text of the schema that governs it.
    pub schema: String,
    /// Its collocations.
    pub collocations: Vec<CollocationDump>,
}

/// A collocation with its objects in the dataset's container.
#[derive(Debug, Clone)]
pub struct CollocationDump {
    /// Its key.
    pub key: Key,
    /// The key-value object that maps elements to locations.
    pub index: ObjectId,
    /// The key-value object with every field ever archived.
    pub history: ObjectId,
    /// The key-value object with the jump indexes of its fields.
    pub jump: ObjectId,
    /// The axes: the key, its object, its values.
    pub axes: Vec<(String, ObjectId, Vec<String>)>,
}

impl FieldStore {
    /// The structure of the datasets and collocations that match a request. Datasets that are locked for listing are
    /// left out.
    ///
    /// # Errors
    /// As [`FieldStore::list`]. The errors of unusable datasets are in the answer.
    pub fn dump(&self, request: &Request) -> Result<Answer<DatasetDump>> {
        self.ask(request, |selection| self.dump_of(selection))
    }

    /// `None` if the dataset was wiped meanwhile.
    fn dump_of(&self, selection: &Selection) -> Result<Option<DatasetDump>> {
        let Some(reader) = self.inner.reader(&selection.root, &selection.entry)? else { return Ok(None) };
        let mut collocations = Vec::new();
        for target in selection.targets(&self.inner)? {
            let objects = &target.collocation.objects;
            let axes = reader.axes(&self.inner, &target.collocation)?;
            let axes = axes.0.iter().zip(&objects.axes).map(|((name, values), object)| {
                (name.to_string(), *object, values.iter().cloned().collect())
            });
            collocations.push(CollocationDump {
                key: target.collocation.key.clone(),
                index: objects.index,
                history: objects.history,
                jump: objects.jump,
                axes: axes.collect(),
            });
        }
        let schema = reader.dataset.schema.source().to_owned();
        Ok(Some(DatasetDump { status: selection.status()?, schema, collocations }))
    }
}

impl fmt::Display for DatasetDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DatasetStatus { key, rule, catalogue, store, .. } = &self.status;
        writeln!(f, "dataset {key}")?;
        writeln!(f, "  rule      {rule}")?;
        writeln!(f, "  catalogue {catalogue}")?;
        writeln!(f, "  store     {store}")?;
        self.status.below.iter().try_for_each(|below| writeln!(f, "  overlays  {below}"))?;
        self.collocations.iter().try_for_each(|collocation| write!(f, "{collocation}"))
    }
}

impl fmt::Display for CollocationDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  collocation {}", self.key)?;
        writeln!(f, "    index   {}", self.index)?;
        writeln!(f, "    history {}", self.history)?;
        writeln!(f, "    jump    {}", self.jump)?;
        for (name, object, values) in &self.axes {
            writeln!(f, "    axis    {object} {name}={}", values.join("/"))?;
        }
        Ok(())
    }
}
