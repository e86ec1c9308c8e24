"""Information content: the weight of what a message tells against small talk and questions (spec 7)."""

import re
from collections.abc import Collection, Iterator

import numpy as np

from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.lexicon import (
    FIRST_PERSON,
    KIN,
    KIN_NAMES,
    MOOD_WORDS,
    SECOND_PERSON,
    STOP_WORDS,
    TIME_WORDS,
    is_negation,
)
from graphmem.text.words import is_dense, is_known, is_number, word_rarity

PASSES = (100, 400, 800)
"""Scores from which a message is read once, twice and three times."""

# Weights are in units of word rarity (0 the commonest word, 7 one outside the 30,000 commonest), and set by hand.
TOLD = (0.0, 3.0, 21.0, 74.0, 400.0)
"""What a message must tell for a score of 0, the three of `PASSES` and 1,000; in between it rises in a line."""
SMALL_CHANGE = 4.0
"""What any sentence holds, about one common content word: one that holds no more counts half of it."""
WORN = 0.2
"""Share of its rarity that a word of praise, thanks or mood counts: "amazing" tells of nobody and nothing."""
MISSPELT = 4.5
"""Most that a lower-case word counts: outside the 30,000 commonest it is as often misspelt as rare."""
NUMBER, DATE, NAME, EVENT, NEGATION = 1.5, 8.0, 4.0, 3.0, 3.0
GRAVE, RELATIVE = 10.0, 3.0
"""What these count beyond their rarity."""
NUMBERS_READ = 6
"""Most numbers of a sentence that count."""
STRANGE, STRANGE_SHARE = 2, 0.5
"""Words outside the 30,000 commonest that count in full in a sentence, and the share that more of them count: many
are of another language, or misspelt, and would outweigh anything English."""
LONG, BEYOND = 20.0, 0.6
"""What a sentence tells beyond `LONG` counts less: two short sentences hold more pieces than one long one."""
LONE = 2.0
"""Most that a message of a single word that is not grave, or a mere piece of an answer, tells."""
FRAGMENT_WORDS = 3
"""Most words of a piece of an answer: "a triangle", "50 and 124"."""
SMALL_TALK = 0.5
"""Share that is left of a message that greets, thanks, agrees or leaves and holds little else."""
QUESTION, ASKED = 0.6, 4.0
"""Share of what it tells that a question counts (its words are asked for, not said); least if it has a subject."""
REASON = 4.0
"""What a message tells more that gives a reason or owns to an error."""
OWN, OTHERS = 1.6, 0.4
"""Factors of sentences about the speaker, and of those only about the listener ("you did great")."""
EXERCISE = 0.75
"""Factor of sentences that reckon and are not about the speaker: what Toula paid is not in the student's life."""
FAMILIAR_SHARE = 0.5
"""Share that is left of a message that repeats what is remembered."""
FEELING = 4.0
"""Most that strength of feeling adds, and only where the speaker tells of themselves: praise is full of it."""

_SMALL_TALK = frozenset({Act.THANKS, Act.GREETING, Act.GOODBYE, Act.AGREEMENT})
_BONUS = {Act.SORROW: 10.0, Act.FRUSTRATION: 10.0, Act.DISCLOSURE: 8.0}

_EVENTS = frozenset(
    """
    ate became began bought broke brought built came caught chose did drew drove fell felt forgot found gave got grew
    heard held hid hit kept knew learnt left lent lost made met moved paid ran rode said sang sat saw sent slept
    sold spent spoke stole swam taught threw told took went woke won wore wrote
    """.split()  # noqa: SIM905
)
_GRAVE = frozenset(
    """
    abuse abused accident adhd allergic allergy ambulance anorexia anorexic arrested asthma autism autistic beaten
    bullied bully bullying bulimia cancer celiac cheated chemo coeliac crush dead deaf depressed depression diabetes
    diabetic diagnosed died disabled divorce divorced divorcing drunk dying dyscalculia dyslexia dyslexic epilepsy
    epileptic evicted expelled fired foster funeral gay guilty homeless hospital insulin leukaemia leukemia lesbian
    lied migraine migraines moved moving operation orphan orphaned panic pregnant refugee robbed secret secretly
    stammer stole stutter suicide suspended surgery therapist therapy transgender tumor tumour wheelchair
    """.split()  # noqa: SIM905
)
_KIN = KIN | {f"{kin}s" for kin in KIN} | {"friend", "friends", "parents", "grandparents"}
_REASONS = frozenset(
    "assumed because bc cause confused cuz forgot instead mistake reason since thought".split()  # noqa: SIM905
)
_NUMBERS = frozenset(
    "two three four five six seven eight nine ten eleven twelve twenty hundred thousand half".split()  # noqa: SIM905
)
_VERBS = frozenset(
    """
    am are be been can can't could did do does doesn't don get gets go goes got had has have he he's is it's make makes
    must need needs she she's should that's there they use used want was were will would
    """.split()  # noqa: SIM905
)
_CALLS = frozenset("hey hi hello thanks thank you bye wow dear oh yeah yes no".split())  # noqa: SIM905

