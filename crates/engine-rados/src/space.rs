//! The place of a container: its namespace in Ceph's pools, shared by all of its code.

use std::sync::Arc;

use isotach_engine_kit::{checksum::crc32c, context::Context};
use isotach_object::{Error, Label, Result};

use crate::{
    failure::failed,
    ffi::{Cluster, Errno, IfFound, Io, ReadOp, WriteOp},
    ids,
    keys::HEADER,
    omaps::Omaps,
    options::Options,
};

/// The attribute of the header with the next object id.
pub(crate) const IDS: &str = "ids";
/// The attribute that is set so that the header's version grows.
const BEAT: &str = "beat";
/// What the header of a container begins with, with the version of the format.
const FORMAT: &str = "isotach container 2";

/// A container's namespace.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) label: Label,
    pub(crate) options: Arc<Options>,
    /// The pool with header and entries.
    pub(crate) io: Arc<Io>,
    /// The pool with the bytes of arrays.
    pub(crate) data: Arc<Io>,
    pub(crate) omaps: Omaps,
}

/// The name of the namespace of our pool, or of one of its containers.
pub(crate) fn namespace(options: &Options, container: Option<&str>) -> String {
    let pool =
        if options.name.is_empty() { "isotach".to_owned() } else { format!("isotach:{}", options.name) };
    container.map_or(pool.clone(), |container| format!("{pool}/{container}"))
}

/// Opens a namespace of one of Ceph's pools.
pub(crate) fn open_io(
    cluster: &Arc<Cluster>,
    options: &Options,
    pool: &str,
    namespace: &str,
) -> Result<Arc<Io>> {
    match Io::open(cluster, pool, namespace, options.waits_when_full, options.depth) {
        Ok(io) => Ok(Arc::new(io)),
        // Not `NotFound`, which says that the store can be made.
        Err(errno @ Errno::NOT_FOUND) => Err(Error::Io {
            what: format!(
                "Ceph has no pool {pool:?}; an administrator creates it by `ceph osd pool create {pool}`"
            ),
            source: Box::new(std::io::Error::from_raw_os_error(errno.0)),
        }),
        Err(errno) => Err(failed(errno, format!("open the Ceph pool {pool:?}"))),
    }
}

impl Space {
    pub(crate) fn open(
        cluster: &Arc<Cluster>,
        options: &Arc<Options>,
        label: &Label,
        uid: &str,
    ) -> Result<Self> {
        let name = namespace(options, Some(uid));
        let io = open_io(cluster, options, &options.pool, &name)?;
        let data = match options.data == options.pool {
            true => Arc::clone(&io),
            false => open_io(cluster, options, &options.data, &name)?,
        };
        let omaps = Omaps::new(Arc::clone(&io), options.entries);
        Ok(Self { label: label.clone(), options: Arc::clone(options), io, data, omaps })
    }

    /// Makes the header, which makes it a container.
    pub(crate) fn make_header(&self) -> Result<()> {
        let what = || format!("make the header of container {}", self.label);
        let text = format!("{FORMAT} {}", self.label);
        let stored = format!("{text} {:08x}", crc32c(text.as_bytes()));
        let mut op = WriteOp::new().context(what)?;
        op.create()
            .write_full(stored.as_bytes())
            .set_attribute(IDS, &ids::encode(0))
            .set_attribute(BEAT, BEAT.as_bytes());
        self.io.write(HEADER, &op).context(what).map(drop)
    }

    /// Refuses a container that is gone, or of another format.
    pub(crate) fn check_header(&self) -> Result<()> {
        let mut stored = [0; 512];
        let answer = self.io.read(HEADER, ReadOp::new().bytes(0, &mut stored)).if_found();
        let answer = answer.context(|| format!("read the header of container {}", self.label))?;
        let answer = answer.ok_or_else(|| self.gone())?;
        let text = str::from_utf8(&*answer.bytes).ok().and_then(|text| text.rsplit_once(' '));
        let is_whole = |(text, sum): &(&str, &str)| format!("{:08x}", crc32c(text.as_bytes())) == *sum;
        let Some((text, _)) = text.filter(is_whole) else {
            let place = format!("RADOS object {HEADER} of container {}", self.label);
            return Err(Error::corrupt("a header that fails its checksum", place));
        };
        if text.strip_prefix(FORMAT).is_some_and(|rest| rest.starts_with(' ')) {
            return Ok(());
        }
        let what = format!("container {} has the unknown format {text:?}", self.label);
        Err(Error::NewerFormat { what })
    }

    pub(crate) fn gone(&self) -> Error {
        Error::not_found(format!("container {}", self.label))
    }

    /// The present epoch: the version of the header.
    pub(crate) fn epoch(&self) -> Result<u64> {
        let answer = self.io.read(HEADER, ReadOp::new().stat()).if_found();
        let answer = answer.context(|| format!("read the epoch of container {}", self.label))?;
        answer.map(|answer| answer.version).ok_or_else(|| self.gone())
    }

    /// Begins a new epoch.
    pub(crate) fn next_epoch(&self) -> Result<u64> {
        let what = || format!("begin an epoch of container {}", self.label);
        // Fails where the header is gone, instead of making another.
        let version = self.io.write_if(HEADER, what, |op| {
            op.require_attribute(BEAT, BEAT.as_bytes()).set_attribute(BEAT, BEAT.as_bytes())
        })?;
        version.ok_or_else(|| self.gone())
    }
}
