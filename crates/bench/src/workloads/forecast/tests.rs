//! Messages, keys and readers of a forecast.

use std::{collections::BTreeSet, io::Write, sync::Arc};

use isotach_grib::{EccodesError, SliceScanner, message_key};
use isotach_object::memory::Memory;

use super::*;

/// The built-in template in GRIB 1.
const EDITION_1: &[u8] = include_bytes!("template.grib1");

fn built_in(levels: u32, params: usize) -> Forecast {
    let template = Template::of(TEMPLATE).unwrap().sized(300).unwrap();
    let shape = Shape {
        first_step: 0,
        steps: 3,
        first_member: 1,
        members: 2,
        levels: (1..=levels).collect(),
        params,
        has_levels: true,
    };
    Forecast { template, key: TEMPLATE_KEY.to_owned(), shape }
}

/// A field with the parameter of this index.
fn field(number: u32, step: u32, level: u32, param: usize) -> Field {
    Field { number, step, level, param: params::all()[param] }
}

#[test]
fn a_message_of_another_size_is_whole_and_encodes_its_length() {
    for template in [TEMPLATE, EDITION_1] {
        let template = Template::of(template).unwrap();
        for size in [300, 4096, 1 << 20] {
            let mut message = Message::new(&template.clone().sized(size).unwrap());
            let bytes = message.of(&field(3, 70_000 % 60_000, 500, 1)).to_vec();
            assert_eq!((bytes.len(), message.header_length()), (size, size as u64));
            let mut found = SliceScanner::new(&bytes);
            assert_eq!(found.next().unwrap().unwrap().bytes.len(), size);
            assert!(found.next().is_none());
        }
        assert!(template.clone().sized(100).unwrap_err().to_string().contains("can hold"));
    }
    let error = Template::of(EDITION_1).unwrap().sized(9 << 20).unwrap_err();
    assert!(error.to_string().contains("8388607"), "{error}");
}

/// The sections of a GRIB 2 message, without its first and last.
fn sections(message: &[u8]) -> Vec<&[u8]> {
    let mut rest = &message[16..message.len() - 4];
    let mut sections = Vec::new();
    while rest.len() > 4 {
        let (one, others) = rest.split_at(offsets::get(&rest[..4]) as usize);
        sections.push(one);
        rest = others;
    }
    sections
}

#[test]
fn a_template_whose_sections_are_out_of_order_is_refused() {
    let message = |sections: &[&[u8]]| [&TEMPLATE[..16], &sections.concat(), b"7777"].concat();
    let mut all = sections(TEMPLATE);
    assert_eq!(Template::of(&message(&all)).unwrap(), Template::of(TEMPLATE).unwrap());
    // The data section is the last.
    all.rotate_right(1);
    let error = Template::of(&message(&all)).unwrap_err().to_string();
    assert!(error.contains("out of order"), "{error}");
}

#[test]
fn a_damaged_template_is_refused_or_yields_whole_messages() {
    let attempt = |bytes: &[u8]| {
        let template = Template::of(bytes).and_then(|one| one.labelled("rd", "xxxx")?.sized(300));
        if let Ok(template) = template {
            assert_eq!(Message::new(&template).of(&field(3, 6, 500, 1)).len(), 300);
        }
    };
    for template in [TEMPLATE, EDITION_1] {
        for at in 0..template.len() {
            attempt(&template[..at]);
            for byte in [0, 1, 4, 7, 0x7f, 0xff] {
                let mut changed = template.to_vec();
                changed[at] = byte;
                attempt(&changed);
            }
        }
    }
}

#[test]
fn the_bytes_of_a_message_depend_on_its_field_alone() {
    for template in [TEMPLATE, EDITION_1] {
        let template = Template::of(template).unwrap().sized(400).unwrap();
        let (mut one, mut other) = (Message::new(&template), Message::new(&template));
        other.of(&field(9, 9, 9, 9));
        let wanted = field(1, 2, 3, 4);
        let bytes = one.of(&wanted).to_vec();
        assert!(other.is(&wanted, &bytes, true));
        let others = [field(2, 2, 3, 4), field(1, 3, 3, 4), field(1, 2, 4, 4), field(1, 2, 3, 5)];
        assert!(others.iter().all(|field| !other.is(field, &bytes, false)));
    }
}

#[test]
fn a_wrong_byte_in_the_middle_is_found_only_if_every_byte_is_compared() {
    let mut message = Message::new(&Template::of(TEMPLATE).unwrap().sized(400).unwrap());
    let wanted = field(1, 2, 3, 4);
    let bytes = message.of(&wanted).to_vec();
    for (at, is_end) in [(0, true), (150, true), (205, true), (395, true), (399, true), (300, false)] {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        assert!(!message.is(&wanted, &wrong, true), "{at}");
        assert_eq!(message.is(&wanted, &wrong, false), !is_end, "{at}");
    }
    assert!(!message.is(&wanted, &bytes[..399], false));
}

