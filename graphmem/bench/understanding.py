"""Understanding: does the encoder tell what a student's message means? (spec 7, Measured by).

`band_accuracy` is the share of messages in the right band of worth, `band_length_spearman` the rank correlation of the
band with the number of words: worth is not length. Beside it stands the same of the score, 0 to 1000, and of the bands
that the annotators gave, which are not free of length either. The others are macro F1 over the classes; kind and
modality on the messages that have one. Plain rules reached 0.52, and 0.42, 0.55, 0.60 and 0.75 for modality, kind,
ledger and self.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import correlation, fmean
from typing import Literal

from pydantic import TypeAdapter
from scipy.stats import spearmanr

from graphmem.bench import Figures
from graphmem.bench.scores import macro_f1
from graphmem.bench.talks import parsed_rows, read_rows, untouched
from graphmem.errors import InvalidInput
from graphmem.language.analysis import BANDS, passes
from graphmem.language.encoder import ENCODER_FOLDER, read_now
from graphmem.samples import SAMPLES
from graphmem.settings import Settings
from graphmem.text.affect import load_affect
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_THREADS, shipped_network
from graphmem.text.reminders import ledger_category

RATED_SENTENCES = SAMPLES / "emobank" / "dev.jsonl"
UNDERSTANDING_SAMPLE = SAMPLES / "understanding" / "utterances.jsonl"


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
