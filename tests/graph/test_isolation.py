"""No student sees anything of another one: same ids on purpose, every query, every field, also all at once (spec 2)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product
from typing import Any
from uuid import uuid4

import pytest

from graphmem.app import Graphmem
from graphmem.bearer import make_token
from graphmem.errors import Locked, NotFound
from graphmem.flows import students
from graphmem.flows.context import context, recall
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries, settle_entry
from graphmem.flows.memories import find_around, find_memory, list_memories
from graphmem.flows.observation import observe
from graphmem.flows.surprise import answer_question, correct_surprise, list_questions
from graphmem.flows.uncertainty import check_action, list_uncertainties, resolve_uncertainty, undo_resolution
from graphmem.flows.uncertainty_plan import Settling
from graphmem.jobs.runner import run_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import EdgeType, Level, Resolution, Role, Verdict, Who
from graphmem.store import ledger, memories, queries, turns, uncertainties
from graphmem.store.jobs import Kind
from graphmem.store.memories import Filter, forgetting_curve
from graphmem.store.nodes import LAST, from_ms
from tests.conftest import PASSWORD, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.remembering import asked, held, nodes, observations
from tests.support.surprising import asking, response_of, surprises
from tests.support.whole_life import lives

STUDENT_READS = sorted(
    name for name, query in queries.load().items() if query.reads and {"institution", "student_id"} <= query.params
)
SECRETS = {"ann": "marmalade", "bob": "harmonica", "elsewhere": "zeppelin"}
QUESTION = "Who hides a marmalade, harmonica or zeppelin from Ottilie in the cellar, and which submarine is owed?"


@asynccontextmanager
async def living(gm: Graphmem) -> AsyncIterator[dict[str, Pupil]]:
    """Two students of one institution and one of another, the same in all but one word, down to the ids."""
    school, found = f"school-{uuid4().hex}", dict[str, Pupil]()
    for name, who in (
        ("ann", Who(school, "ann")),
        ("bob", Who(school, "bob")),
        ("elsewhere", Who(f"other-{school}", "ann")),
    ):
        await students.enrol(gm, who, PASSWORD, f"Name of {name}")
        token, session = await students.open_session(gm, who, PASSWORD)
        found[name] = Pupil(who, PASSWORD, session, token)
    await asyncio.gather(*(lives(gm, pupil, SECRETS[name]) for name, pupil in found.items()))
    yield found
    # Nothing is left waiting for the sweeper, which serves every student.
    for pupil in found.values():
        await close_session(gm, pupil.session, wait=True)


@pytest.fixture(scope="module")
async def pupils(gm: Graphmem) -> AsyncIterator[dict[str, Pupil]]:
    """For tests that only read: living a life takes seconds."""
    async with living(gm) as found:
        yield found


@pytest.fixture
async def own_pupils(gm: Graphmem) -> AsyncIterator[dict[str, Pupil]]:
    """For a test that changes all of them."""
    async with living(gm) as found:
        yield found


@pytest.fixture(scope="module")
async def changed_pupils(gm: Graphmem) -> AsyncIterator[dict[str, Pupil]]:
    """For tests that change something, each on top of what others have changed."""
    async with living(gm) as found:
        yield found


def others(pupils: dict[str, Pupil], name: str) -> list[str]:
    return [secret for each, secret in SECRETS.items() if each != name]


async def test_the_students_share_ids_but_nothing_else(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    """What the other tests here stand on."""
    for label in ("Memory", "Turn", "Source", "Fact"):
        ids = [{node["id"] for node in await nodes(gm, pupil.who, label)} for pupil in pupils.values()]
        assert len(set.intersection(*ids)) > len(ids[0]) / 2, label
    for label in ("LedgerEntry", "Entity"):
        for name, pupil in pupils.items():
            own = {node["id"] for node in await nodes(gm, pupil.who, label)}
            rest = {n["id"] for other in pupils if other != name for n in await nodes(gm, pupils[other].who, label)}
            assert own, label
            assert not own & rest, label


async def test_no_edge_leads_from_one_student_to_another(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    for pupil in pupils.values():
        found = await asked(
            gm,
            pupil.who,
            """MATCH (a {institution: $i, student_id: $s})-[r]-(b)
               WHERE b.institution <> $i OR b.student_id <> $s RETURN type(r) AS type""",
        )
        assert found == []


async def seen(gm: Graphmem, pupil: Pupil) -> str:
    """Everything that reading shows of one student, as one text."""
    session, who = pupil.session, pupil.who
    found: list[Any] = [
        await held(gm, session),
        await memories.list_since(gm.graph, session, 0),
        await memories.list_linked(gm.graph, session, 0, 0.0),
        await memories.list_used(gm.graph, session, from_ms(0)),
        await memories.state(gm.graph, session, gm.clock()),
        await ledger.list_stored_entries(gm.graph, session, gm.clock()),
        await list_entries(gm, session),
        await list_facts(gm, session, 50),
        await list_questions(gm, session),
        await response_of(gm, session, "episode-5"),
        await list_uncertainties(gm, who, session),
        await uncertainties.find_surprised(gm.graph, session, "episode-5"),
        await turns.list_turns(gm.graph, session),
        await turns.list_unanswered(gm.graph, session),
        await turns.before(gm.graph, session, "t0", gm.clock()),
        (await list_memories(gm, who, Filter(), 50, None, session)).items,
        await recall(gm, session, QUESTION, 100, None),
        await context(gm, session, QUESTION, 32_000, None),
    ]
    for memory in await held(gm, session):
        found.append(await find_memory(gm, who, memory.id, session))
        found.append(await find_around(gm, who, memory.id, 3, 0.0, session))
    # Texts are left out of what a value prints, so they are gathered one by one.
    return "\n".join(said(found)).lower()


def said(of: Any) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, dict):
        for key, value in of.items():
            yield from said(key)
            yield from said(value)
    elif isinstance(of, list | tuple | set | frozenset):
        for value in of:
            yield from said(value)
    elif hasattr(of, "__dataclass_fields__"):
        for name in of.__dataclass_fields__:
            yield from said(getattr(of, name))


@pytest.mark.parametrize("fresh", [False, True])
async def test_reading_shows_ones_own_only(gm: Graphmem, pupils: dict[str, Pupil], fresh: bool) -> None:
    where = another_replica(gm) if fresh else gm
    for name, pupil in pupils.items():
        shown = await seen(where, pupil)
        assert SECRETS[name] in shown
        assert not any(secret in shown for secret in others(pupils, name))


async def test_reading_at_once_shows_ones_own_only(gm: Graphmem, replica: Graphmem, pupils: dict[str, Pupil]) -> None:
    names = [*pupils] * 4
    found = await asyncio.gather(*(seen((gm, replica)[i % 2], pupils[name]) for i, name in enumerate(names)))
    for name, shown in zip(names, found, strict=True):
        assert SECRETS[name] in shown
        assert not any(secret in shown for secret in others(pupils, name))


async def test_forming_and_talking_at_once_mixes_nobody_up(gm: Graphmem, own_pupils: dict[str, Pupil]) -> None:
    async def goes_on(name: str) -> None:
        for i in range(5):
            await say(
                gm, own_pupils[name], f"On day {i} my {SECRETS[name]} learned {i + 2} new songs in Bergen.", f"n{i}"
            )
            await observe(gm, own_pupils[name].who, observations([f"The {SECRETS[name]} won {i} prizes."] * 3))
            await run_jobs(gm, own_pupils[name].session)

    await asyncio.gather(*map(goes_on, own_pupils))
    for name, pupil in own_pupils.items():
        shown = await seen(another_replica(gm), pupil)
        assert not any(secret in shown for secret in others(own_pupils, name))


async def test_a_memory_found_by_a_shared_id_is_ones_own(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    for name, pupil in pupils.items():
        memory = await find_memory(gm, pupil.who, "memory-1-1", pupil.session)
        assert memory is not None
        assert SECRETS[name] in (memory.content or "")


async def test_what_only_another_has_is_not_there(gm: Graphmem, changed_pupils: dict[str, Pupil]) -> None:
    own = {name: await list_entries(gm, pupil.session) for name, pupil in changed_pupils.items()}
    await gm.graph.execute(
        "MATCH (m:Memory {institution: $i, student_id: 'bob', id: 'memory-3-1'}) SET m.id = 'only-bob'",
        {"i": changed_pupils["bob"].who.institution},
        reads=False,
    )
    for name in ("ann", "elsewhere"):
        pupil = changed_pupils[name]
        assert await find_memory(gm, pupil.who, "only-bob", pupil.session) is None
        with pytest.raises(NotFound):
            await find_around(gm, pupil.who, "only-bob", 3, 0.0, pupil.session)
        assert await memories.list_edges(gm.graph, pupil.who, ["only-bob"]) == {"only-bob": []}
        assert await memories.list_sources(gm.graph, pupil.who, ["only-bob"]) == {"only-bob": []}
        assert await response_of(gm, pupil.session, "only-bob") is None
        with pytest.raises(NotFound):
            await correct_surprise(gm, pupil.session, "only-bob", Verdict.WAS_IMPORTANT, "")
        with pytest.raises(NotFound):
            await check_action(gm, pupil.session, ["only-bob"], "Plan.", 0.5)
        for entry in own["bob"]:
            with pytest.raises(NotFound):
                await settle_entry(gm, pupil.session, entry.id)
    assert await list_entries(gm, changed_pupils["bob"].session) == own["bob"]


async def everything(gm: Graphmem, who: Who) -> list[str]:
    query = (
        "MATCH (n {institution: $i}) WHERE $s IN [n.student_id, n.id] RETURN properties(n) AS n, COUNT { (n)--() } AS c"
    )
    return sorted(map(repr, await asked(gm, who, query)))


async def test_what_follows_a_surprise_touches_nobody_else(gm: Graphmem, changed_pupils: dict[str, Pupil]) -> None:
    """The others have the same ids: of the turn, its episode, beliefs, facts and questions."""
    before = {name: await everything(gm, changed_pupils[name].who) for name in ("bob", "elsewhere")}
    ann = changed_pupils["ann"]
    await surprises(gm, ann, "I don't understand what marmalade has to do with fractions.", Level.PARADIGM_SHIFT)
    await run_jobs(asking(gm), ann.session)
    for verdict in (Verdict.WAS_NOT_IMPORTANT, Verdict.WAS_IMPORTANT):
        await correct_surprise(gm, ann.session, "episode-5", verdict, "So it was.")
    question = next(each for each in await list_questions(gm, ann.session) if each.id == "question-4")
    await answer_question(gm, ann.session, question.id, "I spread marmalade on half of a bread.")
    for name, known in before.items():
        assert await everything(gm, changed_pupils[name].who) == known
        assert question.id in [each.id for each in await list_questions(gm, changed_pupils[name].session)]


async def test_settling_a_doubt_of_a_shared_id_touches_nobody_else(
    gm: Graphmem, changed_pupils: dict[str, Pupil]
) -> None:
    before = {name: await everything(gm, changed_pupils[name].who) for name in ("bob", "elsewhere")}
    await resolve_uncertainty(gm, changed_pupils["ann"].session, "doubt-1", Settling(Resolution.NEWER_WINS))
    await undo_resolution(gm, changed_pupils["ann"].session, "doubt-1")
    for name, known in before.items():
        assert await everything(gm, changed_pupils[name].who) == known


async def test_the_keys_of_one_open_nothing_of_another(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    mixed = replace(pupils["ann"].session, student_id="bob")
    for reading in (
        recall(gm, mixed, QUESTION, 20, None),
        context(gm, mixed, QUESTION, 2000, None),
        list_entries(gm, mixed),
        correct_surprise(gm, mixed, "episode-5", Verdict.WAS_IMPORTANT, ""),
        list_facts(gm, mixed, 5),
        list_uncertainties(gm, mixed, mixed),
        find_memory(gm, pupils["bob"].who, "memory-1-1", mixed),
        list_memories(gm, pupils["bob"].who, Filter(), 5, None, mixed),
        find_around(gm, pupils["bob"].who, "memory-1-1", 1, 0.0, mixed),
    ):
        with pytest.raises(Locked):
            await reading


# Every statement of ours


def parameters(asking: Pupil, shared: dict[str, Any], name: str) -> dict[str, Any]:
    """Values for every parameter a reading statement may have, that would find the other one's if anything could."""
    given = shared | {
        "institution": asking.who.institution,
        "student_id": asking.who.student_id,
        "session_id": asking.session.session_id,
    }
    if name.startswith("integrity/"):
        given |= {"ids": shared["by_label"]}
    wanted = queries.load()[name].params
    missing = wanted - given.keys()
    assert not missing, f"{name}.cypher has parameters this test cannot fill: {sorted(missing)}; add them here"
    if name.startswith("concern/") or name == "memory/list_used":
        given |= {"since": from_ms(0)}
    if name.startswith("source/"):
        given |= {"id": shared["observation"]}
    return {key: given[key] for key in wanted}


