//! Copies of files of the connector, which need no HDF5 library.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do; the lint excepts functions marked as tests alone"
)]

use std::{cell::Cell, fs, path::Path, sync::Arc};

use isotach_hdf5::{
    Access, Attribute, BlobId, Charset, ChunkInfo, Creation, Data, Header, Kind, Link, Run, Site, Space,
    Target,
};
use isotach_hdf5_tools::{
    Block, CopyOptions, Error, Kind as FileKind, ModelFile, Result, Source, copy, find, kind_of, open,
};
use isotach_hdf5_types::Stored;
use tempfile::TempDir;

/// What `H5Tencode` writes for `i32`.
const INTEGER: [u8; 14] = [3, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
/// What `H5Tencode` writes for references to objects and to regions.
const OBJECT: [u8; 10] = [3, 0, 0x17, 0, 0, 0, 8, 0, 0, 0];
const REGION: [u8; 10] = [3, 0, 0x17, 1, 0, 0, 12, 0, 0, 0];
const OPTIONS: CopyOptions = CopyOptions { kind: FileKind::Isotach, check: true, skip_unsupported: false };

fn site() -> Site {
    Site::new(None, isotach_open::registry()).with_options("sync=no")
}

fn stored() -> Vec<u8> {
    Stored { committed: 0, encoded: &INTEGER }.to_vec()
}

/// A folder with the file `one.h5`: a dataset of 100 numbers with an attribute, in a group, and a link to it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let name = path(&folder, "one.h5");
    let file = site().create(&name, Creation::New, &Header::new(Kind::Group), &[]).unwrap();
    let group = file.create_object(Header::new(Kind::Group)).unwrap();
    let hard = |number, kind| Target::Hard { number, kind };
    let root = file.root().unwrap();
    root.insert_link("group", hard(group.number(), Kind::Group), Charset::Utf8).unwrap();
    let data = Data {
        element: 4,
        space: Space::fixed(&[10, 10]),
        chunk: vec![10, 10],
        fill: None,
        filters: Vec::new(),
        is_chunked: false,
    };
    let dataset = file.create_object(Header::dataset(stored(), data)).unwrap();
    group.insert_link("numbers", hard(dataset.number(), Kind::Dataset), Charset::Ascii).unwrap();
    group.insert_link("soft", Target::Soft("/group/numbers".to_owned()), Charset::Ascii).unwrap();
    let bytes: Vec<u8> = (0..100_i32).flat_map(i32::to_le_bytes).collect();
    dataset.write(&[Run { first: 0, count: 100 }], &bytes).unwrap();
    let attribute = Attribute {
        name: "unit".to_owned(),
        charset: Charset::Ascii,
        order: 0,
        datatype: stored(),
        space: Space::Scalar,
        creation: Vec::new(),
        value: vec![7, 0, 0, 0],
    };
    dataset.put_attribute(attribute).unwrap();
    file.commit().unwrap();
    folder
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// The names in the folder, but for that of the pool.
fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != ".isotach-h5").collect();
    names.sort();
    names
}

/// How many containers the pool beside the files has.
fn containers(folder: &TempDir) -> usize {
    fs::read_dir(folder.path().join(".isotach-h5/containers")).unwrap().count()
}

#[test]
fn a_copy_has_all_objects_and_is_read_under_its_name() {
    let folder = folder();
    let source = open(&site(), &path(&folder, "one.h5")).unwrap();
    let two = path(&folder, "two.h5");
    let mut last = 0;
    let copied = copy(&site(), &*source, &two, OPTIONS, &mut |step| last = step.bytes).unwrap();
    assert_eq!((copied.objects, copied.datasets, copied.attributes, copied.bytes, last), (3, 1, 1, 400, 800));
    assert_eq!(kind_of(&site(), &two).unwrap(), FileKind::Isotach);
    let copy = open(&site(), &two).unwrap();
    let dataset = find(&*copy, "group/soft").unwrap();
    assert_eq!(copy.attribute(dataset, "unit").unwrap().value, [7, 0, 0, 0]);
    let block = Block { start: vec![9, 8], count: vec![1, 2] };
    assert_eq!(copy.read(dataset, &block).unwrap(), [98, 0, 0, 0, 99, 0, 0, 0]);
    assert_eq!((names(&folder), containers(&folder)), (vec!["one.h5".to_owned(), "two.h5".to_owned()], 2));
}

