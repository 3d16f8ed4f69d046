//! Nothing outside the pool's folder is created, read or removed, whatever a name contains and whatever replaces a file.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_engine_posix::{Posix, simulation::Random};
use isotach_object::{
    Array, Container, ContainerOptions, Engine, Error, Finding, KeyValue, Label, ObjectClass, ObjectId,
    ObjectType, Part, Pool, PoolUri, Result, RightsChange, Verify,
};

/// Everything below a folder: the targets of links; and the bytes, mode, owner and times of files.
type Tree = BTreeMap<PathBuf, (u32, u32, i64, i64, Vec<u8>)>;

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let bytes = if metadata.is_file() {
                fs::read(&path).unwrap()
            } else if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                folders.push(path.clone());
                Vec::new()
            };
            let facts = (metadata.mode(), metadata.uid(), metadata.mtime(), metadata.mtime_nsec(), bytes);
            tree.insert(path, facts);
        }
    }
    tree
}

/// A pool in one folder, and beside it files that it must not touch.
struct Surroundings {
    folder: tempfile::TempDir,
    pool: Arc<dyn Pool>,
}

impl Surroundings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let uri: PoolUri = format!("posix:{}/pool?checkpoint=256", folder.path().display()).parse().unwrap();
        Posix.create_pool(&uri).unwrap();
        let outside = folder.path().join("outside");
        fs::create_dir_all(outside.join("data")).unwrap();
        fs::write(outside.join("secret"), b"not to be read, and not to be lost").unwrap();
        Self { pool: Posix.open_pool(&uri).unwrap(), folder }
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    fn container(&self) -> PathBuf {
        self.folder.path().join("pool/containers/c")
    }

    /// A container with an entry, an array in a data file, and runs.
    fn fill(&self) {
        self.pool.create_container(&label(), &ContainerOptions::default()).unwrap();
        let container = self.pool.open_container(&label()).unwrap();
        for at in 0..40 {
            write(&*container, at).unwrap();
        }
    }
}

fn label() -> Label {
    "c".parse().unwrap()
}

fn object(otype: ObjectType) -> ObjectId {
    ObjectId::new(otype, ObjectClass::S1, 0, 1)
}

fn write(container: &dyn Container, at: u64) -> Result<()> {
    Array::new(container, object(ObjectType::Array))?.write(at * 1000, &[7; 1000])?;
    KeyValue::new(container, object(ObjectType::KeyValue))?.put(format!("key {at}").as_bytes(), b"value")?;
    container.flush()
}

/// A dangerous name, or several in a row.
fn dangerous_name(random: &mut Random) -> String {
    const PARTS: &str = "..|.|/|//|\\|\0|\n|\r|~|a|c|containers|limbo|superblock|data|../../outside/secret|/etc/passwd|%2e%2e%2f|\
        \u{202e}|\u{0301}|\u{2215}|\u{ff0e}\u{ff0e}|\u{feff}|CON|NUL.txt|aux:|-rf| |*|$(id)";
    let parts: Vec<&str> = PARTS.split('|').collect();
    let mut name: String =
        (0..=random.below(4)).map(|_| parts[random.below(parts.len() as u64) as usize]).collect();
    if random.below(8) == 0 {
        name = name.repeat(1 + 300 / name.len());
    }
    name
}

#[test]
fn no_label_key_or_snapshot_name_touches_anything_outside_the_pool() {
    let seed = isotach_needs::seed();
    println!("seed {seed} (ISOTACH_SEED)");
    let mut random = Random(seed);
    let place = Surroundings::new();
    let outside = tree(&place.outside());
    place.pool.create_container(&label(), &ContainerOptions::default()).unwrap();
    let container = place.pool.open_container(&label()).unwrap();
    let (mut made, mut refused) = (0, 0);
    for round in 0..2000 {
        let name = dangerous_name(&mut random);
        let key = format!("{name}{}", dangerous_name(&mut random)).into_bytes();
        let entries = KeyValue::new(&*container, object(ObjectType::KeyValue)).unwrap();
        // A key is any bytes, and never a file name, even if it is no UTF-8.
        let key = if random.below(4) == 0 { [&key[..], b"/\xff\xfe/.."].concat() } else { key };
        entries.put(&key, name.as_bytes()).unwrap();
        assert_eq!(entries.get(&key).unwrap().as_deref(), Some(name.as_bytes()), "seed {seed} round {round}");
        match name.parse::<Label>() {
            Err(error) => {
                assert_eq!(error.code(), "invalid-input", "seed {seed} round {round}: {name:?}");
                refused += 1;
            }
            Ok(label) => {
                let path = place.folder.path().join("pool/containers").join(&name);
                assert_eq!(path.parent(), place.container().parent(), "seed {seed} round {round}: {name:?}");
                match place.pool.create_container(&label, &ContainerOptions::default()) {
                    Ok(()) => {
                        assert!(path.join("superblock").is_file(), "seed {seed} round {round}: {name:?}");
                        made += 1;
                    }
                    Err(error) => assert_eq!(error.code(), "already-exists", "seed {seed}: {name:?}"),
                }
                match container.snapshots().unwrap().create(&label) {
                    Ok(_) => container.snapshots().unwrap().destroy(&label).unwrap(),
                    Err(error) => assert_eq!(error.code(), "already-exists", "seed {seed}: {name:?}"),
                }
                if random.below(2) == 0 && label != crate::label() {
                    place.pool.destroy_container(&label).unwrap();
                    assert!(!path.exists());
                }
            }
        }
    }
    container.flush().unwrap();
    println!("{made} made, {refused} refused");
    assert!(made > 0 && refused > 0);
    assert_eq!(tree(&place.outside()), outside, "seed {seed}");
    let names = |path: &Path| -> Vec<_> {
        let mut names: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(place.folder.path()), ["outside", "pool"], "seed {seed}");
    let pool = place.folder.path().join("pool");
    assert_eq!(names(&pool), ["containers", "limbo", "superblock"], "seed {seed}");
    assert!(names(&pool.join("limbo")).is_empty());
}

