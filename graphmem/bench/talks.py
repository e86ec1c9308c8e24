"""Labelled data in JSON lines, recorded dialogues as turns, and scores of guesses."""

import hashlib
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2_contingency
from sklearn.metrics import f1_score, roc_auc_score

from graphmem.app import Graphmem
from graphmem.bench import Figures
from graphmem.errors import InvalidInput
from graphmem.flows.findings import Senses
from graphmem.flows.turn import Incoming
from graphmem.llm.fallback import make_mind
from graphmem.model import Author, Matrix, Message, Observation, Prediction, Recalled, SourceKind
from graphmem.offline.exemplars import load_bank
from graphmem.offline.mind import OfflineMind
from graphmem.samples.dialogues import Dialogue, DialogueTurn, dialogue_turns
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.matching import MATCHED

T = TypeVar("T")

UNDATED = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
"""When a talk without dates begins."""
A_TURN = timedelta(seconds=20)
ADVERSARIAL = 5
"""LoCoMo's category of questions that have no answer in the talk."""
ENOUGH_EVIDENCE = 0.5
"""Share of a turn's content words that its memories must hold."""

_LOCOMO_DATE, _BEAM_DATE = "%I:%M %p on %d %B, %Y", "%B-%d-%Y"
_ID_SEPARATORS = re.compile(r"[;,\s]+")
PLAIN_WORD = re.compile(r"[^\W_]+")


Boundaries = Sequence[int] | NDArray[np.int64] | NDArray[np.bool_]
Signal = NDArray[np.float64]
"""One number a turn, of shape (n,); larger where a boundary is likelier, 0 for the first turn."""
RESAMPLES = 2_000
TILING_BLOCK = 2
"""Turns on either side that TextTiling compares."""
NARROWEST = 2
"""With a window of one turn Pk and WindowDiff would forgive nothing, and be the plain error rate."""


@dataclass(frozen=True)
class EvidenceQuestion:
    """A question, the ids of the turns that hold its evidence, and its category, where the file has one."""

    text: str
    gold: tuple[str, ...]
    category: str | None = None


@dataclass(frozen=True)
class Talk:
    """A conversation or meeting, and the questions about it."""

    id: str
    turns: tuple[Observation, ...]
    questions: tuple[EvidenceQuestion, ...]


def is_held_out(group: str) -> bool:
    """Return whether a group of rows (a dialogue, a source) is held out of training: one in five, by its hash.

    Examples
    --------
    >>> [is_held_out(group) for group in ("f", "g", "h", "i")]
    [False, True, True, False]
    """
    return hashlib.sha256(group.encode()).digest()[0] % 5 == 0


def text_hash(*texts: str) -> int:
    """Return a 64-bit hash of texts, by which a row that was trained on is recognised."""
    return int.from_bytes(hashlib.sha256("\x1f".join(texts).encode()).digest()[:8], "big", signed=True)


def trained_hashes(path: Path) -> frozenset[int]:
    """Return the hashes of the rows that a shipped model was trained on, from the `.npy` file beside its weights."""
    return frozenset(np.load(path, allow_pickle=False).tolist()) if path.exists() else frozenset()


def untouched(rows: Iterable[T], texts: Callable[[T], tuple[str, ...]], *trained: Path) -> list[T]:
    """Return the rows that no model was trained on, by their texts and the files of hashes beside the weights."""
    known = frozenset[int]().union(*map(trained_hashes, trained))
    return [row for row in rows if text_hash(*texts(row)) not in known]


