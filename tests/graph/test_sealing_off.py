"""Institutions that seal nothing: contents are stored readable, and all else is as with sealed ones (spec 14)."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.errors import Conflict, Locked
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Role, SourceKind, Who
from tests.conftest import BOTH_FORMS, PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.remembering import again_open, asked, changed, observations
from tests.support.whole_life import lives

PAGE = (Path(__file__).parents[2] / "docs" / "sealing.md").read_text("utf-8")
KEYS = {"salt", "wrapped_key", "sealed_private_key", "public_key", "public_key_seal", "manifest_root", "token"}
"""What stays sealed: keys, the session's token, and the manifest."""
OF_THE_SERVER = {"OpenSession", "ManifestPage", "ManifestNote"}
"""Nodes with contents that the server secret seals, in both forms."""
NODES = "MATCH (n {institution: $i, student_id: $s}) RETURN labels(n) AS l, properties(n) AS p"
CLEAR = pytest.mark.parametrize("institution", ["clear"], indirect=True)


def sealed_in_the_docs() -> dict[str, set[str]]:
    """The properties that the table of the docs calls sealed, by label."""
    table = PAGE.partition("\n\nA sealed value")[0]
    rows = re.findall(r"^\| `:(\w+)`[^|]*\|[^|]*\|([^|]*)\|$", table, re.MULTILINE)
    names = {label: set(re.findall(r"[a-z_]+", re.sub(r"\([^)]*\)", "", text))) for label, text in rows}
    return {label: found for label, found in names.items() if label not in OF_THE_SERVER and "nothing" not in found}


@BOTH_FORMS
async def test_what_the_docs_call_sealed_is_stored_in_the_form_of_the_institution(gm: Graphmem, ann: Pupil) -> None:
    await lives(gm, ann, "marmalade")
    rows = await asked(gm, ann.who, NODES)
    table, seen = sealed_in_the_docs(), set()
    for row in rows:
        for label in set(row["l"]) & table.keys():
            for name in table[label] & row["p"].keys():
                assert isinstance(row["p"][name], str | list if ann.session.keys.clear else bytes | bytearray), name
                seen.add(name)
        if ann.session.keys.clear and not OF_THE_SERVER & set(row["l"]):
            assert {n for n, v in row["p"].items() if isinstance(v, bytes | bytearray)} <= KEYS, row["l"]
    assert seen >= {"content", "details", "embedding", "text", "persona", "prediction_embedding", "outcome", "payload"}


@CLEAR
async def test_database_accounts_read_contents_and_the_api_still_demands_the_session(
    gm: Graphmem, ann: Pupil, http: httpx.AsyncClient, bearer: Callable[[Role], str]
) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    query = """MATCH (m:Memory {institution: $i, student_id: $s}) WHERE m.content CONTAINS 'marmalade'
               RETURN m.content AS content, size(m.embedding) AS dimension"""
    (row, *_) = await asked(gm, ann.who, query)
    assert row["dimension"] == gm.embedder.dimension
    ask = 'query { student(id: "ann") { recall(query: "marmalade") { memory { content } } } }'
    for session in (None, "no token"):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(Role.APP), session).call(ask)
        assert refused.value.code == "LOCKED"
    assert "marmalade" in str(await Client(http, bearer(Role.APP), ann.token).call(ask))
    with pytest.raises(Locked):
        await students.open_session(gm, ann.who, "not her password")


@BOTH_FORMS
async def test_what_is_noted_of_a_locked_student_is_recalled_in_the_next_session(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
    await observe(gm, ann.who, observations(["Ottilie admired the marmalade of Lisbon."], kind=SourceKind.TEACHER))
    (row,) = await asked(gm, ann.who, "MATCH (j:Job {institution: $i, student_id: $s}) RETURN j.payload AS p")
    assert ("marmalade" in str(row["p"])) is ann.session.keys.clear
    later = await again_open(gm, ann)
    await run_jobs(gm, later.session)
    for each in (gm, another_replica(gm)):
        found = await recall(each, later.session, "Who admired marmalade?", 5, None)
        assert "marmalade" in str([one.memory.content for one in found])
    assert "marmalade" in (await context(gm, later.session, "And the marmalade?")).prompt


async def settled(gm: Graphmem, who: Who) -> str:
    (row,) = await asked(gm, who, "MATCH (n:Institution {institution: $i}) RETURN n.sealing AS sealing")
    return str(row["sealing"])


@BOTH_FORMS
async def test_the_form_is_settled_with_the_first_student(
    gm: Graphmem, ann: Pupil, enrol: Enrol, institution: str
) -> None:
    off = not ann.session.keys.clear
    assert await settled(gm, ann.who) == ("on" if off else "off")
    other = another_replica(gm, settings=gm.settings.model_copy(update={"sealing_off": institution if off else ""}))
    with pytest.raises(Conflict, match="SEALING_OFF"):
        await students.enrol(other, Who(institution, "bob"), PASSWORD)
    assert await students.find_student(gm, Who(institution, "bob")) is None
    # Those who are enrolled go on as they are.
    await say(other, ann, "My sister Ottilie hides marmalade in Lisbon.")
    assert (await enrol("bob")).session.keys.clear is ann.session.keys.clear


async def test_an_institution_with_students_of_an_older_version_is_sealed(gm: Graphmem, ann: Pupil) -> None:
    await changed(gm, ann.who, "MATCH (n:Institution {institution: $i}) DELETE n")
    clear = another_replica(gm, settings=gm.settings.model_copy(update={"sealing_off": ann.who.institution}))
    with pytest.raises(Conflict, match="stored sealed"):
        await students.enrol(clear, Who(ann.who.institution, "bob"), PASSWORD)


@BOTH_FORMS
async def test_nobody_changes_the_form_of_a_student_by_hand(gm: Graphmem, ann: Pupil) -> None:
    await close_session(gm, ann.session, wait=True)
    value: Any = None if ann.session.keys.clear else "off"
    await changed(gm, ann.who, "MATCH (n:Student {institution: $i, id: $s}) SET n.sealing = $v", v=value)
    with pytest.raises(Locked):
        await again_open(gm, ann)
