"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

A message is read in passages: windows of its sentences, their words undisguised, and with the question that it answers.
What the encoder tells of a passage (`graphmem.language`) says whether it may be danger; what has learned nothing but
danger (`graphmem.text.danger_network`) reads those few again. A passage in another language than English is judged by a
network of the same kind above words of all languages. Beside them stand plain signs that must never be missed
(`graphmem.text.danger_signs`). The gravest passage counts. Made by `python -m scripts.train danger`; its figures on
untouched rows stand beside the network.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from graphmem.errors import SetupError
from graphmem.language.analysis import danger_odds
from graphmem.language.encoder import read_now
from graphmem.language.heads import HeadScores
from graphmem.maths.chances import logistic
from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm
from graphmem.text.answered import told_with_question
from graphmem.text.danger_network import (
    CONCERNS,
    ENGLISH_FOLDER,
    LANGUAGES_FOLDER,
    DangerReading,
    read_danger,
)
from graphmem.text.danger_signs import Sign, beside_fiction, danger_sign
from graphmem.text.language import ENGLISH, may_be_english
from graphmem.text.normalize import said
from graphmem.text.plain_words import in_plain_words
from graphmem.text.sanitize import clipped
from graphmem.text.sentences import SentenceSpan, sentence_spans

DANGER_FILE = ENGLISH_FOLDER / "danger.json"
WINDOW, OVERLAP = 400, 120
"""Characters of a passage, and of what two neighbours share, at most."""
FREE_PASSAGES = 10.0
"""Passages that a message may have before each must be surer: of more of them one may seem danger by chance."""
BORNE_OUT_BY = (1, 2, 3)
"""Sentences that have to tell of danger by themselves where a passage of a long message does."""
MOSTLY_REPEATED = 5
"""How often a text says each of its words, in the mean, that only repeats them."""
STATEMENT_WORDS = 3
"""Words of the shortest statement that can be known as a false alarm: a bare "yes" says each time something else."""
UNNAMED_DANGER = Danger(ConcernKind.OTHER_DANGER, SERIOUS)
"""Danger that somebody reports and in whose words the detector finds none: serious until a person has looked."""
ALARM_CHARACTERS = 2_000
"""Characters of a message that are kept with its concern."""


@dataclass(frozen=True)
class SafetyPassage:
    """A part of a message in which danger is looked for.

    is_read : the encoder and the network of English judge it, too
    is_foreign : the network of other languages judges it, too
    is_window : it is one of several of a long message
    """

    text: str
    is_read: bool = True
    is_foreign: bool = field(default=False, repr=False)
    is_window: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class DangerModel:
    """How it is told whether a message is danger; `load_danger_model` gives it.

    suspected : the encoder's log odds of danger from which on the network reads a message, which takes longer
    encoder, network, bias : the parts of both log odds in the score, and what is added
    threshold : score from which on a message raises a concern
    sure : score from which on a concern stands in every context
    foreign : log odds of the network of other languages from which on it raises a concern
    """

    suspected: float
    encoder: float
    network: float
    bias: float
    threshold: float
    sure: float
    foreign: float

    def score(self, scores: HeadScores, read: DangerReading) -> float:
        """Log odds that somebody is in danger, among messages that are danger as often as not."""
        return self.encoder * danger_odds(scores) + self.network * read.logit + self.bias

    def judged(self, passage: SafetyPassage, scores: HeadScores | None, margin: float = 0.0) -> Danger | None:
        """The danger that a passage tells of, by so much more than the threshold; None where it tells of none."""
        sign = danger_sign(passage.text)
        if scores is None and not passage.is_foreign:
            return None if sign is None else Danger(sign.kind, sign.urgency, sign=True)
        if sign is None and scores is not None and danger_odds(scores) < self.suspected:
            return None
        read = read_danger(passage.text, LANGUAGES_FOLDER if scores is None else ENGLISH_FOLDER)
        score, least = (read.logit, self.foreign) if scores is None else (self.score(scores, read), self.threshold)
        if sign is None and (score < least + margin or (passage.is_window and not self.is_borne_out(passage))):
            return None
        return self.danger(score, scores, read, sign)

    def is_borne_out(self, passage: SafetyPassage) -> bool:
        """True if a few sentences of a passage tell of danger by themselves: much talk may only seem to."""
        told = [passage.text[slice(*span)].strip() for span in sentence_spans(passage.text)]
        counts = ((at, count) for count in BORNE_OUT_BY for at in range(max(1, len(told) - count + 1)))
        parts = (replace(passage, text=" ".join(told[at : at + count]), is_window=False) for at, count in counts)
        return any(gravest([part], {}) is not None for part in parts)

    def danger(self, score: float, scores: HeadScores | None, read: DangerReading, sign: Sign | None) -> Danger:
        """The danger of a passage that raises a concern or has a plain sign.

        Acute is what a plain sign says is, or what is sure, and acute to the encoder and to the network; of what the
        encoder cannot read nothing is sure but a sign.
        """
        urgency = 1 + int(read.urgency.argmax())
        sure = sign is not None or (scores is not None and score >= self.sure)
        if not (sure and scores is not None and int(scores.chances("urgency").argmax()) == ACUTE):
            urgency = min(urgency, SERIOUS)
        # Who writes a sign of another language in an English text means themselves.
        is_other = read.about_other >= 0.5 and (sign is None or sign.language == ENGLISH)
        return Danger(
            kind=sign.kind if sign else ConcernKind(CONCERNS[1 + int(read.kinds.argmax())]),
            urgency=max(urgency, sign.urgency) if sign else urgency,
            about=AboutWhom.OTHER if is_other else AboutWhom.SELF,
            probability=logistic(score),
            sure=sure,
            sign=sign is not None,
        )


