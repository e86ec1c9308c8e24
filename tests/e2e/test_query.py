"""`graphmem query` as an analyst types it, on the test's Neo4j."""

import json
import os
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.flows.analysis import list_queries
from graphmem.model import Level
from tests.conftest import Pupil
from tests.support.commands import commands
from tests.support.own_neo4j import Access
from tests.support.surprising import responded

Query = Callable[..., Coroutine[None, None, tuple[int, str, str]]]


@pytest.fixture
def query(neo4j_access: Access, tmp_path: Path) -> Query:
    """Run the command; exit code, output, errors."""
    run = commands(
        os.environ
        | {
            "GRAPHMEM_HOME": str(tmp_path),
            "GRAPHMEM_NEO4J_URI": neo4j_access.uri,
            "GRAPHMEM_NEO4J_USER": neo4j_access.user,
            "GRAPHMEM_NEO4J_PASSWORD": neo4j_access.password,
        }
    )
    return partial(run, "query")


async def test_without_a_name_the_queries_are_listed_with_what_they_answer(query: Query) -> None:
    code, out, _ = await query()
    assert code == 0
    code, as_json, _ = await query("--json")
    listed = {each["name"]: each for each in json.loads(as_json)}
    assert listed.keys() == list_queries().keys()
    for name, each in listed.items():
        assert f"{name}  ({', '.join(each['params'])})\n    {each['description']}\n" in out
    assert listed["surprise_actions"]["params"] == {"institution": "str", "student_id": "str", "limit": "int"}


async def test_rows_come_as_a_table_or_as_json(query: Query, gm: Graphmem, ann: Pupil) -> None:
    await responded(gm, ann, "My oboe was stolen in Zurich!", Level.PARADIGM_SHIFT)
    who = ("--param", "student_id=ann", "--institution", ann.who.institution)
    code, out, err = await query("surprise_levels", *who)
    assert (code, err) == (0, "")
    head, row = out.splitlines()
    assert head.split()[:4] == ["level", "turns", "episodes", "signal"]
    assert row.split()[:4] == ["paradigm_shift", "1", "1", "0.950"]
    code, out, _ = await query("surprise_actions", *who, "--param", "limit=5", "--json")
    (actions,) = json.loads(out)
    assert (actions["episode"], actions["flashbulb"]) == ("episode-1", True)
    assert [each["id"] for each in actions["reflections"]] == ["reflection-1"]
    assert "oboe" not in out
    # This moment is meant where a query asks for one.
    code, out, _ = await query("memories_by_gravity", *who, "--param", "limit=5", "--json")
    assert {"episode-1", "memory-1-1"} <= {each["id"] for each in json.loads(out)}
    early = ("--param", "now=2020-01-01T00:00:00Z")
    assert (await query("memories_by_gravity", *who, "--param", "limit=5", *early))[0] == 0
    # Another institution has no such student; `demo` is meant where none is named.
    assert (await query("surprise_levels", "--param", "student_id=ann", "--institution", "no-school"))[1] == "no rows\n"


async def test_what_will_not_do_says_what_there_is(query: Query) -> None:
    ann = ("--param", "student_id=ann")
    for arguments, told in [
        (("memories_by_charm",), ", ".join(list_queries())),
        (("job/retry",), "There is no such analysis"),
        (("memories_by_gravity",), "Missing: student_id, limit"),
        (("surprise_levels", *ann, *ann), "twice"),
        (("surprise_levels", "--param", "student=ann"), "student_id (str)"),
        (("surprise_levels", "--param", "student_id"), "name=value"),
        (("surprise_actions", *ann, "--param", "limit=many"), "a whole number"),
        (("surprise_actions", *ann, "--param", f"limit={2**64}"), "a whole number"),
        (("surprise_actions", *ann, "--param", "limit=-1"), "limit=-1"),
        (("memories_by_gravity", *ann, "--param", "limit=1", "--param", "now=2026-01-01T00:00:00"), "a moment like"),
    ]:
        code, out, err = await query(*arguments)
        assert (code, out) == (1, ""), arguments
        assert told in err
        assert len(err.splitlines()) == 1, err