_DENIED = "\0not"
"""Among the words seen: something was denied."""

_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]*(?:\s+[\w-]+\s*=[^<>]*)?\s*/?>|&[a-z]{2,6};")
_LINK = re.compile(r"(?:https?://|www\.)([^\s/?#]{1,100})\S*")
_RECKONED = re.compile(r"=\s*\$?\d|\d\s*[+*/x×÷−]\s*\$?\d|\d\s+-\s+\$?\d|\$\d")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_CALL_ENDS = re.compile(r"\s?(?:[.!?,]|$)")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_LAUGH = re.compile(r"(?:a?(?:ha|he|hi|ho){2,}h?|lo+l|x+d+|h+m+|u+h+|a+h+|o+h+|m+h+m+)")


def snr(doc: Doc, novelty: float, feeling: float) -> int:
    """Signal-to-noise score of a message: its information, against talk that says nothing.

    Parameters
    ----------
    doc : Doc, in any language; of one longer than 4,000 characters beginning and end are read
    novelty : float in [0, 1]       1 minus the cosine to the nearest thing remembered; 1 when nothing is
    feeling : float in [0, 1]       `graphmem.maths.features.emotion`

    Returns
    -------
    int in 0..1000; 0 for a message without a letter or digit; never falls when novelty or feeling rises

    Notes
    -----
    A sentence tells the rarities of its words that were not there before, with more for dates, numbers, names,
    events, family, grave matters and negation, and with less where it says little, asks, or is about the listener;
    one about the speaker or their home tells more, one that only reckons less. Their sum, kept small for pieces of an
    answer and small talk, lifted for questions with a subject, reasons, sorrow, frustration and disclosure,
    is laid on the scale. Words of praise and mood hardly count and feeling little: in talk between friends the most
    emotional turns hold less than their share of what is asked for later (23 % of it in 30 % of the turns of LoCoMo),
    while the best 30 % by this score hold 66 %, those by length 53 %. Of a script that is not known every word counts.

    Of messages labelled by hand with the times they are worth reading, 87 % of the 640 the weights were set by and
    86 % of 180 others get that number; none is off by two. An ordinal regression over this sum and fourteen features
    more does no better in cross-validation (86 % both), so the sum stands alone.

    Source: spec 7; the weights are set by hand.

    Examples
    --------
    >>> [snr(Doc(text), novelty=1.0, feeling=0.0) for text in ("Hello!", "ok I see", "")]
    [0, 0, 0]
    """
    doc = _visible(doc)
    seen: set[str] = set()
    told = sum(_told(sentence, seen) for sentence in doc.sentences)
    told = _of_message(told, doc, seen - {_DENIED})
    if told > 0 and not seen.isdisjoint(FIRST_PERSON):
        told += FEELING * feeling
    told *= FAMILIAR_SHARE + (1 - FAMILIAR_SHARE) * novelty
    return round(float(np.interp(told, TOLD, (0, *PASSES, 1000))))


def passes(snr: int) -> int:
    """Number of extraction passes over a message: 0 below 100, then 1, from 400 twice, from 800 three times.

    Examples
    --------
    >>> [passes(score) for score in (99, 100, 400, 800)]
    [0, 1, 2, 3]

    Source: spec 7.
    """
    return sum(snr >= least for least in PASSES)


def _visible(doc: Doc) -> Doc:
    """The text as it is seen, without tags and the paths of links; of a long one beginning and end."""
    text = _LINK.sub(r" \1 ", _TAG.sub(" ", doc.excerpt.text))
    return doc if text == doc.text else Doc(text)


def _of_message(told: float, doc: Doc, words: set[str]) -> float:
    """Adjust the information score for the kind of message: a piece of an answer, small talk, a question, a reason."""
    act = act_of(doc)
    if _is_fragment(doc, words):
        told = min(LONE, told)
    if act is Act.QUESTION and any(map(_is_subject, words)):
        told = max(ASKED, told)
    if act in _SMALL_TALK:
        told *= SMALL_TALK
    if told > 0 and not words.isdisjoint(_REASONS):
        told += REASON
    # "Ugh" alone tells of no frustration worth keeping.
    return told + _BONUS.get(act, 0.0) if told > LONE else told


