"""Named entities: people, places and things, by capitals, by the words around them and by lists of common names."""

import re
from collections.abc import Iterable, Iterator

from graphmem.model import Entity, EntityKind
from graphmem.text.lexicon import (
    ACQUAINTANCES,
    ANIMALS,
    GOODBYES,
    GREETINGS,
    INTERJECTIONS,
    KIN,
    KIN_NAMES,
    MONTHS,
    PRAISE,
    STOP_WORDS,
    THANKS,
    TIME_WORDS,
    WEEKDAYS,
)
from graphmem.text.normalize import straightened
from graphmem.text.words import Token, word_rarity

NAMED_CHARACTERS = 2_000
"""How much of a piece is searched for names."""
MAX_ENTITIES = 12
"""Most entities of one piece."""
NAME_RARITY = 4.0
"""Rarity from which a capitalised word that opens a sentence may be a name."""


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMON = 3.2
"""Rarity below which a capitalised word inside a sentence is only stressed."""

_GIVEN = _word_set("""
    carmen sandy joey jenna jade nikki randy kylie corey hector marcy gerald janice rodney
    aaron abby abdul abigail adam adrian ahmed aisha aiden alan albert alex alexa alexander alexis ali alice
    alicia alina
    alison amanda amara amber amelia amelie amir amy ana anders andre andrea andrew andy angela anita ann anna anne
    annie anouk anthony antonio aria ariana arjun arthur asha ashley audrey ava ayesha barbara beatrice becky
    bella ben
    benjamin beth betty bill billy bob bobby brad brandon brenda brian bruno caleb cameron camila carl carla carlos
    carol caroline carter cassidy cassie catherine cecilia charles charlie charlotte chen chloe chris christina
    christine christopher cindy claire clara clare cody colin connor cynthia daisy dan daniel daniela danny
    darren dave
    david dean deborah dennis derek diana diego dilan dmitri dominic donna doris dorothy dylan ed eddie edward
    eleanor
    elena eli elias elijah elise eliza elizabeth ella ellen ellie elsa emil emilia emily emma eric erica erik
    erin ethan
    eva evan eve evelyn fatima felix finn fiona florian frances francis frank fred freya gabriel gary gavin george
    gina giovanni grace graham greg hana hanna hannah harold harriet harry hassan hazel heather helen helena
    henry holly
    hugo ian ibrahim ida ines ingrid isaac isabel isabella isla ivan ivy jack jackson jacob jade jake james
    jamie jan
    jana jane janet janice jasmine jason javier jay jean jeff jennifer jenny jeremy jerry jessica jill jim jimmy
    joan joanna joe joel johanna john johnny jon jonas jonathan jose joseph josh joshua juan judy julia julian julie
    karen karim kate katherine kathy katie kayla keith kelly ken kevin khalid kim kyle laila lana lara laura lauren
    layla lea leah lena leo leon leonard liam lily linda lisa liz lola lorenzo louis louise lucas lucia lucy
    luis luka
    luke luna lydia madison maggie malik manuel marco marcus margaret maria mariana marie marina mario marisa mark
    martha martin mary mason mateo matilda matt matthew maya megan mehmet mel melanie melissa mia michael
    michelle miguel
    mike mila milo mina miriam mohamed mohammed molly monica muhammad nadia nancy naomi natalia natalie natasha nate
    nathan nathaniel neil nia nicholas nick nicole nikita nina noah noor nora olga oliver olivia omar oscar owen
    pablo pamela patricia patrick patty paul paula pedro peter petra phil philip phoebe pierre priya rachel
    rafael raj
    ralph ravi raymond rebecca richard rick rita rob robert roberto robin rosa rosie ruby ruth ryan sally sam
    samantha samir samuel sandra sara sarah sasha scott sean sebastian simon sofia sonia sophia sophie stan stefan
    stella stephanie stephen steve steven sue susan suzanne sven sylvia tamara tanya tara ted teresa theo theresa
    thomas tiffany tim timothy tina toby todd tom tommy tony tracy tyler valentina vanessa vera veronica victor
    victoria vincent violet walter wayne wendy will william yasmin yusuf yuki zach zara zoe
""")
_PLACE_NAMES = _word_set("""
    africa america amsterdam antarctica argentina asia athens atlanta atlantic australia austria bangladesh
    barcelona
    beijing belgium berlin bolivia boston brazil bristol britain brussels bulgaria cairo california cambridge canada
    chicago chile china colombia copenhagen croatia cuba delhi denmark dublin ecuador edinburgh egypt england
    estonia ethiopia europe finland florida france germany ghana glasgow greece hamburg hawaii hungary iceland india
    indonesia iran iraq ireland israel istanbul italy jamaica japan kenya korea lebanon leeds lisbon liverpool
    london madrid malaysia manchester mexico miami milan morocco moscow mumbai munich nepal netherlands nigeria
    norway
    oxford pakistan paris peru philadelphia philippines poland porto portugal prague romania rome rotterdam russia
    scotland seattle senegal serbia seville singapore somalia spain stockholm sweden switzerland sydney syria
    taiwan tanzania texas thailand tokyo toronto tunisia turkey uganda uk ukraine usa vancouver vienna vietnam wales
    warsaw washington yemen zurich arctic
""")
_NEVER = (
    TIME_WORDS
    | set(WEEKDAYS + MONTHS)
    | _word_set("""
    year halloween thanksgiving ramadan eid hanukkah
    diwali eve maths math mathematics english german french spanish italian latin chinese japanese russian
    arabic turkish
    vietnamese polish portuguese dutch greek korean hindi american british european african asian history geography
    biology chemistry physics science art music pe ict religion sport sports algebra geometry i i'm i'll i've
    i'd ok okay
    tv dvd usb pdf html http https www faq id am pm lol omg idk btw lgbtq lgbtqia adhd cm mm km kg ft sq gmt god
    mr mrs ms
    internet hi hey hello dear wow yes no yeah thanks north south east west sir madam tutor teacher student user
    system
    assistant none null nan true false
""")
)
_FAMILIAR = KIN | ACQUAINTANCES
_LOWER_CASE = _FAMILIAR | ANIMALS

