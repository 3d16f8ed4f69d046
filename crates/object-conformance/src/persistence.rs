//! What was flushed outlives every handle and the engine's own value.

use super::{
    bytes::noise,
    trial::{OwnContainer, Trial, all_objects, array, general, kv, label},
};

fn fill(place: &OwnContainer) {
    for key in 0..200_u8 {
        place.kv(1).put(&[key], &noise(key.into(), usize::from(key) * 20)).unwrap();
    }
    place.kv(1).put(b"removed", b"x").unwrap();
    place.kv(1).remove(b"removed").unwrap();
    place.array(1).write(100_000, &noise(1, 50_000)).unwrap();
    place.array(1).punch(120_000, 100).unwrap();
    general(&place.container, 1, b"d", b"a").put(b"v").unwrap();
    place.flush();
}

pub fn a_new_engine_value_finds_everything_in_the_pool(trial: &Trial<'_>) {
    let place = trial.place();
    fill(&place);
    let given = place.container.allocate_ids(10).unwrap();
    let uri = place.uri.clone();
    if trial.capabilities().persistent {
        drop(place);
    }
    for _ in 0..2 {
        let pool = trial.fixture.engine().open_pool(&uri).unwrap();
        assert_eq!(pool.list_containers().unwrap(), [label("case")]);
        let container = pool.open_container(&label("case")).unwrap();
        assert_eq!(all_objects(&container, 10).len(), 3);
        for key in 0..200_u8 {
            let value = kv(&container, 1).get(&[key]).unwrap().unwrap();
            assert!(value == noise(key.into(), usize::from(key) * 20), "key {key}");
        }
        assert_eq!(kv(&container, 1).get(b"removed").unwrap(), None);
        let bytes = array(&container, 1).read(99_999, 60_000).unwrap();
        let mut expected = [&[0][..], &noise(1, 50_000)].concat();
        expected[20_001..20_101].fill(0);
        assert!(bytes == expected);
        let single = general(&container, 1, b"d", b"a");
        assert_eq!(single.get().unwrap().unwrap(), b"v");
        let more = container.allocate_ids(10).unwrap();
        assert!(more.start >= given.end || more.end <= given.start, "ids are handed out once");
    }
}

pub fn history_goes_on_after_reopening(trial: &Trial<'_>) {
    let place = trial.place();
    place.kv(1).put(b"k", b"x").unwrap();
    place.flush();
    let before = place.container.epoch().unwrap();
    let uri = place.uri.clone();
    if trial.capabilities().persistent {
        drop(place);
    }
    let pool = trial.fixture.engine().open_pool(&uri).unwrap();
    let container = pool.open_container(&label("case")).unwrap();
    assert!(container.epoch().unwrap() >= before);
    assert!(kv(&container, 1).compare_and_put(b"k", b"x", b"y").unwrap() > before);
}
