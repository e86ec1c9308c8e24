"""Sealed values, keys and tokens: what opens, and what must not."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zlib import compress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.secret import Aead

from graphmem import sealing
from graphmem.errors import Locked, Tampered
from graphmem.model import Keys, Session, Who
from graphmem.store.nodes import NodeSealer

ANN = Who("school", "ann")
WEAK = sealing.Argon2(1, 8 * 2**20)
LOCK, KEYS = sealing.new_lock(ANN, "a good password", WEAK)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = b"s" * 32
PLACE = ("L", "n", "f")


@given(st.text(max_size=2000).map(lambda text: text.rstrip("\0")))
def test_what_is_sealed_opens_again_also_unpadded(text: str) -> None:
    node = NodeSealer(KEYS, ANN, "L", "n")
    for sealed in (node.seal("f", text), sealing.seal_bytes(KEYS, ANN, PLACE, text.encode())):
        assert node.text("f", sealed) == text
    for sealed in (node.seal_json("f", [text]), sealing.seal_bytes(KEYS, ANN, PLACE, json.dumps([text]).encode())):
        assert node.json("f", sealed) == [text]
    packed = json.dumps([text]).encode()
    for sealed in (node.seal_packed("f", packed), sealing.seal_bytes(KEYS, ANN, PLACE, compress(packed))):
        assert node.packed("f", sealed) == packed
    box = sealing.seal_for(LOCK, ANN, text)
    assert sealing.open_sealed_box(KEYS, ANN, LOCK, box) == text


@pytest.mark.parametrize(
    ("texts", "length"),
    [(("", "Bo", "Maximiliane-Alexandra", "x" * 64), 64), (("x" * 65, "é" * 48), 96), (("x" * 513, "y" * 768), 768)],
)
def test_a_length_tells_a_bucket(texts: Sequence[str], length: int) -> None:
    assert {len(sealing.seal(KEYS, ANN, PLACE, text)) for text in texts} == {40 + length}


@given(st.binary(max_size=40_000))
def test_padding_is_at_most_half_of_a_longer_text_and_is_not_padded_again(text: bytes) -> None:
    padded = sealing.padded(text)
    assert len(text) <= len(padded) <= max(sealing.SHORTEST_PADDED, 1.5 * len(text))
    assert sealing.padded(padded) == padded


@given(st.binary(max_size=2000))
def test_bytes_that_are_sealed_open_again(value: bytes) -> None:
    assert sealing.opened_value(KEYS, ANN, PLACE, sealing.seal_bytes(KEYS, ANN, PLACE, value)) == value


@given(st.text(max_size=200), st.data())
def test_no_altered_value_opens(text: str, data: st.DataObject) -> None:
    sealed = bytearray(sealing.seal_bytes(KEYS, ANN, PLACE, text.encode()))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Tampered):
        sealing.opened_value(KEYS, ANN, PLACE, bytes(sealed))


@given(st.integers(0, 60))
def test_no_truncated_value_opens(length: int) -> None:
    sealed = sealing.seal(KEYS, ANN, PLACE, "some text that is long enough")
    with pytest.raises(Tampered):
        sealing.opened_value(KEYS, ANN, PLACE, sealed[:length])


@pytest.mark.parametrize(
    ("who", "place"),
    [
        (ANN, ("L", "n", "g")),
        (ANN, ("L", "m", "f")),
        (ANN, ("M", "n", "f")),
        (Who("school", "bob"), PLACE),
        (Who("other", "ann"), PLACE),
        (Who("school", 'ann","L'), ("n", "", "f")),
    ],
)
def test_a_value_opens_only_where_it_was_sealed(who: Who, place: tuple[str, str, str]) -> None:
    with pytest.raises(Tampered):
        sealing.opened_value(KEYS, who, place, sealing.seal(KEYS, ANN, PLACE, "text"))


def test_a_value_sealed_before_the_label_was_bound_still_opens_in_its_place() -> None:
    bound_to = json.dumps([ANN.institution, ANN.student_id, "n", "f"]).encode()
    sealed = bytes(Aead(KEYS.seal).encrypt(b"text", bound_to))
    assert sealing.opened_value(KEYS, ANN, PLACE, sealed) == b"text"
    with pytest.raises(Tampered):
        sealing.opened_value(KEYS, ANN, ("L", "n", "g"), sealed)


def test_only_the_secret_vouches_for_a_public_key() -> None:
    sealed = sealing.public_key_seal(SECRET, ANN, LOCK.public_key)
    assert sealed == sealing.public_key_seal(SECRET, ANN, LOCK.public_key)
    others = [
        sealing.public_key_seal(b"t" * 32, ANN, LOCK.public_key),
        sealing.public_key_seal(SECRET, Who("school", "bob"), LOCK.public_key),
        sealing.public_key_seal(SECRET, ANN, bytes(32)),
    ]
    assert sealed not in others


def test_sealing_twice_gives_two_values() -> None:
    assert sealing.seal(KEYS, ANN, PLACE, "text") != sealing.seal(KEYS, ANN, PLACE, "text")


def test_a_wrong_password_opens_nothing() -> None:
    with pytest.raises(Locked):
        sealing.unlock(ANN, LOCK, "another password")


def test_a_lock_does_not_open_for_another_student() -> None:
    with pytest.raises(Locked):
        sealing.unlock(Who("school", "bob"), LOCK, "a good password")


def test_two_students_with_one_password_have_different_keys() -> None:
    _, bobs = sealing.new_lock(Who("school", "bob"), "a good password", WEAK)
    assert bobs != KEYS


def test_after_a_change_of_password_only_the_new_one_opens() -> None:
    changed = sealing.relocked(ANN, LOCK, "a good password", "a better password", WEAK)
    assert sealing.unlock(ANN, changed, "a better password") == KEYS
    with pytest.raises(Locked):
        sealing.unlock(ANN, changed, "a good password")


def test_the_wrong_old_password_changes_nothing() -> None:
    with pytest.raises(Locked):
        sealing.relocked(ANN, LOCK, "wrong", "a better password", WEAK)


def test_keyed_hashes_differ_by_student_and_kind() -> None:
    _, bobs = sealing.new_lock(Who("school", "bob"), "pw", WEAK)
    hashes = {
        sealing.keyed_hash(KEYS, "content", "likes dogs"),
        sealing.keyed_hash(KEYS, "slot", "likes dogs"),
        sealing.keyed_hash(bobs, "content", "likes dogs"),
    }
    assert len(hashes) == 3
    assert sealing.keyed_hash(KEYS, "content", "likes dogs") in hashes


def test_a_sealed_box_opens_for_its_student_only() -> None:
    box = sealing.seal_for(LOCK, ANN, "Ann was brave today.")
    assert sealing.open_sealed_box(KEYS, ANN, LOCK, box) == "Ann was brave today."
    bob = Who("school", "bob")
    lock, keys = sealing.new_lock(bob, "pw", WEAK)
    with pytest.raises(Tampered):
        sealing.open_sealed_box(keys, bob, lock, box)


def test_a_sealed_box_meant_for_another_name_is_refused() -> None:
    box = sealing.seal_for(LOCK, Who("school", "bob"), "about Bob")
    with pytest.raises(Tampered):
        sealing.open_sealed_box(KEYS, ANN, LOCK, box)


def test_a_session_token_opens_until_it_expires() -> None:
    session = Session("school", "ann", "s1", NOW + timedelta(minutes=1), KEYS)
    token = sealing.session_token(SECRET, session)
    assert sealing.opened_token(SECRET, token, NOW) == session
    with pytest.raises(Locked):
        sealing.opened_token(SECRET, token, NOW + timedelta(minutes=1))


@pytest.mark.parametrize("token", ["", "x", "é", "AAAA", "A" * 400])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Locked):
        sealing.opened_token(SECRET, token, NOW)


def test_a_token_of_another_server_is_refused() -> None:
    token = sealing.session_token(SECRET, Session("school", "ann", "s1", NOW + timedelta(minutes=1), KEYS))
    with pytest.raises(Locked):
        sealing.opened_token(b"t" * 32, token, NOW)


def test_keys_do_not_show_in_a_representation() -> None:
    session = Session("school", "ann", "s1", NOW, KEYS)
    assert KEYS.seal.hex() not in repr(session)
    assert repr(KEYS.seal) not in repr(session)
    assert repr(replace(KEYS)) == "Keys()"


CLEAR_LOCK, CLEAR_KEYS = sealing.new_lock(ANN, "a good password", WEAK, clear=True)


def test_with_sealing_off_texts_stay_readable_and_the_password_still_opens() -> None:
    assert sealing.seal(CLEAR_KEYS, ANN, PLACE, "text") == "text"
    assert sealing.opened_value(CLEAR_KEYS, ANN, PLACE, "text") == b"text"
    assert sealing.seal_for(CLEAR_LOCK, ANN, "Ann was brave.") == "Ann was brave."
    assert sealing.open_sealed_box(CLEAR_KEYS, ANN, CLEAR_LOCK, "Ann was brave.") == "Ann was brave."
    assert sealing.unlock(ANN, CLEAR_LOCK, "a good password") == CLEAR_KEYS
    changed = sealing.relocked(ANN, CLEAR_LOCK, "a good password", "a better password", WEAK)
    assert sealing.unlock(ANN, changed, "a better password") == CLEAR_KEYS
    token = sealing.session_token(SECRET, Session("school", "ann", "s1", NOW, CLEAR_KEYS))
    assert sealing.opened_token(SECRET, token, NOW - timedelta(1)).keys == CLEAR_KEYS


@pytest.mark.parametrize("lock", [replace(LOCK, clear=True), replace(CLEAR_LOCK, clear=False)])
def test_nobody_switches_sealing_off_or_on_by_hand(lock: sealing.StudentLock) -> None:
    with pytest.raises(Locked):
        sealing.unlock(ANN, lock, "a good password")


def test_of_a_sealed_student_nothing_readable_is_taken() -> None:
    with pytest.raises(Tampered):
        sealing.opened_value(KEYS, ANN, PLACE, "text")
    with pytest.raises(Tampered):
        sealing.open_sealed_box(KEYS, ANN, LOCK, "Ann was brave.")
    place = NodeSealer(KEYS, ANN, "Memory", "memory-1")
    with pytest.raises(Tampered):
        place.vector("embedding", [0.5, 0.5])


@given(st.lists(st.floats(-1, 1, width=32), max_size=8))
@pytest.mark.parametrize("keys", [KEYS, CLEAR_KEYS])
def test_vectors_and_packed_texts_open_again_in_both_forms(keys: Keys, numbers: list[float]) -> None:
    place, vector = NodeSealer(keys, ANN, "Memory", "memory-1"), np.asarray(numbers, dtype=np.float32)
    assert np.array_equal(place.vector("embedding", place.seal_vector("embedding", vector)), vector)
    told = json.dumps(numbers).encode()
    assert place.packed("outcome", place.seal_packed("outcome", told)) == told


@given(st.lists(st.text(), min_size=1, max_size=3))
def test_a_place_is_encoded_as_json(names: list[str]) -> None:
    """Values sealed before places were encoded without an encoder of their own still open."""
    who = Who(names[0], "ann")
    assert sealing._sealed_place(who, *names) == json.dumps([names[0], "ann", *names], ensure_ascii=False).encode()
