//! Verifying, with progress.

use std::{
    ops::ControlFlow,
    panic::resume_unwind,
    sync::{
        OnceLock,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use isotach_fields::{Damage, VerifiedPart, VerifyOptions, VerifyProgress};
use pyo3::{
    exceptions::PyException,
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{
    convert::{self, key_to_dict},
    error::Outcome,
    handle::Handle,
    reports::{facts, make},
};

/// How often signals are handled during a verification.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Verifies the fields of a request. `progress` is called with the numbers of fields and bytes, and the total of bytes or None.
#[pyfunction]
#[pyo3(signature = (handle, request, data, threads, progress))]
pub(crate) fn verify<'py>(
    handle: &Bound<'py, Handle>,
    request: &Bound<'py, PyAny>,
    data: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> Outcome<Bound<'py, PyAny>> {
    let (py, request) = (handle.py(), convert::request(request)?);
    let mut options = VerifyOptions { data, ..VerifyOptions::default() };
    options.threads = threads.unwrap_or(options.threads).max(1);
    let interrupt = OnceLock::new();
    let told = |done: VerifyProgress| {
        if let (Some(progress), None) = (&progress, interrupt.get()) {
            Python::attach(|py| {
                if let Err(error) = progress.call1(py, (done.fields, done.bytes, done.total)) {
                    raised_by_progress(py, error, &interrupt);
                }
            });
        }
        interrupt.get().map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
    };
    let verified = handle
        .get()
        .with(py, |store| beside_signals(|| store.verify_until(&request, options, &told), &interrupt));
    if let Some(error) = interrupt.into_inner() {
        return Err(error.into());
    }
    let report = verified?.unwrap_or_default();
    let parts = PyList::empty(py);
    report.parts.iter().try_for_each(|part| parts.append(part_to_python(py, part)?))?;
    let facts = facts!(py, is_sound: report.is_sound(), bytes: report.bytes, parts: parts);
    Ok(make(py, "VerifyReport", &facts)?)
}

/// Runs something in a thread of its own, while this thread handles signals: only Python's main thread may. Keeps the exception that a
/// signal raises, as Ctrl-C does.
fn beside_signals<T: Send>(act: impl FnOnce() -> T + Send, interrupt: &OnceLock<PyErr>) -> T {
    thread::scope(|scope| {
        let (is_done, done) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            let _dropped_at_the_end = is_done;
            act()
        });
        while done.recv_timeout(SIGNALS_EVERY) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                // The first one is enough.
                let _ = interrupt.set(error);
            }
        }
        worker.join().unwrap_or_else(|panicked| resume_unwind(panicked))
    })
}

/// Reports an exception of the caller's progress, which must not end a verification that others rely on. Keeps one that is to end
/// the program, such as `KeyboardInterrupt`: it ends the verification, and is raised when that has returned.
fn raised_by_progress(py: Python<'_>, error: PyErr, interrupt: &OnceLock<PyErr>) {
    if error.is_instance_of::<PyException>(py) {
        error.write_unraisable(py, None);
    } else {
        // The first one is enough.
        let _ = interrupt.set(error);
    }
}

fn part_to_python<'py>(py: Python<'py>, part: &VerifiedPart) -> PyResult<Bound<'py, PyAny>> {
    let damage = PyList::empty(py);
    part.damage.iter().try_for_each(|one| damage.append(damage_to_python(py, one)?))?;
    let facts = facts!(py,
        key: key_to_dict(py, &part.key)?,
        place: &part.place,
        fields: part.fields,
        replaced_fields: part.replaced_fields,
        damage: damage,
        more_damage: part.more_damage,
        unended_wipes: part.unended_wipes,
    );
    make(py, "VerifiedPart", &facts)
}

fn damage_to_python<'py>(py: Python<'py>, damage: &Damage) -> PyResult<Bound<'py, PyAny>> {
    let facts: Bound<'py, PyDict> = facts!(py,
        level: damage.level.code(),
        key: key_to_dict(py, &damage.key)?,
        what: &damage.what,
        place: &damage.place,
        byte: damage.byte,
    );
    make(py, "Damage", &facts)
}
