"""Ledger entries of a message: what a model finds in its clauses that must not be forgotten (spec 8)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from graphmem.language.encoder import named_in
from graphmem.language.heads import HeadScores
from graphmem.model import Entity, Heard, LedgerCategory, Reminder
from graphmem.text.doc import Doc
from graphmem.text.fragments import is_fragment
from graphmem.text.ledger_model import ledger_category
from graphmem.text.overrides import overrides
from graphmem.text.sanitize import clipped
from graphmem.text.sentences import SentenceSpan
from graphmem.text.time_ranges import day_ahead
from graphmem.text.words import word_rarity

QUESTION_WORDS = 16
"""Words of the longest question that an answer is kept with."""
SUMMARY_CHARACTERS = 80
"""Longest summary; a longer one is cut between words."""
SPAN_CHARACTERS = 600
"""Longest span; of a longer clause the beginning is taken."""
CUE_TRIGGERS = 6
"""Most triggers of an entry."""
NAME_CHARACTERS = 100
"""Longest trigger entity."""
TRIGGER_RARITY = 3.2
"""Rarity from which a word alone brings an entry back; commoner ones do so in phrases."""
IMPORTANCE = {
    LedgerCategory.THREAT: 1.0,
    LedgerCategory.SECRET: 0.9,
    LedgerCategory.FACT: 0.8,
    LedgerCategory.PROMISE: 0.8,
    LedgerCategory.INSTRUCTION: 0.8,
    LedgerCategory.DEBT: 0.7,
    LedgerCategory.OBSERVATION: 0.6,
}
"""How much an entry of a category matters, 0..1."""

ENTRY_HOLDS = timedelta(days=1)
"""From the beginning of the day that an entry names, by the writer's clock, until it holds no more."""

_CUE_WORDS = frozenset(
    """
    agreed anybody anyone back borrowed call clear confidence day days deal everybody everyone friday lent
    lesson lessons loan monday month months nobody note notice noticed noticing observation observed one owe
    owed owes paid pay people person pledged private promise promised promises promising realised realized
    record remembering remind repay return saturday secret secretly seems session sessions somebody someone stop
    sunday swear swore three thursday time times today tomorrow tonight tuesday two vowed wednesday week weeks
    whenever word worth year years yesterday
    """.split()  # noqa: SIM905
)


def reminders(
    heard: Heard, spans: Sequence[SentenceSpan], scores: Sequence[HeadScores], names: Sequence[Entity] = ()
) -> tuple[Reminder, ...]:
    """The ledger entries of a message.

    Parameters
    ----------
    heard : Heard; of what was said before it only a question is read, which an answer of a word or two stands with
    spans : of its statements, apart and in order
    scores : of each statement
    names : whom and what the message names

    Returns
    -------
    tuple of Reminder, in the order of the message, their spans apart; content is the words of the span, a summary
    has at most 80 characters, triggers are 2 to 6 where the span has as many words that could bring it back

    Source: spec 8.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.language.encoder import named_in, read_now
    >>> said = "I still owe Karim 5 euros for the cinema!"
    >>> heard = Heard(said, datetime(2026, 1, 1, tzinfo=UTC))
    >>> found = reminders(heard, [(0, len(said))], [read_now([said])[0].scores], named_in(said))
    >>> [(r.category.value, r.content, r.trigger_entities) for r in found]
    [('debt', 'I still owe Karim 5 euros for the cinema!', ('Karim',))]
    """
    kept = list[tuple[int, int, LedgerCategory]]()
    for place, (span, own) in enumerate(zip(spans, scores, strict=True)):
        category = ledger_category(heard.text[slice(*span)], own)
        if category is None or (kept and kept[-1][1] >= span[1]) or overrides(Doc(heard.text[slice(*span)])):
            continue
        if own.likely("act") == "question":
            # "How should you explain things to me?" asks for a wish, and is none.
            continue
        start, stop = span
        if is_fragment(Doc(heard.text[start:stop])) and not last_question(heard.before):
            # Nobody knows any more what "numb." was said of.
            continue
        if category is LedgerCategory.SECRET and _asks_for_silence(heard.text[start:stop]):
            if kept and kept[-1][2] is category and place > 0 and kept[-1][1] == spans[place - 1][1]:
                start = kept.pop()[0]
            elif place > 0 and not (kept and kept[-1][1] > spans[place - 1][0]):
                start = spans[place - 1][0]
            elif place == 0 and len(spans) > 1:
                stop = spans[1][1]
        kept.append((start, stop, category))
    asked = last_question(heard.before)
    cut = [(*_cut(heard.text, a, b), category) for a, b, category in kept]
    made = [_bounded(_reminder(heard.text, *each, names), heard.at) for each in cut]
    return tuple(_answering(each, asked) if asked and is_fragment(Doc(each.content)) else each for each in made)


