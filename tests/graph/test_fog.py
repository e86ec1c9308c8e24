"""What a student has not met of the world is kept out of what is shown, on the real database and over the API."""

from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows.context import context, recall
from graphmem.flows.ledger import Draft, add_entry
from graphmem.flows.overlay import reveal
from graphmem.flows.world import import_world
from graphmem.model import Author, Concept, LedgerCategory, Message, Prediction, Respond, Response
from tests.conftest import Pupil, say
from tests.support.client import Client
from tests.support.minds import ScriptedMind
from tests.support.remembering import told
from tests.unit.test_world import draft

FRACTION = Concept("fraction", "fraction", ("Bruch",), "A part of a whole, such as one half.", "mathematics")
MEAN = Concept("mean", "mean", ("average",), "The sum of some numbers divided by how many there are.", "mathematics")
WORLD = draft(FRACTION, MEAN, Concept("sum", "adding up"))
TOLD = "My brother Max says that fractions are the hardest thing at school."


@pytest.fixture
async def foggy(gm: Graphmem, ann: Pupil) -> Pupil:
    """Ann, who has met nothing of a world of three concepts."""
    await import_world(gm, ann.who.institution, WORLD)
    return ann


async def test_a_memory_comes_back_once_its_concept_is_revealed(gm: Graphmem, foggy: Pupil) -> None:
    await told(gm, foggy, TOLD)
    for question in ("What does my brother say?", "What is hard at school?"):
        assert all("fraction" not in r.memory.words for r in await recall(gm, foggy.session, question))
        assert "fraction" not in (await context(gm, foggy.session, question)).prompt
    await reveal(gm, foggy.session, ["fraction"])
    found = await recall(gm, foggy.session, "What does my brother say?")
    assert any("fractions" in r.memory.words for r in found)


async def test_another_replica_sees_at_once_what_was_revealed_or_imported(
    gm: Graphmem, replica: Graphmem, foggy: Pupil
) -> None:
    await told(gm, foggy, TOLD)
    assert await recall(replica, foggy.session, "my brother Max") == []
    await reveal(gm, foggy.session, ["fraction"])
    assert await recall(replica, foggy.session, "my brother Max") != []
    await import_world(gm, foggy.who.institution, draft(Concept("max", "brother Max")))
    assert await recall(replica, foggy.session, "my brother Max") == []


async def test_another_institution_has_another_world(gm: Graphmem, ann: Pupil) -> None:
    await import_world(gm, f"{ann.who.institution}-other", WORLD)
    await told(gm, ann, TOLD)
    assert await recall(gm, ann.session, "my brother Max") != []


async def test_a_common_word_in_its_common_sense_stays(gm: Graphmem, foggy: Pupil) -> None:
    await told(gm, foggy, "My neighbour is mean to my little dog Bella.", "I hate the mean of numbers in statistics.")
    found = [r.memory.words for r in await recall(gm, foggy.session, "What do I think of what is mean?")]
    assert any("Bella" in words for words in found)
    assert not any("statistics" in words for words in found)


async def test_ledger_entries_do_not_surface(gm: Graphmem, foggy: Pupil) -> None:
    entry = Draft(LedgerCategory.PROMISE, "We practise fractions on Friday.", triggers=("Friday",))
    await add_entry(gm, foggy.session, entry)
    assert (await context(gm, foggy.session, "What is on Friday?")).ledger == ()
    await reveal(gm, foggy.session, ["fraction"])
    assert len((await context(gm, foggy.session, "What is on Friday?")).ledger) == 1


def replying(gm: Graphmem, text: str) -> ScriptedMind:
    """A model that answers so, whatever is asked."""

    async def answer(question: Any) -> Response:
        talk = question.talk
        return Response(Message(Author.COMPANION, text, talk.messages[-1].at), Prediction("Fine.", ()))

    return ScriptedMind(gm.offline, {Respond: answer}, name="loose", slow=True)


async def test_a_reply_that_names_what_is_hidden_is_repaired(gm: Graphmem, foggy: Pupil) -> None:
    mind = replying(gm, "Well done! Next month come FRACTIONS. A Bruch is fun. What do you mean by that?")
    outcome = await say(gm, foggy, "What comes next?", mind=mind)
    assert outcome.reply == f"Well done! {gm.settings.not_yet} What do you mean by that?"
    await reveal(gm, foggy.session, ["fraction"])
    outcome = await say(gm, foggy, "And what comes next now?", mind=mind)
    assert "FRACTIONS" in outcome.reply


async def test_no_token_of_a_hidden_name_leaves(gm: Graphmem, foggy: Pupil) -> None:
    pieces: list[str] = []

    async def shown(piece: str) -> None:
        pieces.append(piece)

    mind = gm.offline
    outcome = await say(gm, foggy, TOLD, mind=mind, on_token=shown)
    assert "".join(pieces) == outcome.reply
    assert "fraction" not in outcome.reply.lower()


async def test_lists_and_errors_are_blanked_too(gm: Graphmem, foggy: Pupil, app_client: Client) -> None:
    await told(gm, foggy, TOLD)
    query = """query($s: ID!) { student(id: $s) { all: memories(first: 5) { items { ...words } } facts { text }
        overlay { items { concept { name } } } frontier { name } } }
        fragment words on Memory { content quote }"""
    student = await app_client.call(query, s="ann")
    listed = student["all"]["items"]
    assert listed
    assert "fraction" not in str(listed).lower()
    assert "___" in str(listed)
    assert "fraction" in [concept["name"] for concept in student["frontier"]]
    await reveal(gm, foggy.session, ["fraction"])
    student = await app_client.call(query, s="ann")
    assert "fractions" in str(student["all"])