def _is_fragment(doc: Doc, words: set[str]) -> bool:
    """True if a message is a word, bare numbers, or a few words about one thing without a verb or anybody."""
    if any(map(is_dense, words)):
        return False
    if len(words) < 2:
        return words.isdisjoint(_GRAVE)
    if any(_extra(word) > NUMBER for word in words):
        return False
    subjects = sum(map(_is_subject, words))
    if not subjects:
        return "=" not in doc.text or sum(map(is_number, words)) < 2
    clause = "?" in doc.text or not words.isdisjoint(_VERBS | FIRST_PERSON | SECOND_PERSON)
    return subjects == 1 and len(words) <= FRAGMENT_WORDS and not clause


def _told(sentence: Doc, seen: set[str]) -> float:
    """Information in a sentence that was not told before; adds its words to what was `seen`."""
    words = {word: None for token in sentence.plain_words if (word := _word(token))}
    new = [word for word in words if word not in seen]
    numbers = [word for word in new if is_number(word)]
    told = sum(_worth(word) for word in new if not is_number(word))
    names = set(_names(sentence)) - seen
    told += sum(map(_worth, numbers[:NUMBERS_READ])) + NAME * len(names)
    strange = [word for word in new if word not in names and _is_strange(word)]
    told -= (1 - STRANGE_SHARE) * sum(map(_worth, strange[STRANGE:]))
    # What only answers no, or knows nothing, denies nothing in particular.
    if told > 0 and any(map(is_negation, list(words)[1:])) and _DENIED not in seen:
        told += NEGATION
        seen.add(_DENIED)
    seen.update(words)
    told *= told / (told + SMALL_CHANGE)
    told = min(told, LONG) + BEYOND * max(0.0, told - LONG)
    return told * _share(sentence, words)


def _share(sentence: Doc, words: Collection[str]) -> float:
    """Factor of a sentence, for whether it asks and whom it is about."""
    share = QUESTION if sentence.text.rstrip("\"')] ").endswith(("?", "？")) else 1.0
    if not FIRST_PERSON.isdisjoint(words):
        return share * OWN
    if not SECOND_PERSON.isdisjoint(words):
        return share * OTHERS
    if not KIN_NAMES.isdisjoint(words):
        return share * OWN
    reckons = _RECKONED.search(sentence.text) or sum(word[0].isdigit() for word in words) > 1
    return share * EXERCISE if reckons else share


def _is_strange(word: str) -> bool:
    return word.isascii() and not is_number(word) and not is_known(word)


def _is_subject(word: str) -> bool:
    """True if a word can be the subject of a message."""
    plain = len(word) > 1 and not is_number(word) and word not in MOOD_WORDS and not _LAUGH.fullmatch(word)
    return plain and word.partition("'")[0] not in STOP_WORDS


def _word(token: str) -> str:
    """A token as it is compared: lower case, not drawn out (sooo), without a possessive."""
    word = token
    if _DRAWN_OUT.search(word):
        short = _DRAWN_OUT.sub(r"\1", word)
        word = short if short in STOP_WORDS or short in MOOD_WORDS else _DRAWN_OUT.sub(r"\1\1", word)
    return word.removesuffix("'s")


def _worth(word: str) -> float:
    worth = _extra(word)
    if is_number(word):
        return word_rarity(word) + NUMBER
    if word.partition("'")[0] in STOP_WORDS or _LAUGH.fullmatch(word):
        return worth
    if word in MOOD_WORDS:
        return word_rarity(word) * WORN
    if word.isascii() or is_known(word):
        return worth + (min(MISSPELT, word_rarity(word)) if len(word) > 1 else 0.0)
    # Of a script that is not known, long words are the rarer ones; Han and Kana come in runs of several words.
    return word_rarity(word) * (len(word) / 2 if is_dense(word) else min(1.0, len(word) / 4))


def _extra(word: str) -> float:
    """Weight of a word beyond its rarity, by its category."""
    for words, worth in ((TIME_WORDS, DATE), (_GRAVE, GRAVE), (_KIN, RELATIVE), (_NUMBERS, NUMBER)):
        if word in words:
            return worth
    return EVENT if _tells_event(word) else 0.0


def _tells_event(word: str) -> bool:
    return word in _EVENTS or (len(word) > 4 and word.endswith("ed") and word not in STOP_WORDS)


def _names(doc: Doc) -> Iterator[str]:
    """Capitalised words inside a sentence, or rare at its start, without those that only call somebody (", Jon!")."""
    sentence = doc.text
    for match in _CAPITAL.finditer(sentence):
        name, start, end = match.group().lower(), *match.span()
        if name in STOP_WORDS or name in TIME_WORDS or name in MOOD_WORDS:
            continue
        before = sentence[max(0, start - 12) : start].rstrip().lower()
        if not before.strip("\"'([*-") and is_known(name):
            continue
        called = before.endswith(",") and _CALL_ENDS.match(sentence, end)
        if not called and before.rpartition(" ")[2].strip(",.!") not in _CALLS:
            yield name
