"""A thousand hidden concepts and 360 prompts that try to get one named: none is, whoever answers."""

import base64
import codecs
import json
import re
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from graphmem.app import Graphmem
from graphmem.flows.context import context, recall
from graphmem.flows.overlay import fog_of, reveal
from graphmem.flows.world import WorldDraft, import_world, read_world
from graphmem.model import Author, Concept, Message, Prediction, Respond, Response
from graphmem.samples import SAMPLES
from tests.conftest import Pupil, say
from tests.support.client import Client
from tests.support.minds import ScriptedMind
from tests.support.remembering import told

PROMPTS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "leak_prompts.jsonl").read_text("utf-8").splitlines()
]
CURRICULUM = [concept for _, concept in read_world(SAMPLES / "mathematics" / "world.csv").concepts]
MADE_UP = [Concept(f"made-{i}", f"Quorvian lemma {i}", (f"lema quorviano {i}",)) for i in range(600)]
KNOWN = [concept.id for concept in CURRICULUM if concept.grade is not None and concept.grade <= 2]


def misspelled(name: str) -> str:
    """A name without the fifth letter of its longest word, where that has eight or more."""
    longest = max(name.split(), key=len)
    return name.replace(longest, longest[:4] + longest[5:]) if len(longest) >= 8 else name


WAYS: tuple[Callable[[str], str], ...] = (
    str, str.upper, "-".join, " ".join, "\n".join, "*".join, "\u200b".join,
    lambda name: misspelled(name),
    lambda name: name[::-1],
    lambda name: name.replace("o", "0").replace("i", "1").replace("e", "3").replace("a", "4"),
    lambda name: name.replace("a", "а").replace("e", "е").replace("o", "о"),
    lambda name: name.replace(" ", "\n\n"),
    lambda name: f"**{name[:3]}**{name[3:]}",
    lambda name: base64.b64encode(name.encode()).decode(),
    lambda name: name.encode().hex(" "),
    lambda name: codecs.encode(name, "rot13"),
    lambda name: "".join(f"&#{ord(c)};" for c in name),
    lambda name: "".join(part.title() for part in name.split()),
)  # fmt: skip
"""Ways to write a name: plain, letter by letter, backwards, in look-alike letters, in pieces, in codes ..."""
EVERY_TEXT = """query($s: ID!) { student(id: $s) {
    memories(first: 100) { items { content quote surpriseResponse { explanation } } }
    facts { text tags } ledger { content summary triggers } questions { text } uncertainties { reasoning } } }"""


@pytest.fixture
async def beginner(gm: Graphmem, ann: Pupil) -> Pupil:
    """Ann, who knows what the first two grades hold of a curriculum."""
    await import_world(gm, ann.who.institution, WorldDraft([(c.id, c) for c in CURRICULUM], []))
    await reveal(gm, ann.session, KNOWN)
    return ann


@pytest.fixture
async def pupil(gm: Graphmem, beginner: Pupil) -> Pupil:
    """Ann, who has heard of more at home, in a world of a thousand concepts."""
    await import_world(gm, beginner.who.institution, WorldDraft([(c.id, c) for c in MADE_UP], []))
    hidden = [name for concept in CURRICULUM if concept.id not in KNOWN for name in hard_names(concept)][::40]
    await told(gm, beginner, *(f"My sister learns {name} at her school and she loves it." for name in hidden))
    return beginner


def hard_names(concept: Concept) -> list[str]:
    """Names that are no words of ordinary talk: whether those are meant is a judgement, measured elsewhere."""
    return [name for name in (concept.name, *concept.aliases) if len(name) > 7 and (" " in name or len(name) > 11)]


def forbidden(known: Iterable[str]) -> re.Pattern[str]:
    """Finds what must not be said, by plain search: names of hidden concepts that are no part of a known one's."""
    shown = [name.casefold() for c in CURRICULUM if c.id in known for name in (c.name, *c.aliases)]
    hidden = (name.casefold() for c in (*CURRICULUM, *MADE_UP) if c.id not in known for name in hard_names(c))
    names = sorted({name for name in hidden if not any(name in each for each in shown)}, key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, names)) + r")\b")


def asked(names: list[str]) -> list[str]:
    """The prompts, filled with hidden and known names in turn."""
    hidden, known = cycle(names), cycle(["counting", "addition", "triangle"])
    return [row["prompt"].replace("{hidden}", next(hidden)).replace("{known}", next(known)) for row in PROMPTS]


@pytest.mark.timeout(900)
async def test_nothing_hidden_is_named(gm: Graphmem, pupil: Pupil, app_client: Client) -> None:
    secret = [name for c in CURRICULUM if c.id not in KNOWN for name in hard_names(c)]
    search, prompts = forbidden(KNOWN), asked(secret)
    assert len(prompts) == 360
    assert len((await fog_of(gm, pupil.who)).known) == len(KNOWN)
    leaks: list[str] = []

    def look(where: str, text: str) -> None:
        leaks.extend(f"{where}: {found}" for found in search.findall(text.casefold()))

    # A name without a long word is not looked for backwards or rotated.
    names, ways = cycle(name for name in secret if name.isascii() and len(max(name.split(), key=len)) > 4), cycle(WAYS)
    written: list[str] = []

    async def answer(question: Any) -> Response:
        name = next(names)
        written.append(next(ways)(name))
        text = f"Great question! The next thing is {written[-1]}. They also call it {name}; have fun!"
        if len(written) % 2:
            text = f"Great question! The next thing is {written[-1]}. Have fun!"
        return Response(Message(Author.COMPANION, text, question.talk.messages[-1].at), Prediction("Fine."))

    loose = ScriptedMind(gm.offline, {Respond: answer}, name="loose", slow=True)
    repaired = 0
    for i, prompt in enumerate(prompts):
        # A turn recalls, too; what is asked for beside it is looked at in turns.
        if i % 2:
            look("recall", str([r.memory.words for r in await recall(gm, pupil.session, prompt)]))
        else:
            look("context", (await context(gm, pupil.session, prompt)).prompt)
        look("offline", (await say(gm, pupil, prompt)).reply)
        if i % 3 == 0:
            outcome = await say(gm, pupil, prompt, mind=loose)
            look("model", outcome.reply)
            leaks += [f"model: {written[-1]}"] if written[-1] in outcome.reply else []
            # What sounds like danger is answered with help instead.
            repaired += gm.settings.not_yet in outcome.reply or outcome.concern is not None
    look("lists", json.dumps(await app_client.call(EVERY_TEXT, s="ann")))
    assert leaks == []
    assert repaired == 120


async def test_what_is_known_is_still_spoken_of(gm: Graphmem, beginner: Pupil) -> None:
    known = [concept.name for concept in CURRICULUM if concept.id in KNOWN]
    kept = 0
    for name in known:

        async def answer(question: Any, name: str = name) -> Response:
            text = f"Today we look at {name} once more."
            return Response(Message(Author.COMPANION, text, question.talk.messages[-1].at), Prediction("Fine."))

        mind = ScriptedMind(gm.offline, {Respond: answer}, name="loose", slow=True)
        kept += name in (await say(gm, beginner, "What do we do today?", mind=mind)).reply
    assert kept == len(known)
