"""Slots: attributes of the student or their family; two sentences of one slot could replace each other."""

import re

from graphmem.text.doc import Doc
from graphmem.text.lexicon import ANIMALS, KIN, OCCUPATION_ENDINGS, SMALL_NUMBERS, base_kin
from graphmem.text.stems import stem

TYPE_CHARACTERS = 600
"""Characters of a piece that are read: what it is, it says early."""
OBJECT_WORDS = 3
"""Most words of what is liked, played or feared."""
SHARE = 0.4
"""Part of a piece the sentence with the attribute must make up for the whole to be about it."""

_RELATIVE = "|".join(sorted(KIN, key=len, reverse=True))
_I = (
    r"\b(?:i|we)(?: (?:really|still|also|just|absolutely|always|totally|honestly|actually|now|do|kind of"
    r"|kinda|both))*"
)
_AM_ADVERBS = r"(?: (?:also|now|only|already|currently|actually|not|really|just|almost))*"
_AM_NOW = rf"\b(?:i'm|im|i am|we're|we are){_AM_ADVERBS}"
_AM = rf"\b(?:i'm|im|i am|i was|we're|we are){_AM_ADVERBS}"
_DENIED = r"(?: (?:don't|dont|do not|can't|cant|never|didn't|no longer))?(?: (?:really|even))?"
_SLOT_NUMBER = rf"(?:\d{{1,3}}|{SMALL_NUMBERS})"
_ANIMALS = "|".join(sorted(ANIMALS))
_ILL = (
    r"asthma|diabetes|dyslexia|dyscalculia|adhd|add|autism|epilepsy|anxiety|depression|eczema|migraines?"
    r"|scoliosis|arthritis"
    r"|(?:a )?heart (?:condition|problem|murmur)|cystic fibrosis|celiac|coeliac|tourette\S*"
)
_OF_MINE = (
    "birthday|phone number|number|address|email|nickname|surname|last name|middle name|hobby|religion|star sign|height"
    "|weight|shoe size|native language|first language|job|teacher|coach|dream job|bedtime|school|class|grade"
    r"|team|hair"
    "|blood type|hometown|nationality|goal|password|eyes|eye colou?r|hair colou?r|house|room|street|postcode"
)

