"""Replies of the offline mind: tutoring moves and their wordings.

The moves are those of human tutors: focus on a part, probe for reasons, tell a way to go on, and what is neither
(MathDial, Macina et al. 2023); hint, question, correction, confirmation (CIMA, Stasaski et al. 2020). A reply uses the
student's own words and what is remembered of the student, and nothing else: nothing it says can be something
the student may not know yet, and nothing is called right or wrong that was not reckoned exactly.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from rapidfuzz import fuzz, utils

from graphmem.model import Author, Message, Recalled, Remembered
from graphmem.offline.recollection import TOLD_CHARACTERS, answer_from_memory
from graphmem.offline.task_hints import task_hint
from graphmem.text.arithmetic import reckoned_answer, spoken_equations
from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import LESSON_WORDS, STOP_WORDS, is_negation
from graphmem.text.questions import asks, only_asks
from graphmem.text.reader import MessageReading
from graphmem.text.sanitize import clean, quoted
from graphmem.text.second_person import to_second_person
from graphmem.text.stems import stem
from graphmem.text.words import is_known, word_rarity

SHORT_WORDS = 3
"""Words up to which a statement is too short to be said back."""
LONGEST_WORD = 30
"""Letters from which on what is written is no word."""
REPLY_CHARACTERS = 600
"""Characters of the longest reply."""
RARE_ENOUGH = 2.8
"""Rarity from which on a word shared with what was said before says that it fits."""
SIMILAR_TURN_COSINE = 0.5
"""Cosine similarity from which on an earlier turn of the session may fit."""
SAME_REPLY_SCORE = 85.0
"""Fuzzy score from which on two texts say the same."""

OWN = 0.7
"""Chance from which on a message tells of the student's own, whatever else it looks like."""
GLAD, TROUBLED = 0.35, -0.3
"""Valence from which on, or down to which, such a message is good news or a worry."""

# {quote} the student's words, {told} the same said to the student, {topic} what it is about, {sum} an equation, {name}
# the student's, {hint} a question that the task gives rise to, {mention} a sentence on what is remembered.
# A wording is left out where what it needs is missing; the last ones of a list need nothing.
WORDINGS: dict[str, tuple[str, ...]] = {
    "greeting": (
        "Hello, {name}! What would you like to work on?",
        "Hi {name}, good to see you. What shall we look at first?",
        "Hello! What would you like to work on?",
        "Hi, good to see you. What shall we look at first?",
    ),
    "goodbye": ("Goodbye, and thank you for today.", "See you next time. Well done for staying with it."),
    "thanks": (
        "You are welcome. What would you like to look at next?",
        "You are welcome. How would you explain it to a friend, in your own words?",
    ),
    "agreement": (
        "Good. What is your next step?",
        "All right. Can you say in your own words what we have so far?",
        "Fine. Try the next bit and tell me what you get.",
    ),
    "denial": (
        "All right, no. What would you say instead?",
        "Okay. Which part does not fit for you?",
        "All right. What is it that makes you say no?",
    ),
    "confusion": (
        "That is all right, let us take it in small pieces. What do you already know about {topic}?",
        "No problem. Looking at {topic}: which part is the first that does not make sense?",
        "That is fine. Which part is the first that does not make sense: the words, or what to do with them?",
        "Not knowing yet is fine. What is asked, and what has been given to you?",
    ),
    "still confused": (
        "Let us try another way: make a small drawing or a list of what is given. What goes into it first?",
        "Let us make it easier: try the same with very small numbers or a shorter example. What do you get?",
        "Let us go back to the last thing that was clear. What was it?",
    ),
    "remembered question": (
        "{mention} Does that help?",
        "{mention} Is that what you are looking for?",
        "{mention} What does that tell you about your question?",
    ),
    "question": (
        "I do not know enough to answer that. What do you know about {topic} so far?",
        "Good that you ask. What would be your best guess about {topic}, and what makes you think so?",
        "I cannot tell you that for certain. Where could we look to find out?",
        "Good that you ask. What would be your own best guess?",
    ),
    "guess": (
        "{quote} is a guess that I cannot check myself. What makes you think of it?",
        "It may be {quote}; how could you find out?",
        "What makes you think so?",
        "That may be; how could you find out?",
    ),
    "right sum": (
        "Yes, {sum}. {hint}",
        "{sum} is reckoned correctly. {hint}",
        "The arithmetic of {sum} is right. Is that the step to take here, and why?",
        "{sum} is reckoned correctly. Does it answer what is asked?",
        "In {sum} I get the same number. What does it stand for?",
    ),
    "wrong sum": (
        "Let us look at {sum} once more. What do you get when you work it out again, step by step?",
        "I do not get the same number for {sum}. Can you go through it slowly and tell me each step?",
    ),
    "step": (
        "{hint}",
        "Let me look at {quote} with you. {hint}",
        "Which part of the question does {quote} answer?",
        "How could you check {quote}?",
        "How did you get there? Take me through it one step at a time.",
        "Which part of the question does that answer?",
    ),
    "statement": (
        "You say {quote}. What makes you think so?",
        "You say {quote}. How does that help with what is asked?",
        "What makes you think so?",
        "Can you tell me a little more about that?",
    ),
    "disclosure": (
        "So {told}. Is there something in it that I can help with?",
        "Good to know that {told}. What should we do with it today?",
        "Thank you for telling me. Shall we go on with our work?",
        "I am glad you told me that. What shall we do next?",
    ),
    "good news": (
        "That is good news, I am glad for you! What helped you most?",
        "I am happy to hear that! What would you like to do next?",
        "Lovely, thank you for telling me! Shall we build on it?",
    ),
    "worry": (
        "That does not sound easy: {told}. What would help you most right now?",
        "I hear you. What would make it a little easier?",
        "Thank you for telling me; that does not sound easy. Would you like to say more, or shall we go on gently?",
    ),
    "sorrow": (
        "I am sorry to hear that. Would you rather talk about it, or go on with our work?",
        "That must be hard. Thank you for telling me. What would help you right now?",
    ),
    "frustration": (
        "That sounds hard, and it is all right to feel that way. What about it bothers you most?",
        "I hear you. Let us make it smaller: what is one thing in it that you can do?",
        "That is a fair thing to feel. Shall we try one small step together, or take a short break first?",
    ),
    "instruction": (
        "I stay with our lesson. What would you like to work on?",
        "That is not something I do. Which part of your work shall we look at?",
    ),
    "unreadable": (
        "I am not sure what {quote} means. Can you say it another way?",
        "I follow English best and may miss what you mean by {quote}. Can you put it in other words?",
        "I am not sure what you mean. Can you say it in other words?",
        "I could not read that. What would you like to work on?",
    ),
}

