"""Verdicts of the offline mind on pairs of statements, by the network that reads both (spec 12)."""

from collections.abc import Sequence

from graphmem.model import PairClass, PairVerdict, StatementPair
from graphmem.text.contradiction import PairReading, load_contradiction_network
from graphmem.text.doc import Doc

_TOPICS = 5
_REASONS = {
    PairClass.COMPATIBLE: "Both can be so.",
    PairClass.TRUE_CONTRADICTION: "They cannot both be so, and no change is told of.",
    PairClass.TEMPORAL_CHANGE: "What was so is otherwise by now.",
    PairClass.FIGURATIVE: "One of them is not meant literally.",
    PairClass.CONTEXT_DEPENDENT: "Each is so in circumstances of its own.",
}


def judged_pairs(pairs: Sequence[StatementPair]) -> tuple[PairVerdict, ...]:
    """Verdicts on pairs of statements, by what is written alone.

    Examples
    --------
    >>> (verdict,) = judged_pairs([StatementPair("My sister works at the bakery.", "My uncle sails.")])
    >>> verdict.kind.value, verdict.reasoning
    ('compatible', 'Both can be so.')
    """
    readings = load_contradiction_network().read([(pair.old, pair.new) for pair in pairs])
    return tuple(_verdict(pair, reading) for pair, reading in zip(pairs, readings, strict=True))


def _verdict(pair: StatementPair, reading: PairReading) -> PairVerdict:
    return PairVerdict(
        reading.likely,
        reading.chance,
        reading.ended,
        reading.opposed,
        _REASONS[reading.likely],
        ", ".join(Doc(pair.new).key_phrases()[:_TOPICS]),
    )
