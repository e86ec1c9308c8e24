"""Understanding: does the encoder tell what a student's message means? (spec 7, Measured by).

`band_accuracy` is the share of messages in the right band of worth, `band_length_spearman` the rank correlation of the
band with the number of words: worth is not length. Beside it stands the same of the score, 0 to 1000, and of the bands
that the annotators gave, which are not free of length either. The others are macro F1 over the classes; kind and
modality on the messages that have one. Plain rules reached 0.52, and 0.42, 0.55, 0.60 and 0.75 for modality, kind,
ledger and self.

`contradiction`: a file holds one pair a line. Of five classes: `old`, `new`, `class`, `retire_old`; of real talk:
`text_a`, `text_b` and `label` (`contradiction` or `none`). Pairs that the network was trained on are left out.

`match`: does the chance given to a prediction tell whether it came true? `auroc` and `accuracy` (at 0.6) set rows that
came true (`same` 2) against rows that did not (0); half-true ones count in the calibration only. Natural rows are
predictions from the talk and the student's previous message. `parrot_matched` is the share called matched of
predictions that repeat the student's previous message; `random_matched` of those that are a message of another row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import correlation, fmean
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from rapidfuzz import fuzz, utils
from scipy.stats import spearmanr
from sklearn.metrics import matthews_corrcoef, precision_recall_fscore_support

from graphmem.bench import Figures
from graphmem.bench.scores import auroc, macro_f1
from graphmem.bench.talks import parsed_rows, read_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.language.analysis import BANDS, passes
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.model import PairClass
from graphmem.progress import tracked
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.contradiction import CONTRADICTION_FOLDER, ENDED_FOR_SURE, PairReading, load_contradiction_network
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network
from graphmem.text.matching import MATCH_FOLDER, MATCHED, load_match
from graphmem.text.pairs import Compared
from graphmem.text.reminders import ledger_category

RATED_SENTENCES = SAMPLES / "emobank" / "dev.jsonl"
UNDERSTANDING_SAMPLE = SAMPLES / "understanding" / "utterances.jsonl"


PAIRS = SAMPLES / "contradiction" / "pairs.jsonl"
RULE_COSINE, RULE_VALENCE = 0.5, 0.1
"""The plain rule beside it: likeness, and another negation or the opposite feeling."""
CLASH = 0.5
"""Chance from which two statements clash."""
RETIRING_RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8)
"""Recalls at which the precision of retiring is reported."""
PRECISE = 0.85
"""Precision that retiring the older statement is wanted with."""
MATCH_SAMPLE = SAMPLES / "match" / "match.jsonl"
NATURAL = ("pred", "prev")
"""Beginnings of the ids of rows that nobody made to deceive."""
BINS = 10
"""Bins of the calibration error."""


@dataclass(frozen=True)
class LabelledUtterance:
    """A student's message with a reader's labels; `ledger`, `kind` and `modality` may be None."""

    id: str
    text: str
    source: str
    band: Literal["none", "one", "two", "three"]
    modality: str | None
    kind: str | None
    lasting: int
    ledger: str | None
    valence: float
    about_self: bool

    @property
    def group(self) -> str:
        """What messages are kept together by: their dialogue; a written one stands alone."""
        return self.id if self.source == "written" else self.source.partition("#")[0]

    @property
    def origin(self) -> str:
        """Where it comes from: `written`, `mathdial`, `cima` or `bridge`."""
        return self.source.partition(":")[0]


def measure_understanding(_: Settings, file: Path | None) -> Figures:
    """Return figures of the encoder on the messages of a file that it was not trained on.

    Returns
    -------
    accuracy of the bands, their rank correlation with length, and macro F1 of the rest

    Raises
    ------
    InvalidInput    another format, or no message is left
    """
    every = read_utterances(file or UNDERSTANDING_SAMPLE)
    rows = untouched(every, lambda row: (row.text,), ENCODER_FOLDER / "trained.npy")
    if not rows:
        raise InvalidInput(f"{file}: messages are needed that the encoder was not trained on.")
    pairs = list(zip(rows, read_now([row.text for row in rows]), strict=True))
    words = [len(row.text.split()) for row in rows]
    sorted_pairs = [(row, read.scores) for row, read in pairs if row.kind is not None]
    return {
        "band_accuracy": fmean(BANDS[passes(read.snr)] == row.band for row, read in pairs),
        "band_length_spearman": _rank_correlation([passes(read.snr) for _, read in pairs], words),
        "score_length_spearman": _rank_correlation([read.snr for _, read in pairs], words),
        "labelled_length_spearman": _rank_correlation([BANDS.index(row.band) for row in rows], words),
        "modality_f1": macro_f1([(row.modality, scores.likely("modality")) for row, scores in sorted_pairs]),
        "kind_f1": macro_f1([(row.kind, scores.likely("kind")) for row, scores in sorted_pairs]),
        "ledger_f1": macro_f1([(row.ledger, ledger_category(read.text, read.scores)) for row, read in pairs]),
        "self_f1": macro_f1([(row.about_self, read.scores.chance("about_self") >= 0.5) for row, read in pairs]),
        "rows": len(rows),
    }


def _rank_correlation(some: Sequence[float], others: Sequence[float]) -> float:
    return float(spearmanr(some, others).statistic)


def read_utterances(path: Path) -> list[LabelledUtterance]:
    """Read labelled messages, one a line.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line
    """
    parse = TypeAdapter(LabelledUtterance).validate_python
    return parsed_rows(path, parse, "id, text, source, band and the other labels are")


def measure_valence(_: Settings, file: Path | None) -> Figures:
    """Measure the Pearson correlation of affect with people's ratings (spec 12).

    A file holds one text a line: `text`, `V` (valence, 1 to 5), `A` (arousal), `split`; `dev` and `test` rows count.

    Raises
    ------
    InvalidInput    another format, or fewer than two rows that were not trained on
    """
    place = file or RATED_SENTENCES
    rows = [row for _, row in read_rows(place) if row.get("split") in ("dev", "test")]
    if len(rows) < 2 or not all(isinstance(r.get("text"), str) and isinstance(r.get("V"), float) for r in rows):
        raise InvalidInput(f"{place} holds no two rows of split dev or test with text, V and A.")
    affect, texts, rated = load_affect(), [row["text"] for row in rows], [row["V"] for row in rows]
    pairs = list(zip(map(Doc, texts), shipped_network(EMBEDDER_THREADS).encode(texts), strict=True))
    return {
        "pearson": correlation([affect.valence(doc, vector) for doc, vector in pairs], rated),
        "arousal_pearson": correlation([affect.arousal(*each) for each in pairs], [row["A"] for row in rows]),
        "rows": float(len(rows)),
    }


def measure_contradiction(_: Settings, file: Path | None) -> Figures:
    """Return figures of a file, or of the held-out pairs that ship.

    Returns
    -------
    of five classes `macro_f1`, `retire_precision` and the like; of two `precision`, `recall`, `f1`, `mcc`, also of the
    plain rule

    Raises
    ------
    InvalidInput    another format, or nothing is left to measure
    """
    place = file or PAIRS
    every = parsed_rows(place, _pair, "old, new, class, retire_old, or text_a, text_b, label are")
    rows = untouched(every, lambda row: row[0], CONTRADICTION_FOLDER / "trained.npy")
    pairs, labels, ended = [pair for pair, *_ in rows], [label for _, label, _ in rows], [end for *_, end in rows]
    if len(set(labels)) < 2 or len(set(map(type, labels))) > 1:
        raise InvalidInput(f"{place} holds no two classes of pairs that are new.")
    readings = load_contradiction_network().read(pairs)
    if all(isinstance(label, PairClass) for label in labels):
        return pair_figures(readings, [PairClass(label) for label in labels], ended) | {"pairs": len(rows)}
    clash = [label == "contradiction" for label in labels]
    by_name = {"": [reading.clash for reading in readings], "rule_": by_rule(pairs)}
    figures = {f"{b}{k}": v for b, chances in by_name.items() for k, v in contradiction_figures(chances, clash).items()}
    return figures | {"pairs": len(rows)}


def _pair(row: dict[str, Any]) -> tuple[tuple[str, str], str, bool]:
    """Return the statements of a pair, its label, of five classes a `PairClass`, and whether the older one ends."""
    if "old" in row:
        return (str(row["old"]), str(row["new"])), PairClass(row["class"]), bool(row.get("retire_old"))
    return (str(row["text_a"]), str(row["text_b"])), str(row["label"]), False


def by_rule(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """1 where the plain rule finds a contradiction, else 0."""
    network, affect, found = shipped_network(1), load_affect(), []
    for texts in tracked(pairs, "Plain rule"):
        vectors, docs = network.encode(list(texts)), [Doc(text) for text in texts]
        valences = [affect.valence(doc, vector) for doc, vector in zip(docs, vectors, strict=True)]
        opposite = valences[0] * valences[1] < 0 and abs(valences[0] - valences[1]) > RULE_VALENCE
        near = float(vectors[0] @ vectors[1]) > RULE_COSINE
        found.append(float(near and (opposite or docs[0].negates != docs[1].negates)))
    return found


def contradiction_figures(chances: Sequence[float], truth: Sequence[bool]) -> Figures:
    """Precision, recall, F1, Matthews correlation and AUROC of telling contradictions.

    Examples
    --------
    >>> figures = contradiction_figures([0.9, 0.2, 0.7, 0.1], [True, True, False, False])
    >>> figures["precision"], figures["recall"], figures["mcc"]
    (0.5, 0.5, 0.0)
    """
    found, wanted = np.array(chances) >= CLASH, np.array(truth)
    scores = precision_recall_fscore_support(wanted, found, average="binary", zero_division=0.0)[:3]
    return dict(zip(("precision", "recall", "f1"), map(float, scores), strict=True)) | {
        "mcc": float(matthews_corrcoef(wanted, found)),
        "auroc": auroc(list(chances), list(truth)),
    }


def pair_figures(readings: Sequence[PairReading], truth: Sequence[PairClass], ended: Sequence[bool]) -> Figures:
    """Macro F1 of five classes, and how precisely the older statement is retired: as used, and along the curve."""
    guesses = [reading.likely for reading in readings]
    chances, wanted = np.array([reading.ended for reading in readings]), np.array(ended)
    retired = chances >= ENDED_FOR_SURE
    hits = np.cumsum(wanted[np.argsort(-chances)])
    precision, recall = hits / np.arange(1, len(wanted) + 1), hits / max(1, wanted.sum())
    precise = precision >= PRECISE
    compatible = np.array([kind is PairClass.COMPATIBLE for kind in truth])
    majority = max(PairClass, key=list(truth).count)
    return {
        "macro_f1": macro_f1(list(zip(truth, guesses, strict=True)), list(PairClass)),
        "accuracy": float(np.mean([g is t for g, t in zip(guesses, truth, strict=True)])),
        "majority_f1": macro_f1([(each, majority) for each in truth], list(PairClass)),
        "retire_precision": float(wanted[retired].mean()) if retired.any() else 0.0,
        "retire_recall": float(retired[wanted].mean()) if wanted.any() else 0.0,
        "retire_auroc": auroc(chances.tolist(), list(ended)),
        "retire_recall_at_85": float(recall[precise].max()) if precise.any() else 0.0,
        **{f"retire_precision@{at}": float(precision[recall >= at].max(initial=0.0)) for at in RETIRING_RECALLS},
        "compatible_retired": float(retired[compatible].mean()) if compatible.any() else 0.0,
    }


@dataclass(frozen=True)
class PredictedPair:
    """A predicted and an actual student message, the message before, and how true the prediction came (0, 1, 2)."""

    id: str
    source: str
    before: str
    predicted: str
    actual: str
    same: Literal[0, 1, 2]
    previous: str = ""

    @property
    def group(self) -> str:
        """What rows are kept together by: their dialogue, or of written rows the message before."""
        return self.before if self.source == "written" else self.source

    @property
    def texts(self) -> tuple[str, str, str]:
        """The three messages."""
        return self.before, self.predicted, self.actual

    @property
    def natural(self) -> bool:
        """True if the prediction was made from the talk, not from the actual message."""
        return self.id.startswith(NATURAL)


def measure_match(_: Settings, file: Path | None) -> Figures:
    """Return figures of the match model on the rows of a file that it was not trained on.

    Raises
    ------
    InvalidInput    another format, or no row of each kind is left
    """
    pairs = untouched(read_pairs(file or MATCH_SAMPLE), lambda pair: pair.texts, MATCH_FOLDER / "trained.npy")
    if not {0, 2} <= {pair.same for pair in pairs}:
        raise InvalidInput(f"{file}: rows that came true and rows that did not are needed, none of them trained on.")
    model, compared = load_match(), text_comparer()

    def chance(*texts: str) -> float:
        return model.chance(*map(compared, texts))

    return match_figures(pairs, [chance(*pair.texts) for pair in tracked(pairs, "Matching")]) | _guesses(pairs, chance)


def text_comparer() -> Callable[[str], Compared]:
    """Return a function that makes a text ready to be compared, each text once."""
    encode, affect = shipped_network(EMBEDDER_THREADS).encode, load_affect()

    @cache
    def compared(text: str) -> Compared:
        doc, vector = Doc(text), encode([text])[0]
        return Compared(doc, vector, affect.valence(doc, vector))

    return compared


def match_figures(pairs: Sequence[PredictedPair], chances: Sequence[float]) -> Figures:
    """Accuracy, AUROC and calibration of chances, and AUROC of the fuzzy ratio, on all rows and on natural ones."""
    natural = [i for i, pair in enumerate(pairs) if pair.natural]
    figures = _judged("", pairs, chances)
    if len({pairs[i].same for i in natural} & {0, 2}) > 1:
        figures |= _judged("natural_", [pairs[i] for i in natural], [chances[i] for i in natural])
    return figures | {"rows": len(pairs), "natural_rows": len(natural)}


def fuzzy_match(predicted: str, actual: str) -> float:
    """Return the fuzzy ratio of two messages in [0, 1], without case and punctuation."""
    return fuzz.ratio(predicted, actual, processor=utils.default_process) / 100


def _judged(prefix: str, pairs: Sequence[PredictedPair], chances: Sequence[float]) -> Figures:
    clear = [(pair, chance) for pair, chance in zip(pairs, chances, strict=True) if pair.same != 1]
    truth, same, given = [p.same == 2 for p, _ in clear], np.array([p.same / 2 for p in pairs]), np.array(chances)
    figures = {
        "accuracy": fmean((chance >= MATCHED) == true for (_, chance), true in zip(clear, truth, strict=True)),
        "auroc": auroc([chance for _, chance in clear], truth),
        "fuzzy_auroc": auroc([fuzzy_match(pair.predicted, pair.actual) for pair, _ in clear], truth),
        "brier": float(np.mean((given - same) ** 2)),
        "ece": _calibration_error(given, same),
    }
    return {f"{prefix}{name}": value for name, value in figures.items()}


def _calibration_error(given: NDArray[np.float64], same: NDArray[np.float64]) -> float:
    places = np.minimum((given * BINS).astype(int), BINS - 1)
    parts = [places == place for place in range(BINS)]
    return float(sum(part.mean() * abs(given[part].mean() - same[part].mean()) for part in parts if part.any()))


def _guesses(pairs: Sequence[PredictedPair], chance: Callable[..., float]) -> Figures:
    """Shares of predictions called matched that know nothing, before the messages of MathDial."""
    said = list({(p.before, p.actual): p for p in pairs if p.source.startswith("mathdial") and p.previous}.values())
    if len(said) < 2:
        return {}
    guesses = {"parrot": [p.previous for p in said], "random": [p.actual for p in (*said[1:], said[0])]}
    return {
        f"{name}_matched": fmean(chance(p.before, g, p.actual) >= MATCHED for p, g in zip(said, guessed, strict=True))
        for name, guessed in guesses.items()
    }


def read_pairs(path: Path) -> list[PredictedPair]:
    """Read pairs of a predicted and an actual message, one a line.

    Raises
    ------
    InvalidInput    a line is of another format; names file and line
    """
    return parsed_rows(path, TypeAdapter(PredictedPair).validate_python, "before, predicted, actual and same are")
