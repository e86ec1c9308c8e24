"""Memories, recall, context, ledger and observations over HTTP, and who may see what."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role
from graphmem.sealing import opened_token, session_token
from tests.conftest import PASSWORD, Enrol, Pupil
from tests.support.client import CLOSE, OPEN, Client, Refused
from tests.support.remembering import LIFE, as_said, held, lived

Bearer = Callable[[Role], str]

MEMORY = """query($id: ID!) { memory(studentId: "ann", id: $id) {
  id modality kind domain gravity salience confidence strength valence importance surprise surpriseLevel flashbulb
  consolidated inLedger snr reliability reinforcementCount accessCount timestamp lastAccessed validAt invalidAt
  contentHash mergedCount content sources { id kind ref at } edges { type weight fromId toId toLabel createdAt } } }"""
CLEAR = MEMORY.replace(" content sources", " sources")
MEMORIES = """query($first: Int, $after: String, $modality: Modality, $kind: MemoryKind, $reliability: Reliability,
  $min: Float, $asOf: DateTime) { student(id: "ann") { memories(first: $first, after: $after, modality: $modality,
  kind: $kind, reliability: $reliability, minGravity: $min, asOf: $asOf) {
    total next items { id content modality kind gravity reliability } } } }"""
AROUND = """query($id: ID!, $hops: Int, $min: Float) { student(id: "ann") {
  around(memoryId: $id, hops: $hops, minWeight: $min) { memories { id } edges { fromId toId type weight } } } }"""
RECALL = """query($q: String!, $limit: Int, $asOf: DateTime) { student(id: "ann") {
  recall(query: $q, limit: $limit, asOf: $asOf) { weight why sourceRefs memory { id content gravity } } } }"""
CONTEXT = """query($q: String!, $budget: Int, $asOf: DateTime) { student(id: "ann") {
  context(query: $q, tokenBudget: $budget, asOf: $asOf) {
    prompt tokens memories { memory { id } } ledger { id content } facts { id } weave { id } } } }"""
LEDGER = """query($category: LedgerCategory, $active: Boolean) { student(id: "ann") {
  ledger(category: $category, active: $active) {
    id category content summary importance triggers triggerEntities triggerThreshold isActive expiresAt } } }"""
ADD = """mutation($entry: LedgerInput!) { addLedgerEntry(studentId: "ann", entry: $entry) {
  id category content summary triggers isActive } }"""
SETTLE = """mutation($id: ID!, $note: String) { settleLedgerEntry(studentId: "ann", id: $id, note: $note) {
  id isActive } }"""
OBSERVE = """mutation($o: [ObservationInput!]!) { observe(studentId: "ann", observations: $o) { id kind ref at } }"""
TURN = """mutation($turn: ID!, $text: String!) { handleTurn(studentId: "ann", turnId: $turn, text: $text) {
  repeated recalled { weight why sourceRefs memory { id content } } ledger { id content } weave { id }
  jobs { id kind state } } }"""


async def code_of(client: Client, query: str, **variables: Any) -> str:
    with pytest.raises(Refused) as refused:
        await client.call(query, **variables)
    return refused.value.code


async def raw(http: httpx.AsyncClient, client: Client, query: str, **variables: Any) -> Any:
    headers = {"Authorization": f"Bearer {client.token}"}
    if client.session:
        headers["X-Graphmem-Session"] = client.session
    return (await http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)).json()


@pytest.fixture
async def ids(gm: Graphmem, ann: Pupil) -> dict[str, str]:
    """Ann's memories: ids by text."""
    return {text: memory.id for text, memory in (await lived(gm, ann)).items()}


# Reading


async def test_a_memory_with_all_its_fields(app_client: Client, ids: dict[str, str]) -> None:
    found = await app_client.call(MEMORY, id=ids[LIFE[0]])
    assert found["content"] == LIFE[0]
    assert (found["modality"], found["kind"], found["reliability"]) == ("EPISODIC", "EPISODE", "RELIABLE")
    assert [source["ref"] for source in found["sources"]] == ["r0"]
    assert {edge["toLabel"] for edge in found["edges"]} >= {"Memory", "Entity"}
    weights = [edge["weight"] for edge in found["edges"]]
    assert weights == sorted(weights, reverse=True)
    assert 0 < found["gravity"] <= 1
    assert await app_client.call(MEMORY, id="memory-nobody-has") is None
    for bad in ("", "x" * 129, "a\nb"):
        assert await code_of(app_client, MEMORY, id=bad) == "INVALID_INPUT"


