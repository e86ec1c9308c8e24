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

from graphmem.model import Author, Message, Recalled, Remembered
from graphmem.offline.moves import Move, chosen_move
from graphmem.offline.recollection import TOLD_CHARACTERS, answer_from_memory, asks_of_oneself, told_before
from graphmem.text.arithmetic import reckoned_answer
from graphmem.text.doc import Doc, doc_of
from graphmem.text.introductions import introduced_name
from graphmem.text.language import language_of
from graphmem.text.lexicon import LESSON_WORDS, STOP_WORDS
from graphmem.text.questions import only_asks
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
WORN_CHARACTERS = 12
"""Characters of a wording from which on it is known again."""
SAME_REPLY_SCORE = 85.0
"""Fuzzy score from which on two texts say the same."""

KEPT = "I will remember that."
NEXT = ("What would you like to do next?", "What else is on your mind?", "What would you like to talk about now?")
ON_WITH_IT = "Shall we go on with our work?"
"""How the talk goes on after something else than the work, without and with a task."""

# {quote} the student's words, {told} the same said to the student, {topic} what it is about, {sum} an equation, {name}
# the student's, {own} the name a student has just given, {me} the companion's, {hint} a question that the task gives
# rise to or a sentence of it, {mention} a sentence on what is remembered, {next} how the talk goes on, {kept} that
# something will be remembered. A wording is left out where what it needs is missing; the last ones of a list need
# nothing.
WORDINGS: dict[str, tuple[str, ...]] = {
    "greeting": (
        "Hello, {name}! What would you like to work on?",
        "Hi {name}, good to see you. What shall we look at first?",
        "Hello! What would you like to work on?",
        "Hi, good to see you. What shall we look at first?",
    ),
    "goodbye": (
        "Goodbye, {name}, and thank you for today.",
        "See you next time, {name}. Well done for staying with it.",
        "Goodbye, and thank you for today.",
        "See you next time. Well done for staying with it.",
    ),
    "reaction": (
        "All right. {next}",
        "I see. {next}",
        "Good. {next}",
    ),
    "story": (
        "Tell me more about it.",
        "And how was that for you?",
        "I see. What do you make of it?",
        "Oh! How did that come about?",
    ),
    "opinion": (
        "You say {quote}. What makes you think so?",
        "You say {quote}. What would somebody say who sees it differently?",
        "What makes you think so?",
        "What would somebody say who sees it differently?",
    ),
    "companion": (
        "I am {me}, a program, so there is not much to tell of me. How is it with you?",
        "My name is {me}, and as a program I have no life of my own to tell of. What about you?",
        "I am a program, so there is not much to tell of me. How is it with you?",
        "As a program I have no life of my own to tell of. What about you?",
        "I am only a program, and there is nothing to know about me. What about you?",
    ),
    "ability": (
        "I listen, remember what you tell me, check sums and ask questions that help you think. {next}",
        "I am a program that remembers what you tell it and thinks along with you, sums included. {next}",
    ),
    "request": (
        "I can listen, remember what you tell me, check sums and help you think, and not much else. {next}",
        "That may be more than I can do: I remember what you tell me, check sums and think along with you. {next}",
    ),
    "thanks": (
        "You are welcome. {next}",
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
        "That is all right, let us take it in small pieces. {hint}",
        "No problem. {hint}",
        "That is all right, let us take it in small pieces. What do you already know about {topic}?",
        "No problem. Looking at {topic}: which part is the first that does not make sense?",
        "That is fine. Which part is the first that does not make sense: the words, or what to do with them?",
        "Not knowing yet is fine. What is asked, and what has been given to you?",
    ),
    "still confused": (
        "Let us go on in small pieces. {hint}",
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
        "I cannot look up {topic} for you. What would be your best guess, and what makes you think so?",
        "I cannot tell you that for certain. Where could we look to find out?",
        "Good that you ask, though I cannot answer it for certain. What would be your own best guess?",
    ),
    "advice": (
        "I cannot decide that for you, but we can think it through. What ways do you see?",
        "What have you thought of so far? Let us look at what speaks for each.",
        "What would you tell a friend who was in your place?",
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
        "{sum}: I get the same. {hint}",
        "{sum} is reckoned correctly. What does the result stand for in the story?",
        "In {sum} I get the same number. Is that already what is asked, or one step on the way?",
        "The arithmetic of {sum} is right. What made you choose that step?",
        "Yes, {sum}. How would you show that with a drawing?",
    ),
    "same sum": (
        "You come to {sum} again, and the arithmetic is right. {hint}",
        "{sum} is reckoned correctly, as before. Is it what the story tells? Say in your own words what happens in it.",
        "{sum} once more: the arithmetic holds. Could another step fit the story better?",
        "That is {sum} again. Put the result into the story in place of what is asked: does every sentence still fit?",
    ),
    "wrong sum": (
        "Let us look at {sum} once more. What do you get when you work it out again, step by step?",
        "I do not get the same number for {sum}. Can you go through it slowly and tell me each step?",
        "Please check {sum}: which part of it can you work out first, and what does that give?",
    ),
    "right comparison": (
        "Yes, of {sum} that is the one. How could you show it with a drawing?",
        "I come to the same for {sum}. How would you explain it to a friend?",
    ),
    "wrong comparison": (
        "Let us look at {sum} once more: I come to the other one. Draw both: which one takes up how much?",
        "For {sum} I come to the other one. What would a drawing of both look like?",
    ),
    "same answer": (
        "You have said {quote} before. {hint}",
        "You stay with {quote}. Put it into the task in place of what is asked: does every sentence still fit?",
        "That is what you said before. How could you test it with the first sentence of the task?",
        "You stay with that answer. Which step on the way to it are you least sure of?",
    ),
    "given": (
        "The task says {hint}. What can you work out with that?",
        "That stands in the task: {hint}. What is your next step?",
        "So we have that from the task: {hint}. What do you need besides?",
    ),
    "step": (
        "{hint}",
        "Let me look at {quote} with you. {hint}",
        "You say {quote}. How did you come to it?",
        "{quote}: what did you start from, and what did you do with it?",
        "You have {quote}. How could you test that, for example with a drawing or by working backwards?",
        "How did you get there? Take me through it one step at a time.",
        "What did you start from, and what did you do first?",
    ),
    "reasoned step": (
        "You give a reason: {quote}. {hint}",
        "You give a reason: {quote}. Can you show it with a drawing or an example?",
        "Good that you say why: {quote}. Does that hold with other numbers, too?",
        "Good that you say why. Can you show it with a drawing or an example?",
        "You give a reason for it. Does it hold with other numbers, too?",
    ),
    "statement": (
        "You say {quote}. What makes you think so?",
        "You say {quote}. {use}",
        "What makes you think so?",
        "Can you tell me a little more about that?",
    ),
    "disclosure": (
        "Nice to meet you, {own}! {kept} {next}",
        "So {told}. {kept} {next}",
        "Thank you for telling me that {told}. {next}",
        "Thank you for telling me. {kept} {next}",
        "Thank you for telling me. {next}",
        "I am glad you told me that. {next}",
    ),
    "wish": (
        "All right, {own}. {kept} {next}",
        "All right, I have understood that. {kept} {next}",
        "Good that you say so. {next}",
        "All right, thank you for saying it. {next}",
    ),
    "promise": (
        "{kept} Tell me how it went when you have done it. {next}",
        "That is a good plan. Tell me how it went when you have done it. {next}",
        "Good that you take it on. {next}",
    ),
    "secret": (
        "Thank you for trusting me with that. I will not bring it up unless you do. {next}",
        "Thank you for telling me. I will leave it to you to talk about it or not. {next}",
    ),
    "good news": (
        "Nice to meet you, {own}! {next}",
        "How nice: {told}. {next}",
        "I am glad to hear that {told}. {next}",
        "I am happy to hear that! {next}",
        "Lovely, thank you for telling me! {next}",
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
    "foreign": (
        "I follow English best and may miss what you mean by {quote}. Can you say it in English, or with numbers?",
        "I am sorry, I read only English well. Could you say {quote} in simple English words?",
        "I am sorry, I read only English well. Could you say it in simple English words?",
        "I may miss what you mean, since I follow English best. Can you write it in English, or with numbers?",
    ),
    "unreadable": (
        "I am not sure what {quote} means. Can you say it another way?",
        "I am not sure what you mean. Can you say it in other words?",
        "I could not read that. What would you like to work on?",
    ),
}

FOREIGN = {
    "de": "Leider lese ich nur Englisch gut. Kannst du es auf Englisch sagen?",
    "es": "Lo siento, solo leo bien el inglés. ¿Puedes decirlo en inglés?",
    "fr": "Désolé, je ne lis bien que l'anglais. Peux-tu le dire en anglais ?",
    "it": "Mi dispiace, leggo bene solo l'inglese. Puoi dirlo in inglese?",
    "nl": "Sorry, ik lees alleen Engels goed. Kun je het in het Engels zeggen?",
    "pl": "Przepraszam, dobrze czytam tylko po angielsku. Czy możesz napisać to po angielsku?",
    "pt": "Desculpa, só leio bem inglês. Podes dizê-lo em inglês?",
    "tr": "Üzgünüm, yalnızca İngilizceyi iyi okuyorum. Bunu İngilizce yazabilir misin?",
    "ru": "Извини, я хорошо понимаю только по-английски. Можешь сказать это по-английски?",
    "uk": "Вибач, я добре розумію лише англійську. Можеш сказати це англійською?",
    "ar": "عذرًا، أنا أقرأ الإنجليزية فقط جيدًا. هل يمكنك كتابة ذلك بالإنجليزية؟",
    "hi": "माफ़ करना, मैं केवल अंग्रेज़ी अच्छी तरह पढ़ता हूँ। क्या तुम इसे अंग्रेज़ी में लिख सकते हो?",
    "zh": "抱歉，我只擅长阅读英语。你能用英语说吗？",
}
"""What a student who writes another language is told in it, by ISO 639-1 code."""
ABOUT_COMPANION = ("companion", "ability")
"""Moves that answer questions to the companion: also "What do you know about me?", which memory answers."""
_TELLING_SLOTS = ("{told}", "{quote}", "{topic}", "{sum}", "{mention}", "{name}")
_SLOT = re.compile(r"{(\w+)}")
_QUOTE_IN_FACT = re.compile(r"said “([^”]{3,}?)…?”")
_MENTIONED_IN = {"confusion", "statement", "disclosure", "frustration", "worry"}
_MENTION = "Earlier you said"


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
    # "You are nicer than my sister" asks for nothing.
    asking_for = move.name == "ability" or doc.asks or doc.text.rstrip().endswith("?")
    if move.name in ABOUT_COMPANION and asking_for and remembered.asked_for and asks_of_oneself(doc):
        move = Move("question")
    if move.name != "question":
        # "What do I hate?" sounds like a mood, and is answered where the answer is known.
        asked = doc.asks and only_asks(doc.plain) and not task
        known = answer_from_memory(messages, remembered, if_known=True) if asked else ""
        return known or worded(move, messages, remembered, task, companion)
    sums = (doc.text, *(sentence.text for sentence in doc.excerpt.sentences if sentence.asks))
    if reckoned := next(filter(None, map(reckoned_answer, sums)), ""):
        return f"{clean(reckoned)}. How could you check it?"
    return answer_from_memory(messages, remembered) or worded(move, messages, remembered, task, companion)


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
    if move.name == "foreign" and (apology := FOREIGN.get(language_of(doc.text))) and apology not in said:
        return apology
    mention = _mention(move, messages, remembered, said, task)
    wordings = WORDINGS["remembered question" if mention and move.name == "question" else move.name]
    name = clean(remembered.name or "")
    slots = {"sum": _framed(move.sum), "hint": move.hint, "mention": mention, "name": name, "me": clean(companion)}
    slots |= {"next": ON_WITH_IT if task else NEXT[len(messages) // 2 % len(NEXT)], "kept": KEPT if move.kept else ""}
    slots["use"] = "How does that help with what is asked?" if task else ""
    if any("{own}" in w for w in wordings):
        slots["own"] = clean(introduced_name(doc.text))
    if any("{told}" in w for w in wordings):
        slots["told"] = _told_back(doc)
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
