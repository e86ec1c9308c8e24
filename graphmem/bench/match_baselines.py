"""Match rates of predictions that know nothing, which stand beside every match rate (spec 4)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from graphmem.app import Graphmem
from graphmem.flows.sensing import Senses
from graphmem.model import Author, Message, Prediction
from graphmem.samples.dialogues import Dialogue, DialogueTurn, dialogue_turns
from graphmem.text.embedder import SHIPPED
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
        told = (("the message before", self.parrot), ("a random message", self.random))
        return ", ".join(f"{name} {rate:.0%}" for name, rate in told if rate is not None)


async def match_baselines(gm: Graphmem, dialogues: Sequence[Dialogue], seed: int) -> MatchBaselines:
    """Measure both on some dialogues.

    Parameters
    ----------
    gm : Graphmem, whose models judge
    dialogues : sequence of Dialogue
    seed : int, of the messages drawn from other dialogues

    Source: spec 4.
    """
    chance, said = random.Random(seed), {d.id: [turn.text for turn in dialogue_turns(d)] for d in dialogues}
    parrots: list[bool] = []
    strays: list[bool] = []
    for dialogue in dialogues:
        others = [text for name, texts in said.items() if name != dialogue.id for text in texts]
        for before, turn in pairwise(dialogue_turns(dialogue)):
            parrots.append(await _would_match(gm, before.text, turn))
            if others:
                strays.append(await _would_match(gm, chance.choice(others), turn))
    return MatchBaselines(fmean(parrots) if parrots else None, fmean(strays) if strays else None)


async def _would_match(gm: Graphmem, predicted: str, turn: DialogueTurn) -> bool:
    """True if a prediction would count as matched by what a student said."""
    asked, at = turn.before or "", gm.clock()
    guess, said, before = await gm.embedder.embed([predicted, turn.text, asked])
    senses = Senses(gm.affect, gm.matches, shipped=gm.embedder.name == f"onnx:{SHIPPED}")
    sensed = senses.of(
        Message(Author.STUDENT, turn.text, at, said),
        Message(Author.COMPANION, asked, at, before) if asked else None,
        Prediction(predicted, (), guess),
    )
    return sensed.match is not None and sensed.match >= MATCHED