_ABBREVIATED = _word_set("Mr Mrs Ms Dr")
_TITLES = _word_set("mr mrs ms miss dr prof professor uncle aunt auntie grandma grandpa coach sir madame")
_SHORT_TITLE = _word_set("mr mr. mrs mrs. ms. dr dr.")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,4}s$")
_NAME_LINKS = _word_set("of the de la van von del")
_PLACE_BEFORE = _word_set("in at near from visit visited visiting around across outside inside towards through via")
_TOWARDS = _word_set(
    "go goes going went gone come came move moved moving travel travelled traveled fly flew fly drive "
    "drove trip bus train flight return returned back way road"
)
_PLACE_NOUN = _word_set(
    "school college university street road park lake river mountain mountains island city beach museum "
    "hospital academy church stadium station bridge hotel desert ocean sea bay valley village"
)
_GREETING_WORDS = (
    GREETINGS | GOODBYES | THANKS | INTERJECTIONS | PRAISE | _word_set("dear yeah yes sure right definitely absolutely")
)
_OF_PERSON = _word_set(
    "says said told tells asked went thinks thought likes loves hates wants gave gives came lives plays "
    "and's is was has had does did can will would bought sold makes made won works spent needs gets got "
    "started wrote ate walked read ran used paid earned saved picked drank baked collected"
)
_COMMON_ENDS = ("ing", "tion", "ology", "ness", "ism", "ity", "s", "ed", "ery", "ly")
_SENTENCE_ENDS = frozenset('.!?…:;"“”()[]{}<>*#|\n')


def named_entities(tokens: Iterable[Token]) -> tuple[Entity, ...]:
    """The people, places and things that a text names, in order; `Doc.entities` gives them.

    Parameters
    ----------
    tokens : those of the text, in English; of a long one the first 2,000 characters are searched

    Returns
    -------
    tuple of Entity, at most 12, none twice: proper names, and family, teachers and friends by what they are to the
    speaker ("sister"), where no name is told. Never days, months, school subjects, languages, nor who is addressed

    Notes
    -----
    A capital inside a sentence is enough; a word that opens one must be a common given name or place, or be rare and
    do what people do ("Beatrice looked ...").

    Source: spec 1, 7.

    Examples
    --------
    >>> from graphmem.text.doc import Doc
    >>> [(e.name, e.kind.value) for e in Doc("Yesterday my sister and Omar flew to New York in May.").entities]
    [('sister', 'person'), ('Omar', 'person'), ('New York', 'place')]
    >>> Doc("Hey Mel! Wow, thanks, Caroline!").entities
    ()
    """
    texts = list(_with_titles(straightened(t.text) for t in tokens if t.start < NAMED_CHARACTERS))
    if sum(map(str.isupper, texts)) > 0.5 * sum(t[0].isalpha() for t in texts) and len(texts) > 3:
        return ()
    found: dict[str, Entity] = {}
    for entity in _spans_named(texts):
        found.setdefault(entity.name.casefold(), entity)
    return tuple(found.values())[:MAX_ENTITIES]


