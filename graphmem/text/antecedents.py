"""Antecedents: whom "he" and "she" stand for, named in their place, for English (spec 7).

A statement is remembered without what was said before it. A pronoun is left as it is where several people come into
question, and so are "it" and "they".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphmem.model import EntityKind
from graphmem.text.doc import Doc
from graphmem.text.introductions import introduced_name
from graphmem.text.lexicon import ACQUAINTANCES, ANIMALS, KIN, KIN_NAMES, STOP_WORDS, base_kin
from graphmem.text.words import is_known

_MEN = frozenset("father brother uncle nephew stepfather stepdad stepbrother son husband boyfriend".split())  # noqa: SIM905
_WOMEN = frozenset("mother sister aunt niece stepmother stepmom stepmum stepsister daughter wife girlfriend".split())  # noqa: SIM905
_HE, _SHE = frozenset({"he", "him", "his"}), frozenset({"she", "her", "hers"})
_GIVING = frozenset(
    """
    told tell gave give asked ask promised promise showed show lent lend sent send taught teach owe owed call called
    help helped let make made see saw hear heard
    """.split()  # noqa: SIM905
)
"""Verbs after which "her" is somebody, whatever follows."""
_SOMEBODY = "|".join(sorted(KIN | ACQUAINTANCES | ANIMALS | {"bff", "bestie", "sis", "bro", "aunty"}))
_NAME = r"(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)?)"
_OWNER = rf"(?:my|our|{_NAME}['’]s)"
_QUALITIES = r"(?: (?!and\b|or\b|is\b|was\b)[\w-]+){0,2}?"
# "Dad's car" tells of a car, "dad's not thrilled" of Dad.
_OWNS = rf"['’]s\b(?! (?:{'|'.join(sorted(STOP_WORDS - {'own'}))})\b)"
_MENTION = re.compile(
    rf"\b(?P<owned>{_OWNER}{_QUALITIES} (?P<noun>{_SOMEBODY})\b(?!{_OWNS}))"
    rf"(?:,? (?P<called>(?:is |who is )?(?:called |named )?)(?P<name>{_NAME}))?"
    rf"|\b(?P<titled>(?P<title>mr|mrs|ms|miss|mme|dr|uncle|auntie|aunt|aunty)\.? (?!is\b|was\b|and\b)[\w-]+)"
    rf"|\b(?P<kin>{'|'.join(sorted(KIN_NAMES))})\b(?!{_OWNS})",
    re.IGNORECASE,
)
_SOME_PERSON = re.compile(
    rf"\b(?:an?|some|this|that|the){_QUALITIES} (?:girl|boy|guy|man|woman|lady|kid|child|{_SOMEBODY})\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"\b[A-Z][\w-]+")
_APART = re.compile(r"[,;.:]|\b(?:and|but|that|who|when|because|if|so|i)\b", re.IGNORECASE)
"""Where another clause begins."""
_PRONOUN = re.compile(r"\b(?P<word>he|she|him|his|her|hers)\b(?! own\b)(?P<short>['’](?:s|d|ll))?", re.IGNORECASE)


@dataclass(frozen=True)
class Referent:
    """Somebody who is named: in which words, from where to where, and whether a man or a woman, where it shows."""

    text: str
    start: int
    end: int
    male: bool | None = None

    def may_be(self, pronoun: str) -> bool:
        """True if a pronoun in lower case can stand for them."""
        return self.male is None or pronoun in (_HE if self.male else _SHE)


def with_antecedents(clauses: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Clauses in which the first "he" or "she" of each is named, where what came before names somebody it can be.

    Parameters
    ----------
    clauses : of one message, in order
    before : messages of the same speaker before it, oldest first

    Returns
    -------
    list of str, as many as clauses; in the speaker's words

    Source: spec 7 (a memory is one statement that stands by itself).

    Examples
    --------
    >>> with_antecedents(["My sister Poppy is six.", "I promised her a bike."])
    ['My sister Poppy is six.', 'I promised my sister Poppy a bike.']
    >>> with_antecedents(["He's so fat."], ["my mum is at work", "we have our cat Bo back"])
    ["Our cat Bo's so fat."]
    >>> with_antecedents(["Zoe has a recital.", "My dad likes his car.", "She sings."])
    ['Zoe has a recital.', 'My dad likes his car.', 'Zoe sings.']
    >>> with_antecedents(["Mum gave her a cake.", "I like her cakes."], ["My aunt Jo came."])
    ['Mum gave my aunt Jo a cake.', 'I like her cakes.']
    """
    said: list[list[Referent]] = []
    told = []
    for text in (*before, *clauses):
        named = _named(text, said)
        said.append(list(mentions(named)))
        told.append(named)
    return told[len(before) :]


