//! What an index saves, what makes it unfit, and what goes with it; queries of texts, names and attributes.

use isotach_hdf5::{
    Attribute, Charset, Condition, Data, Error, Header, IndexOptions, Kind, Object, Run, Selection, Space,
    Work,
};

use isotach_object::{ObjectType, Update};

use crate::{
    common::{at, data, filter, group, linked, linked_in, places, plain, pool, whole},
    isolation::{Shared, everywhere},
    types::{compound, enumeration, float, integer, stored, text, variable_text},
};

const ZONE_MAP: IndexOptions = IndexOptions { has_bins: false, members: Vec::new() };
const BINS: IndexOptions = IndexOptions { has_bins: true, members: Vec::new() };

fn parsed(text: &str) -> Condition {
    Condition::parse(text).unwrap()
}

fn select(object: &Object, text: &str) -> Selection {
    object.select(&parsed(text)).unwrap()
}

fn elements(selection: &Selection) -> Vec<u64> {
    selection.runs().iter().flat_map(|run| run.first..run.first + run.count).collect()
}

/// Eight chunks of numbers, and what follows from their places.
fn numbers() -> Header {
    Header::dataset(stored(&float(4, false)), data(&[40_000], &[5000], 4))
}

fn bytes(number: impl Fn(u32) -> f32) -> Vec<u8> {
    (0..40_000).flat_map(|at| number(at).to_le_bytes()).collect()
}

/// Each number once, in no order.
fn mixed(at: u32) -> f32 {
    (at * 7919 % 40_000) as f32
}

#[test]
fn chunks_whose_numbers_tell_the_answer_are_not_read() {
    for place in places() {
        let file = place.create();
        let set = linked(&file, "set", numbers());
        set.build_index(&ZONE_MAP).unwrap();
        set.write(&whole(&set), &bytes(|at| at as f32)).unwrap();
        let expected = (12_000..23_001).collect::<Vec<u64>>();
        for _ in 0..2 {
            let selection = select(&set, "value in 12000..23000");
            assert_eq!(elements(&selection), expected);
            assert_eq!(selection.work(), Work { skipped: 6, by_bins: 0, scanned: 2 });
            assert_eq!(selection.count(), 11_001);
            file.commit().unwrap();
        }
        drop(set);
        let file = place.reopened(file);
        let set = at(&file, "set");
        assert_eq!(select(&set, "value > 50000").work(), Work { skipped: 8, ..Work::default() });
        assert_eq!(select(&set, "not value > 50000").count(), 40_000);
        let info = set.index().unwrap().unwrap();
        assert_eq!((info.chunks, info.indexed, info.without), (8, 8, 0));
        assert!(set.remove_index().unwrap() && !set.remove_index().unwrap());
        assert_eq!(select(&set, "value in 12000..23000").work().scanned, 8);
    }
}

#[test]
fn bins_find_few_of_mixed_numbers_without_reading_chunks() {
    for filters in [Vec::new(), vec![filter(1, &[1])]] {
        for place in places() {
            let file = place.create();
            let header = numbers();
            let of = header.data.clone().unwrap();
            let filters = filters.clone();
            let set = linked(&file, "set", Header { data: Some(Data { filters, ..of }), ..header });
            set.write(&whole(&set), &bytes(mixed)).unwrap();
            file.commit().unwrap();
            let info = set.build_index(&BINS).unwrap();
            assert_eq!((info.indexed, info.options.has_bins), (8, true));
            let expected: Vec<u64> =
                (0..40_000).filter(|at| (700.0..=750.0).contains(&mixed(*at))).map(u64::from).collect();
            for _ in 0..2 {
                let selection = select(&set, "value in 700..750");
                assert_eq!((elements(&selection), selection.work().scanned), (expected.clone(), 0));
                assert!(selection.work().by_bins > 0, "{:?}", selection.work());
                file.commit().unwrap();
            }
        }
    }
}

