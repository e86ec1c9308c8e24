"""Pairs of two texts of which is known whether what is asked of them holds: what answering and ending learn from."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from graphmem.text.embedder import ShippedNetwork

from .networks import train_own_layers
from .options import WRITTEN, lines
from .tower import SEED, of_like_length

CHAT_MEMORIES = WRITTEN / "chat_memories.jsonl"
LIKE, OTHERS = 4, 2
"""Of the statements for which it does not hold the nearest, and further ones, that a text meets."""
LIKE_IN_CHAT, OTHERS_IN_CHAT = 6, 3
"""The same of what was said in a whole chat."""
PART, TYPED_ANEW = 5_000, 0.3
"""Pairs of students in an epoch; share of what was typed in chats that is typed once more."""
EPOCHS = 1


@dataclass(frozen=True, eq=False)
class PairRow:
    """Two texts, and whether what is asked about them holds."""

    first: str
    second: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from: of students, of which as many as `PART` are met in an epoch, and of whole chats.

    own : in own words, all met in an epoch; beside them of chats as many as `PART`
    """

    students: list[PairRow]
    chats: list[PairRow]
    own: Sequence[PairRow] = ()

    def of_epoch(self, as_typed: Callable[[str, random.Random], str], rng: random.Random) -> list[PairRow]:
        """Return the pairs of an epoch; the first text as it might be typed, where it is not typed so already."""
        met = [(row, True) for row in rng.sample(self.students, min(PART, len(self.students)))]
        chats = rng.sample(self.chats, min(PART, len(self.chats))) if self.own else self.chats
        met += [(row, rng.random() < TYPED_ANEW) for row in (*chats, *self.own)]
        return [replace(row, first=as_typed(row.first, rng)) if anew else row for row, anew in met]


def of_students(students: Sequence[dict[str, Any]], asked: str, text: str, holds: str) -> list[PairRow]:
    """Return each text of students with statements of theirs.

    Parameters
    ----------
    students : each with `statements`, and with what is asked about them
    asked, text, holds : the keys of that list, and in it of a text and of the places of statements for which it holds
    """
    rng, embed = random.Random(SEED), ShippedNetwork(2)
    found: list[PairRow] = []
    for student in students:
        told = student["statements"]
        vectors = embed.encode(told)
        for each in student[asked]:
            likeness = vectors @ embed.encode([each[text]])[0]
            others = [i for i in np.argsort(-likeness) if i not in each[holds]]
            places = [*each[holds], *others[:LIKE], *rng.sample(others[LIKE:], OTHERS)]
            found += [PairRow(each[text], told[i], i in each[holds]) for i in places]
    return found


def of_chat(told: dict[str, str], asked: Sequence[dict[str, Any]], text: str, holds: str, alike: str) -> list[PairRow]:
    """Return the same of a whole chat.

    Parameters
    ----------
    told : what was said and what was formed of it, by its id: the number of the message, with a letter what was formed
    asked : texts with the ids for which it holds
    text, holds, alike : the keys of each of a text, of the ids for which it holds, and of those that only seem so
    """
    rng, embed = random.Random(SEED), ShippedNetwork(2)
    ids, vectors = list(told), embed.encode(list(told.values()))
    found: list[PairRow] = []
    for each in asked:
        right = [one for one in each[holds] if one in told]
        # What else was formed of a message that holds may hold as well.
        messages = {message_of(one) for one in each[holds]}
        likeness = vectors @ embed.encode([each[text]])[0]
        others = [ids[i] for i in np.argsort(-likeness) if message_of(ids[i]) not in messages]
        met = dict.fromkeys([*(one for one in each[alike] if one in told and one not in right), *others[:LIKE_IN_CHAT]])
        further = [one for one in others if one not in met]
        met |= dict.fromkeys(rng.sample(further, min(OTHERS_IN_CHAT, len(further))))
        found += [PairRow(each[text], told[one], one in right) for one in (*right, *met)]
    return found


def message_of(one: str) -> str:
    """Return the number of the message that an id belongs to: of "12b" 12."""
    return one.rstrip("abcdefgh")


def chats_of(split: str) -> list[dict[str, Any]]:
    """Return the chats of a split, with what was said and formed in them and what is asked."""
    return [chat for chat in lines(CHAT_MEMORIES) if chat["split"] == split]


def train(rows: Rows, as_typed: Callable[[str, random.Random], str], folder: Path) -> None:
    """Train the network of a folder further; the first texts are met as they might be typed."""

    def batches(rng: random.Random) -> Iterator[list[tuple[str, PairRow]]]:
        return of_like_length([(f"{row.first} {row.second}", row) for row in rows.of_epoch(as_typed, rng)], rng)

    def loss(answers: Tensor, known: Sequence[PairRow]) -> Tensor:
        truth = torch.tensor([float(row.holds) for row in known])
        return functional.binary_cross_entropy_with_logits(answers[:, 0], truth)

    train_own_layers(folder, EPOCHS, batches, lambda item: (item[1].first, item[1].second), loss)


def judged(groups: Sequence[tuple[Sequence[float], Sequence[bool]]], sure: float) -> dict[str, float]:
    """Return how well is found what holds: of the best of each group, where it is sure, and of all scores.

    Parameters
    ----------
    groups : scores of the statements that a text met, and for which it holds
    sure : score from which on the best one counts

    Returns
    -------
    texts for which something holds and the share of them whose best is right and sure; texts for which nothing holds
    and the share of them for which something is sure; precision of what is sure, recall and average precision
    """
    from sklearn.metrics import average_precision_score

    best = [(max(scores), holds[int(np.argmax(scores))], any(holds)) for scores, holds in groups]
    taken = [(right, able) for score, right, able in best if score >= sure]
    hits, wanted = sum(right for right, _ in taken), sum(sum(holds) for _, holds in groups)
    able = sum(each for *_, each in best)
    scores, truth = ([value for group in groups for value in group[side]] for side in (0, 1))
    found = {
        "something holds": able,
        "found": hits / max(1, able),
        "nothing holds": len(best) - able,
        "found wrongly": sum(not each for _, each in taken) / max(1, len(best) - able),
        "precision": hits / max(1, len(taken)),
        "recall": hits / max(1, wanted),
        "average precision": float(average_precision_score(truth, scores)),
    }
    return {name: round(value, 3) for name, value in found.items()}