async def shared_by(gm: Graphmem, other: Pupil, asking: Pupil) -> dict[str, Any]:
    """Ids of another student, and what else lets as much through as possible; `id` only the other one has."""
    only = {node["id"] for node in await nodes(gm, other.who, "Memory")}
    only -= {node["id"] for node in await nodes(gm, asking.who, "Memory")}
    ids = {
        label: [node["id"] for node in await nodes(gm, other.who, label)]
        for label in ("Memory", "LedgerEntry", "Entity", "Fact", "Source", "Turn", "Job")
    }
    known = await asked(gm, other.who, "MATCH (:Student {institution: $i, id: $s})-[:KNOWS]->(c) RETURN c.id AS id")
    everything = [*(each for found in ids.values() for each in found), "doubt-1", *(row["id"] for row in known)]
    elements = "MATCH (n {institution: $i, student_id: $s}) RETURN elementId(n) AS e"
    types = [*(each.value for each in EdgeType), "FORMED_FROM", "LEARNED", "KEEPS", "CONCERNS"]
    more = ("Uncertainty", "Concern", "Question", "Reflection", "Compression")
    by_label = ids | {label: [node["id"] for node in await nodes(gm, other.who, label)] for label in more}
    by_label |= {"Entity": [node["key"] for node in await nodes(gm, other.who, "Entity")]}
    by_label |= {"Source": [f"{node['kind']}:{node['ref']}" for node in await nodes(gm, other.who, "Source")]}
    by_label |= {"Student": ["student"], "Companion": ["companion"], "Discovered": everything}
    by_label |= {"Concept": [row["id"] for row in known]}
    alone = """MATCH (m:Memory {institution: $i, student_id: $s, role: 'said'})-[:FORMED_FROM]->(o:Source)
               WHERE o.kind <> 'chat' AND COUNT { (m)-[:FORMED_FROM]->() } = 1 RETURN o.id AS id ORDER BY id LIMIT 1"""
    ((observation,),) = [row.values() for row in await asked(gm, other.who, alone)]
    return {
        "observation": observation,
        "id": max(ids["Memory"], key=lambda known: (known in only, known)),
        "ids": everything,
        "elements": [row["e"] for row in await asked(gm, other.who, elements)],
        "by_label": by_label,
        "places": {label: [list(place) for place in product(found, types)] for label, found in by_label.items()},
        "numbers": list(range(1024)),
        "held": [],
        "turn_id": "t0",
        "turn_ids": ["t0"],
        "memory_id": "episode-1",
        "since": 0,
        "after": "",
        "hops": 3,
        "limit": 1000,
        "weak": [],
        "now": gm.clock(),
        "min_weight": 0.0,
        "min_gravity": 0.0,
        "seconds_before": 1e6,
        "seconds_after": 1e6,
        **forgetting_curve(gm.clock()),
        "before_time": LAST,
        "before_id": "",
        "before_ref": "",
        "first": 1000,
        "seq": 0,
        "kinds": [kind.value for kind in Kind],
        "weeks": [{"start": from_ms(0), "end": LAST}],
        **dict.fromkeys(
            ("until", "label", "kind", "reliability", "as_of", "category", "active", "state", "states", "severity")
        ),
        "memory_ids": everything,
    }