#[test]
fn templates_that_cannot_be_rewritten_in_place_are_refused() {
    let refused = |bytes: &[u8], expected: &str| {
        let error = Template::of(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(b"GRIB", "GRIB 1 or GRIB 2");
    refused(&TEMPLATE[..60], "a sound GRIB 2 message");
    let product = TEMPLATE.windows(5).position(|bytes| bytes == [0, 0, 0, 37, 4]).unwrap();
    let with = |at: usize, value: u8| {
        let mut bytes = TEMPLATE.to_vec();
        bytes[at] = value;
        bytes
    };
    refused(&with(product + 8, 11), "an ensemble member at a point in time");
    refused(&with(product + 22, 103), "pressure levels, model levels or the surface");
    let mut two_fields = TEMPLATE[..TEMPLATE.len() - 4].to_vec();
    two_fields.extend(&TEMPLATE[product..]);
    refused(&two_fields, "a message of one field");
    let mut other_local = EDITION_1.to_vec();
    other_local[48] = 2;
    refused(&other_local, "which have the number of a member");
}

/// The key of a message as ecCodes reads it; none, with a note, if ecCodes is not installed.
fn key_of(message: &[u8]) -> Option<Key> {
    match message_key(message) {
        Ok(pairs) => {
            let mut key = Key::new();
            pairs.iter().for_each(|(name, value)| key.set(name, value));
            Some(key)
        }
        Err(EccodesError::NotInstalled { .. }) => {
            // The test harness would hide the output of a test that passes.
            std::io::stderr().write_all(b"skipped: ecCodes not installed\n").unwrap();
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn eccodes_reads_from_a_message_what_was_written_into_it() {
    let forecast = built_in(1, params::all().len());
    let common = parse(TEMPLATE_KEY).unwrap().with("class", "od").with("expver", "0042");
    let mut keys = Keys::new(&common.to_string(), &forecast.shape).unwrap();
    let mut fields = keys.fields(7, 240);
    fields.extend([field(254, 65_000, 1000, 0), field(1, 0, 850, 3)]);
    for template in [TEMPLATE, EDITION_1] {
        let labelled = Template::of(template).unwrap().labelled("od", "0042").unwrap();
        let mut message = Message::new(&labelled.sized(300).unwrap());
        for wanted in &fields {
            let Some(found) = key_of(message.of(wanted)) else { return };
            let expected = keys.of(wanted);
            assert!(found.same_pairs(expected), "{found} is not {expected}");
        }
    }
}

#[test]
fn a_key_maps_back_to_its_field_unless_it_is_of_another_forecast() {
    let forecast = built_in(2, 3);
    let mut keys = Keys::new(&forecast.key, &forecast.shape).unwrap();
    let fields = keys.fields(2, 1);
    assert_eq!(fields.len(), forecast.shape.block());
    for field in fields {
        let key = keys.of(&field).clone();
        assert_eq!(keys.field(&key), Some(field));
    }
    let absent = keys.of(&Field { step: 99, ..field(2, 1, 1, 0) }).clone();
    assert_eq!(keys.field(&absent), None);
    let request = keys.request([1, 2], [0]).unwrap().to_string();
    assert!(request.contains("number=1/2") && request.contains("levelist=1/2"), "{request}");
}

#[test]
fn a_reader_waits_for_a_late_step_and_sees_complete_members_first() {
    let registry = Registry::new().with(Arc::new(Memory::new()));
    let config = Config::single(&"memory:follow".parse().unwrap());
    let writer = FieldStore::create(&config, &registry).unwrap();
    let forecast = built_in(2, 2);
    let mut keys = Keys::new(&forecast.key, &forecast.shape).unwrap();
    let fields = keys.fields(2, 1);
    let (last, first) = fields.split_last().unwrap();
    let mut archive = |field: &Field| writer.archive(keys.of(field), b"field").unwrap();
    first.iter().for_each(&mut archive);
    writer.flush().unwrap();
    // A step without one of its fields is not complete.
    let mut pauses = 0;
    let pause = || {
        pauses += 1;
        if pauses == 3 {
            archive(last);
            writer.flush().unwrap();
        }
    };
    let mut reader = Reader::new(FieldStore::open(&config, &registry).unwrap(), &forecast, false).unwrap();
    let seen = reader.wait_for(&BTreeSet::from([1, 2]), 1, 5, pause).unwrap();
    assert_eq!((seen, pauses), (BTreeSet::from([2]), 3));
    let calls = reader.calls.end().calls;
    assert_eq!((calls["list"].count, calls["wait"].count), (4, 3));
    let error = reader.wait_for(&BTreeSet::from([1]), 1, 5, || ()).unwrap_err().to_string();
    assert!(error.contains("step 1 of members 1 is not available after 5 polls"), "{error}");
}

#[test]
fn members_and_steps_are_divided_without_gaps() {
    let shape = built_in(1, 1).shape;
    assert_eq!((shape.members(0, 1), shape.members(2, 1), shape.members(0, 3)), (1..3, 5..7, 1..7));
    assert_eq!(shape.steps(), 0..3);
}
