"""The response to a surprise over HTTP: who reads it, what is said of it afterwards, and the questions it leaves."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from graphmem.app import Graphmem
from graphmem.jobs.runner import run_jobs
from graphmem.model import Level, MemoryRole, Role
from tests.conftest import PASSWORD, Enrol, Pupil, say
from tests.support.client import CLOSE, OPEN, TURN, Client, Refused
from tests.support.language import with_model
from tests.support.llm_server import Seen, llm_server
from tests.support.remembering import contents, told
from tests.support.surprising import counted, ids_of, memories_by_id, responded

Bearer = Callable[[Role], str]

ROME = "I live in Rome with my family."
PARIS = "Guess what, we moved to Paris!"
CONFUSED = "I don't understand why the denominator of a fraction must stay the same."
RESPONSE = """query($id: ID!) { memory(studentId: "ann", id: $id) { id content surpriseLevel flashbulb
  surpriseResponse { level signal explanation strategy offline
    beliefUpdates { priorId newId priorAssumption newUnderstanding confidenceDelta }
    actions { kind factCount episodeIds questions reflection } } } }"""
LEVELS = """query($id: ID!) { memory(studentId: "ann", id: $id) { surpriseLevel flashbulb reliability invalidAt } }"""
PAGE = 'query { student(id: "ann") { memories(first: 50) { items { id surpriseResponse { level } } } } }'
QUESTIONS = 'query { student(id: "ann") { questions { id text createdAt state } } }'
ANSWER = 'mutation($id: ID!, $text: String!) { answerQuestion(studentId: "ann", id: $id, text: $text) }'
CORRECT = """mutation($id: ID!, $verdict: Verdict!, $note: String) {
  correctSurprise(studentId: "ann", memoryId: $id, verdict: $verdict, note: $note) {
    id surpriseLevel flashbulb surpriseResponse { level } } }"""


async def code_of(client: Client, query: str, **variables: Any) -> str:
    with pytest.raises(Refused) as refused:
        await client.call(query, **variables)
    return refused.value.code


async def raw(client: Client, query: str, **variables: Any) -> Any:
    """The whole answer, where part of it is an error."""
    headers = {"Authorization": f"Bearer {client.token}", "X-Graphmem-Session": client.session or ""}
    answer = await client.http.post("/graphql", json={"query": query, "variables": variables}, headers=headers)
    return answer.json()


@pytest.fixture
async def moved(gm: Graphmem, ann: Pupil) -> Pupil:
    """Ann lived in Rome; that she has moved shakes everything, and her trouble with fractions does so again."""
    await told(gm, ann, ROME)
    await responded(gm, ann, PARIS, Level.PARADIGM_SHIFT)
    await responded(gm, ann, CONFUSED, Level.PARADIGM_SHIFT)
    return ann


# Reading


async def test_an_episode_tells_what_the_surprise_led_to(app_client: Client, moved: Pupil) -> None:
    found = (await app_client.call(RESPONSE, id="episode-2"))["surpriseResponse"]
    assert (found["level"], found["signal"], found["offline"]) == ("PARADIGM_SHIFT", 0.95, True)
    assert "I added 12 and 30" in found["explanation"]
    (update,) = found["beliefUpdates"]
    assert (update["priorId"], update["priorAssumption"]) == ("memory-1-1", ROME)
    assert "moved to Paris" in update["newUnderstanding"]
    assert -1 <= update["confidenceDelta"] <= 1
    done = {action["kind"]: action for action in found["actions"]}
    assert done["start_episode"]["episodeIds"] == ["episode-2"]
    assert done["update_beliefs"]["episodeIds"] == [update["newId"]]
    assert {"episode-2", "memory-2-1"} <= set(done["flashbulb"]["episodeIds"])
    # Of what was foreseen otherwise the turn has distilled what there was.
    assert done["extract_facts"]["factCount"] == 0
    assert done["queue_questions"]["questions"]
    assert done["self_reflect"]["reflection"]


def answered(seen: Seen) -> str | None:
    """Return what a model remembers of a move: it ends the old home, teaches, asks and names a way to teach."""
    if "<talk>" not in seen.question:
        return None
    note = {"about": "student", "kind": "trait", "ledger": "none", "importance": 0.9}
    rome = {"quote": "I live in Rome", "statement": "Ann lives in Rome.", "links": []}
    paris = {"quote": "we have moved to Paris", "statement": "Ann lives in Paris.", "links": ["ends 1"]}
    dad = {"quote": "My dad died last week", "statement": "Ann's father has died.", "links": []}
    found = [dad | note, paris | note] if "Paris" in seen.question else [rome | note]
    learned = "Ann is grieving for her father." if "unexpected" in seen.question else ""
    more = {"learned": learned, "question": "Who looks after you now?", "teach": "Begin gently."}
    return json.dumps({"notes": found} | (more if "Paris" in seen.question else {}))


async def test_with_a_language_model_its_notes_are_what_follows(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    with llm_server(answer=answered) as server:
        async with with_model(gm, server) as talking:
            await say(talking, ann, ROME)
            await run_jobs(talking, ann.session)
            outcome = await say(talking, ann, "My dad died last week and we have moved to Paris.")
            await run_jobs(talking, ann.session)
    assert outcome.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    items = {m["id"]: m["surpriseResponse"] for m in (await app_client.call(PAGE))["memories"]["items"]}
    (kept,) = (memory_id for memory_id, response in items.items() if response and memory_id.startswith("memory-2-"))
    found = (await app_client.call(RESPONSE, id=kept))["surpriseResponse"]
    assert (found["level"], found["signal"], found["offline"]) == (outcome.level.name, outcome.surprise, False)
    assert "Expected" in found["explanation"]
    assert "grieving" in found["explanation"]
    (update,) = found["beliefUpdates"]
    assert (update["priorAssumption"], update["newUnderstanding"]) == ("Ann lives in Rome.", "Ann lives in Paris.")
    assert found["strategy"] == "CONNECT_PRIOR"
    done = {action["kind"]: action for action in found["actions"]}
    assert done["extract_facts"]["factCount"] == 1
    assert done["update_beliefs"]["episodeIds"] == [update["newId"]]
    assert done["queue_questions"]["questions"] == ["Who looks after you now?"]
    assert done["self_reflect"]["reflection"] == "Begin gently."
    # Whichever memory of the message is corrected, the response is the same, and nothing was added to hold it.
    assert not await ids_of(gm, ann, MemoryRole.EPISODE)
    corrected = await app_client.call(CORRECT, id=update["newId"], verdict="WAS_NOT_IMPORTANT")
    assert (corrected["surpriseLevel"], corrected["flashbulb"]) == ("NORMAL", False)
    assert (await app_client.call(LEVELS, id=kept))["surpriseLevel"] == "NORMAL"


async def test_a_language_model_may_find_nothing_in_a_surprise(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    nothing = json.dumps({"notes": [], "learned": "", "question": "", "teach": ""})
    with llm_server(answer=lambda seen: nothing if "<talk>" in seen.question else None) as server:
        async with with_model(gm, server) as talking:
            outcome = await say(talking, ann, "My dad died last week and we have moved to Paris.")
            assert await run_jobs(talking, ann.session) >= 1
    assert outcome.level is not Level.NORMAL
    assert (await app_client.call(PAGE))["memories"]["items"] == []
    assert await app_client.call(QUESTIONS) == {"questions": []}


async def test_the_first_turn_of_all_begins_an_episode_by_itself(gm: Graphmem, app_client: Client, ann: Pupil) -> None:
    turn = await app_client.call(TURN, student="ann", turn="t", text=ROME, reply="How nice!")
    await asyncio.gather(*gm.background.tasks)
    await run_jobs(gm, ann.session)
    found = (await app_client.call(RESPONSE, id="episode-1"))["surpriseResponse"]
    assert (found["level"], found["signal"]) == (turn["level"], turn["surprise"])
    assert {action["kind"] for action in found["actions"]} >= {"start_episode", "extract_facts"}


async def test_a_memory_that_begins_no_episode_has_none_for_anybody(
    http: httpx.AsyncClient, bearer: Bearer, app_client: Client, moved: Pupil
) -> None:
    query = 'query { memory(studentId: "ann", id: "memory-2-1") { surpriseResponse { level } } }'
    for client in (app_client, Client(http, bearer(Role.AUDITOR))):
        assert await client.call(query) == {"surpriseResponse": None}


async def test_a_page_has_the_responses_of_its_episodes(gm: Graphmem, app_client: Client, moved: Pupil) -> None:
    items = (await app_client.call(PAGE))["memories"]["items"]
    with_response = {item["id"] for item in items if item["surpriseResponse"]}
    assert with_response == set(await ids_of(gm, moved, MemoryRole.EPISODE))
    assert {"episode-2", "episode-3"} <= with_response < {item["id"] for item in items}


async def test_without_the_session_the_level_is_seen_and_the_response_is_not(
    http: httpx.AsyncClient, bearer: Bearer, moved: Pupil
) -> None:
    answer = await raw(Client(http, bearer(Role.AUDITOR)), RESPONSE, id="episode-2")
    found = answer["data"]["memory"]
    assert (found["surpriseLevel"], found["flashbulb"]) == ("PARADIGM_SHIFT", True)
    assert (found["content"], found["surpriseResponse"]) == (None, None)
    locked = {error["path"][-1]: error["extensions"]["code"] for error in answer["errors"]}
    assert locked == {"content": "LOCKED", "surpriseResponse": "LOCKED"}


async def test_after_the_session_everything_is_locked(app_client: Client, moved: Pupil) -> None:
    (first, *_) = (await app_client.call(QUESTIONS))["questions"]
    await app_client.call(CLOSE, student="ann")
    for query, given in (
        (RESPONSE, {"id": "episode-2"}),
        (QUESTIONS, {}),
        (ANSWER, {"id": first["id"], "text": "Because of the cake."}),
        (CORRECT, {"id": "episode-2", "verdict": "WAS_IMPORTANT"}),
    ):
        assert await code_of(app_client, query, **given) == "LOCKED", query
    token = (await replace(app_client, session=None).call(OPEN, student="ann", password=PASSWORD))["token"]
    again = replace(app_client, session=token)
    assert first in (await again.call(QUESTIONS))["questions"]
    assert (await again.call(RESPONSE, id="episode-2"))["surpriseResponse"]["level"] == "PARADIGM_SHIFT"


async def test_another_student_sees_nothing_of_it(
    gm: Graphmem, http: httpx.AsyncClient, app_client: Client, moved: Pupil, enrol: Enrol
) -> None:
    """Bob has an episode of the same id."""
    bob = await enrol("bob")
    await told(gm, bob, "I like oboes.")
    await responded(gm, bob, "My oboe was stolen in Zurich!", Level.BOUNDARY)
    own = Client(http, app_client.token, bob.token)
    theirs = RESPONSE.replace('"ann"', '"bob"')
    assert "oboe" in str(await own.call(theirs, id="episode-2"))
    assert "Paris" not in str(await own.call(theirs, id="episode-2"))
    assert await own.call(theirs, id="episode-3") is None
    assert (await own.call(QUESTIONS.replace('"ann"', '"bob"')))["questions"] == []
    (first, *_) = (await app_client.call(QUESTIONS))["questions"]
    answer = ANSWER.replace('"ann"', '"bob"')
    assert await code_of(own, answer, id=first["id"], text="Because.") == "NOT_FOUND"
    verdict = CORRECT.replace('"ann"', '"bob"')
    assert await code_of(own, verdict, id="episode-3", verdict="WAS_IMPORTANT") == "NOT_FOUND"
    # Bob's session opens nothing of Ann's.
    for query, given in (
        (RESPONSE, {"id": "episode-2"}),
        (QUESTIONS, {}),
        (ANSWER, {"id": first["id"], "text": "Because."}),
        (CORRECT, {"id": "episode-2", "verdict": "WAS_NOT_IMPORTANT"}),
    ):
        assert await code_of(own, query, **given) == "LOCKED", query
    assert (await app_client.call(QUESTIONS))["questions"][0] == first
    assert (await app_client.call(LEVELS, id="episode-2"))["surpriseLevel"] == "PARADIGM_SHIFT"


# What is said of it afterwards


async def test_a_verdict_is_taken_both_ways_and_twice(gm: Graphmem, app_client: Client, moved: Pupil) -> None:
    for _ in range(2):
        note = await app_client.call(CORRECT, id="episode-2", verdict="WAS_NOT_IMPORTANT", note="It was a joke.")
        assert (note["id"], note["surpriseLevel"], note["flashbulb"]) == ("episode-2", "NORMAL", False)
        # What it had led to can still be read.
        assert note["surpriseResponse"] == {"level": "PARADIGM_SHIFT"}
    rome = await app_client.call(LEVELS, id="memory-1-1")
    assert (rome["reliability"], rome["invalidAt"]) == ("RELIABLE", None)
    assert (await counted(gm, moved))["verdicts"] == ["was_not_important"]
    for _ in range(2):
        again = await app_client.call(CORRECT, id="episode-2", verdict="WAS_IMPORTANT")
        assert (again["surpriseLevel"], again["flashbulb"]) == ("PARADIGM_SHIFT", True)
    rome = await app_client.call(LEVELS, id="memory-1-1")
    assert rome["reliability"] == "SUPERSEDED"
    assert rome["invalidAt"] is not None
    assert (await counted(gm, moved))["verdicts"] == ["was_not_important", "was_important"]


async def test_verdicts_that_will_not_do(gm: Graphmem, app_client: Client, moved: Pupil) -> None:
    good = {"id": "episode-2", "verdict": "WAS_NOT_IMPORTANT", "note": "It was a joke."}
    for given, code in (
        ({"id": "episode-99"}, "NOT_FOUND"),
        ({"id": "question-3"}, "NOT_FOUND"),
        ({"id": ""}, "INVALID_INPUT"),
        ({"id": "x" * 129}, "INVALID_INPUT"),
        ({"id": "a\nb"}, "INVALID_INPUT"),
        ({"verdict": "WAS_FUNNY"}, "INVALID_INPUT"),
        ({"verdict": None}, "INVALID_INPUT"),
        ({"note": " "}, "INVALID_INPUT"),
        ({"note": "x" * 2001}, "INVALID_INPUT"),
        ({"note": "a\x00b"}, "INVALID_INPUT"),
    ):
        assert await code_of(app_client, CORRECT, **(good | given)) == code, given
    assert "verdicts" not in await counted(gm, moved)
    assert "verdict" not in (await memories_by_id(gm, moved))["episode-2"]


# Questions


async def test_questions_wait_until_they_are_answered(gm: Graphmem, app_client: Client, moved: Pupil) -> None:
    questions = (await app_client.call(QUESTIONS))["questions"]
    # A later turn of the story may have asked the first already.
    assert {question["state"] for question in questions} - {"ASKED"} == {"WAITING"}
    assert all(question["text"].endswith("?") and question["createdAt"] for question in questions)
    first, *rest = questions
    answer = "My aunt Ilse in Bergen explained it with a cake."
    for _ in range(2):
        assert await app_client.call(ANSWER, id=first["id"], text=answer) is True
        assert (await app_client.call(QUESTIONS))["questions"] == rest
    # Remembered by the job that the answer started, without another turn.
    await asyncio.gather(*gm.background.tasks)
    await run_jobs(gm, moved.session)
    assert [text for text in await contents(gm, moved.session) if "Ilse" in text] == [answer]


async def test_answers_that_will_not_do(app_client: Client, moved: Pupil) -> None:
    before = (await app_client.call(QUESTIONS))["questions"]
    good = {"id": before[0]["id"], "text": "Because of the cake."}
    for given, code in (
        ({"id": "question-99"}, "NOT_FOUND"),
        ({"id": "episode-2"}, "NOT_FOUND"),
        ({"id": "reflection-3"}, "NOT_FOUND"),
        ({"id": ""}, "INVALID_INPUT"),
        ({"id": "x" * 129}, "INVALID_INPUT"),
        ({"text": ""}, "INVALID_INPUT"),
        ({"text": "x" * 33_000}, "INVALID_INPUT"),
        ({"text": "a\x00b"}, "INVALID_INPUT"),
    ):
        assert await code_of(app_client, ANSWER, **(good | given)) == code, given
    assert (await app_client.call(QUESTIONS))["questions"] == before


# Who may


@pytest.mark.parametrize("role", [Role.TEACHER, Role.AUDITOR, Role.ADMIN, Role.ANALYST])
async def test_only_an_app_speaks_for_a_student(
    http: httpx.AsyncClient, bearer: Bearer, moved: Pupil, role: Role
) -> None:
    """Not even with the student's session token."""
    for session in (None, moved.token):
        other = Client(http, bearer(role), session)
        for query, given in (
            (QUESTIONS, {}),
            (ANSWER, {"id": "question-3", "text": "Because."}),
            (CORRECT, {"id": "episode-2", "verdict": "WAS_IMPORTANT"}),
        ):
            assert await code_of(other, query, **given) == "FORBIDDEN", query


async def test_an_app_without_the_session_is_locked_out(app_client: Client, moved: Pupil) -> None:
    locked = replace(app_client, session=None)
    for query, given in (
        (QUESTIONS, {}),
        (ANSWER, {"id": "question-3", "text": "Because."}),
        (CORRECT, {"id": "episode-2", "verdict": "WAS_IMPORTANT"}),
    ):
        assert await code_of(locked, query, **given) == "LOCKED", query