/// Calls every operation on a container, and returns the errors.
fn everything(place: &Surroundings) -> Vec<(&'static str, Option<Error>)> {
    let (pool, label) = (&place.pool, &label());
    let finding = |name: &str| Finding {
        part: Part::Derived,
        what: "damage".to_owned(),
        place: place.container().join(name).display().to_string(),
        byte: None,
        cell: None,
    };
    let files = fs::read_dir(place.container()).into_iter().flatten();
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let runs: Vec<Finding> =
        names.filter(|name| name.starts_with("run.")).map(|name| finding(&name)).collect();
    let read = || -> Result<()> {
        let container = pool.open_container(label)?;
        Array::new(&*container, object(ObjectType::Array))?.read(0, 1000)?;
        KeyValue::new(&*container, object(ObjectType::KeyValue))?.get(b"key 1")?;
        Ok(())
    };
    let write = || write(&*pool.open_container(label)?, 99);
    let verify = || {
        let how = Verify { data: true, threads: 1 };
        let verified = pool.maintenance().unwrap().verify(label, how, &|_, _| ())?;
        let wrong = verified.findings.first();
        wrong.map_or(Ok(()), |finding| Err(Error::corrupt(finding.what.clone(), finding.place.clone())))
    };
    let rights = RightsChange { acl: Some("A::EVERYONE@:rw".parse().unwrap()), ..RightsChange::default() };
    vec![
        // First, because a writer may replace the link by a sound run.
        ("verify", verify().err()),
        ("read", read().err()),
        ("write", write().err()),
        ("measure", pool.container_size(label).err()),
        ("quarantine", pool.maintenance().unwrap().quarantine(label, &runs, "a note").err()),
        ("set rights", pool.access_control().unwrap().set_rights(label, &rights).err()),
        ("destroy", pool.destroy_container(label).err()),
    ]
}

/// Moves a file of a container outside, and replaces it by a link.
fn replace(place: &Surroundings, path: &Path) {
    let target = place.outside().join("target");
    fs::rename(path, &target).unwrap();
    symlink(&target, path).unwrap();
}

#[test]
fn a_link_in_place_of_a_container_or_its_files_is_not_followed() {
    let parts: [(&str, &[&str]); 6] = [
        // What is replaced, and the operations that are refused.
        ("", &["read", "write", "verify", "measure", "quarantine", "set rights"]),
        ("data", &["read", "write", "verify", "set rights"]),
        ("superblock", &["read", "write", "verify"]),
        ("log.0000000000000001", &["read", "write", "verify"]),
        ("data/*", &["read", "verify"]),
        ("run.*", &["verify"]),
    ];
    for (part, refused) in parts {
        let place = Surroundings::new();
        place.fill();
        let path = match part.strip_suffix('*') {
            None => place.container().join(part),
            Some(start) => {
                let start = place.container().join(start).display().to_string();
                let folder = Path::new(start.rsplit_once('/').unwrap().0);
                let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
                entries.filter(|path| path.display().to_string().starts_with(&start)).min().unwrap()
            }
        };
        replace(&place, path.components().as_path());
        let outside = tree(&place.outside());
        assert!(outside.len() > 2);
        for (action, error) in everything(&place) {
            let what = format!("{action} with a link for {part:?}");
            assert_eq!(tree(&place.outside()), outside, "{what} touched what is outside");
            assert_eq!(error.is_some(), refused.contains(&action), "{what}: {error:?}");
            if let Some(text) = error.map(|error| error.to_string()) {
                assert!(text.contains("symbolic link") && text.contains("/containers/c"), "{what}: {text}");
            }
        }
        let left = fs::symlink_metadata(place.container());
        assert!(left.is_err(), "destroying takes the link away, and no more");
    }
}

#[test]
fn destroying_a_pool_removes_links_and_not_their_targets() {
    let place = Surroundings::new();
    place.fill();
    let outside = tree(&place.outside());
    for at in ["limbo/old", "containers/c/data/link", "containers/link"] {
        symlink(place.outside(), place.folder.path().join("pool").join(at)).unwrap();
    }
    place.pool.destroy_container(&label()).unwrap();
    assert_eq!(tree(&place.outside()), outside);
    assert!(place.pool.open_container(&"link".parse().unwrap()).is_err());
    // The path of a pool may pass through links and end at one.
    let way = place.folder.path().join("way");
    symlink(place.folder.path().join("pool"), &way).unwrap();
    let uri: PoolUri = format!("posix:{}", way.display()).parse().unwrap();
    let pool = Posix.open_pool(&uri).unwrap();
    pool.create_container(&"d".parse().unwrap(), &ContainerOptions::default()).unwrap();
    write(&*pool.open_container(&"d".parse().unwrap()).unwrap(), 1).unwrap();
    Posix.destroy_pool(&uri).unwrap();
    assert_eq!(tree(&place.outside()), outside);
    assert_eq!(fs::read_dir(place.folder.path().join("pool")).unwrap().count(), 0);
    assert!(fs::symlink_metadata(&way).unwrap().is_symlink(), "the link is not the engine's");
}
