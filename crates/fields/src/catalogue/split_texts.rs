//! A key split by a schema, with the texts of its levels. A thread uses the memory of one for all of its keys.

use isotach_mars::{Key, KeyError, Schema, SplitKey, Splitter};

use crate::catalogue::layout::{push_collocation_text, push_named_text};

/// A split key and its texts.
#[derive(Debug, Default)]
pub(crate) struct SplitTexts {
    splitter: Splitter,
    /// See [`push_named_text`].
    pub(crate) dataset: String,
    /// See [`push_collocation_text`].
    pub(crate) collocation: String,
    /// The values of the element, joined.
    pub(crate) element: String,
}

impl SplitTexts {
    /// Splits a key.
    ///
    /// # Errors
    /// As [`Schema::split`]. After an error the texts are unspecified.
    pub(crate) fn split(&mut self, schema: &Schema, key: &Key) -> Result<(), KeyError> {
        self.splitter.split(schema, key)?;
        if !self.splitter.repeats_collocation() {
            self.write_outer();
        }
        self.write_element();
        Ok(())
    }

    /// The key that was split.
    pub(crate) fn key(&self) -> &SplitKey {
        self.splitter.last()
    }

    /// Takes a key that was split by another schema.
    pub(crate) fn set(&mut self, split: SplitKey) {
        self.splitter.set(split);
        self.write_outer();
        self.write_element();
    }

    fn write_outer(&mut self) {
        let split = self.splitter.last();
        self.dataset.clear();
        push_named_text(&mut self.dataset, &split.dataset);
        self.collocation.clear();
        push_collocation_text(&mut self.collocation, &split.collocation, &split.element);
    }

    fn write_element(&mut self) {
        self.element.clear();
        self.splitter.last().element.values_joined_into(&mut self.element);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_those_of_each_key_whatever_was_split_before() {
        let schema =
            Schema::parse("[ class, year? [ type [ step, param ] [ step, param, method ]]]").unwrap();
        let keys = [
            "class=od,type=fc,step=0,param=t",
            "class=od,type=fc,step=6,param=t",
            "class=od,type=fc,step=6",
            "class=od,type=fc,step=6,param=u",
            "class=od,type=fc,step=6,param=u,method=1",
            "class=rd,type=fc,step=6,param=u,method=1",
            "class=rd,type=an,step=6,param=u,method=1",
        ];
        let mut texts = SplitTexts::default();
        for key in keys.map(|text| text.parse::<Key>().unwrap()) {
            let Ok(alone) = schema.split(&key) else {
                assert!(texts.split(&schema, &key).is_err());
                continue;
            };
            texts.split(&schema, &key).unwrap();
            let mut expected = SplitTexts::default();
            expected.set(alone);
            assert_eq!(texts.dataset, expected.dataset);
            assert_eq!(texts.collocation, expected.collocation);
            assert_eq!(texts.element, expected.element);
        }
    }
}
