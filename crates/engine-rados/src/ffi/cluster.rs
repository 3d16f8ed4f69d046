//! A connection to a cluster, and a namespace of a pool in which operations are done.

use std::{collections::VecDeque, ffi::CString, ptr, slice, sync::Arc};

use super::{
    Errno,
    api::{ClusterStat, Functions, IoCtx, Rados, functions},
    read::{Answer, Outputs, ReadOp},
    write::{Pending, WriteOp},
};

/// The flag of an operation that is to fail where the cluster is full, and not to wait (`LIBRADOS_OPERATION_FULL_TRY`).
const FULL_TRY: i32 = 64;

/// A connection, which ends with its last owner.
pub(crate) struct Cluster {
    functions: &'static Functions,
    raw: Rados,
}

// SAFETY: librados' handles may be used from any thread, several at once (librados.h: the calls are thread-safe; a handle is
// configured before it is connected, which `connect` does before anyone else has it).
unsafe impl Send for Cluster {}
// SAFETY: a shared handle is used by thread-safe calls alone.
unsafe impl Sync for Cluster {}

/// The space of a cluster, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClusterSpace {
    pub(crate) total: u64,
    pub(crate) free: u64,
}

/// Why there is no connection: what was done, and how it failed.
pub(crate) type Refused = (String, Option<Errno>);

impl Cluster {
    /// Connects as `user` by the configuration `file`, or what librados finds by itself, with these settings on top.
    pub(crate) fn connect(
        user: &str,
        file: Option<&str>,
        settings: &[(&str, String)],
    ) -> Result<Arc<Self>, Refused> {
        let functions = functions().map_err(|why| (why.to_owned(), None))?;
        let text =
            |text: &str| CString::new(text).map_err(|_| (format!("use {text:?}"), Some(Errno(libc::EINVAL))));
        let (name, cluster_name) = (text(&format!("client.{user}"))?, text("ceph")?);
        let path = file.map(text).transpose()?;
        let step = |what: String, result: i32| Errno::check(result).map_err(|errno| (what, Some(errno)));
        let mut raw: Rados = ptr::null_mut();
        // SAFETY: the strings live through the call; `raw` is written on success.
        let made =
            unsafe { (functions.rados_create2)(&raw mut raw, cluster_name.as_ptr(), name.as_ptr(), 0) };
        step(format!("begin as user {user:?}"), made)?;
        let cluster = Self { functions, raw };
        let path_pointer = path.as_ref().map_or(ptr::null(), |path| path.as_ptr());
        // SAFETY: the handle was just made; a null path means the usual places.
        let read = unsafe { (functions.rados_conf_read_file)(raw, path_pointer) };
        step(format!("read the configuration {}", file.unwrap_or("in /etc/ceph")), read)?;
        // SAFETY: the handle was just made; a null name means CEPH_ARGS.
        step("read CEPH_ARGS".to_owned(), unsafe { (functions.rados_conf_parse_env)(raw, ptr::null()) })?;
        for (setting, value) in settings {
            let (setting, value) = (text(setting)?, text(value)?);
            // SAFETY: both strings live through the call.
            let set = unsafe { (functions.rados_conf_set)(raw, setting.as_ptr(), value.as_ptr()) };
            step(format!("set {} to {}", setting.to_string_lossy(), value.to_string_lossy()), set)?;
        }
        // SAFETY: the handle is configured and not yet connected.
        step("connect".to_owned(), unsafe { (functions.rados_connect)(raw) })?;
        Ok(Arc::new(cluster))
    }

    /// The space of the cluster; zeros without a manager daemon.
    pub(crate) fn space(&self) -> Result<ClusterSpace, Errno> {
        let mut stat = ClusterStat::default();
        // SAFETY: the handle is connected; `stat` is written.
        Errno::check(unsafe { (self.functions.rados_cluster_stat)(self.raw, &raw mut stat) })?;
        Ok(ClusterSpace { total: stat.kb.saturating_mul(1024), free: stat.kb_avail.saturating_mul(1024) })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SAFETY: nothing else has the handle: every `Io` holds an `Arc` of this.
        unsafe { (self.functions.rados_shutdown)(self.raw) };
    }
}

/// A namespace of a pool.
pub(crate) struct Io {
    functions: &'static Functions,
    pub(super) raw: IoCtx,
    /// The flags of writes.
    flags: i32,
    /// Reads that are under way at once.
    depth: usize,
    /// Lives as long as this does.
    _cluster: Arc<Cluster>,
}

// SAFETY: operations may be begun from several threads at once (librados.h); the namespace, which may not be changed then, is
// set by `open` before anyone else has the handle.
unsafe impl Send for Io {}
// SAFETY: a shared handle begins operations alone, which several threads may do at once.
unsafe impl Sync for Io {}