# What tells an attribute of the student; {o} stands for what follows, in its basic form. The first that fits counts.
_SELF_PATTERNS = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (
            r"\bmy (?:all[- ]time )?fav(?:ou?rite|e|) (?P<a>[a-z]+(?: (?!is\b|are\b|was\b"
            r"|has\b)[a-z]+)?) (?:is|are|was|has|of)\b",
            "favourite {a}",
        ),
        (
            r"\b(?:is|are) (?:definitely |still |probably )?my (?:all[- ]time )?fav(?:ou?rite"
            r"|e) (?P<a>[a-z]+(?: (?:subject|game|food|book|movie|team))?)",
            "favourite {a}",
        ),
        (
            r"\bmy (?:full |first )?name(?:'s| is)\b|\b(?:i'm|i am) called\b|\b(?:call me"
            r"|my friends call me)\b",
            "name",
        ),
        (
            rf"{_AM_NOW} {_SLOT_NUMBER}(?= ?(?:$|[.,!;]|years?|yrs?|y/?o\b|since|and|now|but|today|tomorrow))"
            rf"|\bi (?:just )?turned {_SLOT_NUMBER}\b",
            "age",
        ),
        (
            rf"{_I}{_DENIED} (?:live|lived|used to live|living|have moved|moved|(?:just )?moved) (?:with"
            rf"|alone)\b",
            "household",
        ),
        (
            rf"{_I}{_DENIED} (?:live|lived|used to live|moved|have moved|reside|stay) ?(?:back )?(?:in|to|at|near"
            rf"|on|from|over|next)\b|{_AM} living in\b",
            "home",
        ),
        (
            rf"{_AM} (?:originally )?from\b|\b(?:i|we) (?:come|came|was born) (?:from|in)\b"
            rf"|\bi was born in (?=[a-z])",
            "origin",
        ),
        (
            r"\bi(?:'m| am)?(?: now)? (?:go|went|going|switched|changed) to (?:a |the )?[a-z' .]*\b(?:school"
            r"|academy|college|university)\b",
            "school",
        ),
        (
            rf"{_AM} (?:in|starting) (?:the )?(?:year|grade|class)? ?(?:\w+ grade|\d+(?:st|nd|rd|th)"
            rf"|\d+[a-z]?)\b|{_AM} an? \w+[- ]grader\b|\bi go to (?:the )?\w+ grade\b",
            "grade",
        ),
        (rf"{_AM} (?:also )?(?:severely |slightly )?allergic to (?P<o>[a-z' ]+)", "allergy:{o}"),
        (r"\bi have an? (?P<o>[a-z]+) allergy\b", "allergy:{o}"),
        (
            rf"{_AM} (?:lactose|gluten) ?-?intolerant\b|\bi can'?t (?:eat|drink|have) (?:gluten|milk|dairy"
            rf"|lactose|wheat|nuts|eggs)\b",
            "food intolerance",
        ),
        (rf"{_AM} (?:a |an )?(?:vegetarian|vegan|pescatarian)\b", "diet"),
        (
            rf"{_I}{_DENIED} (?:have|got|'ve got|suffer from|was diagnosed with) (?:{_ILL})\b|{_AM} (?:diabetic"
            rf"|dyslexic|autistic|epileptic|asthmatic|colou?r[- ]?blind|deaf|blind)\b",
            "medical condition",
        ),
        (r"\bi(?: have to| need to| must)?(?: \w+)? (?:wear|need|got) (?:my |new |reading )?glasses\b", "glasses"),
        (rf"{_AM} (?:left|right)[- ]handed\b", "handedness"),
        (
            rf"{_AM} (?:\w+ )?(?:scared|afraid|terrified|frightened) (?:of|when) (?P<o>[a-z' ]+)"
            rf"|\bmy (?:biggest |worst )?fear is (?P<p>[a-z' ]+)",
            "fear:{o}",
        ),
        (
            r"\bi feel sick before\b|\bi (?:get|am) (?:so |really |very )?(?:nervous|anxious|scared) (?:before"
            r"|about|when)\b",
            "fear",
        ),
        (
            rf"{_I} (?:want|wanna|would like|'d like|hope|plan|dream)(?: of| to| one day"
            rf"| to one day)* (?:(?:be|being) an?|(?:become|becoming)(?: an?)?) [a-z]+|\bwhen i grow up\b"
            rf"|\bi wanna be\b|\bmy dream(?: job)? is\b",
            "dream job",
        ),
        (
            rf"{_I}{_DENIED} (?:have|got|own|'ve got|adopted)(?: got)? (?:an? |{_SLOT_NUMBER} "
            rf"|some )?(?:\w+ ){{0,2}}(?:{_ANIMALS}|pet)(?:s|es)?\b|\bmy (?:pet"
            rf"|{_ANIMALS})\b(?:'s name)?(?: is|,? [a-z]+ is| called| named)",
            "pet",
        ),
        (
            rf"{_I}{_DENIED} (?:have|got|'ve got) (?:an? |no |any |{_SLOT_NUMBER} )?(?:\w+ )?(?:brothers?|sisters?"
            rf"|siblings?|step\w+)\b|{_AM} an only child\b",
            "siblings",
        ),
        (rf"{_I} drive an? (?!car\b|bus\b|cab\b|taxi\b|truck\b)[a-z]+|\bmy car is an? [a-z]+", "car"),
        (r"\bmy best friend(?:'s name)?(?: is|'s| are|,? [a-z]+)\b|\bis my best friend\b", "best friend"),
        (r"\b(?:i|we) (?:speak|talk) (?P<a>[a-z]+) (?:at home|with my)", "home language"),
        (
            r"\bi(?:'m| am)(?: currently| now)? reading (?!for|about|it\b|a lot|this|that"
            r"|and)(?=[a-z])",
            "current book",
        ),
        (r"\bi (?:work|worked) (?:as|at|for|in)\b|\bi (?:got|have) (?:a|my) (?:new )?job (?:as|at)\b", "job"),
        (
            rf"{_I}{_DENIED} (?:like|likes|love|hate|enjoy|dislike|adore|prefer|can't stand|cant stand|loathe|detest)"
            r" (?:to |the |a |an |my )?(?P<o>(?!it\b|that\b|this\b|how\b|when\b|you\b|your\b|them\b|what\b"
            r"|him\b|her\b|and\b|or\b)[a-z' -]+)",
            "likes:{o}",
        ),
        (
            rf"{_AM} (?:\w+ )?(?:a (?:big |huge )?fan of|into|keen on|fond of"
            rf"|crazy about) (?P<o>[a-z' -]+)",
            "likes:{o}",
        ),
        (
            rf"{_I}{_DENIED} play(?:ed)? (?:the |some )?(?!with\b|a\b|on\b|it\b|that\b"
            rf"|games?\b)(?P<o>[a-z]+(?: (?:guitar|piano|drums|football|tennis|hockey|polo))?)",
            "plays {o}",
        ),
        (
            r"\b(?:i'm|im|i am|i was|i've always been) (?:not |so |very |really |pretty )*(?:good|bad|great"
            r"|terrible|awful|best|worst) (?:at|in) "
            r"(?P<o>[a-z' -]+)",
            "skill:{o}",
        ),
        (r"\bi(?:'m| am) \d+ ?(?:cm|m|feet|foot|inches|ft)\b|\bi(?:'m| am) \d\.\d+ ?m\b", "height"),
        (r"\bi weigh\b", "weight"),
        (rf"{_I}{_DENIED} (?:support|cheer for|root for)\b", "favourite team"),
        (rf"{_I}{_DENIED} collect (?P<o>[a-z' -]+)", "collects:{o}"),
        (rf"{_I}{_DENIED} speak (?P<o>[a-z]+)", "speaks:{o}"),
        (
            rf"{_I}{_DENIED} (?:walk|cycle|bike|ride|take the (?:bus|train|tram|subway)|go by (?:bus|bike|car"
            rf"|train)) ?(?:my bike )?to school\b",
            "way to school",
        ),
        (rf"{_I}{_DENIED} (?:go to (?:bed|sleep)|get up|wake up) at\b", "bedtime"),
        (r"\bi(?:'m| am) (?:a |an )?(?:muslim|christian|jewish|hindu|buddhist|catholic|atheist)\b", "religion"),
        (r"\bmy (?P<a>[a-z]+ (?:teacher|coach|club|team|level|score|instructor|tutor))(?:'s name)? is\b", "{a}"),
        (rf"\bmy (?P<a>{_OF_MINE})(?:'s| is| are| ends| starts| was)\b", "{a}"),
        (
            r"\b(?:when|whenever|if) i (?:get|am|'m) stuck\b|\bi (?:always|usually) (?:do|start|begin|solve"
            r"|draw|write|read|check)\b",
            "way of working",
        ),
    )
)