async def test_edges_of_one_type_and_weight(app_client: Client, ids: dict[str, str]) -> None:
    query = """query($id: ID!, $min: Float) { memory(studentId: "ann", id: $id) {
      edges(type: PRECEDES, minWeight: $min) { type weight } } }"""
    found = (await app_client.call(query, id=ids[LIFE[1]], min=0.5))["edges"]
    assert len(found) == 2
    assert {edge["type"] for edge in found} == {"PRECEDES"}
    for bad in (-0.1, 1.1):
        assert await code_of(app_client, query, id=ids[LIFE[1]], min=bad) == "INVALID_INPUT"


async def test_pages_are_stable_and_hold_everything_once(app_client: Client, ids: dict[str, str]) -> None:
    seen, after = [], None
    while True:
        page = (await app_client.call(MEMORIES, first=2, after=after))["memories"]
        assert page["total"] == len(LIFE)
        again = (await app_client.call(MEMORIES, first=2, after=after))["memories"]
        assert again == page
        seen += [item["content"] for item in page["items"]]
        if (after := page["next"]) is None:
            break
    assert seen == list(LIFE[::-1])


async def test_filters(gm: Graphmem, app_client: Client, ann: Pupil, ids: dict[str, str]) -> None:
    everything = await held(gm, ann.session)

    async def listed(**wanted: Any) -> set[str]:
        page = (await app_client.call(MEMORIES, first=50, **wanted))["memories"]
        assert page["total"] == len(page["items"])
        return {item["id"] for item in page["items"]}

    for modality in ("EPISODIC", "SEMANTIC", "PROCEDURAL", "EMOTIONAL", "SENSORY"):
        assert await listed(modality=modality) == {m.id for m in everything if m.modality.name == modality}
    for kind in ("TRAIT", "CONCEPT", "EPISODE"):
        assert await listed(kind=kind) == {m.id for m in everything if m.kind.name == kind}
    assert await listed(reliability="RELIABLE") == set(ids.values())
    assert await listed(reliability="SUPERSEDED") == set()
    assert await listed(min=0.0) == set(ids.values())
    assert await listed(min=1.0) == {m.id for m in everything if m.gravity == 1.0 and m.in_ledger}
    assert await listed(asOf="2026-01-05T09:02:30Z") == {ids[text] for text in LIFE[:3]}


@pytest.mark.parametrize(
    "bad",
    [
        {"first": 0},
        {"first": -1},
        {"first": 201},
        {"first": 2**31},
        {"after": ""},
        {"after": "nonsense"},
        {"after": "12:"},
        {"after": ":memory-1"},
        {"after": f"{10**30}:memory-1"},
        {"after": f"{'9' * 6000}:memory-1"},
        {"after": "-99999999999999999:x"},
        {"after": "nan:x"},
        {"min": -0.1},
        {"min": 1.1},
        {"min": "NaN"},
        {"asOf": "yesterday"},
        {"asOf": "2026-01-01T00:00:00"},
        {"asOf": "0001-01-01T00:00:00+14:00"},
        {"asOf": "9999-12-31T23:59:59-14:00"},
        {"modality": "TELEPATHIC"},
        {"kind": "trait"},
        {"reliability": 1},
    ],
)
async def test_pages_that_will_not_do(app_client: Client, ids: dict[str, str], bad: dict[str, Any]) -> None:
    assert await code_of(app_client, MEMORIES, **({"first": 5} | bad)) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "cursor", ["0001-01-01T00:00:00+00:00/x", "9999-12-31T00:00:00+00:00/x", "1970-01-01T00:00:00+00:00/memory-1-1"]
)
async def test_a_cursor_of_another_time_is_a_place_like_any(
    app_client: Client, ids: dict[str, str], cursor: str
) -> None:
    page = (await app_client.call(MEMORIES, first=50, after=cursor))["memories"]
    assert len(page["items"]) in (0, len(LIFE))


