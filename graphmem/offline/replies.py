"""Replies of the offline mind: checked arithmetic, quotations from memory, and few plain, kind sentences (spec 17).

A reply invents nothing and asks nothing back: it says what was reckoned exactly, quotes what the student said, or
answers by what the message does (the dialogue act that the encoder tells).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from graphmem.language.analysis import MessageAnalysis, entities_of
from graphmem.language.encoder import encoder_network
from graphmem.language.heads import HeadScores
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import ACUTE, AskedFor, Author, Danger, Message, Remembered
from graphmem.offline.answers import NOTHING, answer_from_memory, earlier_statement
from graphmem.text.doc import ENGLISH, Doc, doc_of, language_of
from graphmem.text.lexicon import KIN
from graphmem.text.normalize import clean
from graphmem.text.quantities import asked_comparison, reckoned_answer, spoken_equations, stated_comparisons
from graphmem.text.revision import slot_of

FOREIGN_WORDS = 3
"""Words from which on a text in plain letters is taken for another language."""
GLAD, SUBDUED, TROUBLED = 0.44, -0.25, -0.5
"""Valence from which on what is told is good news, and down to which it sounds sad, or is a trouble. Read in the
shipped chats: 60 of 75 consolations from -0.2 down were for what is no trouble."""
SURE = 0.6
"""Chance from which on a message is taken for a wish, a promise or a secret."""
ACT_SURE = 0.47
"""Chance of a dialogue act from which it goes before a number that a turn names at a task."""
LEAST_TOLD = 0.2
"""Chance that a message tells something from which a reply says that it is remembered."""
_STUCK = re.compile(
    r"\b(?:do not|don'?t|didn'?t|can'?t|cannot) (?:\w+ ){0,2}(?:know|understand|remember|follow|see (?:how|why)"
    r"|get (?:it|this|that|why|how|what))\b"
    r"|\b(?:idk|no idea|no clue|clueless|not sure|unsure|confus\w+|puzzled|stuck|i'?m lost|am lost|struggling)\b"
    r"|^\W*(?:huh|what|help|hint|clue)(?: me)?(?: please)?\W*$"
    r"|\b(?:give|need|want)(?: me)? (?:some |a )?(?:help|hint)\b"
)
"""A turn that gets no further; the head `work` hears as much in "so it is twice as wide"."""
_CLOSING = {"greeting", "goodbye", "thanks"}
_NEWS = {"told", "glad"}
_TOLD = {"own", "story", "opinion"}
_LEDGER = {"wish": "wish", "order": "wish", "promise": "promise", "secret": "secret", "debt": "promise"}
_ENTRIES = frozenset(_LEDGER.values())

# By what the message does; {sum} is what was reckoned. Nothing is asked back.
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "greeting": ("Hello! Good to see you.", "Hi, good that you are here."),
    "goodbye": ("Goodbye, and thank you for today.", "See you next time. Well done today."),
    "thanks": ("You are welcome.",),
    "reaction": ("All right.", "I see.", "Okay."),
    "companion": ("I am a program, so there is little to tell of me. I listen, and I remember what you tell me.",),
    "ability": (
        "I listen, remember what you tell me in your own words, and check sums.",
        "I am a program: I keep what you tell me and give it back when you ask, and I can check sums.",
    ),
    "request": (
        "That is more than I can do: I remember what you tell me, and check sums.",
        "I cannot do that. What I can do is listen, remember, and check sums.",
    ),
    "question": (
        "I do not know that, and I would rather say so than guess.",
        "That I cannot answer. It is a good thing to look up or to ask your teacher.",
    ),
    "work": (
        "Go on, one step at a time, and say why you do each.",
        "A small drawing often helps.",
    ),
    "idea": (
        "I see how you think of it.",
        "Thank you, I keep your idea.",
    ),
    "stuck": (
        "That is all right. Go back to the last thing that was clear, and start from there.",
        "Not knowing yet is fine. Try the same with very small numbers first.",
        "Let us make it smaller: read only the first sentence and say it in your own words.",
    ),
    "right sum": ("Yes, {sum}.", "{sum}: I get the same.", "{sum} is right."),
    "wrong sum": (
        "I do not get the same for {sum}. Work it out once more, step by step.",
        "Let us look at {sum} again: one part of it at a time.",
    ),
    "right comparison": ("Yes, of {sum} that is the one.", "For {sum} I come to the same."),
    "wrong comparison": (
        "For {sum} I come to the other one. Draw both, and compare how much each takes up.",
        "Look at {sum} once more with a drawing: I come to the other one.",
    ),
    "told": (
        "Thank you for telling me. I will remember it.",
        "Thank you, I keep that in mind.",
        "I see. I will remember that.",
    ),
    "glad": ("How nice! I am happy for you.", "That is good to hear!", "Lovely, thank you for telling me."),
    # What sounds a little sad is often none: these words fit both.
    "heard": ("Thank you for telling me. I am listening.", "I am glad that you told me."),
    "hard": (
        "That does not sound easy. Thank you for telling me.",
        "I am sorry to hear that. I am glad you told me.",
    ),
    "wish": ("All right, I will keep to that.", "Understood, I will remember it."),
    "promise": ("I will remember that.", "Good. I keep it in mind for you."),
    "secret": ("Thank you for trusting me with that. I will not bring it up unless you do.",),
    "unclear": ("I am not sure what that means.", "I did not quite understand that."),
}
OWN_NAME = "self name"
"""The attribute that somebody tells who introduces themselves."""
THANKED, MOST_NAMED = "telling me", 2
"""What of a template says whom or what a message names, and most names that a reply says again."""
FOREIGN: Mapping[str, str] = {
    "de": "Ich antworte auf Englisch, aber was du schreibst, merke ich mir.",
    "es": "Respondo en inglés, pero recuerdo lo que escribes.",
    "fr": "Je réponds en anglais, mais je retiens ce que tu écris.",
    "it": "Rispondo in inglese, ma ricordo quello che scrivi.",
    "nl": "Ik antwoord in het Engels, maar ik onthoud wat je schrijft.",
    "pl": "Odpowiadam po angielsku, ale pamiętam, co piszesz.",
    "pt": "Respondo em inglês, mas lembro-me do que escreves.",
    "tr": "İngilizce cevap veriyorum ama yazdıklarını hatırlarım.",
    "ru": "Я отвечаю по-английски, но запоминаю то, что ты пишешь.",
    "uk": "Я відповідаю англійською, але пам'ятаю те, що ти пишеш.",
    "ar": "أجيب بالإنجليزية، لكنني أتذكر ما تكتبه.",
    "hi": "मैं अंग्रेज़ी में जवाब देता हूँ, पर जो तुम लिखते हो उसे याद रखता हूँ।",
    "zh": "我用英语回答，但我会记住你写的内容。",
}
"""What is said once, by ISO 639-1 code, to a student who writes another language."""
FOREIGN_UNNAMED = "My replies are in English, but I remember what you write."


def replied(
    messages: Sequence[Message], remembered: Remembered, task: str = "", reading: MessageAnalysis | None = None
) -> str:
    """Return the reply to the student's newest message.

    Parameters
    ----------
    messages : oldest first, the student's newest last
    remembered : what was recalled for it
    task : the exercise the talk is about, where there is one
    reading : of the newest message; None: it is read here, on this thread

    Returns
    -------
    str of one to three sentences, the same for the same conversation

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> def reply(text):
    ...     return replied([Message(Author.STUDENT, text, datetime(2026, 1, 1, tzinfo=UTC))], Remembered())
    >>> reply("thx. what is 12*7?"), reply("is 3/4 bigger than 5/8?")
    ('12 x 7 = 84.', 'Yes, 3/4 is bigger than 5/8.')
    """
    doc = doc_of(messages[-1])
    said = [message.text for message in messages if message.author is Author.COMPANION]
    foreign = _foreign(doc)
    if foreign and foreign not in said:
        return foreign
    asked = (doc.text, *(each.text for each in doc.sentences[-1:]))
    if reckoned := asked_comparison(doc.text) or next(filter(None, map(reckoned_answer, asked)), ""):
        return f"{clean(reckoned)}."
    asks = doc.asks or doc.text.rstrip().endswith("?")
    if not asks and (checked := _checked(doc)):
        name, text = checked
        return _worded(name, messages, said, f"“{clean(text)}”")
    reading = reading or encoder_network(1).analyse(doc.text)
    scores = reading.scores
    name = _act(doc, scores, task)
    if name not in _ENTRIES and _asks_memory(asks, scores, remembered, task):
        answer = answer_from_memory(messages, remembered)
        if answer and (asks or answer != NOTHING):
            return answer
    reply = _worded(name, messages, said, names=_named(reading, remembered))
    related = earlier_statement(remembered) if name in _NEWS else ""
    return f"{reply} {related}" if related and not any(related in each for each in said[-3:]) else reply


def _asks_memory(asks: bool, scores: HeadScores, remembered: Remembered, task: str) -> bool:
    """Return whether a message may ask for what was said, which memory then answers if it can."""
    heard = scores.likely("asks")
    whole = remembered.asked_for is not AskedFor.OTHER and (asks or heard == "companion")
    return (asks and not task) or heard == "memory" or whole


def _foreign(doc: Doc) -> str:
    """What is said to a text that is surely in another language; else empty."""
    language = language_of(doc.text)
    enough = len(doc.words) >= FOREIGN_WORDS or not doc.text.isascii()
    return FOREIGN.get(language, FOREIGN_UNNAMED) if enough and language not in ("", ENGLISH) else ""


def _checked(doc: Doc) -> tuple[str, str] | None:
    """The templates for a sum or comparison that can be decided exactly, a wrong one first; and its text."""
    for name, found in (("sum", spoken_equations(doc.text)), ("comparison", stated_comparisons(doc.text))):
        if wrong := [each.text for each in found if not each.holds]:
            return f"wrong {name}", wrong[-1]
        if found:
            return f"right {name}", found[-1].text
    return None


def _act(doc: Doc, scores: HeadScores, task: str) -> str:
    """The name of the templates that answer what a message does."""
    kind, entry, valence = scores.likely("act"), scores.likely("ledger"), scores.number("valence")
    tells = 1 - scores.chance("worth", "nothing") >= LEAST_TOLD
    if kind in _CLOSING and (doc.asks or (tells and scores.chance("act", kind) < SURE)):
        # Who takes leave says so plainly, and asks nothing.
        kind = "question" if doc.asks else "own"
    if entry in _LEDGER and scores.chance("ledger", entry) >= SURE and kind != "question":
        return _LEDGER[entry]
    if (task or kind == "work") and _STUCK.search(doc.excerpt.plain):
        return "stuck"
    if kind == "work" or (task and scores.chance("act", kind) < ACT_SURE and doc.numbers and not doc.asks):
        # Only sums are checked; of ideas nothing is known, and a question is no step.
        return "question" if doc.asks or doc.text.rstrip().endswith("?") else "work" if doc.numbers else "idea"
    if kind in _TOLD:
        sad = "hard" if valence <= TROUBLED else "heard" if valence <= SUBDUED else "told" if tells else "reaction"
        return "glad" if valence >= GLAD else sad
    return kind


def _named(reading: MessageAnalysis, remembered: Remembered) -> str:
    """The first names of a message, but the student's own; empty where it has none."""
    own = (remembered.name or "").casefold().split()
    introduced = slot_of(Doc(reading.text)) == OWN_NAME
    named = [each.name for each in entities_of(reading) if not introduced and each.name.casefold() not in own]
    return " and ".join(f"your {each}" if each.casefold() in KIN else clean(each) for each in named[:MOST_NAMED])