def _with_titles(texts: Iterable[str]) -> Iterator[str]:
    """The tokens with the full stop of a title ("Mr.") put to it."""
    held = ""
    for text in texts:
        if held and text == ".":
            text, held = f"{held}.", ""
        elif held:
            yield held
        held = text if text in _ABBREVIATED else ""
        if not held:
            yield text
    if held:
        yield held


def _spans_named(tokens: list[str]) -> Iterator[Entity]:
    place = 0
    while place < len(tokens):
        if not tokens[place][0].isupper() and tokens[place].removesuffix("'s") not in _LOWER_CASE:
            place += 1
            continue
        end = _run(tokens, place)
        if end == place:
            yield from _relative(tokens, place)
            place += 1
            continue
        yield from _entities_of_span(tokens, place, end)
        place = end


def _run(tokens: list[str], place: int) -> int:
    """End of the run of capitalised words that starts at `place`; `place` itself if there is none."""
    if not _capital(tokens[place]) or (_opens(tokens, place) and not _may_open(tokens, place)):
        return place
    end = place + 1
    while end < len(tokens):
        if _capital(tokens[end]) and not tokens[end - 1].endswith("'s"):
            end += 1
        elif tokens[end] in _NAME_LINKS and end + 1 < len(tokens) and _capital(tokens[end + 1]) and end - place < 4:
            end += 2
        else:
            break
    return end


def _capital(token: str) -> bool:
    """True if a word could be part of a name."""
    if token.lower() in _SHORT_TITLE:
        return token[0].isupper()
    word = _bare_name(token)
    if not word[:1].isupper() or len(word) == 1 or _PLURAL_ACRONYM.match(word) or (word.isupper() and len(word) > 5):
        return False
    plain = word.lower()
    return plain not in _NEVER and (plain == "will" or plain.split("'")[0] not in STOP_WORDS)


def _bare_name(token: str) -> str:
    token = token.removesuffix(".")
    return token[:-2] if token.endswith("'s") else token


def _opens(tokens: list[str], place: int) -> bool:
    return place == 0 or tokens[place - 1][-1] in _SENTENCE_ENDS


def _may_open(tokens: list[str], place: int) -> bool:
    """True if a capitalised word that opens a sentence is a name all the same."""
    word = _bare_name(tokens[place]).lower()
    if word in _GIVEN or word in _PLACE_NAMES or word in _TITLES or word in KIN_NAMES:
        return word != "will" or _word_after(tokens, place) in _OF_PERSON
    following = _word_after(tokens, place)
    if place + 1 < len(tokens) and _capital(tokens[place + 1]):
        return word_rarity(word) >= NAME_RARITY
    acts = following in _OF_PERSON or (following.endswith("ed") and len(following) > 4)
    return acts and word_rarity(word) >= NAME_RARITY and not word.endswith(_COMMON_ENDS)


def _word_after(tokens: list[str], place: int) -> str:
    return tokens[place + 1].lower() if place + 1 < len(tokens) else ""


def _word_before(tokens: list[str], place: int, back: int = 1) -> str:
    return tokens[place - back].lower() if place >= back else ""


def _entities_of_span(tokens: list[str], start: int, end: int) -> Iterator[Entity]:
    if _is_vocative(tokens, start, end):
        return
    words = [token.removesuffix(".") if token.lower() not in _SHORT_TITLE else token for token in tokens[start:end]]
    words[-1] = _bare_name(words[-1])
    name = " ".join(words)
    if any(c.isdigit() for c in name) or name.lower() in _TITLES - KIN_NAMES:
        return
    if len(words) == 1 and words[0].lower() in _FAMILIAR - KIN_NAMES:
        yield Entity(words[0].lower(), EntityKind.PERSON)
        return
    if len(words) > 1 or _is_telling(words[0].lower()):
        yield Entity(name, _entity_kind(tokens, start, words))


