"""Replies to a message that tells of danger, by rule, in the student's language where it is one of four (spec 20)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import ACUTE, Author, Danger, Message
from graphmem.text.doc import ENGLISH


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
