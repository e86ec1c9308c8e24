"""Every Cypher file on the real server, and what each statement may see."""

from collections.abc import Mapping
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.errors import SetupError
from graphmem.store import queries, schema
from graphmem.store.graph import Graph, Row
from tests.conftest import Pupil

ALL = queries.load()


@pytest.mark.parametrize("name", sorted(ALL))
async def test_the_server_can_plan_every_statement(gm: Graphmem, name: str) -> None:
    await gm.graph.execute(queries.explained(ALL[name].text), {}, reads=True)


@pytest.mark.parametrize("command", schema.commands())
async def test_every_schema_command_may_run_again(gm: Graphmem, command: str) -> None:
    await gm.graph.execute(command, {}, reads=False)


async def test_every_constraint_and_index_is_there(gm: Graphmem) -> None:
    names = {r["name"] for r in await gm.graph.execute("SHOW INDEXES YIELD name", {}, reads=True)}
    wanted = {c.split(" IF NOT EXISTS")[0].split()[-1] for c in schema.commands() if "DROP" not in c}
    assert wanted <= names


async def test_the_schema_node_tells_the_embedding_model(gm: Graphmem) -> None:
    assert list((await schema.find_held(gm.graph)).values())[1:] == ["onnx:all-MiniLM-L6-v2", 384]


async def test_another_embedding_model_is_refused_and_nothing_is_changed(gm: Graphmem) -> None:
    with pytest.raises(SetupError, match="graphmem reembed"):
        await schema.prepare(gm.graph, "sentence-transformers:other", 768, gm.clock())
    with pytest.raises(SetupError, match="graphmem reembed"):
        await schema.prepare(gm.graph, "onnx:all-MiniLM-L6-v2", 768, gm.clock())
    assert list((await schema.find_held(gm.graph)).values())[1:] == ["onnx:all-MiniLM-L6-v2", 384]


@pytest.mark.parametrize("agent", ["Neo4j/5.26.1", "Neo4j/2025.12.0", "Memgraph/3.0", "Neo4j/v5.11.0 compatible"])
async def test_a_server_too_old_or_of_another_make_is_refused(agent: str) -> None:
    class Old(Graph):
        """A server that says it is somebody else."""

        def __init__(self) -> None: ...

        async def server_agent(self) -> str:
            return agent

    with pytest.raises(SetupError, match="needs Neo4j"):
        await schema.check_server(Old())


async def test_two_that_make_the_schema_at_once_do_not_fail(gm: Graphmem) -> None:
    """Neo4j refuses what somebody makes between our look and our making, `IF NOT EXISTS` or not."""
    refused: set[str] = set()

    class Late(Graph):
        """Somebody who found each index missing, which another process has made meanwhile."""

        def __init__(self) -> None:
            vars(self).update(vars(gm.graph))

        async def execute(
            self, text: str, params: Mapping[str, Any], *, reads: bool, seconds: float | None = None
        ) -> list[Row]:
            if "SHOW INDEXES" in text:
                return [{"names": []}]
            if "IF NOT EXISTS" in text and text not in refused:
                refused.add(text)
                text = text.replace(" IF NOT EXISTS", "")
            return await super().execute(text, params, reads=reads, seconds=seconds)

    await schema.prepare(Late(), gm.embedder.name, gm.embedder.dimension, gm.clock())
    assert refused == {command for command in schema.commands() if "DROP" not in command}


async def test_only_what_is_missing_of_the_schema_is_made(gm: Graphmem, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    execute = gm.graph.execute

    async def noting(text: str, *given: Any, **more: Any) -> list[Row]:
        ran.append(text)
        return await execute(text, *given, **more)

    monkeypatch.setattr(gm.graph, "execute", noting)
    await schema.apply_commands(gm.graph)
    assert len(ran) == 1
    await execute("DROP INDEX turn_by_state", {}, reads=False)
    await schema.apply_commands(gm.graph)
    assert [text.split()[4] for text in ran[2:]] == ["turn_by_state"]
    await schema.apply_commands(gm.graph)
    assert len(ran) == 4


async def test_data_of_an_older_schema_is_upgraded_once(gm: Graphmem, ann: Pupil) -> None:
    made = """CREATE (:Memory {institution: $i, student_id: $s, id: 'episode-1', episode: true})
              CREATE (:Memory {institution: $i, student_id: $s, id: 'belief-1-1'})
              CREATE (:Memory {institution: $i, student_id: $s, id: 'procedure-1'})
              CREATE (:Memory {institution: $i, student_id: $s, id: 'memory-2-1'})
                     -[:ABSTRACTS]->(:Memory {institution: $i, student_id: $s, id: 'memory-1-1'})
              CREATE (:Fact {institution: $i, student_id: $s, id: 'fact-1'}),
                     (:Fact {institution: $i, student_id: $s, id: 'fact-1-1'}),
                     (:Job {institution: $i, student_id: $s, id: 'surprise-12', kind: 'surprise'}),
                     (:Usage {institution: $i, student_id: $s, day: date('2001-02-03'), kind: 'form',
                              input_tokens: 2, output_tokens: 3, cost: 0.5})"""
    params = {"i": ann.who.institution, "s": ann.who.student_id}
    await gm.graph.execute(made, params, reads=False)
    older = "MATCH (schema:Schema) SET schema.version = 1"
    await gm.graph.execute(older, {}, reads=False)
    await schema.prepare(gm.graph, gm.embedder.name, gm.embedder.dimension, gm.clock())
    (found,) = await gm.graph.execute("MATCH (schema:Schema) RETURN schema.version AS version", {}, reads=True)
    assert found["version"] == schema.SCHEMA_VERSION
    rows = await gm.graph.execute(
        """MATCH (n {institution: $i, student_id: $s}) WHERE n:Memory OR n:Fact OR n:Job
           RETURN n.id AS id, coalesce(n.role, n.origin, n.seq) AS found, n.episode AS episode ORDER BY id""",
        params,
        reads=True,
    )
    assert {row["id"]: row["found"] for row in rows} == {
        **{"belief-1-1": "belief", "episode-1": "episode", "memory-1-1": "said", "memory-2-1": "topic"},
        **{"procedure-1": "procedure", "fact-1": None, "fact-1-1": "surprise", "surprise-12": 12},
    }
    assert {row["episode"] for row in rows} == {None}
    (budget,) = await gm.graph.execute(
        "MATCH (b:StudentBudget {institution: $i, student_id: $s}) RETURN b.tokens AS tokens, b.cost AS cost",
        params,
        reads=True,
    )
    assert (budget["tokens"], budget["cost"]) == (5, 0.5)
