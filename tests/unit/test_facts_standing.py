"""Facts beside memories that have ended (spec 4, 7)."""

from datetime import timedelta

import numpy as np

from graphmem.flows.ending import standing_facts
from graphmem.model import Fact
from graphmem.search.index import SearchIndex
from tests.support.memories import NOW, memory

SAID = NOW - timedelta(days=9)
HOME = Fact("fact-1", 1, "Lena lives in Bristol with her dad.", ("Bristol",), SAID)
PET = Fact("fact-2", 2, "Lena feeds a hedgehog called Moss.", ("hedgehog",), SAID)


def index(ended: bool) -> SearchIndex:
    """Of one message: where Lena lives, which may have ended, and her hedgehog."""
    known = SearchIndex(2)
    until = NOW - timedelta(days=1) if ended else None
    home = memory("home", HOME.text, quote="I live in Bristol with my dad", timestamp=SAID, invalid_at=until)
    known.put_many([home, memory("pet", PET.text, timestamp=SAID)], np.eye(2, dtype=np.float32))
    return known


def test_what_has_ended_is_no_fact_any_more() -> None:
    assert standing_facts([HOME, PET], index(ended=True), NOW) == [PET]
    assert standing_facts([HOME, PET], index(ended=False), NOW) == [HOME, PET]


def test_it_was_one_at_a_moment_before_that() -> None:
    assert standing_facts([HOME, PET], index(ended=True), NOW - timedelta(days=2)) == [HOME, PET]


def test_what_was_said_at_another_time_stands() -> None:
    later = Fact("fact-3", 3, HOME.text, HOME.tags, NOW)
    assert standing_facts([later], index(ended=True), NOW) == [later]
