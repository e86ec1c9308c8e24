"""Students with memories that are in doubt."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from graphmem.app import Graphmem
from graphmem.flows.session_cache import memories_now, open_memories
from graphmem.model import (
    Classify,
    DetectionContext,
    Memory,
    PairClass,
    PairVerdict,
    Reliability,
    Session,
    Severity,
    Uncertainty,
    UncertaintyType,
)
from graphmem.store.changes import Changes, Update, write
from graphmem.store.uncertainties import Recorded
from tests.conftest import another_replica
from tests.support.minds import ScriptedMind

COMPATIBLE = PairVerdict(PairClass.COMPATIBLE, 0.9, 0.0, 0.0)
Verdicts = tuple[PairVerdict, ...]


def doubt(a: Memory, b: Memory | None, **changes: object) -> Uncertainty:
    """A doubt about a memory, or between two."""
    record = Uncertainty(
        id=f"uncertainty-{a.id}-{'' if b is None else b.id}",
        type=UncertaintyType.UNVERIFIED if b is None else UncertaintyType.CONTRADICTION,
        severity=Severity.HIGH,
        detection_context=DetectionContext.CONSOLIDATION,
        temporal_signal=False,
        a_id=a.id,
        b_id=None if b is None else b.id,
        created_at=a.timestamp,
        reasoning=f"Nobody knows whether it is so: {a.content}",
        surface_context=a.content,
    )
    return replace(record, **changes)  # type: ignore[arg-type]


async def doubted(gm: Graphmem, session: Session, a: Memory, b: Memory | None, **changes: object) -> Uncertainty:
    """A doubt that is kept, its sides contradicted."""
    record, (held, _) = doubt(a, b, **changes), await memories_now(gm, session)
    sides = [Update(each.id, {"reliability": Reliability.CONTRADICTED}) for each in (a, b) if each is not None]
    kept = Changes(held.version, "test", (*sides, Recorded(record, new=True)))
    written = await write(gm.graph, session, kept, gm.clock())
    assert written is not None
    assert written.current
    await open_memories(gm, session, held.version + 1)
    return record


class Judging:
    """Answers every pair with one verdict, and notes what it was asked."""

    def __init__(self, verdict: PairVerdict) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, question: Classify) -> Verdicts:
        self.asked += [(pair.old, pair.new) for pair in question.pairs]
        return tuple(self.verdict for _ in question.pairs)


def judged_by(gm: Graphmem, judge: Callable[[Classify], Awaitable[Verdicts]]) -> Graphmem:
    """A replica whose pairs are judged by a test's own rule."""
    offline = ScriptedMind(gm.offline, {Classify: judge})
    return another_replica(gm, offline=offline, mind=offline)