#[test]
fn a_chunk_that_was_written_since_is_read_and_indexed_again_by_one_call() {
    for shared in everywhere() {
        let file = shared.create();
        let set = linked(&file, "set", numbers());
        set.write(&whole(&set), &bytes(mixed)).unwrap();
        set.build_index(&BINS).unwrap();
        file.commit().unwrap();
        // A program without the index: its chunk has no entry that fits.
        let other = shared.open(1);
        let theirs = at(&other, "set");
        theirs.write_chunk(&[5000], 0, &bytes(|_| -1.0)[..20_000]).unwrap();
        theirs.write(&[Run { first: 3, count: 1 }], &(-1_f32).to_le_bytes()).unwrap();
        other.commit().unwrap();
        file.refresh().unwrap();
        let selection = select(&set, "value < 0");
        assert_eq!(elements(&selection), [vec![3], (5000..10_000).collect()].concat());
        // A chunk that is changed in place has no entry; elsewhere it is stored anew, and indexed.
        let in_place = u64::from(shared.has_versions());
        assert_eq!(selection.work().scanned, 1 + in_place);
        let info = set.build_index(&BINS).unwrap();
        assert_eq!((info.indexed, info.without), (8 - in_place, in_place));
        assert_eq!(select(&set, "value < 0").work().scanned, in_place);
        file.commit().unwrap();
    }
}

#[test]
fn bins_that_another_program_has_swept_are_done_without() {
    let place = pool();
    let file = place.create();
    let set = linked(&file, "set", numbers());
    set.write(&whole(&set), &bytes(mixed)).unwrap();
    file.commit().unwrap();
    let before = place.objects();
    set.build_index(&BINS).unwrap();
    file.commit().unwrap();
    let bins: Vec<_> = place.objects().into_iter().filter(|object| !before.contains(object)).collect();
    assert_eq!(bins.len(), 9, "an array for each chunk, and the entries");
    let arrays = bins.iter().filter(|object| object.otype() == ObjectType::Array);
    let gone: Vec<_> = arrays.map(|object| Update::Destroy { object: *object }).collect();
    assert_eq!(gone.len(), 8);
    let container = place.container();
    container.update(&gone).unwrap();
    container.flush().unwrap();
    file.refresh().unwrap();
    let selection = select(&set, "value in 700..750");
    assert_eq!((selection.count(), selection.work().by_bins), (51, 0));
}

#[test]
fn an_index_goes_with_its_dataset_and_with_its_replacement() {
    for place in places() {
        let file = place.create();
        let set = linked(&file, "set", numbers());
        let before = place.objects().len();
        set.write(&whole(&set), &bytes(mixed)).unwrap();
        set.build_index(&BINS).unwrap();
        file.commit().unwrap();
        let indexed = place.objects().len();
        // Of each chunk: its array and that of its bins.
        set.write(&whole(&set), &bytes(|at| mixed(at) + 1.0)).unwrap();
        file.commit().unwrap();
        assert_eq!(place.objects().len(), indexed, "bins are replaced with their chunks");
        set.build_index(&ZONE_MAP).unwrap();
        file.commit().unwrap();
        assert_eq!(place.objects().len(), indexed - 8, "bins go where none are asked for");
        set.build_index(&BINS).unwrap();
        file.discard().unwrap();
        set.build_index(&BINS).unwrap();
        file.commit().unwrap();
        assert_eq!(place.objects().len(), indexed, "bins that were not committed go");
        drop(set);
        file.root().unwrap().remove_link("set").unwrap();
        file.commit().unwrap();
        // What an engine without transactions destroys may be listed as empty.
        assert!(place.objects().len() <= before, "{} objects", place.objects().len());
    }
}

#[test]
fn a_sweep_keeps_bins() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        let set = linked(&file, "set", numbers());
        set.write(&whole(&set), &bytes(mixed)).unwrap();
        set.build_index(&BINS).unwrap();
        file.commit().unwrap();
        assert_eq!(shared.site(1).sweep("/x/a.h5").unwrap(), 0);
        file.refresh().unwrap();
        assert!(select(&set, "value = 700").work().by_bins > 0);
    }
}

#[test]
fn a_sweep_keeps_bins_of_a_transaction_that_waits() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        let set = linked(&file, "set", numbers());
        set.write(&whole(&set), &bytes(mixed)).unwrap();
        file.commit().unwrap();
        let (first, second) = (shared.open(1), shared.open(2));
        first.start_transaction(1, 0, 1).unwrap();
        second.start_transaction(2, 0, 1).unwrap();
        at(&second, "set").build_index(&BINS).unwrap();
        second.finish_transaction().unwrap();
        assert_eq!(shared.site(3).sweep("/x/a.h5").unwrap(), 0);
        first.finish_transaction().unwrap();
        let work = select(&at(&shared.open(4), "set"), "value = 700").work();
        assert_eq!(work, Work { skipped: 0, by_bins: 8, scanned: 0 });
    }
}