impl Io {
    /// Opens `namespace` of `pool`. Writes wait where the cluster is full if `waits_when_full`, and else fail.
    pub(crate) fn open(
        cluster: &Arc<Cluster>,
        pool: &str,
        namespace: &str,
        waits_when_full: bool,
        depth: usize,
    ) -> Result<Self, Errno> {
        let functions = cluster.functions;
        let text = |text: &str| CString::new(text).map_err(|_| Errno(libc::EINVAL));
        let (pool, namespace) = (text(pool)?, text(namespace)?);
        let mut raw: IoCtx = ptr::null_mut();
        // SAFETY: the cluster is connected, the string lives through the call, `raw` is written on success.
        Errno::check(unsafe { (functions.rados_ioctx_create)(cluster.raw, pool.as_ptr(), &raw mut raw) })?;
        // SAFETY: the handle is new, and has no other owner.
        unsafe { (functions.rados_ioctx_set_namespace)(raw, namespace.as_ptr()) };
        let flags = if waits_when_full { 0 } else { FULL_TRY };
        Ok(Self { functions, raw, flags, depth: depth.max(1), _cluster: Arc::clone(cluster) })
    }

    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Begins a write, which continues even if no caller waits for it.
    pub(crate) fn begin(&self, name: &str, op: &WriteOp) -> Result<Pending, Errno> {
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        let pending = Pending::begin(self.functions)?;
        // A removal frees space, and never waits for it.
        let flags = if op.adds { self.flags } else { FULL_TRY };
        let (operate, now) = (self.functions.rados_aio_write_op_operate, ptr::null_mut());
        // SAFETY: all handles are live; the operation holds copies of what it writes, and a null time means now.
        Errno::check(unsafe { operate(op.raw, self.raw, pending.raw(), name.as_ptr(), now, flags) })?;
        Ok(pending)
    }

    /// Writes, and returns the version of the object after it.
    pub(crate) fn write(&self, name: &str, op: &WriteOp) -> Result<u64, Errno> {
        self.begin(name, op)?.wait()
    }

    /// Does one read.
    pub(crate) fn read<'b>(&self, name: &str, op: ReadOp<'b>) -> Result<Answer<'b>, Errno> {
        self.begin_read(name, op)?.wait()
    }

    /// Does reads, as many at once as the depth allows, and hands over each answer with its number, in their order, while those
    /// behind it are under way. Ends with the first error of `take`.
    pub(crate) fn read_together<'b, E>(
        &self,
        reads: impl Iterator<Item = (String, ReadOp<'b>)>,
        mut take: impl FnMut(usize, Result<Answer<'b>, Errno>) -> Result<(), E>,
    ) -> Result<(), E> {
        // Dropped, also in a panic of `take`, each waits for its end, so nothing borrowed is left to librados.
        let mut begun: VecDeque<(usize, Result<Begun<'b>, Errno>)> = VecDeque::new();
        for (number, (name, op)) in reads.enumerate() {
            if begun.len() >= self.depth
                && let Some((number, read)) = begun.pop_front()
            {
                take(number, read.and_then(Begun::wait))?;
            }
            begun.push_back((number, self.begin_read(&name, op)));
        }
        begun.into_iter().try_for_each(|(number, read)| take(number, read.and_then(Begun::wait)))
    }

    /// Begins a read with a buffer of its own. `ask` puts it together with the buffer.
    pub(crate) fn begin_owned(
        self: &Arc<Self>,
        name: &str,
        mut buffer: Vec<u8>,
        ask: impl for<'b> FnOnce(&'b mut [u8]) -> ReadOp<'b>,
    ) -> OwnedRead {
        // SAFETY: the bytes stay where they are as long as `OwnedRead` has the buffer, which nobody else touches, and it drops
        // the read, which waits for its end, before the buffer. `ask` must take any lifetime, so it keeps nothing of this one.
        let lent = unsafe { slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.len()) };
        OwnedRead { read: self.begin_read(name, ask(lent)), buffer, io: Arc::clone(self) }
    }

    fn begin_read<'b>(&self, name: &str, op: ReadOp<'b>) -> Result<Begun<'b>, Errno> {
        let name = CString::new(name).map_err(|_| Errno(libc::EINVAL))?;
        let pending = Pending::begin(self.functions)?;
        let mut outputs = op.prepare(self.functions);
        let operate = self.functions.rados_aio_read_op_operate;
        // SAFETY: all handles are live; where the answer goes belongs to `outputs`, which `Begun` keeps until the end.
        Errno::check(unsafe { operate(outputs.raw(), self.raw, pending.raw(), name.as_ptr(), 0) })?;
        Ok(Begun { pending: Some(pending), outputs: Some(outputs) })
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        // SAFETY: made by `open`, and destroyed once; operations that are under way keep what they need of it.
        unsafe { (self.functions.rados_ioctx_destroy)(self.raw) };
    }
}

/// A read that is under way, with its buffer.
pub(crate) struct OwnedRead {
    // Dropped before what it uses, which waits for its end.
    read: Result<Begun<'static>, Errno>,
    buffer: Vec<u8>,
    io: Arc<Io>,
}

// SAFETY: what librados has of a read may be used by any thread, one at a time.
unsafe impl Send for OwnedRead {}
// SAFETY: by a shared reference nothing of it can be reached but the buffer's length.
unsafe impl Sync for OwnedRead {}

impl OwnedRead {
    /// Waits, gives the answer to `take`, and hands back the buffer.
    pub(crate) fn wait<T>(self, take: impl for<'b> FnOnce(Result<Answer<'b>, Errno>) -> T) -> (T, Vec<u8>) {
        let Self { read, buffer, io } = self;
        let taken = take(read.and_then(Begun::wait));
        drop(io);
        (taken, buffer)
    }
}

/// A read that is under way.
struct Begun<'b> {
    pending: Option<Pending>,
    outputs: Option<Outputs<'b>>,
}

impl<'b> Begun<'b> {
    fn wait(mut self) -> Result<Answer<'b>, Errno> {
        let version = self.pending.take().map_or(Err(Errno(libc::EIO)), Pending::wait)?;
        // Only of a read that succeeded: of one that timed out the iterators are there, and stand nowhere.
        let answer = self.outputs.take().map(Outputs::answer).unwrap_or_default();
        Ok(Answer { version, ..answer })
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(pending) = self.pending.take() {
            let _ = pending.wait();
        }
    }
}
