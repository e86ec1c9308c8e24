"""What becomes of the edges between memories that are compressed, on the real database (spec 13)."""

from itertools import combinations
from typing import Any

from graphmem.app import Graphmem
from graphmem.flows.compression import compress
from tests.conftest import Pupil
from tests.graph.test_compression import faded, remembers
from tests.support.remembering import asked, changed, linked

EDGES = """MATCH (a:Memory {institution: $i, student_id: $s})-[r]->(b:Memory {institution: $i, student_id: $s})
           RETURN a.id AS a, b.id AS b, type(r) AS type, r.weight AS weight"""


async def edges(gm: Graphmem, pupil: Pupil) -> set[tuple[Any, ...]]:
    return {tuple(row.values()) for row in await asked(gm, pupil.who, EDGES)}


async def test_edges_between_memories_that_both_go_are_kept(gm: Graphmem, ann: Pupil) -> None:
    before = sorted(await remembers(gm, ann))
    half = set(before[::2])
    for place, (a, b) in enumerate(combinations(before, 2)):
        # Two groups, each closely linked, and a link between them now and then.
        if (a in half) == (b in half) or place % 11 == 0:
            await linked(gm, ann, a, b, "SUPPORTS", (place % 10) / 10 + 0.05)
    await faded(gm, ann)
    done = await compress(gm, ann.session, to=8)
    found = await edges(gm, ann)
    assert done.merged > 2
    assert done.edges_after == len(found) == len({edge[:3] for edge in found})


async def test_where_nothing_may_be_touched_nothing_is_done(gm: Graphmem, ann: Pupil) -> None:
    await remembers(gm, ann)
    await changed(gm, ann.who, "MATCH (m:Memory {institution: $i, student_id: $s}) SET m.flashbulb = true")
    await faded(gm, ann)
    done = await compress(gm, ann.session, to=1)
    assert (done.id, done.pruned, done.merged) == (None, 0, 0)
    assert done.nodes_after == done.nodes_before > 1