#[test]
fn transactions_that_index_one_dataset_leave_one_index() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        let set = linked(&file, "set", numbers());
        set.write(&whole(&set), &bytes(mixed)).unwrap();
        set.build_index(&BINS).unwrap();
        file.commit().unwrap();
        let (first, second) = (shared.open(1), shared.open(2));
        for (number, file) in [(1, &first), (2, &second)] {
            file.start_transaction(number, 0, 1).unwrap();
            at(file, "set").remove_index().unwrap();
            at(file, "set").build_index(&BINS).unwrap();
        }
        second.finish_transaction().unwrap();
        first.finish_transaction().unwrap();
        // The bins of the first one.
        assert_eq!(shared.site(3).sweep("/x/a.h5").unwrap(), 8);
        let set = at(&shared.open(4), "set");
        assert_eq!(set.index().unwrap().unwrap().indexed, 8);
        let selection = select(&set, "value = 700");
        assert_eq!(selection.count(), 1);
        assert_eq!(selection.work(), Work { skipped: 0, by_bins: 8, scanned: 0 });
    }
}

#[test]
fn members_texts_and_names_of_enumerations_are_compared() {
    for place in [plain(), pool()] {
        let file = place.create();
        let message = compound(
            29,
            &[
                ("t", 0, float(4, false)),
                ("wind", 4, compound(4, &[("speed", 0, integer(4, true, false))])),
                ("station", 8, text(4)),
                ("state", 12, enumeration(&["good", "bad"])),
                // 16 bytes in memory, and 20 in the file.
                ("note", 13, variable_text()),
            ],
        );
        let set = linked(&file, "set", Header::dataset(stored(&message), data(&[3], &[3], 33)));
        let note = file.put_blob(b"late").unwrap();
        let mut elements_of = Vec::new();
        for (t, speed, station, state, note) in [
            (280.5_f32, 3_i32, b"ab\0\0", 0_u8, None),
            (270.0, -3, b"abcd", 1, Some(note)),
            (f32::NAN, 100, b"\0\0\0\0", 0, None),
        ] {
            elements_of.extend(t.to_le_bytes());
            elements_of.extend(speed.to_le_bytes());
            elements_of.extend(station);
            elements_of.push(state);
            match note {
                Some(id) => elements_of.extend([4_u32.to_le_bytes().as_slice(), &id.0].concat()),
                None => elements_of.extend([0; 20]),
            }
        }
        set.write(&whole(&set), &elements_of).unwrap();
        file.commit().unwrap();
        for (condition, expected) in [
            ("t > 275", vec![0]),
            ("not t > 275", vec![1, 2]),
            ("t is nan or wind.speed = -3", vec![1, 2]),
            ("value.wind.speed in 0..99", vec![0]),
            ("station = \"ab\"", vec![0]),
            ("station != 'ab'", vec![1, 2]),
            ("station like \"a*\"", vec![0, 1]),
            ("state = \"good\" and wind.speed > 3", vec![2]),
            ("state != \"good\"", vec![1]),
            ("state = 1", vec![1]),
            ("state like \"g*\"", vec![0, 2]),
            ("note = \"late\"", vec![1]),
            ("note like \"*\" and t < 1e9", vec![0, 1]),
        ] {
            assert_eq!(elements(&select(&set, condition)), expected, "{condition}");
        }
    }
}

