"""Transactions: together or not at all."""

from __future__ import annotations

import isotach
import pytest

from conftest import KEY, key


def test_fields_of_a_transaction_become_visible_together(store: isotach.Store) -> None:
    with store.transaction() as step:
        assert step.is_empty
        step.archive(b"one", KEY)
        step.archive(b"two", key(param=131))
        assert not step.is_empty
        store.flush()
        assert list(store.list()) == []
    assert len(list(store.retrieve(key(param=[130, 131])))) == 2
    with pytest.raises(isotach.ClosedError, match="the transaction is closed"):
        step.archive(b"three", KEY)


def test_an_exception_discards_a_transaction(store: isotach.Store) -> None:
    with pytest.raises(KeyError), store.transaction() as step:
        step.archive(b"one", KEY)
        raise KeyError("mine")
    assert list(store.list()) == []
    dropped = store.transaction()
    dropped.archive(b"one", KEY)
    del dropped
    store.flush()
    assert list(store.list()) == []


def test_a_transaction_is_committed_more_than_once(store: isotach.Store) -> None:
    transaction = store.transaction()
    for step in (0, 6):
        transaction.archive(b"x", key(step=step))
        transaction.commit()
    assert len(list(store.list())) == 2
    transaction.discard()


def test_a_field_of_another_dataset_is_refused(store: isotach.Store) -> None:
    with store.transaction() as step:
        step.archive(b"one", KEY)
        with pytest.raises(isotach.InvalidInputError, match="fields of one dataset in each transaction"):
            step.archive(b"two", key(class_="rd"))
    assert len(list(store.list())) == 1


def test_a_transaction_shows_its_state(store: isotach.Store) -> None:
    transaction = store.transaction()
    assert repr(transaction) == "<Transaction: empty>"
    transaction.archive(b"one", KEY)
    assert repr(transaction) == "<Transaction: not committed>"
    transaction.discard()
    assert repr(transaction) == "<closed Transaction>"
