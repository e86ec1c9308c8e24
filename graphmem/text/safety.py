"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20).

A message is read in passages: windows of its sentences, their words undisguised, and with the question that it answers.
What the encoder tells of a passage (`graphmem.language`) says whether it may be danger; a network that has learned
nothing but danger reads those few again. A passage in another language than English is judged by a network of the same
kind above words of all languages. Beside them stand plain signs that must never be missed. The gravest passage counts.
Made by `python -m scripts.train danger`; its figures on untouched rows stand beside the network.

Each row of `danger_signs.jsonl` is a family of phrases of one language: `kind`, `urgency` and `sign`, a regular
expression over lower-case text without apostrophes, in which `<name>` stands for what the language's row of that
`name` means; `neg` is the negation that makes a sign of the same clause none. Only phrases that say danger in so many
words belong there. A question and its answer are read as the one statement that they make: "Do you cut yourself?" and
"yes" say "I cut myself".
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from graphmem.errors import SetupError
from graphmem.language.analysis import MessageAnalysis, danger_odds
from graphmem.language.encoder import read_now
from graphmem.language.heads import MESSAGE, HeadScores
from graphmem.maths.chances import logistic, softmax
from graphmem.model import ACUTE, SERIOUS, AboutWhom, ConcernKind, Danger, FalseAlarm, Vector
from graphmem.text.disguises import in_plain_words
from graphmem.text.doc import ENGLISH, may_be_english
from graphmem.text.networks import OwnLayers
from graphmem.text.normalize import clipped, plain, said
from graphmem.text.words import SentenceSpan, sentence_spans

MOST_ANSWER_WORDS = 8
"""Most words of an answer without yes or no that is read by its question."""
QUESTION_CHARACTERS = 300

_OPENING = r"^\W*(?:(?:so|and|but|ok|okay|well|hey|oh|tell me|sorry|also|please|then|or|lol|haha|ew|uh|um|hm+)\b\W*)*"
_ASKS = re.compile(
    rf"{_OPENING}(?:(?P<wh>who|what|where|when|why|which|how(?: \w+)?)\b\W*(?P<object>(?:\w+ ){{0,3}}?(?=do|did))?)?"
    r"(?P<aux>do|does|did|are|is|was|were|have|has|had|can|could|will|would|should)?\b(?:n't)? ?(?P<rest>.*?)\W*$",
    re.DOTALL,
)
_SUBJECT = re.compile(
    r"(?:you|he|she|they|it|there|we|(?:some|any|no|every)(?:body|one)|(?:your|the|a|his|her|their|this|these) \w+)\b"
)
_YES = re.compile(
    rf"{_OPENING}(?:y(?:es+|eah+|ea+h*|ep|up|ah|a|e|uh)|m+h+m+|uh ?huh|sometimes|often|always|kinda|kind of|sort of"
    r"|maybe|perhaps|probably|true|sure|right|(?:i|he|she|they|it) (?:do|does|did|am|is|are|was|have|has|guess"
    r"|think so)\b)\b"
)
_NO = re.compile(
    rf"{_OPENING}(?:no+|nope|nah+|never|not|none|nobody|nothing|of course not|(?:i|he|she|they|it) (?:\w+n'?t|never)"
    r"|dont)(?!\w)"
)
_NO_ANSWER = re.compile(
    rf"{_OPENING}(?:idk|idc|dunno|why|what|who|when|how|where|can|could|do|does|is|are|i|i'm|im|we|you|he|she|it|they|that)"
    r"\b|.*\?\s*$",
    re.DOTALL,
)
_YOU_ACTS = re.compile(
    r"\byou(?= (?:do|did|don't|didn't|are|were|have|had|can|could|will|would|want|wanted|like|liked|feel|felt"
    r"|think|need|mean|might|should|ever|sometimes|often|really|last|still|go|just)\b)"
)


SIGNS_FILE = Path(__file__).with_name("danger_signs.jsonl")
_FICTION = re.compile(
    r"\b(?:in|from|of) (?:the|this|that|my|a|our) (?:\w+ )?(?:book|story|novel|film|movie|series|show|game|play"
    r"|poem)s?\b|\b(?:macbeth|romeo|juliet|hamlet|minecraft|roblox|fortnite|zombies?|creeper|squad|gta|sims)\b"
    r"|\b(?:this|next|last) (?:level|chapter|episode|act|scene)\b"
)
_CLAUSE_END = re.compile(
    r"[.,;:!?\n…。！？،؟।]+|\s(?:but|although|though)\s|\s(?:and|then|so)\s(?=(?:(?:then|now|also) )?"
    r"(?:i|im|ive|my|he|she|they|we|mum|mom|dad)\b)"
)
_NEGATED = r"\b{}\W+(?:(?!stop|help|quit|only|just)\w+\W+){{0,2}}$"
ENGLISH_FOLDER = Path(__file__).with_name("weights") / "danger"
LANGUAGES_FOLDER = ENGLISH_FOLDER.with_name("danger_languages")
CONCERNS = MESSAGE.heads["concern"].labels
"""Kinds of danger; the first is none."""
URGENCIES = 3
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


