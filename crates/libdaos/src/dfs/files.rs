//! Reading, writing and truncating files.

use super::{
    error::{Result, refuse},
    mount::FileSystem,
    nodes::{Kind, Node},
    store::class_by_default,
};
use crate::objects::arrays::Range;

/// The rest of a file, in `dfs_punch`.
const ALL: u64 = u64::MAX;

/// The result of `dfs_obj_get_info`.
pub(crate) struct Information {
    pub(crate) class: u32,
    pub(crate) chunk_size: u64,
    pub(crate) directory_class: u32,
    pub(crate) file_class: u32,
}

/// Refuses ranges that end beyond all numbers.
fn check(ranges: &[Range]) -> Result<()> {
    match ranges.iter().all(|(first, count)| first.checked_add(*count).is_some()) {
        true => Ok(()),
        false => refuse(libc::EINVAL, "a range of a file that ends beyond all numbers"),
    }
}

impl FileSystem {
    /// See `dfs_read` and `dfs_readx`: returns the number of bytes that exist.
    pub(crate) fn read(&self, node: &Node, ranges: &[Range], buffers: Vec<&mut [u8]>) -> Result<u64> {
        node.check_readable()?;
        let file = node.file()?;
        check(ranges)?;
        Ok(file.array.read(&file.scope, ranges, buffers)?.read)
    }

    /// See `dfs_write` and `dfs_writex`.
    pub(crate) fn write(&self, node: &Node, ranges: &[Range], buffers: &[&[u8]]) -> Result<()> {
        self.check_writable()?;
        let file = node.file()?;
        node.check_writable()?;
        check(ranges)?;
        file.array.write(&file.scope, ranges, buffers)?;
        file.note_change();
        Ok(())
    }

    /// See `dfs_punch`: makes a hole, or truncates the file if the range reaches its end.
    pub(crate) fn punch(&self, node: &Node, offset: u64, length: u64) -> Result<()> {
        self.check_writable()?;
        let file = node.file()?;
        node.check_writable()?;
        if length == ALL {
            return file.set_size(offset);
        }
        // What others append in the same moment stays.
        let end = offset.saturating_add(length);
        let is_changed = file.scope.atomic(|scope| {
            let size = file.array.size(scope)?;
            match size <= end {
                _ if size <= offset => return Ok(false),
                true => file.array.set_size(scope, offset)?,
                false => file.array.punch(scope, &[(offset, length)])?,
            }
            Ok(true)
        })?;
        if is_changed {
            file.note_change();
        }
        Ok(())
    }

    /// See `dfs_obj_get_info`.
    pub(crate) fn information(&self, node: &Node) -> Result<Information> {
        let class = node.id.class().id();
        let none = Information { class, chunk_size: 0, directory_class: 0, file_class: 0 };
        Ok(match &node.kind {
            Kind::Link(_) => Information { class: 0, ..none },
            Kind::File(file) => Information { chunk_size: file.chunk_size, ..none },
            Kind::Directory(_) => {
                let own = node.defaults();
                let chosen = |given: u32, is_file| -> Result<u32> {
                    match (own.class, given) {
                        (0, 0) => class_by_default(is_file),
                        (0, given) => Ok(given),
                        (own, _) => Ok(own),
                    }
                };
                Information {
                    class,
                    chunk_size: if own.chunk_size == 0 { self.attributes.chunk_size } else { own.chunk_size },
                    directory_class: chosen(self.attributes.directory_class, false)?,
                    file_class: chosen(self.attributes.file_class, true)?,
                }
            }
        })
    }
}
