"""Analysis of surprising messages without a model: which beliefs they end, by the pair network (spec 5)."""

from collections.abc import Sequence

from graphmem.model import Analysis, Belief, BeliefUpdate, Level, Modality, Strategy, Surprising
from graphmem.text.clauses import statement_spans
from graphmem.text.doc import Doc, doc_of
from graphmem.text.ending import ended_chance
from graphmem.text.sanitize import quoted
from graphmem.text.sentences import SentenceSpan
from graphmem.text.slots import holds_one_value, slot_of

ENDS_FROM = 0.5
"""Chance from which a message ends a belief."""
NEW_CONFIDENCE = 0.8
"""Confidence in what takes its place."""


def analysed(episodes: Sequence[Surprising]) -> tuple[Analysis, ...]:
    """Return an analysis of each episode; nothing is asked, and nothing is added to what was said.

    Examples
    --------
    >>> asked = "Why is the area of a circle not a square?"
    >>> (found,) = analysed([Surprising(Level.BOUNDARY, 0.7, 0.2, "Yes, I see.", asked)])
    >>> found.explanation, found.updates
    ('Expected “Yes, I see”, heard “Why is the area of a circle not a square?” (match 0.20).', ())
    """
    return tuple(map(_analysis, episodes))


def _analysis(surprising: Surprising) -> Analysis:
    doc = doc_of(surprising)
    spans = [span for span in statement_spans(doc) if not doc.text[slice(*span)].endswith("?")]
    updates = tuple(update for belief in surprising.beliefs if (update := _update(doc, spans, belief)) is not None)
    if surprising.level is Level.NORMAL:
        strategy = Strategy.NONE
    else:
        strategy = Strategy.CONNECT_PRIOR if updates else Strategy.DEEP_EXTRACTION
    return Analysis(_explanation(surprising), updates, strategy)


def _update(doc: Doc, spans: Sequence[SentenceSpan], belief: Belief) -> BeliefUpdate | None:
    """The statement that takes the place of a belief, read with its whole message; None where none ends it."""
    if not spans:
        return None
    start, end = max(spans, key=lambda span: ended_chance(doc.text[slice(*span)], belief.words))
    said = Doc(doc.text[start:end])
    # Without a word in common the network is no witness: it takes most statements for the end of any other.
    one_matter = not said.stems.isdisjoint(Doc(belief.words).stems)
    if not (_replaces(said, belief) or (one_matter and ended_chance(doc.text, belief.words) >= ENDS_FROM)):
        return None
    return BeliefUpdate(
        prior_id=belief.id,
        prior=belief.content,
        new=doc.text[start:end],
        start=start,
        end=end,
        kind=belief.kind,
        modality=Modality.SEMANTIC,
        delta=-belief.confidence,
        confidence=NEW_CONFIDENCE,
        evolution=True,
    )


def _replaces(said: Doc, belief: Belief) -> bool:
    """Return whether a statement gives another value to the attribute that a belief is about."""
    slot = slot_of(said)
    one_slot = slot is not None and holds_one_value(slot) and slot == slot_of(Doc(belief.words))
    return one_slot and not said.stems <= Doc(belief.words).stems


def _explanation(surprising: Surprising) -> str:
    heard = quoted(surprising.actual) or "something without words"
    if not surprising.predicted or surprising.match is None:
        return f"Nothing was expected; heard {heard} (signal {surprising.signal:.2f})."
    return f"Expected {quoted(surprising.predicted)}, heard {heard} (match {surprising.match:.2f})."
