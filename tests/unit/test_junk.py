"""Copies, echoes and empty statements among memories (spec 7)."""

import pytest

from graphmem.flows.memories import count_junk
from graphmem.model import Memory, MemoryRole
from tests.support.memories import NOW, memory

VIOLIN = memory("a", "Plays the violin on Mondays.")


@pytest.mark.parametrize(
    ("second", "counts"),
    [
        (memory("b", "plays the  violin on Mondays!"), (1, 0, 0)),
        (memory("b", "Never plays the violin on Mondays."), (0, 0, 0)),
        (memory("b", "Plays the violin on Mondays.", speaker="Tom"), (0, 0, 0)),
        (memory("b", "A hamster called Pip.", before="A hamster called Pip?"), (0, 1, 0)),
        (memory("b", "yes I do"), (0, 0, 1)),
        (memory("b", "yes I do", role=MemoryRole.LESSON), (0, 0, 0)),
    ],
)
def test_junk_by_kind(second: Memory, counts: tuple[int, int, int]) -> None:
    junk = count_junk([VIOLIN, second])
    assert (junk.copies, junk.echoes, junk.empty) == counts
    assert junk.rate == sum(counts) / junk.statements


def test_a_statement_that_ended_is_not_copied() -> None:
    over = memory("a", "Lives in Rome.", invalid_at=NOW)
    assert count_junk([over, memory("b", "Lives in Rome!")]).rate == 0
    assert count_junk([]).rate == 0