def values(of: Any) -> Iterator[Any]:
    """Every value in a row that could tell something of somebody."""
    if isinstance(of, dict):
        for value in of.values():
            yield from values(value)
    elif isinstance(of, list | tuple):
        for value in of:
            yield from values(value)
    elif isinstance(of, bytes | bytearray):
        yield bytes(of)
    elif isinstance(of, str):
        yield of


async def own_values(gm: Graphmem, who: Who) -> set[Any]:
    """Everything sealed, and every id, key and hash, of one student, with what the database calls its nodes."""
    rows = await asked(
        gm, who, "MATCH (n {institution: $i, student_id: $s}) WHERE NOT n:Student RETURN n {.*, e: elementId(n)} AS n"
    )
    # Concepts are shared; that a student knows one is the student's own.
    rows += await asked(
        gm,
        who,
        """MATCH (:Student {institution: $i, id: $s})-[knows:KNOWS]->(concept:Concept)
           OPTIONAL MATCH (concept)-[found:DISCOVERED {institution: $i, student_id: $s}]->()
           RETURN {name: concept.name, notes: knows.notes, edge: found.edge_id} AS n""",
    )
    telling = {value for row in rows for value in values(row["n"])}
    return {value for value in telling if isinstance(value, bytes) or len(value) > 12}


