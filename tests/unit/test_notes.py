"""Notes of what a write touches: sealed for their place, short and long ones (spec 14)."""

import pytest

from graphmem.errors import Tampered
from graphmem.manifest import LONG_NOTE, opened_note, sealed_note
from graphmem.model import Who
from graphmem.store.graph import Touched

OLD, NEW, WHO = b"o" * 32, b"n" * 32, Who("school", "ann")


@pytest.mark.parametrize("memories", [1, 500])
def test_what_was_touched_is_read_from_its_note(memories: int) -> None:
    touched, read = Touched(), Touched()
    for number in range(memories):
        touched.add("Memory", f"memory-{number}", made=True, set=("details", "quote"))
    content = sealed_note(OLD, WHO, "note-1", {"at": 1.5, "touched": touched.to_json()})
    assert len(content) < LONG_NOTE
    told = opened_note((NEW, OLD), WHO, "note-1", content)
    read.add_json(told["touched"])
    assert (told["at"], read) == (1.5, touched)


@pytest.mark.parametrize(("who", "note"), [(Who("school", "bo"), "note-1"), (WHO, "note-2")])
def test_a_note_that_was_moved_does_not_open(who: Who, note: str) -> None:
    with pytest.raises(Tampered):
        opened_note((OLD,), who, note, sealed_note(OLD, WHO, "note-1", {"at": 1.5, "touched": Touched().to_json()}))