_SLOT = re.compile(r"{(\w+)}")
_QUOTE_IN_FACT = re.compile(r"said “([^”]{3,}?)…?”")
_MENTIONED_IN = {"confusion", "statement", "disclosure", "frustration", "worry"}
_MAY_GUESS = {Act.QUESTION, Act.STEP, Act.STATEMENT}
_JUDGED_BY_READER = {Act.STEP, Act.STATEMENT, Act.DISCLOSURE}
_MENTION = "Earlier you said"


@dataclass(frozen=True)
class Move:
    """Tutoring move: the name of its wordings, an equation it is about, and a question that the task gives rise to."""

    name: str
    sum: str = ""
    hint: str = ""


def chosen_move(messages: Sequence[Message], reading: MessageReading | None = None) -> Move:
    """The move that answers the student's last message.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    reading : of that message, where it was read

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> said = [Message(Author.STUDENT, "I think 12 - 3 = 8", datetime(2026, 1, 1, tzinfo=UTC))]
    >>> chosen_move(said)
    Move(name='wrong sum', sum='12 - 3 = 8', hint='')
    """
    doc = doc_of(messages[-1])
    act = act_of(doc)
    if act in (Act.STEP, Act.CONFUSION, Act.QUESTION) and (reckoned := spoken_equations(doc.text)):
        wrong = [equation for equation in reckoned if not equation.holds]
        if wrong or act is Act.STEP:
            return Move("wrong sum" if wrong else "right sum", (wrong or reckoned)[-1].text)
    if act in _JUDGED_BY_READER and reading is not None and reading.about_self >= OWN:
        return Move(_by_valence(reading.valence))
    if act is Act.AGREEMENT and doc.plain_words and is_negation(doc.plain_words[0]):
        return Move("denial")
    if act in _MAY_GUESS and _is_guess(doc):
        return Move("guess")
    if act is Act.CONFUSION:
        earlier = [message for message in messages[:-1] if message.author is Author.STUDENT][-1:]
        if earlier and act_of(doc_of(earlier[0])) is Act.CONFUSION:
            return Move("still confused")
    return Move(act.value)


def is_judged_by_reader(message: Message) -> bool:
    """True if a reading of a student's message may change the move that answers it."""
    return act_of(doc_of(message)) in _JUDGED_BY_READER


def _is_guess(doc: Doc) -> bool:
    """True if a message ends with a question mark and asks nothing but for confirmation."""
    asked = any(asks(sentence.plain) or only_asks(sentence.plain) for sentence in doc.excerpt.sentences)
    guessed = doc.plain.rstrip().endswith(("?", "right", "right?"))
    return guessed and (not asked or doc.plain.rstrip(" ?").endswith(("right", "correct")))