async def test_a_neighbourhood(app_client: Client, ids: dict[str, str]) -> None:
    start = ids[LIFE[0]]
    sizes = []
    for hops in range(4):
        found = (await app_client.call(AROUND, id=start, hops=hops))["around"]
        shown = [memory["id"] for memory in found["memories"]]
        assert shown[0] == start
        assert len(shown) == len(set(shown))
        assert all({edge["fromId"], edge["toId"]} <= set(shown) for edge in found["edges"])
        sizes.append(len(shown))
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert sizes[3] > sizes[0]
    assert await code_of(app_client, AROUND, id="memory-nobody-has", hops=1) == "NOT_FOUND"
    for bad in ({"hops": -1}, {"hops": 4}, {"hops": 2, "min": 1.5}, {"hops": 2, "min": -1}, {"hops": "NaN"}):
        assert await code_of(app_client, AROUND, id=start, **bad) == "INVALID_INPUT"


async def test_recall_says_why(app_client: Client, ids: dict[str, str]) -> None:
    found = (await app_client.call(RECALL, q="What does uncle Ferdinand build?", limit=3))["recall"]
    assert found[0]["memory"]["content"] == LIFE[5]
    assert found[0]["sourceRefs"] == ["r5"]
    assert found[0]["why"]
    assert len(found) <= 3
    assert (await app_client.call(RECALL, q="What does uncle Ferdinand build?", asOf="2026-01-02T00:00:00Z"))[
        "recall"
    ] == []


@pytest.mark.parametrize(
    "bad",
    [
        {"q": ""},
        {"q": "   "},
        {"q": "x" * 33_000},
        {"q": "a\x00b"},
        {"q": None},
        {"limit": 0},
        {"limit": 101},
        {"limit": -1},
        {"limit": 1.5},
        {"asOf": "2026-01-01T00:00:00"},
        {"asOf": "0001-01-01T00:00:00Z"},
        {"asOf": "9999-12-31T23:59:59Z"},
    ],
)
async def test_questions_that_will_not_do(app_client: Client, ids: dict[str, str], bad: dict[str, Any]) -> None:
    assert await code_of(app_client, RECALL, **({"q": "colour", "limit": 5} | bad)) == "INVALID_INPUT"
    if "limit" not in bad:
        assert await code_of(app_client, CONTEXT, **({"q": "colour"} | bad)) == "INVALID_INPUT"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
