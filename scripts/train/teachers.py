"""Today's networks as teachers: what they tell of a text where no label is known."""

import numpy as np

from graphmem.language.heads import MESSAGE
from graphmem.maths.chances import softmax
from graphmem.text.doc import Doc
from graphmem.text.domains import load_domains
from graphmem.text.embedder import open_network
from graphmem.text.ledger_model import load_ledger_judge
from graphmem.text.reader import HEADS, READER_FOLDER, read_cuts, readings
from graphmem.text.talk import load_talk, talk_features
from graphmem.text.worth import CLAUSE_KINDS, load_worth

from .graph import Array
from .sources import Labels

TAUGHT = ("band", "kind", "modality", "lasting", "about_self", "valence")
"""Questions that the reader teaches."""


class Teachers:
    """The reader, the networks of ledger, talk, worth and domain."""

    def __init__(self) -> None:
        self.reader = open_network(READER_FOLDER, 1)
        self.judge = load_ledger_judge()
        self.talk, self.worth, self.domains = load_talk(), load_worth(), load_domains()

    def __call__(self, text: str, vector: Array | None, hidden: Array, labels: Labels) -> Array:
        """Return what they tell, shape (MESSAGE.width,); not a number where nothing is told."""
        found = np.full(MESSAGE.width, np.nan, np.float32)
        (answers,) = self.reader.run(None, {"hidden": hidden})
        start = 0
        for name, width in HEADS.items():
            part = answers[0, start : start + width]
            start += width
            if name == "valence":
                found[MESSAGE.places[name]] = np.tanh(part)
            elif name in TAUGHT:
                found[MESSAGE.places[name]] = softmax(part) if width > 1 else 1 / (1 + np.exp(-part))
        if not isinstance(labels.get("ledger"), int):
            found[MESSAGE.places["ledger"]] = softmax(self.judge._session.run(None, {"hidden": hidden})[0][0])
        if vector is None:
            return found
        (reading,) = readings(np.concatenate([vector, answers], 1), read_cuts(READER_FOLDER))
        doc = Doc(text)
        found[MESSAGE.places["act"]] = in_order("act", self.talk.labels, self.talk.chances(talk_features(doc, reading)))
        found[MESSAGE.places["worth"]] = in_order(
            "worth",
            CLAUSE_KINDS,
            self.worth.of_clause(doc, reading).astype(np.float32),
        )
        found[MESSAGE.places["domain"]] = in_order(
            "domain", self.domains.labels, self.domains.chances(reading.features)
        )
        return found


def in_order(head: str, labels: tuple[str, ...], chances: Array) -> Array:
    """Return chances in the order of a head's labels."""
    known = dict(zip(labels, chances, strict=True))
    return np.array([known[label] for label in MESSAGE.heads[head].labels], np.float32)
