"""Verdicts of the offline mind on pairs of statements: by the network that reads both, and what speaks for each."""

from collections.abc import Sequence

from graphmem.model import PairClass, PairVerdict, Resolution, StatementOnRecord, StatementPair
from graphmem.text.contradiction import PairReading, load_contradiction_network
from graphmem.text.doc import Doc

OUTWEIGHS = 2.0
"""How much more speaks for one side where it settles a contradiction."""
_TOPICS = 5
_REASONS = {
    PairClass.COMPATIBLE: "Both can be so.",
    PairClass.TRUE_CONTRADICTION: "They cannot both be so, and no change is told of.",
    PairClass.TEMPORAL_CHANGE: "What was so is otherwise by now.",
    PairClass.FIGURATIVE: "One of them is not meant literally.",
    PairClass.CONTEXT_DEPENDENT: "Each is so in circumstances of its own.",
}


def judged_pairs(pairs: Sequence[StatementPair]) -> tuple[PairVerdict, ...]:
    """Verdicts on pairs of statements, by what is written alone and by what speaks for each side.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 1, 5, tzinfo=UTC)
    >>> texts = "My sister works at the bakery.", "My uncle sails."
    >>> (verdict,) = judged_pairs([StatementPair(*(StatementOnRecord(text, day) for text in texts))])
    >>> verdict.kind.value, verdict.resolution, verdict.reasoning
    ('compatible', None, 'Both can be so.')
    """
    readings = load_contradiction_network().read([(pair.old.text, pair.new.text) for pair in pairs])
    return tuple(_verdict(pair, reading) for pair, reading in zip(pairs, readings, strict=True))


def _verdict(pair: StatementPair, reading: PairReading) -> PairVerdict:
    return PairVerdict(
        reading.likely,
        reading.chance,
        reading.ended,
        reading.opposed,
        recommended(pair, reading.likely),
        _REASONS[reading.likely],
        ", ".join(Doc(pair.new.text).key_phrases()[:_TOPICS]),
    )


def recommended(pair: StatementPair, kind: PairClass) -> Resolution | None:
    """The resolution that fits a class of pairs; `manual` where only the student can know."""
    if kind is PairClass.TEMPORAL_CHANGE:
        return Resolution.TEMPORAL_SUPERSEDE
    if kind is not PairClass.TRUE_CONTRADICTION:
        return None
    if pair.old.explicit != pair.new.explicit:
        return Resolution.CONFIDENCE_DOMINANCE
    less, more = sorted((weight_of_evidence(pair.old), weight_of_evidence(pair.new)))
    return Resolution.EVIDENCE_RESOLVED if more > OUTWEIGHS * less else Resolution.MANUAL


def weight_of_evidence(statement: StatementOnRecord) -> float:
    """How much speaks for a statement: its confidence, once for each time it was said."""
    return statement.confidence * (1 + statement.repeated)