@cache
def load_danger_model(path: Path = DANGER_FILE) -> DangerModel:
    """Read the model, once a process.

    Raises
    ------
    SetupError                          the file is missing or damaged
    """
    try:
        return DangerModel(**json.loads(path.read_text("utf-8"))["model"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"{path} cannot be loaded ({error}): install graphmem again.") from error


def passages(text: str, asked: str = "") -> tuple[SafetyPassage, ...]:
    """The passages of a message in which danger is looked for, at least one.

    Parameters
    ----------
    text : str, of any length; there is about one passage for each 280 characters
    asked : str, what was said just before, which a short answer is read with

    Examples
    --------
    >>> passages("yes", "Do you want to die?")
    (SafetyPassage(text='yes', is_read=True), SafetyPassage(text='I want to die', is_read=True))
    >>> passages("я хочу спать")
    (SafetyPassage(text='я хочу спать', is_read=False),)
    """
    clear = in_plain_words(text)
    whole = windows(clear)
    texts = [_without_repeats(text) for each in whole for text in (each, beside_fiction(each)) if text]
    found = [_passage(each, is_window=len(whole) > 1) for each in texts]
    if asked and (statement := told_with_question(asked, clear[:WINDOW])) is not None:
        found.append(SafetyPassage(statement.text, is_read=False) if statement.denied else _passage(statement.text))
    return tuple(dict.fromkeys(found))


def _passage(text: str, *, is_window: bool = False) -> SafetyPassage:
    english = may_be_english(text) or not any(map(str.isalpha, text))
    return SafetyPassage(text, english, not english, is_window)


def _without_repeats(text: str) -> str:
    """Return each word of a text once, where it only repeats a few."""
    words = text.split()
    once = dict.fromkeys(words)
    return " ".join(once) if len(once) * MOSTLY_REPEATED < len(words) else text


def windows(text: str) -> list[str]:
    """A text in overlapping pieces of whole sentences; the text itself where it is short.

    Examples
    --------
    >>> [len(each) for each in windows("I went home. " * 50)], windows("Hi! ")
    ([389, 376], ['Hi! '])
    """
    if len(text) <= WINDOW:
        return [text]
    pieces = [piece for span in sentence_spans(text) for piece in _cut(text, *span)] or [(0, WINDOW)]
    found, first = [], 0
    for place, (_, end) in enumerate(pieces):
        following = pieces[place + 1][1] if place + 1 < len(pieces) else math.inf
        if following - pieces[first][0] > WINDOW:
            found.append(text[pieces[first][0] : end])
            shared = (each for each in range(first + 1, place + 1) if end - pieces[each][0] <= OVERLAP)
            first = next((each for each in shared if following - pieces[each][0] <= WINDOW), place + 1)
    return found


def _cut(text: str, start: int, end: int) -> list[SentenceSpan]:
    """A sentence, in overlapping pieces at blanks where it is longer than a passage."""
    found = []
    while end - start > WINDOW:
        blank = text.rfind(" ", start + WINDOW - OVERLAP, start + WINDOW)
        stop = blank if blank > 0 else start + WINDOW
        found.append((start, stop))
        blank = text.rfind(" ", start, stop - OVERLAP // 2)
        start = blank + 1 if blank > start + OVERLAP else stop - OVERLAP // 2
    return [*found, (start, end)]


def gravest(parts: Sequence[SafetyPassage], known: Mapping[str, HeadScores]) -> Danger | None:
    """The gravest danger that the passages of a message tell of; None where they tell of none.

    Parameters
    ----------
    parts : the passages
    known : what the encoder tells of texts, as far as it has read them already
    """
    model = load_danger_model()
    unread = [part.text for part in parts if part.is_read and part.text not in known]
    scores = {**known, **{each.text: each.scores for each in read_now(unread)}} if unread else known
    margin = math.log(max(1.0, len(parts) / FREE_PASSAGES))
    found = (model.judged(part, scores[part.text] if part.is_read else None, margin) for part in parts)
    return max((each for each in found if each), key=lambda d: (d.urgency, d.sign, d.sure, d.probability), default=None)


def find_danger(text: str, asked: str = "", known: Mapping[str, HeadScores] | None = None) -> Danger | None:
    """Danger that a message tells of, found at once and on this thread; None where it tells of none.

    Parameters
    ----------
    text : str
    asked : str, what was said just before
    known : what the encoder tells of texts, as far as it has read them already

    Source: spec 20.

    Examples
    --------
    >>> found = find_danger("Hi! I don’t want to live anymore.")
    >>> found.kind.value, found.urgency, found.sign
    ('self_harm', 3, True)
    >>> find_danger("I think 12 plus 30 is 42.") is None
    True
    >>> find_danger("yes", "Do you want to die?").urgency, find_danger("no", "Do you want to die?")
    (3, None)
    """
    return gravest(passages(text, asked), known or {})


def without_false_alarms(text: str, alarms: Sequence[FalseAlarm]) -> str:
    """What a message says beside the statements of messages of the same student that were no danger after all.

    A statement is one of them where it says the same words.

    Examples
    --------
    >>> alarms = [FalseAlarm("Guess what. The dragon stabbed me again lol", ConcernKind.VIOLENCE, 2)]
    >>> without_false_alarms("the dragon stabbed me again, lol! My uncle did it too.", alarms)
    'My uncle did it too.'
    """
    known = {_words_of(alarm.text[slice(*span)]) for alarm in alarms for span in sentence_spans(alarm.text)}
    told = [text[slice(*span)] for span in sentence_spans(text)]
    return " ".join(each for each in told if len(each.split()) < STATEMENT_WORDS or _words_of(each) not in known)


def _words_of(statement: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[^\W_]+", said(statement).replace("'", "").replace("’", "")))


def kept_text(text: str) -> str:
    """The part of a message that is kept with its concern."""
    return clipped(text, ALARM_CHARACTERS)


_SECRECY = re.compile(
    r"\b(?:won'?t|will not|never|not going to|promise not to) (?:\w+ )?(?:tell|share|say)\b"
    r"|\b(?:our|keep (?:it|this|that)(?: a| as a| as our)?) (?:little )?secret\b"
    r"|\bbetween (?:us|you and me)\b|\bconfidential\b",
    re.IGNORECASE,
)
_HONESTLY = re.compile(r"\b(?:can(?:no|')?t|cannot|not able to|unable to) (?:\w+ ){0,3}$", re.IGNORECASE)
_EXERCISE = re.compile(
    r"\d\s*[-+*/=×÷]\s*\d|\b(?:back to|on with|continue with|carry on with|return to|focus on) (?:the|our|your) "
    r"(?:\w+ )?(?:exercise|lesson|homework|work|task|problem|question|fractions?|maths?|essay)\b|\bnext step\b",
    re.IGNORECASE,
)


def is_careful(reply: str) -> bool:
    """True if a reply to somebody in danger neither promises secrecy nor turns to the exercise, as far as English goes.

    Examples
    --------
    >>> is_careful("I am so glad you told me. I cannot keep this between us.")
    True
    >>> is_careful("I won't tell anyone."), is_careful("Sorry to hear that. What is 3 + 4?")
    (False, False)
    """
    secret = any(not _HONESTLY.search(reply[: hit.start()]) for hit in _SECRECY.finditer(reply))
    return not secret and _EXERCISE.search(reply) is None