# What tells an attribute of one of the family.
_THEIRS = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (r"(?:'s)? name is\b|is (?:called|named)\b", "name"),
        (r"(?:'s)? birthday is\b", "birthday"),
        (r"(?:[a-z]+ )?(?:still |now |also )?(?:lives?|lived|living|moved)\b", "home"),
        (r"(?:[a-z]+ )?(?:is|comes?|was born) (?:originally )?(?:from|in)\b", "origin"),
        (rf"(?:[a-z]+ )?is (?:already |now |only )?{_SLOT_NUMBER}(?: years| now|$|[.,!;])", "age"),
        (
            rf"(?:[a-z]+ )?(?:is|works as|became) an? (?:\w+ )?[a-z]+(?:{OCCUPATION_ENDINGS})\b"
            r"|(?:[a-z]+ )?(?:works|teaches) (?:as|at|in|for)\b",
            "job",
        ),
        (r"(?:'s)? favou?rite (?P<a>[a-z]+) is\b", "favourite {a}"),
        (
            r"(?:[a-z]+ )?(?:doesn't |does not |really )*(?:likes?|loves?|hates?|enjoys?|dislikes?) (?:to "
            r"|the )?(?P<o>(?!it\b|me\b|him\b|her\b|them\b)[a-z' -]+)",
            "likes:{o}",
        ),
    )
)
_RELATED = re.compile(
    rf"\b(?:my|our) (?:(?:older|younger|big|little|old|elder"
    rf"|twin) )?(?P<who>{_RELATIVE})(?= |')\s?"
)
_STATES = (" home", " school", " age", " grade", " job", " name", " household", " origin", " birthday")
_ARTICLES = frozenset(["a", "an", "the", "my", "our", "some", "to", "all", "any"])
_EMPTY = frozenset(
    """
    way idea fact look sound thought feeling having have seeing see being be making make getting get watching watch how
    knowing know hearing hear going go doing do trying try helping help using use both one ones part
    """.split()  # noqa: SIM905
)
_CARRIERS = frozenset(map(stem, ["play", "eat", "watch", "do", "drink", "go", "listen"]))
_STOPS = re.compile(
    r"[^a-z' -]|\b(?:and|or|but|because|when|if|so|that|with|in|on|at|for|since|too|very|more|most|than|as"
    r"|who|which|while|after"
    r"|before|now|anymore|there|here|a lot|lots|again|every|to|them|me|him|her|you|it|during|from|of|is|are"
    r"|was|even|not|really|these|those)\b"
)