#[test]
fn what_is_there_is_not_replaced() {
    let folder = folder();
    let source = open(&site(), &path(&folder, "one.h5")).unwrap();
    for there in ["one.h5", "text", "link"] {
        if there == "text" {
            fs::write(folder.path().join(there), "mine").unwrap();
        } else if there == "link" {
            std::os::unix::fs::symlink("nowhere", folder.path().join(there)).unwrap();
        }
        let error = copy(&site(), &*source, &path(&folder, there), OPTIONS, &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::Exists { .. }), "{error}");
    }
    assert_eq!((names(&folder).len(), containers(&folder)), (3, 1));
}

#[test]
fn an_object_that_cannot_be_copied_is_named_or_left_out() {
    let folder = folder();
    let name = path(&folder, "one.h5");
    let file = site().open(&name, Access::ReadWrite).unwrap();
    let region = Stored { committed: 0, encoded: &REGION }.to_vec();
    let map = file.create_object(Header::map(stored(), region)).unwrap();
    let target = Target::Hard { number: map.number(), kind: Kind::Map };
    file.root().unwrap().insert_link("map", target, Charset::Ascii).unwrap();
    file.commit().unwrap();
    let source = ModelFile::new(file);
    let two = path(&folder, "two.h5");
    let error = copy(&site(), &source, &two, OPTIONS, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "1 part of the file cannot be copied: /map (region references)");
    assert!(!Path::new(&two).exists());
    let options = CopyOptions { skip_unsupported: true, ..OPTIONS };
    let copied = copy(&site(), &source, &two, options, &mut |_| {}).unwrap();
    assert_eq!((copied.objects, copied.left_out.len()), (3, 1));
    assert!(find(&*open(&site(), &two).unwrap(), "map").is_err());
}

/// Adds a map to `one.h5` that leads from numbers to objects.
fn add_map(folder: &TempDir) {
    let file = site().open(&path(folder, "one.h5"), Access::ReadWrite).unwrap();
    let object = Stored { committed: 0, encoded: &OBJECT }.to_vec();
    let map = file.create_object(Header::map(stored(), object)).unwrap();
    let root = file.root().unwrap();
    map.put_map_value(&[1, 0, 0, 0], root.number().to_le_bytes().to_vec()).unwrap();
    map.put_map_value(&[2, 0, 0, 0], map.number().to_le_bytes().to_vec()).unwrap();
    map.put_map_value(&[3, 0, 0, 0], vec![0; 8]).unwrap();
    let target = Target::Hard { number: map.number(), kind: Kind::Map };
    root.insert_link("map", target, Charset::Ascii).unwrap();
    file.commit().unwrap();
}

#[test]
fn a_copy_of_a_map_has_its_keys_and_leads_to_copies() {
    let folder = folder();
    add_map(&folder);
    let two = path(&folder, "two.h5");
    let source = open(&site(), &path(&folder, "one.h5")).unwrap();
    let copied = copy(&site(), &*source, &two, OPTIONS, &mut |_| {}).unwrap();
    assert_eq!((copied.objects, copied.lost_references), (4, 0));
    let copy = open(&site(), &two).unwrap();
    let map = find(&*copy, "map").unwrap();
    let keys: Vec<Vec<u8>> = (1..=3_i32).map(|key| key.to_le_bytes().to_vec()).collect();
    assert_eq!(copy.map_keys(map).unwrap(), keys);
    for (key, number) in keys.iter().zip([copy.root().unwrap(), map, 0]) {
        assert_eq!(copy.map_value(map, key).unwrap(), number.to_le_bytes());
    }
}

/// A file whose elements change, or cannot be read, from the nth read on.
struct Changing {
    file: ModelFile,
    reads: Cell<u32>,
    fails: bool,
}

impl Source for Changing {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn root(&self) -> Result<u64> {
        self.file.root()
    }

    fn properties(&self) -> Result<Vec<u8>> {
        self.file.properties()
    }