def mentions(text: str) -> Iterator[Referent]:
    """Those whom a text names, in order: relatives, friends, animals, and people by their names.

    Examples
    --------
    >>> [(each.text, each.male) for each in mentions("My brother Max met Zoe and mr okafor.")]
    [('my brother Max', True), ('Zoe', None), ('mr okafor', True)]
    """
    own = (introduced_name(text) or "").casefold()
    named = (entity.name for entity in Doc(text).entities if entity.kind is EntityKind.PERSON)
    people = {name for name in named if name.casefold() not in (own, *KIN)}
    found = [each for match in _MENTION.finditer(text) if (each := _mention(match, people)) is not None]
    for name in people:
        found += [
            Referent(name, *match.span())
            for match in re.finditer(rf"\b{re.escape(name)}\b", text)
            if not any(each.start < match.end() and match.start() < each.end for each in found)
        ]
    yield from sorted(found, key=lambda each: each.start)


def _maybe_somebody(text: str) -> Iterator[Referent]:
    """What a text names that may be somebody: by an unknown name, or by none ("a new girl")."""
    things = {part for each in Doc(text).entities if each.kind is EntityKind.THING for part in each.name.split()}
    for match in _CAPITAL.finditer(text):
        if match.group() in things or not is_known(match.group()):
            yield Referent(match.group(), *match.span())
    for match in _SOME_PERSON.finditer(text):
        yield Referent(match.group(), *match.span())


def _mention(match: re.Match[str], people: set[str]) -> Referent | None:
    if match["titled"]:
        title = match["title"].lower()
        return Referent(match["titled"], *match.span(), None if title == "dr" else title in ("mr", "uncle"))
    if match["kin"]:
        return Referent(f"my {match['kin'].lower()}", *match.span(), _is_male(match["kin"]))
    owned, name = match["owned"], match["name"] or ""
    if name and name not in people and "is" in match["called"]:
        # "My sister is Irish" names nobody.
        name = ""
    owned = owned[0].lower() + owned[1:] if owned.lower().startswith(("my ", "our ")) else owned
    return Referent(f"{owned} {name}".strip(), match.start(), match.end(), _is_male(match["noun"]))


def _is_male(noun: str) -> bool | None:
    kin = {"sis": "sister", "bro": "brother", "aunty": "aunt"}.get(noun.lower(), base_kin(noun.lower()))
    if kin.startswith("grand"):
        return kin == "grandfather"
    return True if kin in _MEN else False if kin in _WOMEN else None


def _named(text: str, said: Sequence[Sequence[Referent]]) -> str:
    """A text with the first pronoun that nobody in it can be meant by named by who was mentioned before."""
    own = list(mentions(text))
    possible_within = [*own, *_maybe_somebody(text)]
    for match in _PRONOUN.finditer(text):
        word, start = match["word"].lower(), match.start()
        owns = _owns(word, text[:start], text[match.end() :])
        is_object = not owns and word in ("him", "her")
        # "Mum gave her a cake": she is somebody else.
        if any(
            each.end <= start and each.may_be(word) and (not is_object or _APART.search(text[each.end : start]))
            for each in possible_within
        ):
            continue
        others = {each.text for each in own}
        possible = ([each for each in before if each.may_be(word) and each.text not in others] for before in said[::-1])
        nearest = next((each for each in possible if each), [])
        # Of several the first is who the sentence is about, if it begins with them and goes on about them.
        if len({each.text for each in nearest}) != 1 and not (nearest and nearest[0].start == 0 == start):
            return text
        meant = nearest[0]
        name = meant.text + ("'s" if owns else match["short"] or "")
        name = name[0].upper() + name[1:] if match["word"].istitle() else name
        return f"{text[:start]}{name}{text[match.end() :]}"
    return text


def _owns(word: str, before: str, after: str) -> bool:
    """True of "his" and "her" before what is theirs."""
    if word != "her":
        return word in ("his", "hers")
    last, following = Doc(before[-20:]).plain_words[-1:], Doc(after[:30]).plain_words[:1]
    return _GIVING.isdisjoint(last) and bool(following) and STOP_WORDS.isdisjoint(following) and after[:1] == " "