_QUOTED_SPEECH = re.compile(r"[\"“][^\"”]*\b(?:i|i'm|im|my|me|we|our)\b[^\"”]*(?:[\"”]|$)")
"""Words of somebody's that are quoted."""


def tells_attribute(doc: Doc) -> bool:
    """Return whether a message tells an attribute (`is_attribute`) of the student or the family.

    Examples
    --------
    >>> tells_attribute(Doc("I am 15")), tells_attribute(Doc("I like it here"))
    (True, False)
    """
    return any(is_attribute(slot_of(sentence)) for sentence in doc.sentences)


def slot_of(doc: Doc, speaker: str | None = None) -> str | None:
    """The single attribute that a piece tells, and whose.

    Parameters
    ----------
    doc : Doc, in English; of a long one the first 600 characters are read
    speaker : who says it; the student ("self") if None

    Returns
    -------
    str such as `self favourite colour`, `self likes:football`, `Caroline home`, `self sister name`; None where no
    attribute is told, or only in passing (less than 0.4 of the piece)

    Notes
    -----
    Liking and hating one thing share a slot; liking two things does not. Where an attribute can have several values at
    once (allergies, fears) its value is part of the slot. Slots are compared by `slot_key`.

    Source: spec 12 (only memories of one slot are compared); lesson: unrelated facts must not retire each other.

    Examples
    --------
    >>> slot_of(Doc("I love playing football!")), slot_of(Doc("I hate football"), "Ann")
    ('self likes:football', 'Ann likes:football')
    >>> slot_of(Doc("My mum lives in Rome")), slot_of(Doc("Do you like football?"))
    ('self mother home', None)
    """
    whole = min(len(doc.text), TYPE_CHARACTERS)
    for sentence in doc.sentences:
        # "The girl says: I live in the walls" tells of no home.
        told = _QUOTED_SPEECH.sub(lambda m: " " * len(m.group()), sentence.plain[: max(0, whole - sentence.start)])
        if len(told) < SHARE * whole or told.endswith("?"):
            continue
        if (found := _theirs(told) or _own(told)) is not None:
            return f"{speaker or 'self'} {found}"
    return None


def slot_key(slot: str) -> str:
    """A slot as it is compared: the same for all inflections of its words.

    Examples
    --------
    >>> slot_key("self likes:video games") == slot_key("self likes:video game")
    True
    """
    return " ".join(stem(word) for word in slot.casefold().replace(":", " : ").split())


def is_state(slot: str | None) -> bool:
    """True if a slot holds from the moment it is told, also where how it came about is told ("I moved to Rome").

    Examples
    --------
    >>> is_state("self home"), is_state("self likes:football"), is_state(None)
    (True, False, False)
    """
    return slot is not None and slot.endswith(_STATES)


