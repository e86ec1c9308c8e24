"""Recorded dialogues as turns, and match rates of predictions that know nothing, which stand beside all others."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from statistics import fmean

from graphmem.app import Graphmem
from graphmem.flows.findings import Senses
from graphmem.flows.turn import Incoming
from graphmem.llm.fallback import make_mind
from graphmem.model import Author, Message, Prediction
from graphmem.offline.exemplars import load_bank
from graphmem.offline.mind import OfflineMind
from graphmem.samples.dialogues import Dialogue, DialogueTurn, dialogue_turns
from graphmem.text.matching import MATCHED


@dataclass(frozen=True)
class MatchBaselines:
    """Match rates on the same messages, but for the first ones of their dialogues; None where nothing was compared.

    parrot : of the student's previous message as prediction
    random : of a message of another dialogue
    """

    parrot: float | None
    random: float | None

    def __str__(self) -> str:
        rates = (("the message before", self.parrot), ("a random message", self.random))
        return ", ".join(f"{name} {rate:.0%}" for name, rate in rates if rate is not None)


def recorded_turn(dialogue: Dialogue, place: int, turn: DialogueTurn, at: datetime) -> Incoming:
    """Return a student's message of a recorded dialogue with the tutor's reply, the task, and first the opening."""
    opener = turn.before if place == 0 else None
    return Incoming(f"{dialogue.id}#{place}", turn.text, at, turn.reply, dialogue.topic, opener)


@asynccontextmanager
async def held_out(gm: Graphmem, dialogues: Sequence[Dialogue]) -> AsyncIterator[Graphmem]:
    """The same graphmem, but what the offline mind has learned from these very dialogues is taken out of its bank."""
    bank = await load_bank(gm.embedder)
    offline = OfflineMind(bank.without({dialogue.id for dialogue in dialogues}), gm.embedder, gm.reader)
    mind = make_mind(gm.settings, offline)
    try:
        yield replace(gm, offline=offline, mind=mind)
    finally:
        await mind.aclose()


async def match_baselines(gm: Graphmem, dialogues: Sequence[Dialogue], seed: int) -> MatchBaselines:
    """Measure both baselines on some dialogues.

    Parameters
    ----------
    gm : Graphmem, whose models judge
    dialogues : sequence of Dialogue
    seed : int, of the messages drawn from other dialogues

    Source: spec 4.
    """
    chance, texts = random.Random(seed), {d.id: [turn.text for turn in dialogue_turns(d)] for d in dialogues}
    parrots: list[bool] = []
    strays: list[bool] = []
    for dialogue in dialogues:
        others = [text for name, said in texts.items() if name != dialogue.id for text in said]
        for before, turn in pairwise(dialogue_turns(dialogue)):
            parrots.append(await _would_match(gm, before.text, turn))
            if others:
                strays.append(await _would_match(gm, chance.choice(others), turn))
    return MatchBaselines(fmean(parrots) if parrots else None, fmean(strays) if strays else None)


async def _would_match(gm: Graphmem, predicted: str, turn: DialogueTurn) -> bool:
    """Return whether a prediction would count as matched by a student's message."""
    asked, at = turn.before or "", gm.clock()
    guess, said, before = await gm.embedder.embed([predicted, turn.text, asked])
    (reading,) = await gm.reader.read([turn.text])
    senses = Senses(gm.affect, gm.matches, shipped=gm.is_shipped)
    sensed = senses.of(
        Message(Author.STUDENT, turn.text, at, said),
        reading,
        Message(Author.COMPANION, asked, at, before) if asked else None,
        Prediction(predicted, (), guess),
    )
    return sensed.match is not None and sensed.match >= MATCHED