@dataclass(frozen=True)
class Answered:
    """What an answer says with its question.

    denied : the answer is no, and the text the question denied
    """

    text: str
    denied: bool = False


def told_with_question(asked: str, answer: str) -> Answered | None:
    """The statement that a question and its answer make; None where the answer is none, or needs no question.

    Parameters
    ----------
    asked : what was said before the answer; its last sentence counts
    answer : str

    Examples
    --------
    >>> told_with_question("I hear you. Does your dad hit you?", "yes when hes drunk").text
    'my dad hit me. yes when hes drunk'
    >>> told_with_question("Who hits you?", "my uncle").text, told_with_question("Are you safe at home?", "no").text
    ('my uncle hits me', 'I am not safe at home')
    >>> told_with_question("Do you like maths?", "I got 12"), told_with_question("Good.", "yes")
    (None, None)
    """
    spans = sentence_spans(asked[-QUESTION_CHARACTERS:])
    question = plain(asked[-QUESTION_CHARACTERS:][slice(*spans[-1])]) if spans else ""
    found, said = _ASKS.match(question), plain(answer)
    if not question.rstrip().endswith("?") or found is None or not said.strip():
        return None
    agreed = _YES.match(said) is not None
    denied = not agreed and _NO.match(said) is not None
    if not (agreed or denied) and (_NO_ANSWER.match(said) or len(said.split()) > MOST_ANSWER_WORDS):
        return None
    statement = _stated(found, denied)
    if statement is None:
        return None
    if found["wh"] == "who" and not found["aux"]:
        return None if denied else Answered(f"{answer.strip()} {statement}")
    if denied:
        return None if found["wh"] else Answered(statement, denied=True)
    if not found["wh"] and len(said.split()) == 1:
        # A bare "yes" says no more than the question does.
        return Answered(statement)
    return Answered(f"{statement}{' ' if found['wh'] else '. '}{answer.strip()} {found['object'] or ''}".rstrip())


def _stated(found: re.Match[str], denied: bool) -> str | None:
    """What a question asks for, as whoever is asked says it."""
    aux, rest = found["aux"], found["rest"]
    subject = _SUBJECT.match(rest)
    if not aux:
        return None if found["wh"] is None else _of_me(rest)
    if subject is None:
        return None
    who, does = subject.group(), rest[subject.end() :].strip()
    verb = "" if aux in ("do", "does", "did") and not denied else f"{aux} "
    return _of_me(f"{who} {verb}{'not ' if denied else ''}{does}")


def _of_me(text: str) -> str:
    """What is said to somebody, as they say it."""
    text = re.sub(r"^you\b", "I", text)
    text = re.sub(r"\bI are\b", "I am", re.sub(r"\bI were\b", "I was", _YOU_ACTS.sub("I", text)))
    text = re.sub(r"\byour\b", "my", re.sub(r"\byourself\b", "myself", re.sub(r"\byours\b", "mine", text)))
    return re.sub(r"\byou\b", "me", text)


@dataclass(frozen=True)
class Sign:
    """A plain sign of danger in a text."""

    kind: ConcernKind
    urgency: int
    language: str


@dataclass(frozen=True)
class _Signs:
    """The signs of one language: one pattern with a group for each, and the negation that makes them none."""

    signs: tuple[Sign, ...]
    pattern: re.Pattern[str]
    negated: re.Pattern[str] | None


@cache
def load_signs() -> tuple[_Signs, ...]:
    """The signs of each language, read once a process."""
    rows = [json.loads(line) for line in SIGNS_FILE.read_text("utf-8").splitlines()]
    return tuple(_of_language(language, rows) for language in dict.fromkeys(row["language"] for row in rows))


def _of_language(language: str, rows: list[dict[str, str]]) -> _Signs:
    own = [row for row in rows if row["language"] == language]
    names = {row["name"]: row["means"] for row in own if "name" in row}

    def resolved(sign: str) -> str:
        while (found := re.search(r"(?<!\?P)<(\w+)>", sign)) is not None:
            sign = f"{sign[: found.start()]}{names[found[1]]}{sign[found.end() :]}"
        return sign

    signs = [row for row in own if "sign" in row]
    pattern = "|".join(f"({resolved(row['sign'])})" for row in signs)
    made = tuple(Sign(ConcernKind(row["kind"]), int(row["urgency"]), language) for row in signs)
    return _Signs(made, re.compile(pattern), re.compile(_NEGATED.format(names["neg"])) if "neg" in names else None)


