"""Tutoring moves of the offline mind: the kind of reply that a message of the student calls for.

Nothing is called right or wrong here that was not reckoned exactly.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.model import Author, Domain, LedgerCategory, Message, Modality
from graphmem.offline.task_hints import cited_sentence, task_hint
from graphmem.text.arithmetic import Equation, equations, spoken_equations
from graphmem.text.clauses import statement_spans
from graphmem.text.comparisons import compared, stated_comparisons
from graphmem.text.dialogue_acts import Act, act_of, overrides
from graphmem.text.doc import Doc, doc_of, once_per_doc
from graphmem.text.domains import domain_of
from graphmem.text.introductions import introduced_name
from graphmem.text.language import ENGLISH, language_of
from graphmem.text.ledger_model import ledger_category
from graphmem.text.lexicon import FIRST_PERSON, SECOND_PERSON, is_negation
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.quantities import Quantity, quantities
from graphmem.text.questions import asks, only_asks
from graphmem.text.reader import LEDGER_CATEGORIES, MODALITIES, PASSES, MessageReading
from graphmem.text.talk import TALK_SURE, TalkKind, talk_of
from graphmem.text.worth import accepts

OWN = 0.7
"""Chance from which on a message tells of the student's own, whatever else it looks like."""
GLAD, TROUBLED = 0.25, -0.2
"""Valence from which on, or down to which, such a message is good news or a worry."""
SURELY_FELT = 0.8
"""Chance of a feeling from which on an opinion that weighs is a trouble of one's own."""
UNTROUBLED, UNTROUBLED_OWN = -0.1, -0.05
"""Valence from which on words of anger or grief are not the student's mood; the same of what is told as one's own."""
FOREIGN_WORDS = 3
"""Words from which on what cannot be read is taken for another language."""
AGREEMENT_WORDS = 4
"""Words of the longest agreement that says nothing else."""
SUM_SIGHT = 6
"""Messages of the student in which the sum is looked for that a bare result or "is that right?" speaks of."""
BARE_GUESS_WORDS = 4
"""Words up to which a message asks about what was said before."""
SURE = 0.6
"""Chance from which on a message is taken for a wish, a promise or a secret."""

_ADVICE = frozenset("should shall shouldn't advice advise ideas tips suggest suggestions recommend".split())  # noqa: SIM905
_ASKS_HOW_ONE_IS = re.compile(
    r"\bhow(?:'?s| is| are| r)? (?:you|u|ya|it going|things|everything|your day|life)\b(?: [a-z]+){0,2}\W*$"
    r"|\b(?:fine|good|well|great|ok|okay|alright|bad)\b\W+(?:thanks\W+|thank you\W+)?"
    r"(?:and |how about |what about |how are )?(?:you|u|yourself)\W*$"
)
"""Words that ask the companion how it is, also behind how one is oneself."""
_HAS_TO = re.compile(
    r"\b(?:i|we) (?:have to|need to|must|should|gotta|got to|am supposed to|are supposed to|are asked to)\b"
)
"""Words with which an exercise is told that the companion does not know."""
_REASON = re.compile(r"\b(?:because|cause|cos|cuz|since|that's why)\b")
_MAY_GUESS = {Act.QUESTION, Act.STEP, Act.STATEMENT}
_OF_MOOD = {Act.SORROW, Act.FRUSTRATION}
_TELLS = {Act.STEP, Act.STATEMENT, Act.DISCLOSURE, Act.CONFUSION} | _OF_MOOD
_PLAIN = {Act.STATEMENT, Act.STEP}
_OF_COMPANION = {TalkKind.COMPANION, TalkKind.ABILITY, TalkKind.REQUEST}
_OF_CHAT = {TalkKind.REACTION, TalkKind.STORY, TalkKind.GREETING, TalkKind.GOODBYE, TalkKind.THANKS}
_AT_WORK = {Act.STEP, Act.CONFUSION, Act.QUESTION, Act.AGREEMENT, Act.DISCLOSURE}
"""Acts that are answered as work where there is a task, whatever they sound like."""
_LEDGER_MOVES = {
    LedgerCategory.INSTRUCTION: "wish",
    LedgerCategory.PROMISE: "promise",
    LedgerCategory.SECRET: "secret",
}


