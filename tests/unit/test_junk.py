"""Copies among memories: what is told twice, and what only looks so (spec 7)."""

from graphmem.flows.junk import find_copies
from graphmem.model import MemoryRole
from tests.support.memories import NOW, memory

BREAD = "Mia worked on an exercise: Sam sells bread … How many crates was he short?"


def test_copies_are_found_by_their_letters() -> None:
    told = memory("a", "Mia plays the violin on Mondays with Ms Weber.")
    same = memory("b", "Mia plays the violin on Mondays with Ms Weber.")
    nearly = memory("c", "Mia plays the violin on Mondays, with Ms Weber!!")
    denied = memory("d", "Mia never plays the violin on Mondays with Ms Weber.")
    other = memory("e", "Mia has a hamster called Pip.")
    assert find_copies([told, same, other, denied]) == ({"b"}, {"b"})
    assert find_copies([told, nearly, denied, other])[1] == {"c"}
    assert find_copies([]) == (set(), set())


def test_what_is_over_is_not_copied() -> None:
    over = memory("a", "Mia lives in Rome.", invalid_at=NOW)
    assert find_copies([over, memory("b", "Mia lives in Rome!")])[1] == set()


def test_two_lessons_on_one_exercise_are_two_events() -> None:
    first, again = (memory(each, BREAD, role=MemoryRole.LESSON) for each in ("a", "b"))
    assert find_copies([first, again]) == (set(), set())
    assert find_copies([memory("a", BREAD), memory("b", BREAD)]) == ({"b"}, {"b"})