_ONE_VALUE = re.compile(
    r" (?:home|school|grade|age|name|birthday|best friend|dream job|current book|car|bedtime|height|weight|job"
    r"|favourite .+|hometown|hobby|nationality|teacher|coach|level|score|way to school|diet"
    r"|household|.+ (?:teacher|coach|level|score))$"
)
_FOR_LIFE = re.compile(r" (?:name|birthday|hometown|nationality)$")
_RARELY_CHANGED = re.compile(r" (?:home|school|job|birthday|hometown|nationality|car)$")
_POLAR_SLOT = re.compile(r"(?:likes ?:|plays |skill ?:|speaks ?:|collects ?:|allergy ?:|fear ?:)")


def holds_one_value(slot: str) -> bool:
    """True if a slot, or the key of one, has one value at a time.

    Examples
    --------
    >>> holds_one_value("self home"), holds_one_value("self likes:football")
    (True, False)
    """
    return _ONE_VALUE.search(slot) is not None


def is_attribute(slot: str | None) -> bool:
    """True if a slot holds one value at a time, or from now on: home, best friend, favourites.

    Examples
    --------
    >>> is_attribute("self age"), is_attribute("self likes:football"), is_attribute(None)
    (True, False, False)
    """
    return slot is not None and (is_state(slot) or holds_one_value(slot))


def is_kept_anyway(slot: str | None) -> bool:
    """True if what tells a slot is kept however it is put: an attribute, or an allergy.

    Examples
    --------
    >>> is_kept_anyway("self age"), is_kept_anyway("self allergy:walnuts"), is_kept_anyway("self likes:football")
    (True, True, False)
    """
    return is_attribute(slot) or (slot is not None and " allergy:" in slot)


def may_change(slot: str) -> bool:
    """True if a slot, or the key of one, has one value at a time and another one some day.

    Examples
    --------
    >>> may_change("self home"), may_change("self birthday"), may_change("self likes:football")
    (True, False, False)
    """
    return holds_one_value(slot) and _FOR_LIFE.search(slot) is None


def changes_rarely(slot: str) -> bool:
    """True if another value of a slot, or of the key of one, is told of as a change: a home, a school, a job.

    Examples
    --------
    >>> changes_rarely("self home"), changes_rarely("self current book")
    (True, False)
    """
    return _RARELY_CHANGED.search(slot) is not None


def is_polar(slot: str) -> bool:
    """True if a slot, or the key of one, tells that something is so or is not so.

    Examples
    --------
    >>> is_polar("self likes:football"), is_polar("self home")
    (True, False)
    """
    return _POLAR_SLOT.search(slot) is not None


def _theirs(sentence: str) -> str | None:
    related = _RELATED.search(sentence)
    if related is None:
        return None
    who = base_kin(related["who"])
    for pattern, slot in _THEIRS:
        found = pattern.match(sentence, related.end("who")) or pattern.match(sentence, related.end())
        if found and (named := _filled_slot(slot, found)):
            return f"{who} {named}"
    return None


def _own(sentence: str) -> str | None:
    for pattern, slot in _SELF_PATTERNS:
        found = pattern.search(sentence)
        if found and (named := _filled_slot(slot, found)):
            return named
    return None


def _filled_slot(slot: str, found: re.Match[str]) -> str | None:
    """The slot with what was found in it; None where nothing is left of the object."""
    groups = found.groupdict()
    if "{o}" in slot:
        thing = basic(groups.get("o") or groups.get("p") or "")
        return slot.replace("{o}", thing) if thing else None
    attribute = (groups.get("a") or "").replace("favorite", "favourite").replace("color", "colour")
    return slot.replace("{a}", attribute).strip()


def basic(thing: str) -> str:
    """Core noun phrase of what is liked or played, without a verb or article that only carries it.

    Examples
    --------
    >>> basic("playing the video games with friends"), basic("maths"), basic("to dance")
    ('video games', 'maths', 'dance')
    """
    words = [word.strip("'-") for word in _STOPS.split(thing.strip().removeprefix("to "), maxsplit=1)[0].split()]
    words = [word for word in words if word and word not in _ARTICLES]
    if len(words) > 1 and stem(words[0]) in _CARRIERS:
        words = [word for word in words[1:] if word not in _ARTICLES]
    return "" if not words or words[0] in _EMPTY else " ".join(words[:OBJECT_WORDS])
