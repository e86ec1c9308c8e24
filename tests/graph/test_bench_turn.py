"""The benchmark of a turn: its floor and the memories each student has before, on a real database."""

import asyncio

from pydantic import SecretStr

from graphmem.app import Graphmem
from graphmem.bench import turn
from graphmem.bench.harness import Talker
from graphmem.settings import Settings
from tests.conftest import Pupil
from tests.support.own_neo4j import Access
from tests.support.remembering import LIFE, nodes

SAID = tuple(f"{first} {second}" for first in LIFE for second in LIFE)


async def test_the_floor_is_measured_and_students_have_memories_before(
    gm: Graphmem, ann: Pupil, settings: Settings, neo4j_access: Access
) -> None:
    password = SecretStr(neo4j_access.password)
    given = {"neo4j_uri": neo4j_access.uri, "neo4j_user": neo4j_access.user, "neo4j_password": password}
    own = settings.model_copy(update=given)
    talker = Talker(ann.who.student_id, 0, "", ann.token)

    def stored() -> float:
        with turn.floor_of(own) as floor:
            floor.store_before(own, [talker], SAID)
            return floor.seconds(LIFE[0])

    assert await asyncio.to_thread(stored) > 0
    assert len(await nodes(gm, ann.who, "Memory")) == turn.STUDENT_MEMORIES
