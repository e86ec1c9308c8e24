"""What is remembered, as the block of text a language model reads (spec 10)."""

from collections.abc import Sequence

from graphmem.mind.prompts import escaped
from graphmem.model import Fact, RecalledTurn, Remembered

OPEN, CLOSE = "<COMPANION_MEMORY>", "</COMPANION_MEMORY>"


def remembered(facts: Sequence[Fact], turns: Sequence[RecalledTurn]) -> Remembered:
    """What a mind is told of the past, with the prompt block.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> fact = Fact("fact-1", 1, "Mixes up < and >.", ("signs",), datetime(2026, 1, 15, tzinfo=UTC))
    >>> print(remembered([fact], []).prompt)
    <COMPANION_MEMORY>
    You remember about this student:
    - [fact, 2026-01-15] Mixes up &lt; and &gt;.
    </COMPANION_MEMORY>
    """
    lines = [f"- [fact, {f.created_at:%Y-%m-%d}] {_line(f.text)}" for f in facts]
    lines += [f"- [earlier in this conversation] the student said: {_line(t.text)}" for t in turns]
    prompt = "\n".join([OPEN, "You remember about this student:", *lines, CLOSE]) if lines else ""
    return Remembered(tuple(facts), tuple(turns), prompt)


def _line(text: str) -> str:
    """One line that can neither open nor close a tag."""
    return " ".join(escaped(text).split())