def _by_valence(valence: float) -> str:
    """Name of the move that answers what a student tells of their own."""
    if valence >= GLAD:
        return "good news"
    return "worry" if valence <= TROUBLED else "disclosure"


def replied(
    messages: Sequence[Message], remembered: Remembered, task: str = "", reading: MessageReading | None = None
) -> str:
    """The reply to the student's last message: what is remembered or can be reckoned where that is asked, else a move.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last
    remembered : Remembered
    task : str, the exercise the talk is about, where there is one
    reading : of the last message, where it was read
    """
    move, doc = chosen_move(messages, reading), doc_of(messages[-1])
    if move.name in ("step", "right sum"):
        move = replace(move, hint=task_hint(messages, task))
    if move.name != "question":
        return worded(move, messages, remembered)
    if reckoned := reckoned_answer(doc.text):
        return f"{clean(reckoned)}. How could you check it?"
    return answer_from_memory(messages, remembered) or worded(move, messages, remembered)


def worded(move: Move, messages: Sequence[Message], remembered: Remembered) -> str:
    """A reply that makes a move, in one to three sentences.

    Parameters
    ----------
    move : Move
    messages : sequence of Message, oldest first, the student's newest last
    remembered : Remembered, of which one fact or earlier turn is mentioned where it truly fits

    Returns
    -------
    str of 1 to 600 characters without "<", ">" and control characters; the same for the same conversation, and never
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
    mention = _mention(move, doc, remembered, said)
    wordings = WORDINGS["remembered question" if mention and move.name == "question" else move.name]
    name = clean(remembered.name or "")
    slots = {"sum": _framed(move.sum), "hint": move.hint, "mention": mention, "name": name}
    if any("{told}" in w for w in wordings):
        slots["told"] = _told_back(doc)
    if any("{quote}" in w for w in wordings):
        # A word alone is said back only as a guess, and a guess only where it is a few words.
        unfit = {"statement": len(doc.words) <= SHORT_WORDS, "guess": len(doc.words) > SHORT_WORDS}
        slots["quote"] = "" if unfit.get(move.name) else _telling_quote(doc)
    if any("{topic}" in w for w in wordings):
        slots["topic"] = _topic(messages)
    fits = [w for w in wordings if all(slots[slot] for slot in _SLOT.findall(w))]
    start = crc32(f"{len(messages)} {doc.text[:REPLY_CHARACTERS]}".encode("utf-8", "replace")) % _preferred(fits)
    replies = [_joined(w.format(**slots), mention) for w in (*fits[start:], *fits[:start])]
    return next((reply for reply in replies if reply not in said), replies[0])


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


def _mention(move: Move, doc: Doc, remembered: Remembered, said: Sequence[str]) -> str:
    sayings = [match[1] for fact in remembered.facts if (match := _QUOTE_IN_FACT.search(fact.text))]
    sayings += [each.memory.quote or "" for each in remembered.memories if _may_be_mentioned(each, remembered)]
    if move.name == "question":
        return mentioned(
            doc, [*sayings, *(turn.text for turn in remembered.turns if turn.similarity >= SIMILAR_TURN_COSINE)]
        )
    # Coming back to the past in every reply would be nagging.
    if move.name not in _MENTIONED_IN or any(_MENTION in reply for reply in said):
        return ""
    return mentioned(doc, sayings)


def _may_be_mentioned(recalled: Recalled, remembered: Remembered) -> bool:
    memory = recalled.memory
    own = memory.is_own_word and memory.quote is not None and memory.invalid_at is None
    return own and recalled.similarity >= SIMILAR_TURN_COSINE and memory.id not in remembered.secrets


def _preferred(fits: Sequence[str]) -> int:
    """Number of preferred wordings: those with a hint, else those that use the student's words, else all."""
    hinted = sum("{hint}" in wording for wording in fits)
    return hinted or sum("{" in wording for wording in fits) or len(fits)


def _joined(reply: str, mention: str) -> str:
    """The reply with what is remembered before its last sentence, unless that is about a quotation before it."""
    if not mention or mention in reply:
        return reply
    *first, last = [sentence.text for sentence in Doc(reply).sentences]
    return " ".join([mention, *first[:1], last] if "“" in "".join(first) else [*first[:1], mention, last])


def _framed(equation: str) -> str:
    return f"“{clean(equation.replace('*', '×'))}”" if equation else ""


def _told_back(doc: Doc) -> str:
    """The sentence of the message that says most, said to the student; empty where it cannot be turned to them."""
    said = [to_second_person(sentence.text) for sentence in doc.excerpt.sentences if not sentence.asks]
    told = [clean(each) for each in said if each.startswith(("you ", "your ")) and len(each) <= TOLD_CHARACTERS]
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
            words = [word for word in phrase.split() if word.lower() not in LESSON_WORDS]
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