@dataclass(frozen=True)
class Move:
    """Tutoring move: the name of its wordings, a sum or comparison it is about, and a question or sentence beside it.

    kept : the message is likely to be remembered
    """

    name: str
    sum: str = ""
    hint: str = ""
    kept: bool = False


def chosen_move(messages: Sequence[Message], reading: MessageReading | None = None, task: str = "") -> Move:
    """The move that answers the student's last message.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    reading : of that message, where it was read
    task : str, the exercise the talk is about, where there is one

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> said = [Message(Author.STUDENT, "I think 12 - 3 = 8", datetime(2026, 1, 1, tzinfo=UTC))]
    >>> chosen_move(said).name, chosen_move(said).sum
    ('wrong sum', '12 - 3 = 8')
    """
    doc = doc_of(messages[-1])
    act = act_of(doc)
    if act in (Act.STEP, Act.CONFUSION, Act.QUESTION) and (judged := _judged_sums(messages, act, task)):
        return judged
    if _is_foreign(doc) and not (task and act is Act.STEP):
        return Move("foreign")
    if not task and _asks_for_advice(doc):
        return Move("advice")
    if reading is not None and not overrides(doc) and (talked := _talked(doc, act, reading, task)):
        return talked
    if act is Act.STATEMENT and doc.plain_words[:1] == ("please",):
        return Move("wish")
    if act is Act.AGREEMENT and doc.plain_words and is_negation(doc.plain_words[0]):
        return Move("denial")
    guesses = act in _MAY_GUESS or (act is Act.AGREEMENT and len(doc.words) > AGREEMENT_WORDS)
    if guesses and _is_guess(doc):
        return _guess(messages, task)
    if act is Act.CONFUSION:
        earlier = _own(messages[:-1])[-1:]
        confused = bool(earlier) and act_of(doc_of(earlier[0])) is Act.CONFUSION
        return Move("still confused" if confused else act.value, hint=task_hint(messages, task, stuck=True))
    if act is Act.UNREADABLE and len(doc.words) >= FOREIGN_WORDS:
        return Move("statement" if language_of(doc.text) == ENGLISH else "foreign")
    return _step(messages, task) if act is Act.STEP else Move(act.value)


def told_beside(doc: Doc, reading: MessageReading | None) -> Move | None:
    """The move for what a message tells beside a question ("can i tell you something? my parents are splitting up"),
    or wishes in the form of one."""
    spans = statement_spans(doc.excerpt)
    told = [
        each for each in (Doc(doc.excerpt.text[slice(*span)]) for span in spans) if not (each.asks or _is_guess(each))
    ]
    if reading is None or len(told) == len(spans):
        # Nothing is asked.
        return None
    acts = [act_of(each) for each in told]
    if Act.SORROW in acts or (Act.DISCLOSURE in acts and reading.valence <= UNTROUBLED):
        return Move("sorrow")
    if Act.FRUSTRATION in acts:
        return Move("worry")
    if Act.DISCLOSURE in acts:
        return Move("disclosure")
    return Move("request") if talk_of(doc, reading)[0] is TalkKind.REQUEST else None


def _asks_for_advice(doc: Doc) -> bool:
    """True if the student asks what they should do, or for ideas."""
    words = frozenset(doc.plain_words)
    return doc.asks and not words.isdisjoint(_ADVICE) and not words.isdisjoint(FIRST_PERSON)


def _is_foreign(doc: Doc) -> bool:
    """True of words that are surely of another language: one or two in plain letters, as "brb", may be of any."""
    enough = len(doc.words) >= FOREIGN_WORDS or not doc.text.isascii()
    return enough and language_of(doc.text) not in ("", ENGLISH)


