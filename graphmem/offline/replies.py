"""Replies of the offline mind: tutoring moves and their wordings.

The moves are those of human tutors: focus on a part, probe for reasons, tell a way to go on, and what is neither
(MathDial, Macina et al. 2023); hint, question, correction, confirmation (CIMA, Stasaski et al. 2020). A reply uses the
student's own words and what is remembered of the student, and nothing else: nothing it says can be something
the student may not know yet, and nothing is called right or wrong that was not reckoned exactly.
"""

import re
from collections.abc import Mapping, Sequence
from zlib import crc32

from rapidfuzz import fuzz, utils

from graphmem.model import AskedFor, Author, Message, Recalled, Remembered
from graphmem.offline.moves import Move, chosen_move, told_beside
from graphmem.offline.recollection import TOLD_CHARACTERS, answer_from_memory, asks_of_oneself, told_before
from graphmem.offline.wordings import FOREIGN, KEPT, NEXT, ON_WITH_IT, WORDINGS
from graphmem.text.arithmetic import reckoned_answer
from graphmem.text.clauses import clauses
from graphmem.text.comparisons import asked_comparison
from graphmem.text.doc import Doc, doc_of
from graphmem.text.introductions import introduced_name
from graphmem.text.language import language_of
from graphmem.text.lexicon import INTERROGATIVES, LESSON_WORDS, STOP_WORDS
from graphmem.text.reader import MessageReading
from graphmem.text.sanitize import clean, quoted
from graphmem.text.second_person import to_second_person
from graphmem.text.stems import stem
from graphmem.text.talk import TALK_SURE, TalkKind, talk_of
from graphmem.text.words import is_known, word_rarity

SHORT_WORDS = 3
"""Words up to which a statement is too short to be said back."""
TOPIC_LETTERS = 3
"""Letters of the shortest word that may be a topic: "uh" is none."""
LONGEST_WORD = 30
"""Letters from which on what is written is no word."""
REPLY_CHARACTERS = 600
"""Characters of the longest reply."""
RARE_ENOUGH = 2.8
"""Rarity from which on a word shared with what was said before says that it fits."""
SIMILAR_TURN_COSINE = 0.5
"""Cosine similarity from which on an earlier turn of the session may fit."""
WORN_CHARACTERS = 12
"""Characters of a wording from which on it is known again."""
SAME_REPLY_SCORE = 85.0
"""Fuzzy score from which on two texts say the same."""
ABOUT_COMPANION = ("companion", "ability")
"""Moves that answer questions to the companion: also "What do you know about me?", which memory answers."""
NO_QUESTION = ("foreign", "advice", "frustration", "confusion", "still confused")
"""Moves that a message calls for whatever it asks."""
MAY_ASK = ("statement", "step", "reasoned step", "guess")
"""Moves that take what is said for a statement: outside an exercise a question in it is one for memory."""
_TELLING_SLOTS = ("{told}", "{quote}", "{topic}", "{sum}", "{mention}", "{name}")
_SLOT = re.compile(r"{(\w+)}")
_QUOTE_IN_FACT = re.compile(r"said “([^”]{3,}?)…?”")
_OF_THEM = re.compile(r"(?:you|yours?) |(?:it|they|that|this)(?:'s|'re)? .*\byours?\b", re.IGNORECASE)
"""What is told of the student or of something of theirs, as it is said to them."""
_MENTIONED_IN = {"confusion", "statement", "disclosure", "frustration", "worry"}
_MENTION = "Earlier you said"
RECKONED = "{}. How could you check it?"


