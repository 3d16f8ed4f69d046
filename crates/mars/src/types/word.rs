//! Types that are words: any text has a canonical form.

pub(super) fn lower(text: &str, out: &mut String) {
    let start = out.len();
    out.push_str(text);
    if let Some(added) = out.get_mut(start..) {
        added.make_ascii_lowercase();
    }
}

pub(super) fn first3(text: &str, out: &mut String) {
    let end = text.char_indices().nth(3).map_or(text.len(), |(at, _)| at);
    lower(text[..end].trim_end(), out);
}

pub(super) fn expver(text: &str, out: &mut String) {
    if !text.is_empty() {
        let length = text.chars().count().min(4);
        out.push_str(&"0000"[length..]);
    }
    lower(text, out);
}

pub(super) fn grid(text: &str, out: &mut String) {
    for (index, part) in text.split('/').enumerate() {
        if index > 0 {
            out.push('+');
        }
        lower(part.trim(), out);
    }
}

#[cfg(test)]
mod tests {
    use crate::KeyType;
    use crate::types::tests::all_mean;

    #[test]
    fn words_are_kept_in_lower_case() {
        all_mean(KeyType::Default, &["OD", "od", " Od "], "od");
        all_mean(KeyType::First3, &["abcdef", "ABC", "abc"], "abc");
        all_mean(KeyType::First3, &["ab"], "ab");
        all_mean(KeyType::First3, &["äöüß"], "äöü");
    }

    #[test]
    fn an_expver_has_at_least_four_characters() {
        all_mean(KeyType::Expver, &["1", "01", "0001"], "0001");
        all_mean(KeyType::Expver, &["ABCD"], "abcd");
        all_mean(KeyType::Expver, &["12345"], "12345");
    }

    #[test]
    fn a_grid_has_no_slash() {
        all_mean(KeyType::Grid, &["1.5/1.5", "1.5+1.5", "1.5 / 1.5"], "1.5+1.5");
        all_mean(KeyType::Grid, &["O1280"], "o1280");
    }

    #[test]
    fn an_ignored_key_has_no_value() {
        all_mean(KeyType::Ignore, &["x", ""], "");
    }
}