def save_trained(path: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Write the hashes of the rows that a model was trained on."""
    np.save(path, np.array(sorted({text_hash(*row) for row in rows}), dtype=np.int64))


def read_rows(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Read the objects of a JSON lines file, each with its place in words.

    Raises
    ------
    InvalidInput    it cannot be read, or a line is no JSON object
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text: {error}.") from error
    rows = []
    for where, line in ((f"{path}, line {number}", line) for number, line in enumerate(lines, 1) if line.strip()):
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{where}: not JSON ({error}). Each line must be one JSON object.") from error
        if not isinstance(row, dict):
            raise InvalidInput(f"{where}: a JSON object is needed, not {type(row).__name__}.")
        rows.append((where, row))
    if not rows:
        raise InvalidInput(f"{path} is empty.")
    return rows


def parsed_rows(path: Path, parse: Callable[[dict[str, Any]], T], needed: str) -> list[T]:
    """Parse each row of a file.

    Parameters
    ----------
    path : Path, JSON lines
    parse : makes one value of a row
    needed : str, what a row must hold, for the error

    Raises
    ------
    InvalidInput    a line is of another format; names file and line
    """
    found = []
    for where, row in read_rows(path):
        try:
            found.append(parse(row))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(f"{where}: {needed} needed: {error!r}.") from error
    return found


def read_talks(path: Path) -> list[Talk]:
    """Read talks of LoCoMo (`turns`, `qa`) or BEAM (`messages`, `questions`), one a line.

    Questions without known evidence and LoCoMo's adversarial ones are left out.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line

    Source: spec 10; Maharana et al. 2024, LoCoMo; Tavakoli et al. 2025, BEAM.
    """
    return parsed_rows(path, _talk_of_row, '"turns" and "qa" (LoCoMo) or "messages" and "questions" (BEAM) are')


def _talk_of_row(row: dict[str, Any]) -> Talk:
    if "messages" in row:
        name, asked = row.get("chat", "talk"), [(q["q"], q["evidence"], q["ability"]) for q in row["questions"]]
        said = [{**each, "speaker": each["role"], "session_date": each["date"]} for each in row["messages"]]
    else:
        name, said = row.get("conversation_id", "talk"), row["turns"]
        held = [q for q in row["qa"] if q["category"] != ADVERSARIAL]
        asked = [(q["question"], q["evidence"], f"category_{q['category']}") for q in held]
    turns = tuple(_utterances(said))
    known = {turn.ref for turn in turns}
    if len(known) != len(turns):
        raise ValueError("a turn id occurs twice")
    questions = []
    for text, evidence, kind in asked:
        ids = dict.fromkeys(i for each in evidence for i in _ID_SEPARATORS.split(str(each)) if i in known)
        questions += [EvidenceQuestion(text, tuple(ids), kind)] if ids else []
    return Talk(str(name), turns, tuple(questions))


def _utterances(rows: Sequence[dict[str, Any]]) -> Iterator[Observation]:
    """Turns twenty seconds apart from the beginning of their session; empty ones are left out."""
    for (_, date), session in groupby(rows, key=lambda row: (row.get("session"), row["session_date"])):
        form = _LOCOMO_DATE if " on " in date else _BEAM_DATE
        start = datetime.strptime(date, form).replace(tzinfo=UTC)
        for number, row in enumerate(session):
            caption = row.get("image_caption")
            text = f"{row['text']} [shares: {caption}]" if caption else row["text"]
            if text.strip():
                at, speaker = start + number * A_TURN, row["speaker"].strip()
                yield Observation(SourceKind.CHAT, str(row["id"]), text.strip(), at, speaker)


def telling_words(text: str) -> frozenset[str]:
    """Return the words of a text that are no stop words, in lower case.

    Examples
    --------
    >>> sorted(telling_words("I have a dog, and the dog's name is Bello!"))
    ['bello', 'dog', 'name', 's']
    """
    return frozenset(word for word in map(str.lower, PLAIN_WORD.findall(text)) if word not in STOP_WORDS)


def is_found(turn: Observation, remembered: Sequence[Recalled]) -> bool:
    """Return whether the memories that name a turn as their source together hold half of its content words.

    A turn without content words is found when a memory names it.

    Source: spec 10, Measured by.
    """
    own = [each.memory for each in remembered if turn.ref in each.memory.source_refs]
    words = telling_words(turn.text)
    held = words & frozenset().union(*(telling_words(f"{memory.content}\n{memory.quote or ''}") for memory in own))
    return bool(own) and len(held) >= ENOUGH_EVIDENCE * len(words)


def share_found(question: EvidenceQuestion, turns: Mapping[str, Observation], remembered: Sequence[Recalled]) -> float:
    """Return the share of a question's gold turns that are found."""
    return sum(is_found(turns[i], remembered) for i in question.gold) / len(question.gold)


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


async def match_baselines(gm: Graphmem, dialogues: Sequence[Dialogue], seed: int) -> dict[str, float | None]:
    """Measure the match rates of the message before and of a random one; None where nothing was compared.

    Parameters
    ----------
    gm : Graphmem, whose models judge
    dialogues : sequence of Dialogue, whose first messages are left out
    seed : int, of the messages drawn from other dialogues

    Source: spec 4.
    """
    chance, texts = random.Random(seed), {d.id: [turn.text for turn in dialogue_turns(d)] for d in dialogues}
    hits: dict[str, list[bool]] = {"parrot": [], "random": []}
    for dialogue in dialogues:
        others = [text for name, said in texts.items() if name != dialogue.id for text in said]
        for before, turn in pairwise(dialogue_turns(dialogue)):
            hits["parrot"].append(await _would_match(gm, before.text, turn))
            if others:
                hits["random"].append(await _would_match(gm, chance.choice(others), turn))
    return {name: fmean(own) if own else None for name, own in hits.items()}


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


def shares(counts: Mapping[str, int], table: Mapping[str, tuple[str, str]]) -> Figures:
    """Compute shares by name, each of a part and its whole; 0 of nothing.

    Examples
    --------
    >>> shares({"right": 1, "asked": 4}, {"answered": ("right", "asked"), "noticed": ("seen", "changes")})
    {'answered': 0.25, 'noticed': 0.0}
    """
    return {name: counts.get(part, 0) / max(1, counts.get(whole, 0)) for name, (part, whole) in table.items()}


def auroc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Compute the chance that a true row has a higher score than a false one, ties half.

    Examples
    --------
    >>> auroc([0.9, 0.8, 0.3, 0.3], [True, False, True, False])
    0.625
    """
    return float(roc_auc_score(labels, scores))


def macro_f1(pairs: Sequence[tuple[object, object]], classes: Sequence[object] = ()) -> float:
    """Compute the mean of F1 over classes, without any over the true ones, of pairs (truth, guess).

    Examples
    --------
    >>> round(macro_f1([("a", "a"), ("a", "b"), ("b", "b")]), 4)
    0.6667
    """
    if not pairs:
        return 0.0
    truth, guesses = ([str(each) for each in side] for side in zip(*pairs, strict=True))
    labels = [str(each) for each in classes] or sorted(set(truth))
    return float(f1_score(truth, guesses, labels=labels, average="macro", zero_division=0.0))


def interval(name: str, values: NDArray[np.float64]) -> Figures:
    """Compute the 95 % interval of a mean, by resampling.

    Parameters
    ----------
    name : str, of the figures `NAME_low` and `NAME_high`
    values : float array of shape (n,)
    """
    chance = np.random.default_rng(0)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {f"{name}_low": float(low), f"{name}_high": float(high)}


def chi_squared(hits_a: int, trials_a: int, hits_b: int, trials_b: int) -> tuple[float, float]:
    """Compute Pearson's chi-squared test of two rates, one degree of freedom, without Yates' correction.

    Returns
    -------
    statistic >= 0 and p in [0, 1]; 0 and 1 where a margin of the table is empty, since then nothing can differ

    Raises
    ------
    InvalidInput                    more successes than trials, or fewer than none

    Source: spec 4; Pearson 1900.

    Examples
    --------
    >>> statistic, p = chi_squared(60, 100, 45, 100)
    >>> round(statistic, 3), round(p, 4)
    (4.511, 0.0337)
    """
    if not (0 <= hits_a <= trials_a and 0 <= hits_b <= trials_b):
        raise InvalidInput(f"{hits_a} of {trials_a} and {hits_b} of {trials_b} are no shares: count hits among trials.")
    table = np.array([[hits_a, trials_a - hits_a], [hits_b, trials_b - hits_b]])
    if not (table.sum(axis=0).all() and table.sum(axis=1).all()):
        return 0.0, 1.0
    found = chi2_contingency(table, correction=False)
    return float(found.statistic), float(found.pvalue)


def mcnemar(only_a: int, only_b: int) -> float:
    """Compute the exact two-sided p of paired trials that succeeded in one arm alone; 1 where no pair differs.

    Raises
    ------
    InvalidInput                    a negative count

    Source: McNemar 1947; exact form: binomial test against one half.

    Examples
    --------
    >>> round(mcnemar(12, 3), 4), mcnemar(0, 0)
    (0.0352, 1.0)
    """
    if only_a < 0 or only_b < 0:
        raise InvalidInput("Pairs cannot be fewer than none: count those that succeeded in one arm alone.")
    return float(binomtest(min(only_a, only_b), only_a + only_b).pvalue) if only_a + only_b else 1.0


def exact(gold: Sequence[Boundaries], found: Sequence[Boundaries]) -> tuple[float, float, float]:
    """Compute precision, recall and F1 of boundaries over several talks, counted together.

    Raises
    ------
    InvalidInput                        lengths differ

    Source: spec 5, Measured by.

    Examples
    --------
    >>> exact([[0, 0, 1, 0, 1]], [[0, 0, 1, 1, 0]])
    (0.5, 0.5, 0.5)
    """
    if len(gold) != len(found):
        raise InvalidInput(f"{len(gold)} talks cannot be compared with {len(found)}: give one guess a talk.")
    pairs = [_as_arrays(g, f) for g, f in zip(gold, found, strict=True)]
    right = sum(int((g & f).sum()) for g, f in pairs)
    if right == 0:
        return 0.0, 0.0, 0.0
    wanted, guessed = (sum(int(pair[side].sum()) for pair in pairs) for side in (0, 1))
    return right / guessed, right / wanted, 2 * right / (wanted + guessed)


def metric_window(gold: Boundaries) -> int:
    """Return the turns that Pk and WindowDiff look across: half the mean length of the gold segments, at least 2.

    Examples
    --------
    >>> metric_window([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]), metric_window([0, 1, 1])
    (3, 2)
    """
    segments = 1 + int(np.sum(np.asarray(gold[1:], dtype=bool)))
    return max(NARROWEST, round(len(gold) / (2 * segments)))


def pk(gold: Boundaries, found: Boundaries) -> float:
    """Compute the share of pairs of turns a window apart of which a guess wrongly says whether a boundary parts them.

    Returns
    -------
    float in [0, 1]; 0 is perfect, also for talks too short to hold a pair

    Source: Beeferman, Berger and Lafferty 1999, Statistical models for text segmentation.

    Examples
    --------
    >>> pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0]), pk([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0])
    (0.0, 0.5)
    """
    return _windowed(gold, found, lambda a, b: (a > 0) != (b > 0))


def windowdiff(gold: Boundaries, found: Boundaries) -> float:
    """Compute the share of windows in which a guess has another number of boundaries; never below `pk`.

    Source: Pevzner and Hearst 2002, A critique and improvement of an evaluation metric for text segmentation.

    Examples
    --------
    >>> two, one = [0, 0, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    >>> pk(two, one), windowdiff(two, one)
    (0.125, 0.25)
    """
    return _windowed(gold, found, lambda a, b: a != b)


def depths(vectors: Matrix) -> Signal:
    """Compute TextTiling's depth scores between blocks of two turns; they see the whole talk.

    Parameters
    ----------
    vectors : float32 array of shape (n, d)

    Returns
    -------
    float array of shape (n,), each >= 0: how far likeness falls there from the peaks left and right of it

    Source: Hearst 1997, TextTiling: segmenting text into multi-paragraph subtopic passages.

    Examples
    --------
    >>> depths(np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)).round(2).tolist()
    [0.0, 0.0, 1.41, 0.0]
    """
    turns = len(vectors)
    alike = [
        _block_cosine(vectors[max(0, i - TILING_BLOCK) : i], vectors[i : i + TILING_BLOCK]) for i in range(1, turns)
    ]
    values = [_peak(alike[i::-1]) + _peak(alike[i:]) - 2 * alike[i] for i in range(len(alike))]
    return np.array([0.0, *values][:turns])


def above_mean(signal: Signal, deviations: float = 2.0) -> NDArray[np.bool_]:
    """Find boundaries where a signal exceeds its own mean in this talk by so many standard deviations.

    Examples
    --------
    >>> above_mean(np.array([0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9])).tolist()
    [False, False, False, False, False, False, True]
    """
    found = np.zeros(len(signal), dtype=bool)
    if len(signal) > 1:
        rest = np.asarray(signal[1:], dtype=np.float64)
        found[1:] = rest > rest.mean() + deviations * rest.std()
    return found


def _as_arrays(gold: Boundaries, found: Boundaries) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    if len(gold) != len(found):
        raise InvalidInput(f"A talk of {len(gold)} turns cannot be compared with a guess about {len(found)}.")
    return np.asarray(gold[1:], dtype=bool), np.asarray(found[1:], dtype=bool)


def _windowed(
    gold: Boundaries, found: Boundaries, differ: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
) -> float:
    """Return the share of windows in which the two numbers of boundaries differ, in one sense or another."""
    size = metric_window(gold)
    counts = [np.cumsum([0, *each]) for each in _as_arrays(gold, found)]
    if len(counts[0]) <= size:
        return 0.0
    between = [count[size:] - count[:-size] for count in counts]
    return float(np.mean(differ(between[0], between[1])))


def _block_cosine(left: Matrix, right: Matrix) -> float:
    a, b = left.sum(axis=0), right.sum(axis=0)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def _peak(values: Sequence[float]) -> float:
    """Return the first value, or the highest that is reached from it without going down."""
    highest = values[0]
    for value in values[1:]:
        if value < highest:
            break
        highest = value
    return highest