def replied(
    messages: Sequence[Message],
    remembered: Remembered,
    task: str = "",
    reading: MessageReading | None = None,
    companion: str = "",
) -> str:
    """The reply to the student's last message: what is remembered or can be reckoned where that is asked, else a move.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    remembered : Remembered
    task : str, the exercise the talk is about, where there is one
    reading : of the last message, where it was read
    companion : the companion's name, where an app has given it one
    """
    move, doc = chosen_move(messages, reading, task), doc_of(messages[-1])
    of_memory = remembered.asked_for is not AskedFor.OTHER
    asking_for = of_memory or move.name == "ability" or doc.asks or doc.text.rstrip().endswith("?")
    if of_memory and _may_be_answered(move, doc, task):
        move = Move("question")
    if move.name in ("question", "guess") and (decided := asked_comparison(doc.text)):
        return f"{clean(decided)}. How could you show it with a drawing?"
    if move.name == "guess" and not task and (reckoned := reckoned_answer(doc.text)):
        # "12*7?" sounds like a guess where nothing is worked on.
        return RECKONED.format(clean(reckoned))
    if move.name != "question":
        # "What do I hate?" sounds like a mood, and is answered where the answer is known.
        asked = asking_for and not (task or _is_of_work(doc, reading))
        known = answer_from_memory(messages, remembered, if_known=True) if asked else ""
        return known or worded(move, messages, remembered, task, companion)
    sums = (doc.text, *(sentence.text for sentence in doc.excerpt.sentences if sentence.asks))
    if reckoned := next(filter(None, map(reckoned_answer, sums)), ""):
        return RECKONED.format(clean(reckoned))
    told = None if task else told_beside(doc, reading)
    answer = answer_from_memory(messages, remembered, at_work=bool(task), if_known=told is not None)
    return answer or worded(told or move, messages, remembered, task, companion)


def _is_of_work(doc: Doc, reading: MessageReading | None) -> bool:
    """True of a guess at work, which asks for no memory: "oh so i need a common denominator?"."""
    if reading is None or doc.asks:
        return False
    kind, chance = talk_of(doc, reading)
    return kind is TalkKind.WORK and chance >= TALK_SURE


def _may_be_answered(move: Move, doc: Doc, task: str) -> bool:
    """True if a message that sounds like another move may be a question for memory."""
    if move.name in ABOUT_COMPANION:
        # "You are nicer than my sister" asks for nothing.
        return asks_of_oneself(doc)
    if move.kept and not doc.asks:
        # "Cars is what I spend everything on" is told, whatever it sounds like.
        return False
    if move.name in MAY_ASK:
        return not task
    asks = doc.asks or not INTERROGATIVES.isdisjoint(doc.plain_words)
    return asks and not (task or move.sum or move.name in NO_QUESTION)


