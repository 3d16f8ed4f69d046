//! What the commands take that change messages on their way, or leave some out.

use clap::Args;

use super::least::name_list;

/// What is changed in messages.
#[derive(Debug, Default, Args)]
pub(crate) struct ModifyFlag {
    /// Set keys of each message through ecCodes, in this order, as expver=x001,packingType=grid_ccsds
    ///
    /// The field is then archived under the key that the changed message carries.
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = edits)]
    pub(crate) modify: Option<Edits>,
}

/// Which messages are taken.
#[derive(Debug, Default, Args)]
pub(crate) struct FilterFlags {
    /// Take only messages that this request would list, as step=0/6,levtype=pl; keys are those before --modify
    #[arg(long, value_name = "REQUEST")]
    pub(crate) include_filter: Option<String>,
    /// Leave out messages that this request would list
    #[arg(long, value_name = "REQUEST")]
    pub(crate) exclude_filter: Option<String>,
}

/// Keys of ecCodes with their values, in the order in which they are set. Their case counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Edits(Vec<(String, String)>);

impl Edits {
    /// The keys and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn edits(text: &str) -> Result<Edits, String> {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() && !value.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(format!("{pair:?}: expected a key and its value, as in expver=x001")),
    };
    name_list(text).iter().map(|text| pair(text)).collect::<Result<_, _>>().map(Edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_their_order_and_the_case_of_their_keys() {
        let edits = edits("setLocalDefinition=1, class=rd,packingType=grid_ieee").unwrap();
        let expected = [("setLocalDefinition", "1"), ("class", "rd"), ("packingType", "grid_ieee")];
        assert!(edits.iter().eq(expected));
    }

    #[test]
    fn an_edit_without_a_key_or_a_value_is_named() {
        for (text, named) in [("expver", "\"expver\""), ("a=1,=2", "\"=2\""), ("a=", "\"a=\""), ("", "\"\"")]
        {
            assert!(edits(text).unwrap_err().starts_with(named), "{text}");
        }
    }
}