def _talked(doc: Doc, act: Act, reading: MessageReading, task: str) -> Move | None:
    """The move for what is told, and for talk that is not about work, as the models see it; None for anything else."""
    kind, chance = talk_of(doc, reading)
    if kind in _OF_COMPANION and ledger_category(doc.text, reading) is LedgerCategory.INSTRUCTION:
        # "Can you remind me ...?" asks for what is remembered, and not what one is able to do.
        return Move("wish", kept=True)
    # Without a word for the companion memory may know the answer.
    of_companion = not SECOND_PERSON.isdisjoint(doc.plain_words)
    sure = chance >= TALK_SURE and (act is not Act.QUESTION or of_companion)
    goes_on = act in (Act.AGREEMENT, Act.THANKS) and len(doc.words) > AGREEMENT_WORDS
    plain = act in _PLAIN or (goes_on and kind not in _OF_COMPANION)
    # Where nothing is worked on, the likeliest kind is a better guess than work.
    likely = kind if sure or (not task and plain) else None
    telling = act in _TELLS or goes_on
    if telling and (told := _told(doc, act, reading, task, likely)):
        return told
    if kind is TalkKind.REQUEST and act is Act.CONFUSION and not task:
        return Move("help")
    if kind is TalkKind.COMPANION and not task and _ASKS_HOW_ONE_IS.search(doc.plain):
        return Move("well-being")
    if likely in _OF_COMPANION or (likely in _OF_CHAT and not (task and act in _AT_WORK)):
        return Move(str(likely), kept=_is_kept(doc, reading))
    if plain and not task and (likely is TalkKind.OPINION or (sure and likely is TalkKind.QUESTION)):
        return Move(str(likely))
    return None


def _own(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.author is Author.STUDENT]


def _asked(messages: Sequence[Message]) -> str:
    """The companion's words that the last message answers."""
    before = messages[-2:-1]
    return before[0].text if before and before[0].author is Author.COMPANION else ""


def _sums(own: Sequence[Message]) -> list[Equation]:
    """The sums of the last of the student's messages; a number that mends the wrong sum before it is one, too."""
    return _sums_of(doc_of(own[-1]), _sum_before(own[:-1]))


@once_per_doc
def _reckoned(doc: Doc) -> tuple[list[Equation], tuple[Quantity, ...]]:
    return spoken_equations(doc.text), quantities(doc.text)


def _sums_of(doc: Doc, before: Equation | None) -> list[Equation]:
    reckoned, numbers = _reckoned(doc)
    if reckoned or before is None or before.holds or len(numbers) != 1:
        return reckoned
    mended = equations(f"{before.text.rpartition('=')[0]}= {numbers[0].value}")
    return [each for each in mended if each.holds]


def _sum_before(own: Sequence[Message]) -> Equation | None:
    """The last sum in the student's last few messages."""
    last: Equation | None = None
    for message in own[-SUM_SIGHT:]:
        found = _sums_of(doc_of(message), last)
        last = found[-1] if found else last
    return last


def _guess(messages: Sequence[Message], task: str) -> Move:
    """The move for a guess; "is that right?" asks about the sum said last, where there is one."""
    before = _sum_before(_own(messages[:-1])) if len(doc_of(messages[-1]).words) <= BARE_GUESS_WORDS else None
    if before is None:
        return Move("guess")
    return Move("right sum", before.text, task_hint(messages, task)) if before.holds else Move("wrong sum", before.text)


def _judged_sums(messages: Sequence[Message], act: Act, task: str) -> Move | None:
    """The move for sums that can be reckoned: a wrong one first, else the last one of a step."""
    reckoned = _sums(_own(messages))
    wrong = [equation for equation in reckoned if not equation.holds]
    if wrong:
        return Move("wrong sum", wrong[-1].text)
    if act is not Act.STEP:
        return None
    if not reckoned:
        return _judged_comparison(doc_of(messages[-1]))
    last = reckoned[-1]
    again = _was_said(last, _own(messages[:-1])) and not accepts(_asked(messages))
    name = "same sum" if again else "right sum"
    return Move(name, last.text, task_hint(messages, task, last.text))


def _judged_comparison(doc: Doc) -> Move | None:
    """The move for comparisons of numbers that are stated, a wrong one first."""
    stated = stated_comparisons(doc.text)
    wrong = [each for each in stated if not each.holds]
    if wrong:
        return Move("wrong comparison", wrong[0].text)
    return Move("right comparison", stated[-1].text) if stated else None


def _was_said(equation: Equation, before: Sequence[Message]) -> bool:
    """True if the student has come to this sum before."""
    text = equation.text.replace(" ", "")
    return any(text == known.text.replace(" ", "") for said in before for known in _reckoned(doc_of(said))[0])