async def test_what_is_no_number(http: httpx.AsyncClient, app_client: Client, ids: dict[str, str], number: str) -> None:
    headers = {"Authorization": f"Bearer {app_client.token}", "X-Graphmem-Session": app_client.session or ""}
    for query, name in ((MEMORIES, "min"), (AROUND, "min"), (CONTEXT, "budget"), (RECALL, "limit")):
        variables = {"first": 5, "q": "colour", "id": "memory-1-1", "hops": 1} | {name: "@"}
        body = json.dumps({"query": query, "variables": variables}).replace('"@"', number)
        answer = (
            await http.post("/graphql", content=body, headers=headers | {"Content-Type": "application/json"})
        ).json()
        assert answer["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


async def test_a_context_within_its_budget(app_client: Client, ids: dict[str, str]) -> None:
    found = (await app_client.call(CONTEXT, q="What does uncle Ferdinand build?"))["context"]
    assert LIFE[5] in found["prompt"]
    assert found["tokens"] <= 2000
    assert found["weave"] == []
    small = (await app_client.call(CONTEXT, q="What does uncle Ferdinand build?", budget=100))["context"]
    assert small["tokens"] <= 100
    for budget in (0, -1, 32_001):
        assert await code_of(app_client, CONTEXT, q="colour", budget=budget) == "INVALID_INPUT"


# The ledger


async def test_the_ledger_over_http(app_client: Client) -> None:
    entry = {"category": "PROMISE", "content": "I bring Zebediah the harmonica.", "triggers": ["harmonica"]}
    kept = await app_client.call(ADD, entry=entry)
    assert (kept["category"], kept["isActive"], kept["triggers"]) == ("PROMISE", True, ["harmonica"])
    assert (await app_client.call(ADD, entry=entry))["id"] == kept["id"]
    (listed,) = (await app_client.call(LEDGER))["ledger"]
    assert (listed["content"], listed["importance"], listed["triggerThreshold"]) == (entry["content"], 0.7, 0.7)
    assert (await app_client.call(CONTEXT, q="A harmonica?"))["context"]["ledger"][0]["id"] == kept["id"]
    assert await app_client.call(SETTLE, id=kept["id"], note="done") == {"id": kept["id"], "isActive": False}
    assert (await app_client.call(LEDGER, active=True))["ledger"] == []
    assert len((await app_client.call(LEDGER, category="PROMISE", active=False))["ledger"]) == 1
    assert await code_of(app_client, SETTLE, id="ledger-nobody-has") == "NOT_FOUND"
    fact = await app_client.call(ADD, entry={"category": "FACT", "content": "Born in Oslo."})
    assert await code_of(app_client, SETTLE, id=fact["id"]) == "INVALID_INPUT"


@pytest.mark.parametrize(
    "bad",
    [
        {"content": ""},
        {"content": "x" * 33_000},
        {"importance": 1.5},
        {"importance": "NaN"},
        {"triggers": [""]},
        {"triggers": ["dog"] * 21},
        {"category": "RUMOUR"},
        {"expiresAt": "2020-01-01T00:00:00Z"},
        {"surprise": 1},
    ],
)
async def test_entries_that_will_not_do(app_client: Client, bad: dict[str, Any]) -> None:
    entry = {"category": "FACT", "content": "Born in Oslo."} | bad
    assert await code_of(app_client, ADD, entry=entry) == "INVALID_INPUT"
    assert (await app_client.call(LEDGER))["ledger"] == []


# Observing


async def test_observations_of_an_open_student_are_formed_behind_the_answer(
    gm: Graphmem, app_client: Client, ann: Pupil
) -> None:
    given = [{"text": LIFE[0], "kind": "LESSON", "ref": "l1"}, {"text": LIFE[1], "kind": "PROMPT_RUN"}]
    noted = await app_client.call(OBSERVE, o=given)
    assert [source["kind"] for source in noted] == ["LESSON", "PROMPT_RUN"]
    assert noted[0]["ref"] == "l1"
    assert noted[1]["ref"]
    await asyncio.gather(*gm.background.tasks)
    await run_jobs(gm, ann.session)
    assert {as_said(memory) for memory in await held(gm, ann.session)} == set(LIFE[:2])
    assert (await app_client.call(OBSERVE, o=given[:1])) == noted[:1]


async def test_a_teacher_observes_a_locked_student_and_cannot_read_it(
    gm: Graphmem, app_client: Client, http: httpx.AsyncClient, bearer: Bearer, ann: Pupil
) -> None:
    await app_client.call(CLOSE, student="ann")
    teacher = Client(http, bearer(Role.TEACHER))
    await teacher.call(OBSERVE, o=[{"text": LIFE[2], "kind": "TEACHER", "ref": "n1"}])
    token = (await replace(app_client, session=None).call(OPEN, student="ann", password=PASSWORD))["token"]
    await run_jobs(gm, opened_token(gm.secret, token, gm.clock()))
    opened = replace(app_client, session=token)
    found = (await opened.call(RECALL, q="Which arm did she break?"))["recall"]
    assert found[0]["memory"]["content"] == LIFE[2]
    assert await code_of(teacher, MEMORY, id=found[0]["memory"]["id"]) == "FORBIDDEN"


async def sources_in(gm: Graphmem, institution: str) -> int:
    rows = await gm.graph.execute("MATCH (s:Source {institution: $i}) RETURN s", {"i": institution}, reads=True)
    return len(rows)


async def test_an_app_with_a_session_that_will_not_do_writes_no_observation(
    gm: Graphmem, app_client: Client, enrol: Enrol, ann: Pupil
) -> None:
    ben = await enrol("ben")
    expired = session_token(gm.secret, replace(ann.session, expires_at=gm.clock() - timedelta(seconds=1)))
    for token in (ben.token, expired, "garbage"):
        observed = [{"text": LIFE[0], "kind": "LESSON"}]
        assert await code_of(replace(app_client, session=token), OBSERVE, o=observed) == "LOCKED"
    assert await sources_in(gm, ann.who.institution) == 0


async def test_a_caller_observes_so_many_times_a_minute(gm: Graphmem, app_client: Client, bearer: Bearer) -> None:
    good = {"text": "Good.", "kind": "LESSON", "ref": "l1"}
    for _ in range(gm.settings.observations_minute // 200):
        await app_client.call(OBSERVE, o=[good] * 200)
    assert await code_of(app_client, OBSERVE, o=[good] * 200) == "RATE_LIMITED"
    await replace(app_client, token=bearer(Role.TEACHER)).call(OBSERVE, o=[good] * 100)


@pytest.mark.parametrize("token", ["garbage", "own", "other"])
async def test_of_teacher_and_admin_a_session_is_ignored(
    gm: Graphmem, http: httpx.AsyncClient, bearer: Bearer, ids: dict[str, str], ann: Pupil, enrol: Enrol, token: str
) -> None:
    sent = {"own": ann.token, "other": (await enrol("ben")).token}.get(token, token)
    before = await sources_in(gm, ann.who.institution)
    for count, role in enumerate((Role.TEACHER, Role.ADMIN), 1):
        other = Client(http, bearer(role), sent)
        await other.call(OBSERVE, o=[{"text": LIFE[0], "kind": "LESSON"}])
        assert await sources_in(gm, ann.who.institution) == before + count
        assert await code_of(other, CLEAR, id=ids[LIFE[0]]) == "FORBIDDEN"
        assert (await other.call('{ student(id: "ann") { locked } }'))["locked"] is True


@pytest.mark.parametrize(
    "bad",
    [
        {"text": ""},
        {"text": "x" * 33_000},
        {"text": "a\x00b"},
        {"ref": ""},
        {"ref": "x" * 129},
        {"speaker": "x" * 101},
        {"kind": "GOSSIP"},
        {"kind": None},
        {"at": "2999-01-01T00:00:00Z"},
        {"at": "2026-01-01T00:00:00"},
    ],
)
async def test_observations_that_will_not_do(gm: Graphmem, app_client: Client, ann: Pupil, bad: dict[str, Any]) -> None:
    good = {"text": LIFE[0], "kind": "LESSON", "ref": "l1"}
    assert await code_of(app_client, OBSERVE, o=[good, {**good, "ref": "l2"} | bad]) == "INVALID_INPUT"
    rows = await gm.graph.execute("MATCH (s:Source {institution: $i}) RETURN s", {"i": ann.who.institution}, reads=True)
    assert rows == []


async def test_observing_nobody_and_too_much(app_client: Client) -> None:
    good = {"text": "Good.", "kind": "LESSON"}
    other = OBSERVE.replace('"ann"', '"nobody"')
    assert await code_of(replace(app_client, session=None), other, o=[good]) == "NOT_FOUND"
    assert await code_of(app_client, OBSERVE, o=[good] * 201) == "INVALID_INPUT"


# The turn


async def test_a_turn_tells_what_it_recalled_and_again_when_repeated(
    gm: Graphmem, app_client: Client, ids: dict[str, str]
) -> None:
    entry = {"category": "DEBT", "content": "Owes Ferdinand five euros.", "triggers": ["matchbox"]}
    kept = await app_client.call(ADD, entry=entry)
    question = "What does my uncle Ferdinand build out of matchboxes?"
    once = await app_client.call(TURN, turn="t", text=question)
    assert not once["repeated"]
    assert LIFE[5] in [each["memory"]["content"] for each in once["recalled"]]
    assert all(each["why"] and each["sourceRefs"] for each in once["recalled"])
    # What must never be forgotten comes with it: the allergy.
    assert kept["id"] in [each["id"] for each in once["ledger"]]
    assert [job["kind"] for job in once["jobs"]] == ["form"]
    await asyncio.gather(*gm.background.tasks)
    again = await app_client.call(TURN, turn="t", text=question)
    assert again == once | {"repeated": True}
    told = await app_client.call(TURN, turn="t2", text="Submarines, submarines, submarines!")
    assert not told["repeated"]


# Who may


async def test_an_auditor_sees_numbers_and_no_content(
    http: httpx.AsyncClient, bearer: Bearer, ids: dict[str, str]
) -> None:
    other = Client(http, bearer(Role.AUDITOR))
    memory_id = ids[LIFE[0]]
    assert (await other.call(CLEAR, id=memory_id))["snr"] > 0
    answer = await raw(http, other, MEMORY, id=memory_id)
    assert answer["data"]["memory"]["content"] is None
    assert answer["data"]["memory"]["edges"]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"LOCKED"}
    page = await raw(http, other, MEMORIES, first=50)
    assert len(page["data"]["student"]["memories"]["items"]) == len(LIFE)
    assert {item["content"] for item in page["data"]["student"]["memories"]["items"]} == {None}
    assert len((await other.call(AROUND, id=memory_id, hops=3))["around"]["memories"]) > 1
    for query, variables in ((RECALL, {"q": "colour"}), (CONTEXT, {"q": "colour"}), (LEDGER, {})):
        assert await code_of(other, query, **variables) == "FORBIDDEN"
    assert await code_of(other, TURN, turn="t", text="Hello") == "FORBIDDEN"
    assert await code_of(other, ADD, entry={"category": "FACT", "content": "x"}) == "FORBIDDEN"
    assert await code_of(other, SETTLE, id="x") == "FORBIDDEN"


@pytest.mark.parametrize("role", [Role.TEACHER, Role.ADMIN])
async def test_others_see_no_single_memory(
    http: httpx.AsyncClient, bearer: Bearer, ids: dict[str, str], role: Role
) -> None:
    other = Client(http, bearer(role))
    for query, variables in ((MEMORY, {"id": ids[LIFE[0]]}), (MEMORIES, {"first": 5}), (CLEAR, {"id": ids[LIFE[0]]})):
        assert await code_of(other, query, **variables) == "FORBIDDEN"
    assert await code_of(other, AROUND, id=ids[LIFE[0]], hops=1) == "FORBIDDEN"


async def test_an_auditor_does_not_observe(http: httpx.AsyncClient, bearer: Bearer, ann: Pupil) -> None:
    for role in (Role.AUDITOR, Role.ANALYST):
        observed = [{"text": "x", "kind": "TEACHER"}]
        assert await code_of(Client(http, bearer(role)), OBSERVE, o=observed) == "FORBIDDEN"


async def test_an_analyst_reads_no_student(http: httpx.AsyncClient, bearer: Bearer, ids: dict[str, str]) -> None:
    analyst = Client(http, bearer(Role.ANALYST))
    for query, variables in (
        (MEMORY, {"id": ids[LIFE[0]]}),
        (MEMORIES, {"first": 5}),
        (AROUND, {"id": ids[LIFE[0]], "hops": 1}),
        (RECALL, {"q": "colour"}),
        (CONTEXT, {"q": "colour"}),
        (LEDGER, {}),
    ):
        assert await code_of(analyst, query, **variables) == "FORBIDDEN"


async def test_an_app_without_the_session_sees_no_memory(app_client: Client, ids: dict[str, str]) -> None:
    locked = replace(app_client, session=None)
    for query, variables in ((MEMORY, {"id": ids[LIFE[0]]}), (MEMORIES, {"first": 5})):
        assert await code_of(locked, query, **variables) == "LOCKED"
    for query, variables in ((RECALL, {"q": "colour"}), (CONTEXT, {"q": "colour"}), (LEDGER, {})):
        assert await code_of(locked, query, **variables) == "LOCKED"


async def test_after_the_session_an_app_is_locked_out(app_client: Client, ids: dict[str, str]) -> None:
    await app_client.call(CLOSE, student="ann")
    for query, variables in (
        (MEMORY, {"id": ids[LIFE[0]]}),
        (MEMORIES, {"first": 5}),
        (AROUND, {"id": ids[LIFE[0]], "hops": 1}),
        (RECALL, {"q": "colour"}),
        (CONTEXT, {"q": "colour"}),
        (LEDGER, {}),
        (ADD, {"entry": {"category": "FACT", "content": "x"}}),
        (SETTLE, {"id": "x"}),
    ):
        assert await code_of(app_client, query, **variables) == "LOCKED"