async def test_no_statement_shows_anything_of_another_student(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    theirs = {each: await own_values(gm, pupil.who) for each, pupil in pupils.items()}
    shared = await shared_by(gm, pupils["bob"], pupils["ann"])
    # One life serves all statements, which only read: living it takes seconds.
    # What is not known yet is the world's, whoever else knows it.
    for name, each in product([name for name in STUDENT_READS if name != "overlay/frontier"], ("ann", "elsewhere")):
        query = queries.load()[name]
        only_others = set().union(*(theirs[o] for o in pupils if o != each)) - theirs[each]
        for given in (shared, shared | {"id": "memory-1-1"}):
            asking = {queries.GIVEN: parameters(pupils[each], given, name)}
            rows = await gm.graph.execute(query.text, asking, reads=True)
            shown = set(values([list(row.values()) for row in rows]))
            assert shown & only_others == set(), name


async def test_the_statements_do_show_ones_own(gm: Graphmem, pupils: dict[str, Pupil]) -> None:
    bob = pupils["bob"]
    theirs, shared = await own_values(gm, bob.who), await shared_by(gm, bob, pupils["ann"])
    silent = set()
    for name in STUDENT_READS:
        given = {queries.GIVEN: parameters(bob, shared, name)}
        rows = await gm.graph.execute(queries.load()[name].text, given, reads=True)
        if not set(values([list(row.values()) for row in rows])) & theirs:
            silent.add(name)
    # These answer with numbers, kinds and ids too short to be one student's alone, or about what nobody did here.
    assert silent <= {
        "analyst/edges_by_type",
        "compression/list",
        "event/get_marks",
        "export/list_edges",
        "import/find",
        "integrity/get_root",
        "integrity/list_notes",
        "overlay/frontier",
        "overlay/get_versions",
        "overlay/list_ids",
        "overlay/list_practice",
        "overlay/list_retentions",
        "concern/count",
        "concern/find",
        "concern/list",
        "concern/list_weeks",
        "job/any_running",
        "job/any_waiting",
        "job/count_waiting_talk",
        "student/count",
        "job/count",
        "memory/count",
        "analyst/memories_by_gravity",
        "analyst/memories_by_kind",
        "memory/list_spanless",
        "memory/get_state",
        "source/count",
        "student/find",
        "analyst/surprise_actions",
        "analyst/surprise_levels",
        "thought/list",
        "thought/list_kept",
        "uncertainty/list_opposed_edges",
        "usage/sum",
    }


# Every field of the API

FIELDS = """query($id: ID!, $memory: ID!, $q: String!) { student(id: $id) {
  memories(first: 50) { total items { id content contentHash sources { id ref } edges { fromId toId } } }
  around(memoryId: $memory, hops: 3) { memories { id content } edges { fromId toId } }
  recall(query: $q, limit: 100) { memory { content } sourceRefs why }
  context(query: $q, tokenBudget: 32000) { prompt ledger { content } facts { text } memories { memory { content } } }
  facts { text } ledger { id content summary triggers triggerEntities }
} }"""


async def test_no_field_shows_anything_of_another_student(gm: Graphmem, pupils: dict[str, Pupil], http: Any) -> None:
    clients = {
        name: Client(http, make_token(gm.secret, p.who.institution, Role.APP, 60, gm.clock()), p.token)
        for name, p in pupils.items()
    }

    async def shown(name: str) -> str:
        student = pupils[name].who.student_id
        return str(await clients[name].call(FIELDS, id=student, memory="memory-1-1", q=QUESTION)).lower()

    names = [*pupils] * 3
    for name, text in zip(names, await asyncio.gather(*map(shown, names)), strict=True):
        assert SECRETS[name] in text
        assert not any(secret in text for secret in others(pupils, name))
    # Somebody else's session opens nothing, within the institution or from another one.
    for mine, theirs in (("ann", "bob"), ("elsewhere", "ann"), ("bob", "elsewhere")):
        client = replace(clients[theirs], session=clients[mine].session)
        with pytest.raises(Refused) as refused:
            await client.call(FIELDS, id=pupils[theirs].who.student_id, memory="memory-1-1", q=QUESTION)
        assert refused.value.code == "LOCKED"