def _worded(name: str, messages: Sequence[Message], said: Sequence[str], reckoned: str = "", names: str = "") -> str:
    """A template filled in: one that the companion has not used lately, the same for the same conversation."""
    wordings = [each.format(sum=reckoned) for each in TEMPLATES[name]]
    if names:
        thanks = [each.replace(THANKED, f"{THANKED} about {names}") for each in wordings if THANKED in each]
        wordings = thanks or wordings
    start = crc32(f"{len(messages)} {messages[-1].text}".encode("utf-8", "replace")) % len(wordings)
    turned = [*wordings[start:], *wordings[:start]]
    return next((each for each in turned if each not in said[-3:]), turned[0])


@dataclass(frozen=True)
class _Words:
    """What a reply says; they fit whoever is in danger of whatever: that somebody is, is known far better than who
    and of what.

    heard : wordings of how it begins
    maybe : the same where the detector is not sure: a false alarm costs a kind sentence
    now : said of what is acute
    honest : that it cannot be kept secret
    trusted : what is asked once, with the next reply of the same conversation
    """

    heard: tuple[str, str]
    maybe: tuple[str, str]
    now: str
    honest: str
    trusted: str


_WORDS: Mapping[str, _Words] = {
    ENGLISH: _Words(
        (
            "Thank you for telling me. I take it very seriously, and it was right to say it: nobody should have to "
            "deal with something like this alone.",
            "I am glad that you told me. This matters more than any lesson, and it is too much for anybody to carry "
            "alone.",
        ),
        (
            "Thank you for telling me. I may be mistaken, but I take it seriously: if something is wrong, or you or "
            "somebody you know is not safe, nobody should be alone with it.",
            "I am glad that you told me. Perhaps I understand it wrongly; if something or somebody hurts you or "
            "somebody you know, that matters more than any lesson.",
        ),
        "This sounds urgent. Please get to a safe place and to another person now, and do not stay alone.",
        "I am only a program and cannot keep this between us: a person has to know, so that you get help.",
        "Is there a grown-up you trust whom you could tell about it today?",
    ),
    "de": _Words(
        (
            "Danke, dass du mir das sagst. Ich nehme es sehr ernst, und es war richtig, es zu sagen: Mit so etwas "
            "sollte niemand allein sein.",
            "Gut, dass du es mir gesagt hast. Das ist wichtiger als jede Stunde, und es ist zu viel, um es allein "
            "zu tragen.",
        ),
        (
            "Danke, dass du mir das sagst. Vielleicht irre ich mich, aber ich nehme es ernst: Wenn etwas nicht stimmt "
            "oder du oder jemand, den du kennst, nicht sicher ist, sollte niemand damit allein sein.",
            "Gut, dass du es mir gesagt hast. Vielleicht verstehe ich es falsch; wenn etwas oder jemand dir oder "
            "anderen wehtut, ist das wichtiger als jede Stunde.",
        ),
        "Das klingt dringend. Bitte geh jetzt an einen sicheren Ort und zu einem anderen Menschen, und bleib nicht "
        "allein.",
        "Ich bin nur ein Programm und kann das nicht für mich behalten: Ein Mensch muss es wissen, damit du "
        "Hilfe bekommst.",
        "Gibt es jemanden Erwachsenes, dem du vertraust und es heute erzählen könntest?",
    ),
    "es": _Words(
        (
            "Gracias por contármelo. Me lo tomo muy en serio, y has hecho bien en decirlo: nadie debería pasar por "
            "algo así a solas.",
            "Me alegro de que me lo hayas dicho. Esto importa más que cualquier lección, y es demasiado para llevarlo "
            "a solas.",
        ),
        (
            "Gracias por contármelo. Quizá me equivoco, pero me lo tomo en serio: si algo va mal, o tú o alguien que "
            "conoces no está a salvo, nadie debería estar a solas con ello.",
            "Me alegro de que me lo hayas dicho. Quizá lo entiendo mal; si algo o alguien te hace daño a ti o a "
            "otros, eso importa más que cualquier lección.",
        ),
        "Esto parece urgente. Por favor, ve ahora a un lugar seguro y con otra persona, y no te quedes a solas.",
        "Soy solo un programa y no puedo guardar esto entre nosotros: una persona tiene que saberlo, para que "
        "recibas ayuda.",
        "¿Hay una persona adulta de confianza a la que se lo podrías contar hoy?",
    ),
    "fr": _Words(
        (
            "Merci de me l'avoir dit. Je le prends très au sérieux, et tu as bien fait d'en parler : personne ne "
            "devrait vivre une chose pareille sans aide.",
            "C'est bien que tu me l'aies dit. C'est plus important que n'importe quelle leçon, et c'est trop lourd à "
            "porter sans aide.",
        ),
        (
            "Merci de me l'avoir dit. Je me trompe peut-être, mais je le prends au sérieux : si quelque chose ne va "
            "pas, ou si toi ou quelqu'un que tu connais n'est pas en sécurité, personne ne devrait rester sans aide.",
            "C'est bien que tu me l'aies dit. Je le comprends peut-être mal ; si quelque chose ou quelqu'un te fait "
            "du mal, à toi ou à d'autres, c'est plus important que n'importe quelle leçon.",
        ),
        "Cela semble urgent. Va maintenant dans un endroit sûr et auprès d'une autre personne, s'il te plaît, et "
        "ne reste pas sans compagnie.",
        "Je ne suis qu'un programme et je ne peux pas garder cela entre nous : une personne doit le savoir, pour que "
        "tu reçoives de l'aide.",
        "Y a-t-il un adulte de confiance à qui tu pourrais en parler aujourd'hui ?",
    ),
}
"""By language; other languages are answered in English."""
LANGUAGES = frozenset(_WORDS)
"""Languages of replies to danger."""


