"""Statements that end, told to the offline mind on the real Neo4j: what stands as current afterwards (spec 7).

The rows were written before anything was run; `unseen` families were not looked at while bounds were chosen, `fresh`
rows were written last and chose nothing. Rows that want learned understanding fail still: the bounds are the measured
figures, which may only rise.
"""

import pytest

from graphmem.app import Graphmem
from graphmem.flows.session_cache import open_memories
from tests.conftest import Enrol
from tests.support.endings import cases, played

CERTAIN = ("I'm not allergic to milk", "We moved to Leeds", "I quit the orchestra", "My favourite colour is orange")
LEAST_ENDED = {"seen": 15, "unseen": 17, "fresh": 17}
LEAST_STAYING = 19
"""Of twenty rows each."""


async def stale(gm: Graphmem, enrol: Enrol, half: str) -> dict[str, set[str]]:
    """Where each row's first message stands as current after the second one, by that one."""
    found = {}
    for place, case in enumerate(cases(half)):
        _, after = await played(gm, await enrol(f"{half}-{place}"), case)
        found[case.then] = after
    return found


@pytest.mark.parametrize("half", list(LEAST_ENDED))
async def test_what_has_ended_stands_nowhere_as_current(gm: Graphmem, enrol: Enrol, half: str) -> None:
    found = await stale(gm, enrol, half)
    left = {then: places for then, places in found.items() if places}
    assert len(found) - len(left) >= LEAST_ENDED[half], left
    assert not [then for then in left if then.startswith(CERTAIN)]


async def test_what_holds_beside_a_new_statement_stays(gm: Graphmem, enrol: Enrol) -> None:
    found = await stale(gm, enrol, "stays")
    gone = [then for then, places in found.items() if "memories" not in places]
    assert len(found) - len(gone) >= LEAST_STAYING, gone


async def test_another_city_is_never_the_same_said_again(gm: Graphmem, enrol: Enrol) -> None:
    (case,) = [each for each in cases("seen") if "Oslo" in each.told]
    pupil = await enrol("ana")
    await played(gm, pupil, case)
    assert not [m for m in (await open_memories(gm, pupil.session)).index.latest(9) if m.reinforcement_count]