    fn header(&self, object: u64) -> Result<Arc<Header>> {
        self.file.header(object)
    }

    fn links(&self, group: u64) -> Result<Vec<(String, Link)>> {
        self.file.links(group)
    }

    fn attributes(&self, object: u64) -> Result<Vec<String>> {
        self.file.attributes(object)
    }

    fn attribute(&self, object: u64, name: &str) -> Result<Attribute> {
        self.file.attribute(object, name)
    }

    fn storage_size(&self, dataset: u64) -> Result<u64> {
        self.file.storage_size(dataset)
    }

    fn chunks(&self, dataset: u64) -> Result<Vec<ChunkInfo>> {
        self.file.chunks(dataset)
    }

    fn read_chunk(&self, dataset: u64, offset: &[u64]) -> Result<(u32, Vec<u8>)> {
        self.file.read_chunk(dataset, offset)
    }

    fn reads_virtual(&self) -> bool {
        self.file.reads_virtual()
    }

    fn read(&self, dataset: u64, block: &Block) -> Result<Vec<u8>> {
        let mut elements = self.file.read(dataset, block)?;
        if self.reads.get() == 0 {
            if self.fails {
                return Err(isotach_hdf5::Error::corrupt("a chunk", "a dataset").into());
            }
            elements[0] ^= 1;
        }
        self.reads.set(self.reads.get().saturating_sub(1));
        Ok(elements)
    }

    fn map_keys(&self, map: u64) -> Result<Vec<Vec<u8>>> {
        self.file.map_keys(map)
    }

    fn map_value(&self, map: u64, key: &[u8]) -> Result<Vec<u8>> {
        let mut value = self.file.map_value(map, key)?;
        if self.reads.get() == 0 {
            value[0] ^= 1;
        }
        self.reads.set(self.reads.get().saturating_sub(1));
        Ok(value)
    }

    fn blob(&self, id: &BlobId) -> Result<Vec<u8>> {
        self.file.blob(id)
    }

    fn forget_blobs(&self) {}

    fn obstacle(&self, object: u64) -> Result<Option<String>> {
        self.file.obstacle(object)
    }

    fn moves_chunks(&self, dataset: u64) -> Result<bool> {
        self.file.moves_chunks(dataset)
    }

    fn decodes(&self, header: &Header) -> bool {
        self.file.decodes(header)
    }

    fn stored(&self, dataset: u64) -> Result<Vec<Block>> {
        self.file.stored(dataset)
    }
}

#[test]
fn a_copy_of_a_map_that_differs_leaves_nothing() {
    let folder = folder();
    add_map(&folder);
    let file = ModelFile::new(site().open(&path(&folder, "one.h5"), Access::ReadOnly).unwrap());
    // The elements are read once for each pass.
    let source = Changing { file, reads: Cell::new(4), fails: false };
    let error = copy(&site(), &source, &path(&folder, "two.h5"), OPTIONS, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "the copy differs from the source: an entry of /map");
    assert_eq!(names(&folder), ["one.h5"]);
}

#[test]
fn a_copy_that_differs_or_fails_leaves_nothing() {
    let folder = folder();
    let name = path(&folder, "one.h5");
    for (reads, fails, expected) in [
        (0, true, "/group/numbers: corrupt: a chunk in a dataset"),
        (1, true, "/group/numbers: corrupt: a chunk in a dataset"),
        (1, false, "the copy differs from the source: the elements of /group/numbers"),
    ] {
        let file = ModelFile::new(site().open(&name, Access::ReadOnly).unwrap());
        let source = Changing { file, reads: Cell::new(reads), fails };
        let error = copy(&site(), &source, &path(&folder, "two.h5"), OPTIONS, &mut |_| {}).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!((names(&folder), containers(&folder)), (vec!["one.h5".to_owned()], 1));
    }
    let file = ModelFile::new(site().open(&name, Access::ReadOnly).unwrap());
    let source = Changing { file, reads: Cell::new(1), fails: false };
    let options = CopyOptions { check: false, ..OPTIONS };
    copy(&site(), &source, &path(&folder, "two.h5"), options, &mut |_| {}).unwrap();
}