def caring_reply(danger: Danger, help_text: str, said: Sequence[str] = (), language: str = ENGLISH) -> str:
    """A reply that takes a danger seriously, promises nothing, asks nothing, and holds the help text word for word.

    Parameters
    ----------
    danger : Danger
    help_text : str, as the institution has set it
    said : the companion's last replies, which are not repeated while another wording is left
    language : of the student's message, as `language_of` tells it; English in place of one without words here

    Notes
    -----
    Where the detector is not sure it says so.

    Source: spec 20.

    Examples
    --------
    >>> from graphmem.model import ConcernKind
    >>> reply = caring_reply(Danger(ConcernKind.EATING, 1), "Talk to Ms Lee.")
    >>> "Talk to Ms Lee." in reply, "?" in reply
    (True, False)
    >>> caring_reply(Danger(ConcernKind.EATING, 1), "Sprich mit Frau Lee.", language="de")[:30]
    'Danke, dass du mir das sagst. '
    """
    words = _WORDS.get(language, _WORDS[ENGLISH])
    begun = words.heard if danger.sure else words.maybe
    first = next((each for each in begun if not any(each in reply for reply in said)), begun[0])
    urgent = (words.now,) if danger.urgency >= ACUTE else ()
    return " ".join((first, *urgent, help_text, words.honest))


def trusted_question(before: Sequence[Message], at: datetime) -> str:
    """The question for a grown-up whom the student trusts, in the reply after a caring one; else empty.

    It is asked once, and in the conversation of that reply only.

    Parameters
    ----------
    before : what was said before the message that is answered
    at : when that was said

    Source: spec 20.
    """
    said = [each for each in before if each.author is Author.COMPANION]
    if not said or (at - said[-1].at).total_seconds() >= SEGMENT_GAP:
        return ""
    words = next((w for w in _WORDS.values() if any(each in said[-1].text for each in (*w.heard, *w.maybe))), None)
    return "" if words is None or any(words.trusted in each.text for each in said) else words.trusted