def _is_telling(word: str) -> bool:
    """True if a capitalised word is more than a common word that was stressed."""
    return word in _GIVEN or word in _PLACE_NAMES or word in KIN_NAMES or word_rarity(word) >= COMMON


def _is_vocative(tokens: list[str], start: int, end: int) -> bool:
    """True if a name is used as a vocative: "Hey Mel!", "Thanks, Caroline.", "Mel, that's great"."""
    before, after = _word_before(tokens, start), tokens[end] if end < len(tokens) else ""
    if before in _GREETING_WORDS or (before == "," and _word_before(tokens, start, 2) in _GREETING_WORDS):
        return True
    if end - start > 2:
        return False
    if _opens(tokens, start) and after == ",":
        following = _word_after(tokens, end)
        return not (_capital(tokens[end + 1]) if end + 1 < len(tokens) else True) and following not in (
            "and",
            "my",
            "the",
            "a",
            "who",
            "our",
        )
    ended = after[:1] in (".", "!", "?")
    return before == "," and ended and not _in_list(tokens, start)


def _in_list(tokens: list[str], start: int) -> bool:
    return start >= 2 and (tokens[start - 2][0].isupper() or tokens[start - 2].lower() in _FAMILIAR | ANIMALS)


def _entity_kind(tokens: list[str], start: int, words: list[str]) -> EntityKind:
    first, last = words[0].lower().removesuffix("."), words[-1].lower()
    before, earlier = _word_before(tokens, start), _word_before(tokens, start, 2)
    if last in _PLACE_NOUN or first in _PLACE_NAMES or last in _PLACE_NAMES:
        return EntityKind.PLACE
    if before in ANIMALS or (before == "," and _animal_list(tokens, start)):
        return EntityKind.THING
    if (
        first in _TITLES
        or first in KIN_NAMES
        or (first in _GIVEN and len(words) < 3 and before not in ("play", "reading"))
    ):
        return EntityKind.THING if earlier in ("playing", "watching") or before == "reading" else EntityKind.PERSON
    if before == "at" and earlier in ("job", "work", "works", "worked", "working"):
        return EntityKind.THING
    if (before in _PLACE_BEFORE and "=" not in tokens) or (
        before in ("the", "to") and earlier in _PLACE_BEFORE | _TOWARDS
    ):
        return EntityKind.PLACE
    reckons = len(words) == 1 and before != "against" and any(token.isdigit() for token in tokens)
    return EntityKind.PERSON if reckons or _is_person(tokens, start, len(words)) else EntityKind.THING


def _animal_list(tokens: list[str], start: int) -> bool:
    return any(token.lower().removesuffix("s") in ANIMALS for token in tokens[max(0, start - 4) : start])


def _is_person(tokens: list[str], start: int, length: int) -> bool:
    before, after = _word_before(tokens, start), _word_after(tokens, start + length - 1)
    if before in _FAMILIAR or before in ("called", "named", "met", "with", "told", "asked"):
        return True
    if before == "is" and _word_before(tokens, start, 2) in ("name", "friend"):
        return True
    return length <= 2 and (after in _OF_PERSON - {"is", "was", "has", "makes", "made", "used"})


def _relative(tokens: list[str], place: int) -> Iterator[Entity]:
    """Somebody told by what they are to one ("my sister", "Dad"), or an animal with its name ("my dog Bello")."""
    word = _bare_name(tokens[place]).lower()
    owned = _word_before(tokens, place) in ("my", "our", "his", "her", "their") or (
        _word_before(tokens, place, 2) in ("my", "our", "his", "her") and _word_before(tokens, place).isalpha()
    )
    named = place + 1 < len(tokens) and _capital(tokens[place + 1]) and not tokens[place].endswith("'s")
    if word in _FAMILIAR and (owned or word in KIN_NAMES) and not named and not _is_told_name(tokens, place):
        yield Entity(word, EntityKind.PERSON)
    if word in ANIMALS and owned and named:
        yield Entity(word, EntityKind.THING)


def _is_told_name(tokens: list[str], place: int) -> bool:
    """ "My best friend is (called) Anouk", "my sister's name is Ida": the name says who it is."""
    rest = [token.lower() for token in tokens[place + 1 : place + 4]]
    if tokens[place].lower().endswith("'s") and rest[:1] == ["name"]:
        return True
    if rest[:1] != ["is"]:
        return False
    told = place + (3 if rest[1:2] in (["called"], ["named"]) else 2)
    return told < len(tokens) and _capital(tokens[told])