def danger_sign(text: str) -> Sign | None:
    """The gravest plain sign of danger in a text; None where there is none.

    One that is denied, and one in whose clause a story or a game is named, is no sign: the model decides.

    Examples
    --------
    >>> danger_sign("i dont know, i want to kill myself").urgency, danger_sign("kein Bock, ich will sterben").language
    (3, 'de')
    >>> danger_sign("in minecraft i am fine but i cut my arms again").kind.value
    'self_harm'
    >>> [danger_sign(text) for text in ("This homework kills me.", "I don't want to kill myself")]
    [None, None]
    """
    seen = plain(text).replace("'", "")
    return max((sign for each in load_signs() for sign in _found(each, seen)), key=lambda s: s.urgency, default=None)


def beside_fiction(text: str) -> str:
    """A text without the clauses in which a story or a game is named.

    Examples
    --------
    >>> beside_fiction("In minecraft i am fine, but my dad hits me"), beside_fiction("I like cake.")
    ('my dad hits me', 'I like cake.')
    """
    if not _FICTION.search(plain(text)):
        return text
    return ". ".join(
        each.strip() for each in _CLAUSE_END.split(text) if each.strip() and not _FICTION.search(plain(each))
    )


def _found(signs: _Signs, text: str) -> Iterator[Sign]:
    for match in signs.pattern.finditer(text):
        if not (_is_denied(signs, text, match) or _FICTION.search(_clause_around(text, *match.span()))):
            yield signs.signs[(match.lastindex or 1) - 1]


def _is_denied(signs: _Signs, text: str, match: re.Match[str]) -> bool:
    before = _clause_around(text[: match.start()], match.start(), match.start())
    return signs.negated is not None and signs.negated.search(before) is not None


def _clause_around(text: str, start: int, end: int) -> str:
    """The clause in which a stretch of a text stands."""
    begin = max((each.end() for each in _CLAUSE_END.finditer(text, 0, start)), default=0)
    after = _CLAUSE_END.search(text, end)
    return text[begin : len(text) if after is None else after.start()]


@dataclass(frozen=True)
class DangerReading:
    """What a network makes of a message.

    logit : log odds that it tells of danger
    kinds : shape (10,), chances of the kinds in `CONCERNS` but for the first, of a danger
    urgency : shape (3,), chances of 1 to 3, of a danger
    about_other : 0..1, chance that a danger is another's
    """

    logit: float
    kinds: Vector = field(repr=False)
    urgency: Vector = field(repr=False)
    about_other: float


def read_danger(text: str, folder: Path = ENGLISH_FOLDER) -> DangerReading:
    """Read a message, of which the first 256 tokens count, by the network of a folder; on this thread.

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> reading = read_danger("My dad hits me every night.")
    >>> reading.logit > 0, CONCERNS[1 + reading.kinds.argmax()]
    (True, 'abuse')
    """
    answers = _layers(folder).answers(text)
    none, kinds, rest = answers[0], answers[1 : len(CONCERNS)], answers[len(CONCERNS) :]
    return DangerReading(
        float(np.logaddexp.reduce(kinds) - none), softmax(kinds), softmax(rest[:URGENCIES]), logistic(rest[-1])
    )


@cache
def _layers(folder: Path) -> OwnLayers:
    return OwnLayers(folder)


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

    suspected : the encoder's log odds of danger of a message or a statement in it, from which on the network reads it,
        which takes longer
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

    def judged(self, passage: SafetyPassage, told: MessageAnalysis | None, margin: float = 0.0) -> Danger | None:
        """The danger that a passage tells of, by so much more than the threshold; None where it tells of none."""
        sign, scores = danger_sign(passage.text), None if told is None else told.scores
        if scores is None and not passage.is_foreign:
            return None if sign is None else Danger(sign.kind, sign.urgency, sign=True)
        if sign is None and told is not None and most_danger_odds(told) < self.suspected:
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


def most_danger_odds(told: MessageAnalysis) -> float:
    """The encoder's log odds of danger of a text, or of the statement in it that has most: beside talk it has less."""
    return max(map(danger_odds, (told.scores, *(each.scores for each in told.statements))))


def gravest(parts: Sequence[SafetyPassage], known: Mapping[str, MessageAnalysis]) -> Danger | None:
    """The gravest danger that the passages of a message tell of; None where they tell of none.

    Parameters
    ----------
    parts : the passages
    known : what the encoder tells of texts, as far as it has read them already
    """
    model = load_danger_model()
    unread = read_now([part.text for part in parts if part.is_read and part.text not in known])
    told = {**known, **{each.text: each for each in unread}}
    margin = math.log(max(1.0, len(parts) / FREE_PASSAGES))
    found = (model.judged(part, told[part.text] if part.is_read else None, margin) for part in parts)
    return max((each for each in found if each), key=lambda d: (d.urgency, d.sign, d.sure, d.probability), default=None)


def find_danger(text: str, asked: str = "", known: Mapping[str, MessageAnalysis] | None = None) -> Danger | None:
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
