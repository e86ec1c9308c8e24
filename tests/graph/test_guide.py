"""The guide for Neo4j Browser: what its slides ask for is there."""

from graphmem.app import Graphmem
from graphmem.commands.backup import browser_guide
from graphmem.store import queries
from tests.conftest import Enrol
from tests.support.guide import guide_queries
from tests.support.whole_life import lives


async def test_every_query_of_the_guide_shows_the_student_alone(gm: Graphmem, enrol: Enrol) -> None:
    ann, bob = await enrol("ann"), await enrol("bob")
    await lives(gm, ann, "marmalade")
    guide = browser_guide(ann.who.institution, "ann")
    assert 5 <= guide.count("<slide") <= 8
    assert "://" not in guide
    for query in guide_queries(guide):
        shown = []
        for pupil in (ann, bob):
            given = {"institution": pupil.who.institution, "student_id": pupil.who.student_id}
            shown.append(await gm.graph.execute(queries.LANGUAGE + query, given, reads=True))
        assert shown[0], query
        assert not shown[1], query
