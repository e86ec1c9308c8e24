"""Which memories a new statement is compared with (spec 12)."""

from datetime import timedelta

import pytest

from graphmem.flows.uncertainty_plan import conflict_candidates
from graphmem.search.index import SearchIndex
from graphmem.text.embedder import DIMENSION, ShippedNetwork
from graphmem.text.revision import Revisable
from tests.support.memories import memory


@pytest.mark.parametrize(
    ("said", "compared"),
    [
        ("We lost the tournament in Leeds.", ["told"]),
        # Each of its statements is compared by itself, once it is formed.
        ("Good to hear from you! We lost the tournament in Leeds. My cat had kittens.", []),
    ],
)
def test_a_statement_is_compared_and_no_message_of_several(said: str, compared: list[str]) -> None:
    known = "We won the tournament in York."
    old, new = ShippedNetwork(1).encode([known, said])
    told, index = memory("told", known, quote=known), SearchIndex(DIMENSION)
    index.put(told, old)
    statement = Revisable(said, said, told.timestamp + timedelta(days=1), vector=new)
    assert [each.id for each in conflict_candidates(index, statement, ())] == compared
