"""Verdicts on pairs of statements that may contradict each other (spec 12)."""

from collections.abc import Sequence
from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.flows.conflict_plan import MOST_SUSPECTED, is_suspected
from graphmem.model import Answer, Classify, PairVerdict, StatementPair
from graphmem.ports import Mind


async def classified(gm: Graphmem, mind: Mind, pairs: Sequence[StatementPair]) -> Answer[tuple[PairVerdict, ...]]:
    """Verdicts of a mind on some pairs, one for each.

    A language model is asked only about those in which the offline mind suspects something, all in one question.
    """
    if not pairs:
        return Answer(())
    first = await gm.offline.ask(Classify(tuple(pairs)))
    suspected = [i for i, verdict in enumerate(first.value) if is_suspected(verdict)][:MOST_SUSPECTED]
    if not mind.is_model or not suspected:
        return first
    answer = await mind.ask(Classify(tuple(pairs[i] for i in suspected)))
    told = dict(zip(suspected, answer.value, strict=True))
    return replace(answer, value=tuple(told.get(i, verdict) for i, verdict in enumerate(first.value)))
