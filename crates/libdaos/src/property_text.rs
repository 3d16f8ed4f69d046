//! Properties of a container in text, as `daos container create --properties` takes them: `label:fields;rd_fac:1`.

use crate::{
    abi::properties::*,
    error::{Result, invalid},
    properties::{Properties, Value},
};

/// What words say, and the numbers that they stand for: of those in a row the first has the number 0.
const CHECKSUMS: [&str; 8] = ["off", "crc16", "crc32", "crc64", "sha1", "sha256", "sha512", "adler32"];
const SWITCH: [&str; 2] = ["off", "on"];
const DEDUPLICATIONS: [&str; 3] = ["off", "memcmp", "hash"];
const COMPRESSIONS: [&str; 7] = ["off", "lz4", "deflate", "deflate1", "deflate2", "deflate3", "deflate4"];
const ENCRYPTIONS: [&str; 8] =
    ["off", "aes-xts128", "aes-xts256", "aes-cbc128", "aes-cbc192", "aes-cbc256", "aes-gcm128", "aes-gcm256"];
const FACTORS: [&str; 5] = ["0", "1", "2", "3", "4"];

fn word(text: &str, words: &[&str]) -> Option<Value> {
    words.iter().position(|word| *word == text).map(|at| Value::Number(at as u64))
}

/// A number, decimal or with `0x` before it.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
    digits.unwrap_or_else(|| text.parse()).ok().map(Value::Number)
}

/// One property. Those that a container gets otherwise, or not from a program, have no name here, as on DAOS.
fn property(name: &str, text: &str) -> Option<(u32, Value)> {
    let label = || (text.len() <= DAOS_PROP_LABEL_MAX_LEN).then(|| Value::Text(text.to_owned()));
    let (property, value) = match name {
        "label" => (DAOS_PROP_CO_LABEL, label()),
        "cksum" => (DAOS_PROP_CO_CSUM, word(text, &CHECKSUMS)),
        "cksum_size" => (DAOS_PROP_CO_CSUM_CHUNK_SIZE, number(text)),
        "srv_cksum" => (DAOS_PROP_CO_CSUM_SERVER_VERIFY, word(text, &SWITCH)),
        "dedup" => (DAOS_PROP_CO_DEDUP, word(text, &DEDUPLICATIONS)),
        "dedup_threshold" => (DAOS_PROP_CO_DEDUP_THRESHOLD, number(text)),
        "compression" => (DAOS_PROP_CO_COMPRESS, word(text, &COMPRESSIONS)),
        "encryption" => (DAOS_PROP_CO_ENCRYPT, word(text, &ENCRYPTIONS)),
        "rd_fac" | "rf" => (DAOS_PROP_CO_REDUN_FAC, word(text, &FACTORS)),
        "ec_cell_sz" => (DAOS_PROP_CO_EC_CELL_SZ, number(text)),
        "ec_pda" => (DAOS_PROP_CO_EC_PDA, number(text)),
        "rp_pda" => (DAOS_PROP_CO_RP_PDA, number(text)),
        "perf_domain" => (DAOS_PROP_CO_PERF_DOMAIN, number(text)),
        _ => return None,
    };
    Some((property, value?))
}

/// Reads properties.
pub(crate) fn parse(text: &str) -> Result<Properties> {
    let mut properties = Properties::new();
    for part in text.split(';').filter(|part| !part.is_empty()) {
        match part.split_once(':').and_then(|(name, value)| property(name, value)) {
            Some((number, value)) => drop(properties.insert(number, value)),
            None => return invalid(&format!("the property {part:?}")),
        }
    }
    if properties.is_empty() { invalid("a text without properties") } else { Ok(properties) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_and_what_is_none_is_refused() {
        let found = parse("rd_fac:1;label:a:b;cksum:crc32;ec_cell_sz:0x10000;;").unwrap();
        let expected = [
            (DAOS_PROP_CO_REDUN_FAC, Value::Number(1)),
            (DAOS_PROP_CO_LABEL, Value::Text("a:b".to_owned())),
            (DAOS_PROP_CO_CSUM, Value::Number(DAOS_PROP_CO_CSUM_CRC32)),
            (DAOS_PROP_CO_EC_CELL_SZ, Value::Number(65_536)),
        ];
        assert_eq!(found, Properties::from(expected));
        assert_eq!(parse("rf:4;encryption:aes-gcm256").unwrap().len(), 2);
        for wrong in [
            "",
            ";",
            "label",
            "rd_fac:5",
            "rd_fac:",
            "cksum:md5",
            "cksum_size:k",
            "layout_type:posix",
            "what:1",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
