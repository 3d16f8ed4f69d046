//! Transactions.

use std::ffi::c_void;

use isotach_capi_kit::archive_messages;
use isotach_fields::{FieldStore, Transaction};

use super::{Handle, Out, Result, Text, archive::key_of, bytes, export};

/// Threads share it.
const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<Transaction>();

#[export]
fn isotach_transaction_begin(store: Handle<FieldStore>, transaction: Out<Handle<Transaction>>) -> Result<()> {
    let store = store.get("store")?;
    transaction.fill("transaction", || Ok(store.transaction()))
}

#[export]
unsafe fn isotach_transaction_archive(
    transaction: Handle<Transaction>,
    key: Text,
    data: *const c_void,
    length: usize,
) -> Result<()> {
    let (transaction, key) = (transaction.get("transaction")?, key_of(&key)?);
    // SAFETY: BYTES for `data`, of `length`.
    Ok(transaction.archive(&key, unsafe { bytes("data", data.cast(), length) }?)?)
}

#[export]
unsafe fn isotach_transaction_archive_messages(
    transaction: Handle<Transaction>,
    data: *const c_void,
    length: usize,
    count: Out<usize>,
) -> Result<()> {
    let transaction = transaction.get("transaction")?;
    // SAFETY: BYTES for `data`, of `length`.
    let data = unsafe { bytes("data", data.cast(), length) }?;
    count.put_if_any(archive_messages(data, |key, message| Ok(transaction.archive(key, message)?))?);
    Ok(())
}

#[export]
fn isotach_transaction_commit(transaction: Handle<Transaction>) -> Result<()> {
    Ok(transaction.get("transaction")?.commit()?)
}

#[export]
fn isotach_transaction_free(transaction: Handle<Transaction>) {
    transaction.free();
}