def worded(move: Move, messages: Sequence[Message], remembered: Remembered, task: str = "", companion: str = "") -> str:
    """A reply that makes a move, in one to three sentences.

    Parameters
    ----------
    move : Move
    messages : sequence of Message, oldest first, the student's newest last
    remembered : Remembered, of which one fact or earlier turn is mentioned where it truly fits
    task : str, the exercise the talk is about, where there is one
    companion : the companion's name, where it has one

    Returns
    -------
    str of 1 to 600 characters without tags and control characters; the same for the same conversation, and never
    one of the companion's last three replies while another wording is left

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> worded(Move("greeting"), [Message(Author.STUDENT, "hi", at)], Remembered()) in WORDINGS["greeting"]
    True
    """
    doc = doc_of(messages[-1])
    said = [message.text for message in messages if message.author is Author.COMPANION][-3:]
    if move.name == "foreign" and (apology := FOREIGN.get(language_of(doc.text))) and apology not in said:
        return apology
    mention = _mention(move, messages, remembered, said, task)
    told = _told_back(doc)
    wordings = WORDINGS[_told_or_remembered(move.name, told, mention)]
    name = clean(remembered.name or "")
    slots = {"sum": _framed(move.sum), "hint": move.hint, "mention": mention, "name": name, "me": clean(companion)}
    slots["told"] = told
    slots |= {"next": ON_WITH_IT if task else NEXT[len(messages) // 2 % len(NEXT)], "kept": KEPT if move.kept else ""}
    slots["story"] = "the story" if task else ""
    slots["use"] = "How does that help with what is asked?" if task else ""
    if any("{own}" in w for w in wordings):
        slots["own"] = clean(introduced_name(doc.text))
    if any("{quote}" in w for w in wordings):
        # A word alone is said back only as a guess, and a guess only where it is a few words.
        unfit = {"statement": len(doc.words) <= SHORT_WORDS, "guess": len(doc.words) > SHORT_WORDS}
        slots["quote"] = "" if unfit.get(move.name) else _telling_quote(doc)
    if any("{topic}" in w for w in wordings):
        # What a question is about stands in it.
        slots["topic"] = _topic(messages[-1:] if move.name == "question" else messages)
    fits = [w for w in wordings if all(slots[slot] for slot in _SLOT.findall(w))]
    start = crc32(f"{len(messages)} {doc.text[:REPLY_CHARACTERS]}".encode("utf-8", "replace")) % _preferred(fits)
    replies = [_joined(w.format(**slots), mention) for w in (*fits[start:], *fits[:start])]
    worn = [_is_worn(w, said) for w in (*fits[start:], *fits[:start])]
    fresh = [reply for reply, old in zip(replies, worn, strict=True) if not old]
    return next((reply for reply in (*fresh, *replies) if reply not in said), replies[0])


def asking(reply: str, question: str) -> str:
    """A reply that ends with a question which has waited, in the stead of its own.

    Examples
    --------
    >>> asking("Good that you say why. Does it always hold?", "What is your dog called?")
    'Good that you say why. What is your dog called?'
    >>> asking("What makes you think so?", "How was it?"), asking("I see.", "How was it?")
    ('I see. How was it?', 'I see. How was it?')
    """
    *first, last = [sentence.text for sentence in Doc(reply).sentences]
    kept = first if last.endswith("?") else [*first, last]
    return " ".join([*(kept or ["I see."]), question])


def mentioned(doc: Doc, sayings: Sequence[str]) -> str:
    """A sentence that comes back to what the student said before; empty where nothing truly fits.

    Parameters
    ----------
    doc : Doc                       the student's message
    sayings : sequence of str       what the student said before

    Notes
    -----
    A saying fits where it shares rare words with the message, other than those of every lesson, and says something
    else than it; the one that shares most is taken.

    Examples
    --------
    >>> mentioned(Doc("What is my dog called?"), ["I am afraid of fractions", "My dog is called Bello"])
    'Earlier you said “My dog is called Bello”.'
    >>> mentioned(Doc("What is a fraction?"), ["My dog is called Bello"])
    ''
    """
    about = _rare_stems(doc)
    scored = [(sum(about[each] for each in about.keys() & _rare_stems(said)), said) for said in _shown(sayings)]
    for score, said in sorted(scored, key=lambda pair: -pair[0]):
        if score > 0 and not _says(doc.text[:REPLY_CHARACTERS], said.text[:REPLY_CHARACTERS]):
            return f"{_MENTION} {quoted(_telling_sentence(said, about))}."
    return ""


def _says(text: str, saying: str) -> bool:
    """True if a text repeats an earlier saying, by itself or among other things."""
    score = fuzz.partial_ratio if len(saying) <= len(text) else fuzz.ratio
    return score(saying, text, processor=utils.default_process) >= SAME_REPLY_SCORE


def _mention(move: Move, messages: Sequence[Message], remembered: Remembered, said: Sequence[str], task: str) -> str:
    doc = doc_of(messages[-1])
    sayings = [match[1] for fact in remembered.facts if (match := _QUOTE_IN_FACT.search(fact.text))]
    sayings += [each.memory.quote or "" for each in remembered.memories if _may_be_mentioned(each, remembered)]
    if move.name == "question":
        turns = [turn.text for turn in remembered.turns if turn.similarity >= SIMILAR_TURN_COSINE]
        # What is said about an exercise is worked with, not told again.
        visible = [] if task else [each.text for each in told_before(messages) if each.cosine >= SIMILAR_TURN_COSINE]
        return mentioned(doc, [*sayings, *turns, *visible])
    # Coming back to the past in every reply would be nagging.
    if move.name not in _MENTIONED_IN or any(_MENTION in reply for reply in said):
        return ""
    return mentioned(doc, sayings)


def _may_be_mentioned(recalled: Recalled, remembered: Remembered) -> bool:
    memory = recalled.memory
    own = memory.is_own_word and memory.quote is not None and memory.invalid_at is None
    return own and recalled.similarity >= SIMILAR_TURN_COSINE and memory.id not in remembered.secrets


def _preferred(fits: Sequence[str]) -> int:
    """Number of preferred wordings: those with a name of either or a hint, else with the student's words, else all."""
    for slots in (("{own}",), ("{hint}",), ("{me}",), _TELLING_SLOTS):
        if found := sum(any(slot in wording for slot in slots) for wording in fits):
            return found
    return len(fits)


def _is_worn(wording: str, said: Sequence[str]) -> bool:
    """True if the companion has just used a wording, whatever stood in its slots."""
    fixed = max(_SLOT.sub("\n", wording).split("\n"), key=len).strip(" .,;:!")
    return len(fixed) >= WORN_CHARACTERS and any(fixed in reply for reply in said)


def _joined(reply: str, mention: str) -> str:
    """The reply with what is remembered before its last sentence, unless that is about a quotation before it."""
    if not mention or mention in reply:
        return reply
    *first, last = [sentence.text for sentence in Doc(reply).sentences]
    return " ".join([mention, *first[:1], last] if "“" in "".join(first) else [*first[:1], mention, last])


def _framed(equation: str) -> str:
    return f"“{clean(equation.replace('*', '×'))}”" if equation else ""


def _told_or_remembered(name: str, told: str, mention: str) -> str:
    """The name of the wordings of a move, where something is told or remembered beside it."""
    if mention and name == "question":
        return "remembered question"
    return "told companion" if told and name == "companion" else name


def _told_back(doc: Doc) -> str:
    """The sentence of the message that says most, said to the student; empty where it cannot be turned to them."""
    pieces = (Doc(doc.excerpt.text[slice(*span)]) for span in clauses(doc.excerpt)) if "?" in doc.text else ()
    sentences = [each.text for each in (*doc.excerpt.sentences, *pieces) if not each.asks]
    said = [to_second_person(each) for each in sentences if not each.rstrip().endswith("?")]
    told = [
        clean(f"{each[0].lower()}{each[1:]}") for each in said if _OF_THEM.match(each) and len(each) <= TOLD_CHARACTERS
    ]
    return max(told, key=len, default="")


def _telling_quote(doc: Doc) -> str:
    """The question of the message or else the sentence that says most, quoted; empty without letters and digits."""
    if not doc.excerpt.words or max(map(len, doc.excerpt.words)) > LONGEST_WORD:
        return ""
    most = max(doc.excerpt.sentences, key=lambda each: sum(map(word_rarity, each.key_phrases(3))))
    return quoted((_question(doc) or most.text).rstrip("? "))


def _question(doc: Doc) -> str:
    """The last question in a text, if any."""
    asked = (sentence.text for sentence in reversed(doc.excerpt.sentences) if sentence.text.endswith("?"))
    return next(asked, "")


def _telling_sentence(doc: Doc, about: Mapping[str, float]) -> str:
    """The sentence of a text that has most to do with some stems."""
    return max(doc.excerpt.sentences, key=lambda each: len(about.keys() & _rare_stems(each))).text


def _topic(messages: Sequence[Message]) -> str:
    """Topic of the student's message or, where that names nothing, of the companion's last question."""
    asked = [Doc(_question(doc_of(message))) for message in messages[-2:-1]]
    for doc in (doc_of(messages[-1]), *asked):
        for phrase in doc.key_phrases():
            words = [word for word in phrase.split() if word.lower() not in LESSON_WORDS and len(word) >= TOPIC_LETTERS]
            if any(word[-1].isalpha() and is_known(word.lower()) for word in words) and (
                topic := quoted(" ".join(words))
            ):
                return topic
    return ""


def _shown(sayings: Sequence[str]) -> list[Doc]:
    return [Doc(saying).shown for saying in sayings]


def _rare_stems(doc: Doc) -> dict[str, float]:
    """The stems of the rarer words of a text, with their rarity."""
    words = (word for word in doc.excerpt.plain_words if word[-1].isalpha() and word not in LESSON_WORDS | STOP_WORDS)
    return {stem(word): word_rarity(word) for word in words if word_rarity(word) >= RARE_ENOUGH}