def _was_answered(doc: Doc, before: Sequence[Message]) -> bool:
    """True if the student has given this answer before."""
    own = gist(doc)
    return any(is_said_by(own, each) and is_said_by(each, own) for each in (gist(doc_of(said)) for said in before))


def _step(messages: Sequence[Message], task: str) -> Move:
    """The move for a step without a sum that can be reckoned."""
    doc, asked = doc_of(messages[-1]), _asked(messages)
    if not task and _HAS_TO.search(doc.plain):
        return Move("to do")
    if (result := compared(asked, doc.text)) is not None:
        return Move("right comparison" if result.holds else "wrong comparison", result.text)
    if quantities(doc.text) and _was_answered(doc, _own(messages[:-1])):
        return Move("same answer", hint=task_hint(messages, task))
    if cited := cited_sentence(doc, asked, task):
        return Move("given", hint=cited)
    reasoned = not doc.asks and _REASON.search(doc.plain) is not None
    return Move("reasoned step" if reasoned else Act.STEP.value, hint=task_hint(messages, task))


def _told(doc: Doc, act: Act, reading: MessageReading, task: str, kind: TalkKind | None) -> Move | None:
    """The move for what a student tells of themselves; None where the message is about something else."""
    kept = _is_kept(doc, reading)
    place = int(reading.ledger.argmax())
    category = LEDGER_CATEGORIES[place]
    if act is not Act.SORROW and category in _LEDGER_MOVES and reading.ledger[place] >= SURE:
        return Move(_LEDGER_MOVES[category], kept=kept)
    if act in _OF_MOOD and _is_mood(act, reading, kind):
        return Move("worry" if act is Act.FRUSTRATION and not task else act.value, kept=kept)
    if act is Act.STEP and task and domain_of(reading) is Domain.SCHOOL:
        # How one came to a step says more of the work than of oneself.
        return None
    if not task and kind is TalkKind.OPINION and _is_own_trouble(reading):
        return Move("worry", kept=kept)
    if kind is TalkKind.STORY and reading.about_self >= OWN and reading.valence <= TROUBLED:
        return Move("sorrow", kept=kept)
    own = kind is TalkKind.OWN or (reading.about_self >= OWN and kind not in _OF_CHAT | {TalkKind.OPINION})
    if act is Act.CONFUSION or not (own or act in _OF_MOOD or introduced_name(doc.text)):
        return None
    if reading.valence >= GLAD:
        return Move("good news", kept=kept)
    return Move("worry" if reading.valence <= TROUBLED else "disclosure", kept=kept)


def _is_kept(doc: Doc, reading: MessageReading) -> bool:
    """True if a message will be remembered as good as surely: it is read twice, and asks nothing.

    Of 224 such messages of chats (TIAGE) 92 % leave a memory, of those that are read once 54 %.
    """
    return reading.snr >= PASSES[1] and not doc.text.rstrip().endswith("?")


def _is_mood(act: Act, reading: MessageReading, kind: TalkKind | None) -> bool:
    """True if words of anger or grief are the student's mood: "my hamster died", and not "I hate broccoli"."""
    own = kind is TalkKind.OWN
    happened = MODALITIES[int(reading.modality.argmax())] is Modality.EPISODIC
    return reading.valence < (UNTROUBLED_OWN if own else UNTROUBLED) or (own and act is Act.SORROW and happened)


def _is_own_trouble(reading: MessageReading) -> bool:
    """True of a feeling of one's own that weighs: "that makes me kind of depressed"."""
    feels = reading.modality[MODALITIES.index(Modality.EMOTIONAL)] >= SURELY_FELT
    return bool(feels) and reading.about_self >= OWN and reading.valence <= TROUBLED


def _is_guess(doc: Doc) -> bool:
    """True if a message ends with a question mark and asks nothing but for confirmation."""
    asked = any(asks(sentence.plain) or only_asks(sentence.plain) for sentence in doc.excerpt.sentences)
    guessed = doc.plain.rstrip().endswith(("?", "right", "right?"))
    return guessed and (not asked or doc.plain.rstrip(" ?").endswith(("right", "correct")))
