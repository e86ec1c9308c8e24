"""A contradiction from the first word to its end, over HTTP; `-s` prints what is said (spec 12)."""

from typing import Any
from uuid import uuid4

from graphmem.app import Graphmem
from graphmem.flows.uncertainty import list_uncertainties
from graphmem.jobs.runner import run_jobs
from graphmem.model import Severity
from tests.conftest import Pupil, another_replica
from tests.support.client import Client
from tests.support.remembering import asked

TURN = """mutation Turn($text: String!, $turn: ID!) {
  handleTurn(studentId: "ann", turnId: $turn, text: $text) { reply weave { id state } } }"""
DOUBTS = """{ student(id: "ann") { uncertainties {
  id state resolution severity detectionContext surfacedCount reasoning
  a { id content reliability } b { id content reliability } } } }"""
EDGES = """MATCH (a:Memory {institution: $i, student_id: $s})-[r:TEMPORAL_EVOLUTION|CONTRADICTS]->(b:Memory)
           RETURN a.id AS a, type(r) AS type, b.id AS b ORDER BY type"""


class Told:
    """A student's talk over HTTP, printed as it goes; the jobs of each turn are done."""

    def __init__(self, gm: Graphmem, pupil: Pupil, client: Client) -> None:
        self.gm, self.pupil, self.client = gm, pupil, client

    async def says(self, text: str) -> Any:
        turn = await self.client.call(TURN, text=text, turn=uuid4().hex)
        print(f"> {text}\n< {turn['reply']}")
        await run_jobs(self.gm, self.pupil.session)
        return turn

    async def doubts(self) -> Any:
        return (await self.client.call(DOUBTS))["uncertainties"]


async def test_a_car_is_sold(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    talk = Told(gm, ann, await app_client.opened("ann", ann.password))
    await talk.says("I drive a Honda.")
    assert await talk.doubts() == []
    raised = await talk.says("I drive a Toyota.")
    (doubt,) = await talk.doubts()
    print(doubt)
    assert [each["id"] for each in raised["weave"]] == [doubt["id"]]
    assert "Honda" in raised["reply"]
    assert (doubt["state"], doubt["detectionContext"], doubt["surfacedCount"]) == ("SURFACED", "INGESTION", 1)
    assert {doubt["a"]["reliability"], doubt["b"]["reliability"]} == {"CONTRADICTED"}

    again = await talk.says("I sold the Honda.")
    assert again["weave"] == []
    (settled,) = await talk.doubts()
    print(settled)
    assert (settled["state"], settled["surfacedCount"]) == ("RESOLVED", 1)
    assert (settled["a"]["reliability"], settled["b"]["reliability"]) == ("SUPERSEDED", "RELIABLE")
    edges = [(row["a"], row["type"], row["b"]) for row in await asked(gm, ann.who, EDGES)]
    print(edges)
    assert (doubt["a"]["id"], "TEMPORAL_EVOLUTION", doubt["b"]["id"]) in edges
    query = "MATCH (m:Memory {institution: $i, student_id: $s, kind: 'episode'}) RETURN count(m) AS episodes"
    assert (await asked(gm, ann.who, query))[0]["episodes"] >= 1

    undo = 'mutation Undo($id: ID!) { undoResolution(studentId: "ann", id: $id) { state } }'
    assert await talk.client.call(undo, id=doubt["id"]) == {"state": "OPEN"}
    (open_again,) = await talk.doubts()
    print(open_again)
    assert {open_again["a"]["reliability"], open_again["b"]["reliability"]} == {"CONTRADICTED"}
    assert (doubt["a"]["id"], "TEMPORAL_EVOLUTION", doubt["b"]["id"]) not in [
        (row["a"], row["type"], row["b"]) for row in await asked(gm, ann.who, EDGES)
    ]


async def test_twenty_turns_that_pass_over_it(gm: Graphmem, ann: Pupil, app_client: Client) -> None:
    talk = Told(gm, ann, await app_client.opened("ann", ann.password))
    await talk.says("I drive a Honda.")
    first = await talk.says("I drive a Toyota.")
    before = (await list_uncertainties(another_replica(gm), ann.who, ann.session))[0].severity
    raised = bool(first["weave"]) + sum(
        [
            bool((await talk.says(f"A Toyota beat the Honda in race number {i} on television."))["weave"])
            for i in range(20)
        ]
    )
    (after,) = await list_uncertainties(another_replica(gm), ann.who, ann.session)
    print(f"raised {raised} times, {before} -> {after.severity}")
    assert raised == after.surfaced_count == 3
    steps = list(Severity)
    assert steps.index(after.severity) == steps.index(before) - 1