#[test]
fn wrong_conditions_are_errors_that_say_what_was_expected() {
    let place = plain();
    let file = place.create();
    let message = compound(8, &[("t", 0, float(4, false)), ("s", 4, text(4))]);
    let set = linked(&file, "set", Header::dataset(stored(&message), data(&[3], &[3], 8)));
    let plain = linked(&file, "plain", numbers());
    let of_error = |object: &Object, condition: &str| {
        let error = Condition::parse(condition).and_then(|condition| object.select(&condition)).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        error.to_string()
    };
    for (object, condition, parts) in [
        (&set, "x > 1", &["member x", "one of t, s"][..]),
        (&set, "value > 1", &["value", "one of its members t, s"]),
        (&set, "t = \"x\"", &["t = \"x\"", "expected a number", "f32"]),
        (&set, "s > 1", &["s > 1", "a text", "string[4]"]),
        (&plain, "t > 1", &["member t", "no member"]),
        (&plain, "name = \"a\"", &["name", "expected value"]),
        (&plain, "value > ", &["column 9", "the end", "expected a number"]),
        (&plain, "value >> 3", &["column 8", "\">\"", "a number"]),
        (&plain, "value > 3 value", &["column 11", "\"value\"", "\"and\", \"or\" or the end"]),
        (&plain, "value in 3", &["column 11", "two dots"]),
        (&plain, "(value > 3", &["column 11", "\")\""]),
        (&plain, "value > nan", &["is nan"]),
        (&plain, "value > 3kg", &["3kg", "a number"]),
        (&plain, "value = \"a", &["column 9", "a text without an end"]),
        (&plain, "value < \"a\"", &["texts are compared by ="]),
        (&plain, "has units", &["column 5", "@"]),
        (&plain, "", &["column 1", "the end"]),
        (&plain, "value ; 3", &["column 7", "';'"]),
    ] {
        let error = of_error(object, condition);
        assert!(parts.iter().all(|part| error.contains(part)), "{condition}: {error}");
    }
    let deep = format!("{}value > 1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Condition::parse(&deep).unwrap_err().to_string().contains("at most 64"));
    let error =
        set.build_index(&IndexOptions { members: vec![vec!["s".to_owned()]], ..ZONE_MAP }).unwrap_err();
    assert!(error.to_string().contains("a member of numbers"), "{error}");
}

fn attribute(object: &Object, name: &str, message: &[u8], value: &[u8]) {
    let attribute = Attribute {
        name: name.to_owned(),
        charset: Charset::Utf8,
        order: 0,
        datatype: stored(message),
        space: Space::fixed(&[1]),
        creation: Vec::new(),
        value: value.to_vec(),
    };
    object.put_attribute(attribute).unwrap();
}

#[test]
fn objects_are_found_by_names_attributes_and_elements() {
    for place in places() {
        let file = place.create();
        let run = linked(&file, "run", group());
        attribute(&run, "level", &integer(4, true, false), &500_i32.to_le_bytes());
        let warm = linked_in(&run, "temperature", numbers());
        attribute(&warm, "units", &text(2), b"K\0");
        warm.write(&whole(&warm), &bytes(|at| at as f32)).unwrap();
        let cold = linked(&file, "temp_cold", numbers());
        attribute(&cold, "units", &text(2), b"K\0");
        let texts = linked(&file, "texts", Header::dataset(stored(&text(4)), data(&[2], &[2], 4)));
        attribute(&texts, "units", &integer(4, true, false), &7_i32.to_le_bytes());
        // A loop, and a second path.
        run.insert_link("top", crate::common::hard(&file.root().unwrap()), Charset::Ascii).unwrap();
        file.commit().unwrap();
        let root = file.root().unwrap();
        let found = |condition: &str| -> Vec<String> {
            root.find(&parsed(condition)).unwrap().found.into_iter().map(|found| found.path).collect()
        };
        assert_eq!(found("@units = \"K\""), ["run/temperature", "temp_cold"]);
        assert_eq!(found("@units != \"K\""), Vec::<String>::new(), "a number is no other text");
        assert_eq!(found("has @units and not @units = \"K\""), ["texts"]);
        assert_eq!(found("@level in 400..600"), ["run"]);
        assert_eq!(found("name like \"temp*\""), ["run/temperature", "temp_cold"]);
        assert_eq!(found("name = \"top\""), ["run/top"]);
        assert_eq!(found("@units = \"K\" and value > 39990"), ["run/temperature"]);
        assert_eq!(found("value = 0"), ["run/temperature", "temp_cold"]);
        // No other object has numbers, and none fails a test that is none for it.
        assert_eq!(found("value is not nan"), ["run/temperature", "temp_cold"]);
        assert_eq!(found("@units is not nan"), ["texts"]);
        assert_eq!(found("@level is not nan"), ["run"]);
        assert_eq!(
            found("not value > 5 and name != \"run\""),
            ["run/temperature", "run/top", "temp_cold", "texts"]
        );
        let hits = root.find(&parsed("name like \"temp*\" and value < 3")).unwrap().found;
        let counts: Vec<_> = hits.iter().map(|hit| hit.selection.as_ref().unwrap().count()).collect();
        assert_eq!(counts, [3, 40_000]);
        assert!(root.find(&parsed("@level = 500")).unwrap().found[0].selection.is_none());
        assert_eq!(run.find(&parsed("has @level")).unwrap().found[0].path, ".");
        assert_eq!(cold.find(&parsed("value < 3")).unwrap().found[0].object.kind(), Kind::Dataset);
        assert_eq!(select(&warm, "@units = \"K\" and value < 3").count(), 3);
        assert!(select(&warm, "@units = \"C\" or value < 0").is_empty());
    }
}
