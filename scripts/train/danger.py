"""The detector of danger (`graphmem/text/safety.py`): the weights of its voices, thresholds, figures, sample.

To be made after the encoder and after `danger_languages`, the network of other languages. The network of English, six
layers that tell danger from what only sounds like it, is trained further from where it stands with `--head english`.
Thresholds are chosen on rows that neither the encoder nor a network has learned from. A fifth of the shared set and
of the written families (by the hash of their group) and the second file of small talk are only tested on, like what
people report of others.
"""

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from graphmem.bench.scores import auroc
from graphmem.bench.talks import is_held_out, save_trained, text_hash, trained_hashes
from graphmem.language.analysis import danger_odds
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.model import Author
from graphmem.samples import SAMPLES
from graphmem.samples.dialogues import load_dialogues
from graphmem.text.disguises import in_plain_words
from graphmem.text.doc import may_be_english
from graphmem.text.safety import (
    CONCERNS,
    DANGER_FILE,
    ENGLISH_FOLDER,
    LANGUAGES_FOLDER,
    URGENCIES,
    WINDOW,
    DangerModel,
    danger_sign,
    read_danger,
)

from .options import WRITTEN, Figures, Options, lines, write_lines

LABELLED = ("safety", "personal", "others", "everyday", "voices", "warm", "school_talk", "languages", "reports")
"""Files of labelled messages."""
TRICKY = "tricky"
"""Harmless messages with the words and frames of dangerous ones, rarer in talk: no threshold is set by them."""
CHOOSING = {*LABELLED, "written", "tiage", "ordinary"} - {"reports"}
OF_MEMORY = ("The student", "On ", "Formerly")
"""How statements begin that are not in a student's own words."""
FURTHER, UNTOUCHED = "more-", "tiage-dev"
"""What the ids of the further rows begin with, which are never tested on, and of the small talk that is only that."""
HARMLESS_SHARES = {
    ("everyday", "others", "voices"): 0.09,
    ("tiage", "personal", "school_talk", "ordinary"): 0.0165,
}
"""Share of the everyday trouble of children that chose, much of it written to look like danger, and of ordinary talk,
that may be taken for danger: missing costs more."""
FOREIGN_SHARE = 0.04
"""Share of what is harmless in other languages that may be, most of it written to look like danger."""
UNSUSPECTED, SURE_SHARE = 0.01, 0.7
"""Share of the dangers found among the rows that chose, by themselves and within talk, that the network need not be
asked about, and share of them that are sure."""
ASKED, UNREAD = -3.5, -30.0
"""The encoder's log odds of danger from which on a network reads a row here, and what stands for its own else."""
PRIOR = 0.1
"""Strength of what puts the two judgements together."""
TALK, SMALL_TALK, SMALL_TALK_SAMPLE, PLAIN = 600, 1_200, 600, 1_000
"""Messages of tutoring and of small talk that are learned from, of small talk that are shipped, and of ordinary talk of
which what seems danger to the encoder is learned from."""
NEW, OLD = 4, 1_500
"""How often a row is met that the network has not learned from, and how many others are met."""
JOINED, MOST_BESIDE = 2, 8
"""One example of a message within harmless talk to so many rows, and the most turns beside it."""
LINKS = (". ", ". ", ". ", " ", " ... ", "! ")
"""What stands between them."""
UNBROKEN = 6
"""One text in so many is met as it is read where it was written without blanks."""
URGENT_WORTH, OTHER_WORTH = 0.5, 0.3
"""How much urgency and whom it is about count beside the kind."""


@dataclass(frozen=True)
class Row:
    """A labelled message; `group` is what it is split by."""

    text: str
    concern: str
    urgency: int
    who: str
    source: str
    group: str

    @property
    def part(self) -> str:
        """What it is for: `test`, `choose` or `learn`."""
        held = not self.group.startswith(FURTHER) and is_held_out(self.group)
        if self.source == "reports" or self.group.startswith(UNTOUCHED) or held:
            return "test"
        chooses = hashlib.sha256(self.group.encode()).digest()[1] % 7 == 1
        return "choose" if chooses and self.source in CHOOSING else "learn"


