"""The block of text in which a companion is shown what is remembered of a student (spec 10.7)."""

from graphmem.model import LedgerEntry, MemoryKind, Recalled, Remembered
from graphmem.text.quoting import one_line

__all__ = ["ledger_line", "memory_block", "memory_line"]


def memory_block(remembered: Remembered) -> str:
    """Format memories as the block of text a language model reads; empty when there are none.

    Source: spec 10.7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> from graphmem.model import Fact
    >>> fact = Fact("fact-1", 1, "Mixes up < and >.", ("signs",), datetime(2026, 1, 15, tzinfo=UTC))
    >>> print(memory_block(Remembered((fact,))))
    <COMPANION_MEMORY>
    You remember about this student:
    - [fact, 2026-01-15] Mixes up &lt; and &gt;.
    </COMPANION_MEMORY>
    """
    lines = [memory_line(recalled) for recalled in remembered.memories]
    lines += [f"- [fact, {fact.created_at:%Y-%m-%d}] {one_line(fact.text)}" for fact in remembered.facts]
    lines += [f"- [earlier in this conversation] the student said: {one_line(turn.text)}" for turn in remembered.turns]
    if remembered.ledger:
        lines += ["Critical facts (ledger):", *map(ledger_line, remembered.ledger)]
    if not lines:
        return ""
    return "\n".join(["<COMPANION_MEMORY>", "You remember about this student:", *lines, "</COMPANION_MEMORY>"])


def memory_line(recalled: Recalled) -> str:
    """One memory as the block shows it: of an episode the day, of a belief how present it is (spec 10.7)."""
    memory = recalled.memory
    episode = memory.kind is MemoryKind.EPISODE or not recalled.formed
    mark = f"{memory.timestamp:%Y-%m-%d}" if episode else f"gravity={recalled.gravity:.1f}"
    speaker = f"{one_line(memory.speaker)}: " if memory.speaker else ""
    return f"- [{memory.modality}, {mark}] {speaker}{one_line(memory.content or '')}"


def ledger_line(entry: LedgerEntry) -> str:
    """One ledger entry as the block shows it."""
    return f"- [{entry.category}] {one_line(entry.content or '')}"