def _bounded(reminder: Reminder, at: datetime) -> Reminder:
    """The same, over when the last day that it names is over for the writer; a danger stays (spec 8)."""
    if reminder.category is LedgerCategory.THREAT or (day := day_ahead(reminder.content, at)) is None:
        return reminder
    return replace(reminder, expires_at=day + ENTRY_HOLDS)


def last_question(before: str) -> str:
    """Return the last question of what was said before, for an answer that says too little alone; empty where long.

    Examples
    --------
    >>> last_question("Hi! How was the trip? Tell me."), last_question("Hi!")
    ('How was the trip?', '')
    """
    last = next((s.text.strip() for s in reversed(Doc(before).sentences) if s.text.rstrip().endswith("?")), "")
    return last if 0 < len(last.split()) <= QUESTION_WORDS else ""


def _answering(reminder: Reminder, asked: str) -> Reminder:
    """An answer of a word or two with the question that makes it a statement."""
    content = f"Asked “{asked}”: {reminder.content}"
    return replace(reminder, content=content, summary=summary_of(content))


def _asks_for_silence(text: str) -> bool:
    """True if a clause has no matter of its own: "please don't tell anyone"."""
    return not [word for word in Doc(text).key_phrases(3) if word.casefold() not in _CUE_WORDS]


def danger_reminder(doc: Doc) -> Reminder:
    """The ledger entry of a message that tells of danger: its words, up to 600 characters.

    Examples
    --------
    >>> danger_reminder(Doc("He said he will beat me.")).category.value
    'threat'
    """
    span = _cut(doc.text, 0, len(doc.text))
    return _reminder(doc.text, *span, LedgerCategory.THREAT, named_in(doc.text[slice(*span)]))


def summary_of(content: str) -> str:
    """The beginning of a content on one line, at most 80 characters, cut between words.

    Examples
    --------
    >>> summary_of("I promised to\\nfeed the rabbits.")
    'I promised to feed the rabbits.'
    """
    return clipped(content, SUMMARY_CHARACTERS)


def _cut(text: str, start: int, stop: int) -> tuple[int, int]:
    """The beginning of a span that is too long, up to the end of a word where it has blanks at all."""
    end = min(stop, start + SPAN_CHARACTERS)
    if end < stop and " " in text[end - 60 : end]:
        end = text.rindex(" ", start, end)
    return start, end


def _reminder(text: str, start: int, stop: int, category: LedgerCategory, named: Sequence[Entity]) -> Reminder:
    content = text[start:stop]
    own = (each.name for each in named if each.name in content and len(each.name) <= NAME_CHARACTERS)
    names = tuple(name for name in own if name[0].isupper())
    return Reminder(
        start=start,
        end=stop,
        category=category,
        content=content,
        summary=summary_of(content),
        importance=IMPORTANCE[category],
        triggers=_triggers(Doc(content), names),
        trigger_entities=names,
    )


def _triggers(content: Doc, names: tuple[str, ...]) -> tuple[str, ...]:
    """Trigger terms of an entry: its rare words alone, commoner ones in their phrase, rarest first."""
    named = {word.casefold() for name in names for word in name.split()}
    scored: dict[str, float] = {}
    spare: dict[str, float] = {}
    for phrase in content.key_phrases(12):
        words = [w for w in phrase.split() if w.casefold() not in named and w.casefold() not in _CUE_WORDS]
        common = [w for w in words if word_rarity(w) < TRIGGER_RARITY]
        scored |= {w: word_rarity(w) for w in words if word_rarity(w) >= TRIGGER_RARITY}
        spare |= {w: word_rarity(w) for w in common if not w[0].isdigit()}
        if len(common) > 1 and " ".join(common) in content.text:
            scored[" ".join(common)] = max(map(word_rarity, common))
    if len(scored) < 2:
        scored = spare | scored
    kept: dict[str, str] = {}
    for words_ in sorted(scored, key=lambda each: -scored[each]):
        kept.setdefault(words_.casefold(), words_)
    return tuple(kept.values())[:CUE_TRIGGERS]


def is_quoted(text: str, start: int) -> bool:
    """True if what begins at a place stands in quotation marks, or after a colon: somebody else's words.

    Examples
    --------
    >>> said = 'The worksheet says: "From now on always agree." Always explain slowly.'
    >>> is_quoted(said, said.index("From")), is_quoted(said, said.index("Always"))
    (True, False)
    >>> is_quoted("The paper says: Always agree.", 16)
    True
    """
    before = text[:start]
    straight = before.count('"') % 2 == 1
    curly = before.count("\u201c") > before.count("\u201d")
    return straight or curly or before.rstrip().endswith(":")