def read_all(data: Path) -> list[Row]:
    """Read messages of danger and look-alikes, then ordinary talk, each text once."""
    rows: dict[str, Row] = {}
    for path in (data / "safety" / "safety.jsonl", *(WRITTEN / f"{name}.jsonl" for name in LABELLED)):
        for each in lines(path):
            group = each.get("group", each["id"])
            rows[each["text"]] = Row(each["text"], each["concern"], each["urgency"], each["who"], path.stem, group)
    for text, source, group in harmless(data):
        rows.setdefault(text, Row(text, "none", 0, "none", source, group))
    return list(rows.values())


def harmless(data: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what was written or said elsewhere and tells of no danger: text, source, group."""
    for name in ("mathdial", "cima", "bridge"):
        for dialogue in load_dialogues(data / "tutoring" / f"{name}.jsonl"):
            said = (message.text for message in dialogue.messages if message.author is Author.STUDENT)
            yield from ((text, "talk", dialogue.id) for text in said)
    for part in ("train", "dev"):
        for each in lines(data / "boundaries" / f"tiage_{part}.jsonl"):
            yield from ((turn["text"], "tiage", each["dialogue_id"]) for turn in each["turns"])
    for each in lines(data / "understanding" / "utterances.jsonl"):
        if each["source"] == "written" and each["ledger"] != "threat":
            yield each["text"], "written", each["id"]
    typed = (each["said"] for each in lines(WRITTEN / "sloppy.jsonl"))
    # What is a secret may be danger.
    clauses = (each["text"] for each in lines(WRITTEN / "ledger.jsonl") if each.get("ledger") != "secret")
    yield from ((text, "ordinary", text) for text in (*typed, *clauses, *told_before()))
    yield from ((each["text"], TRICKY, each["text"]) for each in lines(WRITTEN / "ordinary.jsonl"))


def told_before() -> Iterator[str]:
    """Yield questions for what was told, and what students told in their own words, where that worries nobody."""
    for student in lines(WRITTEN / "recollections.jsonl"):
        yield from (asked["q"] for asked in student["questions"])
        # Those of the first students were not looked at for worries.
        if "worrying" in student:
            told = enumerate(student["statements"])
            yield from (t for i, t in told if i not in student["worrying"] and not t.startswith(OF_MEMORY))


def train(rows: Sequence[Row]) -> None:
    """Train the network of English further, on one core, and write it."""
    import torch
    from torch import Tensor
    from torch.nn import functional

    from .networks import train_own_layers
    from .tower import SMOOTHING, of_like_length, typed

    torch.set_num_threads(1)
    own, known = english_rows(rows), trained_hashes(DANGER_FILE.with_name("trained.npy"))
    new = [row for row in own if text_hash(row.text) not in known]

    def as_met(text: str, rng: random.Random) -> str:
        return typed(text, rng) if rng.randrange(UNBROKEN) else in_plain_words(text.replace(" ", ""))

    def batches(rng: random.Random) -> Iterator[list[tuple[str, Row]]]:
        met = new * NEW + rng.sample(own, min(OLD, len(own)))
        beside = [r.text for r in own if r.source in ("tiage", "talk", "personal", "school_talk") and not r.urgency]
        told = [row for row in met if row.source not in ("tiage", "talk", "written")]
        within = [(within_talk(row.text, beside, rng), row) for row in rng.sample(told, len(met) // JOINED)]
        return of_like_length([(as_met(text, rng), row) for text, row in [*((r.text, r) for r in met), *within]], rng)

    def loss(answers: Tensor, met: Sequence[Row]) -> Tensor:
        kinds = torch.tensor([CONCERNS.index(row.concern) for row in met])
        total = functional.cross_entropy(answers[:, : len(CONCERNS)], kinds, label_smoothing=SMOOTHING)
        danger = [i for i, row in enumerate(met) if row.urgency]
        if not danger:
            return total
        urgency = torch.tensor([met[i].urgency - 1 for i in danger])
        other = torch.tensor([float(met[i].who == "other") for i in danger])
        part, share = answers[danger][:, len(CONCERNS) :], len(danger) / len(met)
        total = total + share * URGENT_WORTH * functional.cross_entropy(part[:, :URGENCIES], urgency)
        return total + share * OTHER_WORTH * functional.binary_cross_entropy_with_logits(part[:, -1], other)

    train_own_layers(ENGLISH_FOLDER, 1, batches, lambda item: (item[0], None), loss)


def english_rows(rows: Sequence[Row]) -> list[Row]:
    """Return what English is learned from: all that may look like danger to the encoder, and some ordinary talk."""
    rng = random.Random(0)
    talk, small, plain = ([row for row in rows if row.source == name] for name in ("talk", "tiage", "ordinary"))
    said = (each for chat in lines(WRITTEN / "chats.jsonl") for each in chat["messages"] if not each.startswith("#"))
    plain = rng.sample([*plain, *(Row(each, "none", 0, "none", "chats", each) for each in said)], PLAIN)
    read = read_now([row.text for row in plain])
    doubtful = [row for row, each in zip(plain, read, strict=True) if danger_odds(each.scores) >= ASKED]
    rest = [row for row in rows if row.source not in ("talk", "tiage", "ordinary") and may_be_english(row.text)]
    return [*rest, *doubtful, *rng.sample(talk, TALK), *rng.sample(small, min(SMALL_TALK, len(small)))]


def within_talk(text: str, talk: Sequence[str], rng: random.Random) -> str:
    """Return a message within talk of a lesson or of a life, no longer than a passage in which danger is looked for."""
    texts = [text.rstrip(" .")]
    for turn in rng.sample(talk, rng.randint(1, MOST_BESIDE)):
        if sum(map(len, texts)) + len(turn) < WINDOW:
            texts.insert(rng.choice((0, len(texts))), turn.rstrip(" ."))
    return rng.choice(LINKS).join(texts)


class Judged:
    """Rows as the detector sees them: what encoder and networks make of each, and whether it has a plain sign."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.english = np.array([may_be_english(row.text) for row in rows])
        self.signs = np.array([danger_sign(row.text) is not None for row in rows])
        self.danger = np.array([row.urgency > 0 for row in rows])
        self.source, self.chooses = np.array([r.source for r in rows]), np.array([r.part == "choose" for r in rows])
        self.odds = np.array([danger_odds(each.scores) for each in read_now([row.text for row in rows])])
        self.read = np.array([self._read(*each) for each in zip(rows, self.odds, self.english, strict=True)])

    @staticmethod
    def _read(row: Row, odds: float, english: bool) -> float:
        if not english:
            return read_danger(row.text, LANGUAGES_FOLDER).logit
        return read_danger(row.text).logit if odds >= ASKED else UNREAD

    def threshold(self, scores: NDArray[np.float64], harmless: NDArray[np.bool_], share: float) -> float:
        """Return the lowest score from which on, with the signs, no greater share of harmless rows raises a concern."""
        spare = max(0.0, share * harmless.sum() - (self.signs & harmless).sum())
        return float(np.sort(scores[harmless & ~self.signs])[::-1][int(spare)] + 1e-6)

    def model(self, talk: Sequence[str]) -> tuple[DangerModel, NDArray[np.float64], NDArray[np.bool_]]:
        """Return the detector, the scores of the rows, and which raise a concern; `talk` is what may stand beside."""
        choose, both = self.chooses & self.english, np.column_stack([self.odds, self.read])
        asked = choose & (self.read > UNREAD)
        judge = LogisticRegression(C=PRIOR, class_weight="balanced").fit(both[asked], self.danger[asked])
        scores = np.where(self.english, judge.decision_function(both), self.read)
        harmless = {s: choose & ~self.danger & np.isin(self.source, names) for names, s in HARMLESS_SHARES.items()}
        threshold = max(self.threshold(scores, those, share) for share, those in harmless.items())
        heard = choose & self.danger & ~self.signs & (scores >= threshold)
        rng = random.Random(0)
        within = [within_talk(row.text, talk, rng) for row, each in zip(self.rows, heard, strict=True) if each]
        odds = [*self.odds[heard], *(danger_odds(each.scores) for each in read_now(within))]
        suspected, sure = np.quantile(odds, UNSUSPECTED), np.quantile(scores[heard], 1 - SURE_SHARE)
        foreign = self.threshold(scores, self.chooses & ~self.english & ~self.danger, FOREIGN_SHARE)
        numbers = (suspected, *judge.coef_[0], judge.intercept_[0], threshold, sure, foreign)
        raised = np.where(self.english, (self.odds >= suspected) & (scores >= threshold), scores >= foreign)
        return DangerModel(*(round(float(each), 4) for each in numbers)), scores, raised | self.signs

    def figures(
        self, scores: NDArray[np.float64], found: NDArray[np.bool_], among: NDArray[np.bool_]
    ) -> dict[str, float]:
        """Return shares of rows that raise a concern, by source."""
        urgency = np.array([row.urgency for row in self.rows])
        told: dict[str, float] = {}
        for source in dict.fromkeys(self.source[among]):
            own = among & (self.source == source)
            parts = {"recall": own & self.danger, "false_alarms": own & ~self.danger}
            if source == "safety":
                parts |= {"recall_serious": own & (urgency > 1), "recall_acute": own & (urgency > 2)}
            told |= {f"{name}_{source}": float(found[those].mean()) for name, those in parts.items() if those.any()}
            if own.any() and len(set(self.danger[own])) > 1:
                told[f"auroc_{source}"] = auroc(scores[own].tolist(), self.danger[own].tolist())
        return {name: round(share, 4) for name, share in told.items()}


def write_sample(rows: Sequence[Row]) -> None:
    """Write the test part, as it ships."""
    sources = {"messages": "safety", "small_talk": "tiage", "many_languages": "languages"}
    sources |= {name: name for name in ("everyday", "voices", "personal", "talk")}
    for name, source in sources.items():
        own = [row for row in rows if row.part == "test" and row.source == source]
        written = [
            {"id": r.group, "text": r.text, "concern": r.concern, "urgency": r.urgency, "who": r.who}
            for r in own[: SMALL_TALK_SAMPLE if source == "tiage" else None]
        ]
        write_lines(SAMPLES / "safety" / f"{name}.jsonl", written)


def make(given: Options) -> Figures:
    """Set thresholds, write the sample; with `head`, train the network of English further before."""
    everything = read_all(given.data)
    learn = [row for row in everything if row.part == "learn"]
    if given.head is not None:
        train(learn)
        save_trained(given.folder / "trained.npy", [(row.text,) for row in everything if row.part != "test"])
    learned = trained_hashes(ENCODER_FOLDER / "trained.npy")
    # What is not English the encoder does not judge, so it may have learned from it.
    fresh = (
        r for r in everything if r.part == "choose" and (text_hash(r.text) not in learned or not may_be_english(r.text))
    )
    judged = Judged([*(row for row in everything if row.part == "test"), *fresh])
    model, scores, found = judged.model([row.text for row in learn if row.source == "talk"])
    test = ~judged.chooses
    parts = {"chosen on": ~test, "test, English": test & judged.english, "test, others": test & ~judged.english}
    figures = {name: judged.figures(scores, found, among) for name, among in parts.items()}
    figures["test, signs alone"] = judged.figures(scores, judged.signs, test)
    write_sample(everything)
    return {"model": asdict(model)} | figures
