"""Retelling: what somebody said of themselves as a statement about them, in the third person, for English."""

import re
from datetime import datetime

from graphmem.text.dating import dated
from graphmem.text.doc import Doc
from graphmem.text.introductions import after_introduction
from graphmem.text.lexicon import KIN_NAMES, STOP_WORDS
from graphmem.text.normalize import cleaned, straightened
from graphmem.text.stems import is_bare_verb, is_past

JOINED_WORDS = 3
"""Most words of who is told of together with the speaker."""

_PLAIN_LEAD = (
    r"(?:oh+|ah|hmm+|and|but|yeah|yep|yes+|yea|ya|yup|ok(?:ay)?|(?:hey|hi+|hello) there|hey|hi+|lol|btw"
    r"|also|umm*|uh|erm?|nope|noo+|actually"
    r"|honestly|anyway|haha+|wow|thx|yay+|yaa+y|soo+|a+w+|oo+h|ugh|tbh|you know|by the way|therefore|thus|cause|because"
    r"|finally|mhm|as you said|so(?! (?:many|much|few|far|long|little|often)\b))\b(?!\s+(?:to|for|about|of|that)\b)"
)
_PAUSE, _SOMEBODY = r"\s*(?:[,.:!…–-]|$)", r"(?:i|i'?m|i'?ve|i'?d|we|he|she|it|its|it's|they|you)"
_AS_SAID = r"(?:as|like) i(?:'ve| have)? (?:said|mentioned)(?: (?:before|earlier|last time))?\b"
_LOOSE_LEAD = (
    r"(?:(?:well|hello|no(?: wait)?|thanks|cool|nice|good|great|awesome|lovely|sorry|wait|right|sure|of course|deal"
    r"|then"
    r"|next|first(?:ly)?|after that)\b"
    rf"(?={_PAUSE}|\s+(?:{_SOMEBODY}|my|our|there|that's|this)\b)"
    rf"|like\b(?={_PAUSE}|\s+(?:{_SOMEBODY}|\d+)\b)|(?:thank you|i see)\b(?={_PAUSE})"
    r"|(?:besides|apart from|aside from|other than|on top of|in addition to) (?:that|this)(?=\s*,)"
    rf"|{_AS_SAID}(?=\s*,)|speaking of [^,.!?]{{2,30}}(?=\s*,)|on (?:an?|another)(?: \w+)? note(?=\s*,)"
    r"|(?:in other news|guess what)(?=\s*[,.!?:–-]|\s+(?:i|we|my)\b)"
    r"|(?:i )?(?:just )?(?:want(?:ed)?|have|got) to (?:(?:tell|let) (?:you|ya)(?: know)?|say)(?: that)?"
    r"(?= (?:i|i'm|i've|we|my|our)\b))"
)
"""Words that lead in only where a pause, or somebody, comes after them: "no, I hate it" and not "no one likes me"."""
_COMMENT = (
    r"(?:that|this|those|these)(?:['’]?s| is| are| sounds?| looks?)(?: (?:so|very|really|pretty|too|quite|super|also))*"
    r" (?!(?:why|what|how|when|where|who|which|because|all|the|an?|if|that|like|not|just|my|our)\b)"
    r"(?:lovely|[a-z]+(?<!ly))(?: (?:of|for) you| too)?"
    r"(?=(?:,? (?:i|i['’]?m|i['’]ve|i['’]d)|, (?:my|we))\b(?! (?:think|guess|know|believe|mean|suppose)\b))"
)
"""What is said of the other's words before one tells of oneself: "that's so cool, i have a dog"."""
_SHORT_ANSWER = (
    rf"(?:yes|yeah|yep|no),? {_SOMEBODY} (?:do|does|did|is|are|am|was|were|have|has|had|can|could|will|would)"
    r"(?:n't| not)?(?=\s*,\s*[\w'’]+ \w)"
)
"""An answer that only says yes or no, before what is told: "yes it does, we grow them"."""
_LEAD_IN = re.compile(rf"^(?:\W*(?:{_SHORT_ANSWER}|{_COMMENT}|{_PLAIN_LEAD}|{_LOOSE_LEAD})[\s,.!:…-]*)+", re.IGNORECASE)
_ASIDE = re.compile(rf"(?<=\w), {_AS_SAID},?(?= )", re.IGNORECASE)
"""What refers to what was said before, within a clause."""
_APART = re.compile(r"(?<=\w)\s++(?=[,.!?](?:\s|$))")
"""Spaces before a mark, as some type them."""
_MEANT = re.compile(r"^i meant (?:to (?:say|write) )?(?:that )?(?=\S+ \S)", re.IGNORECASE)
# It begins where no part of it is before, and no part is given back: else a long row of signs would take for ever.
_TAIL = re.compile(
    r"(?<![^\w.!?'\")%€$£°])[\s,]*+(?:\b(?:lol|haha+|hehe+|xd|tho|though|tbh|rn|please|pls|thx|thanks)\b"
    r"|[:;]-?[()DP]|[^\w\s.,!?'\")%€$£°])++\s*+([.!?]*+)$",
    re.I,
)
_BARE = re.compile(
    r"^(?:(?P<been>been) (?P<doing>[a-z]+ing|busy)\b"
    r"|(?P<did>(?:just )?(?:got|had|went|made|found|started|finished|met|saw|bought|lost|won"
    r"|took|moved|adopted|joined))\b"
    r"|(?P<is>(?:(?:so|very|really|just) )?(?:glad|happy|sad|proud|afraid|worried|excited))"
    r"(?= (?:that|to|i|my|we|of|about)\b)"
    r"|(?P<ahead>(?:just )?(?:gonna|(?:going|about|planning|hoping|trying) to|looking forward to"
    r"|thinking (?:of|about)))(?= [a-z])"
    r"|(?:i )?(?:just )?(?:want(?:ed)?|have|got) to tell (?:you|ya)(?: all)? (?P<tells>about)(?= (?:my|our)\b))",
    re.IGNORECASE,
)
"""Statements of chats without their subject: who speaks."""
_SHOWN = re.compile(r"^\W*\[(?P<does>[a-z]+s):?\s+(?P<what>[^\]]+?)\W*$")
"""What somebody does beside the words: "[shares: a photo of a cup]"."""
_SHORT = {
    "pls": "please", "plz": "please", "bc": "because", "cuz": "because", "cus": "because", "coz": "because",
    "u": "you", "ur": "your", "im": "I'm", "ive": "I've", "dont": "don't", "cant": "can't", "doesnt": "doesn't",
    "didnt": "didn't", "isnt": "isn't", "wasnt": "wasn't", "thats": "that's", "hes": "he's", "shes": "she's",
    "theyre": "they're", "theres": "there's", "havent": "haven't", "wont": "won't", "gonna": "going to",
    "wanna": "want to", "gotta": "have to", "abt": "about", "smth": "something", "idk": "I don't know", "ppl": "people",
    "thru": "through", "yrs": "years", "ya": "you", "kinda": "kind of", "couldnt": "couldn't", "wouldnt": "wouldn't",
    "arent": "aren't", "aint": "isn't", "fav": "favourite", "whats": "what's", "cos": "because",
}  # fmt: skip
"""Short forms of chats; a closed list."""
_CAUSE = re.compile(r"(?<=\w )cause(?= (?:i|he|she|it|its|it's|they|we|the|my|there|you|8|\d)\b)", re.IGNORECASE)
_ITS = re.compile(
    r"^its(?= (?:a|an|the|not|on|in|at|so|too|very|really|just|my|been|going|moved"
    r"|always|every|like|now|ok|because)\b)",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\b(i(?= (?:m|d|ve|ll)\b)|(?:we|you|they)(?= (?:re|ve|ll)\b)|(?:he|she|it|that|there)(?= s\b)) ([a-z]+)\b"
    r"(?= [a-z])",
    re.IGNORECASE,
)
"""Short forms without their apostrophe: "i m here"."""
_SPELLED = re.compile(r"(?<![.\w])(?!(?:[A-Za-z] ?\. ?){2})[A-Za-z]+(?:'[a-z]+)?")
"""Words, but not the letters of "u.s."."""
_ADVERBS = (
    r"(?:(?:also|always|really|just|still|never|now|often|usually|sometimes|only|even|already|actually|totally|kind of|"
    r"probably|last|finally|recently|currently|honestly|definitely|mostly|mainly|absolutely|almost|then|first|originally|"
    r"initially|mistakenly|accidentally|incorrectly|wrongly|generally|normally|thus"
    r"|therefore|again|both|rarely|simply|(?!multiply|reply|apply|rely|comply|supply|fly)[a-z]{2,}ly)\s+)*"
)
_SUBJECT = re.compile(
    r"(?P<joined>\band\s+)?\b(?P<subject>I|we)\b(?P<short>'m|'re|'ve|'ll|'d)?(?P<gap>\s*)"
    rf"(?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+?n't|[a-z]+)?",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"\b(?P<aux>am|are|have|do|did|was|were|can|could|should|will|would)\s+(?:I|we)\b", re.IGNORECASE
)
_ME_AND = re.compile(r"^(?P<me>me) and (?P<other>(?:my |the )?[a-z]+)\b", re.IGNORECASE)
_AND_ME = re.compile(r"^(?P<other>(?:my |the )?[a-z]+) and me\b(?= [a-z])", re.IGNORECASE)
_NO_VERB = frozenset("and or who but if that as too to in on at for with of from than not".split())  # noqa: SIM905
_SHARED = re.compile(r"\b(?:both|all|together|each other|one another)\b", re.IGNORECASE)
_ALSO_DOES = re.compile(
    rf"(?P<before>.*?),?\b(?:and|but|or) (?P<adverbs>{_ADVERBS})(?P<verb>[a-z]+(?:n't)?)\b(?= (?P<next>[a-z]+)\b)",
    re.DOTALL,
)
"""Another verb of the same subject: "grew up there and want to stay"."""
_WITH_INFINITIVE = frozenset("want need like love hate hope try plan start wish".split())  # noqa: SIM905
_BARE_AFTER = re.compile(
    r"\b(?:to|can|could|will|would|should|might|may|must|lets?|helps?|makes?|don't|doesn't|didn't|i|we|you|he|she|it|they|"
    r"who|which|that|others|both|not)\b|n't\b",
    re.IGNORECASE,
)
"""Words after which a verb has no ending, or another subject."""
_DOING = re.compile(r"\s*(?:[a-z]+ing\b|about to\b)", re.IGNORECASE)
_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")
_FIXED = frozenset(
    """
    can cannot could will would should must might may shall did had was can't couldn't won't wouldn't shouldn't
    didn't hadn't wasn't set
    """.split()  # noqa: SIM905
)
_BE = {
    "am": "is",
    "have": "has",
    "aren't": "isn't",
    "weren't": "wasn't",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "are": "is",
    "were": "was",
    "go": "goes",
}
_OWN = {"my": "{own}", "mine": "{own}", "our": "{own}", "ours": "{own}"}
_OTHER = {"me": "them", "us": "them", "myself": "themselves", "ourselves": "themselves", "ourself": "themselves"}
_OWN_WORD = re.compile(rf"(?<!\bthe )\b(?:{'|'.join((*_OWN, *_OTHER))})\b", re.IGNORECASE)
_ILL = re.compile(r"(?:\b(?P<before>[a-z]++'?m?) )?\bill(?= (?P<next>[a-z]+))", re.IGNORECASE)
_FEELING_ILL = re.compile(
    r"(?:is|was|are|were|be|been|being|am|.*'m|im|fe?el\w*|felt|fell|falls?|get|got|gets|looks?|so|very|really|too|an?|the)$",
    re.IGNORECASE,
)
_KIN_AS_NAME = re.compile(rf"(?<![\w'’-])(?:{'|'.join(sorted(KIN_NAMES))})\b(?!-)(?! (?-i:[A-Z]))", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"[\w'’-]{1,20} $")
_DETERMINERS = frozenset("my our your his her their its a an the this that no every each any some another".split())  # noqa: SIM905
_ASKS = re.compile(
    r"^(?:please|don't|do not|can you|could you|call|stop|never|let's|remind|remember"
    r"|just (?:let|leave|tell|give|stop|don't))\b",
    re.IGNORECASE,
)


def retold(text: str, who: str, at: datetime) -> str:
    """A clause as a statement about its speaker.

    Parameters
    ----------
    text : str, one clause or a few, in English
    who : str, the speaker's name, or "The student"
    at : datetime, when it was said; days are reckoned from it

    Returns
    -------
    str that begins with `who`; first person becomes third, days become dates, short forms of chats are written out

    Source: spec 7 (a memory is one statement that stands by itself).

    Examples
    --------
    >>> from datetime import UTC
    >>> day = datetime(2026, 2, 3, tzinfo=UTC)
    >>> retold("i have a dog and im scared of spiders lol", "Tobi", day)
    'Tobi has a dog and they are scared of spiders.'
    >>> retold("We moved to Leeds", "Mo", day), retold("my brother and i rode home", "Mo", day)
    ('Mo moved to Leeds.', "Mo's brother and Mo rode home.")
    >>> retold("pls dont tell my mum", "Tobi", day), retold("oh and the test is on friday", "Tobi", day)
    ("Tobi asks: please don't tell Tobi's mum.", 'Tobi says that the test is on Friday, 6 February 2026.')
    >>> retold("no one likes me", "The student", day), retold("next week i go to Rome", "The student", day)
    ('The student says that no one likes them.', 'In the week of 9 February 2026 the student goes to Rome.')
    >>> retold("i work out , and i surf .", "Mo", day)
    'Mo works out, and they surf.'
    >>> retold("besides that, my cousin is ill", "Mo", day), retold("I wanted to tell ya I moved", "Mo", day)
    ("Mo's cousin is ill.", 'Mo moved.')
    >>> retold("gonna get a dog", "Mo", day), retold("I wanted to tell you about our trip", "Mo", day)
    ('Mo is going to get a dog.', 'Mo tells of their trip.')
    >>> retold("glad i live in the u.s.", "Mo", day)
    'Mo is glad they live in the u.s.'
    >>> retold("i m from Leeds and i d love a dog", "Mo", day)
    'Mo is from Leeds and they would love a dog.'
    >>> retold("yes it does, i been to the us", "Mo", day), retold("hi there , yes i love horses", "Mo", day)
    ('Mo has been to the us.', 'Mo loves horses.')
    >>> retold("Mum is a nurse", "Mo", day), retold("i go with dad and Auntie Jo to her mum", "Mo", day)
    ("Mo's mum is a nurse.", 'Mo goes with their dad and Auntie Jo to her mum.')
    >>> retold("aw, that's so sweet of you, i have a cat", "Mo", day), retold("That is why I left", "Mo", day)
    ('Mo has a cat.', 'That is why Mo left.')
    >>> retold("I finished school and am a lawyer", "Mo", day), retold("i have a cat and dog in here", "Mo", day)
    ('Mo finished school and is a lawyer.', 'Mo has a cat and dog in here.')
    >>> retold("[shares: a photo of a cup]", "Mo", day)
    'Mo shares a photo of a cup.'
    """
    shown = _SHOWN.match(text)
    if shown is not None:
        return f"{who} {shown['does']} {shown['what']}."
    words = _uncalled(_ASIDE.sub("", _APART.sub("", cleaned(straightened(text)))))
    words = _TAIL.sub(r"\1", _LEAD_IN.sub("", words)).strip(" ,")
    words = after_introduction(words, who)
    words = _BARE.sub(_with_subject, words)
    words = dated(_spelled_out(_MEANT.sub("", words)), at)
    words = _KIN_AS_NAME.sub(_own_kin, words)
    if not words:
        return ""
    asks = _ASKS.match(words) is not None
    told = _agreeing(_third_person(words, who), who)
    if asks:
        told = f"{who} asks: {_lower(told)}"
    elif f"{who} " in told:
        told = told[0].upper() + told[1:]
    elif not told.startswith(who):
        lowered = _lower(told)
        lead = f"{who} says{' that' if _is_clause(told) and _goes_on(lowered) else ':'}"
        # Who speaks has just been named.
        alone = re.sub(rf"(?<=of ){re.escape(who)}'s(?=\s*(?:[.,;!?]|$)| (?:is|was|has|had)\b)", "theirs", lowered)
        told = f"{lead} " + alone.replace(f"{who}'s", "their")
    told = _small_within(told.strip(" ,;:-"), who)
    return told if told[-1:] in ".!?" else f"{told}."


def _own_kin(match: re.Match[str]) -> str:
    """ "Mum said so" tells of one's own mother."""
    lead, kin = match.string[max(0, match.start() - 21) : match.start()], match.group()
    found = _WORD_BEFORE.search(lead)
    before = "" if found is None else found.group().strip().lower()
    named = kin.istitle() and not before.endswith(("'s", "’s"))
    if before in _DETERMINERS or not (named or not before or before in STOP_WORDS):
        return kin
    return f"{'My' if lead.rstrip()[-1:] in ('.', '!', '?') else 'my'} {kin.lower()}"


def _with_subject(match: re.Match[str]) -> str:
    if match["been"]:
        return f"I have been {match['doing'].lower()}"
    if match["tells"]:
        return "I tell of"
    if match["ahead"]:
        return f"I am {match['ahead'].lower()}"
    return f"I {match['did'].lower()}" if match["did"] else f"I am {match['is'].lower()}"


def _small_within(told: str, who: str) -> str:
    """A statement that calls its speaker "the student" within a sentence and "The student" where one begins."""
    if not who.startswith("The "):
        return told
    return re.sub(rf"(?<=[^.!?:“]\s){who}\b", who[0].lower() + who[1:], told)


def is_shown(text: str) -> bool:
    """True if a clause tells what somebody does beside the words.

    Examples
    --------
    >>> is_shown("[shares: a photo of a cup]"), is_shown("I share a room [for now]")
    (True, False)
    """
    return _SHOWN.match(text) is not None


_NEWS = r"(?:(?:great|good|big|bad|sad|some|exciting) news|guess what)\W+(?=\w)"
_CALLED = re.compile(
    r"^(?:(?i:hey|hi|hello|oh|wow|yeah|yes|yep|no|sure|well|thanks|thank you),? [A-Z][a-z]+\s*[,!.:–-]+\s*"
    rf"(?:(?i:{_NEWS}))?(?=\w)|[A-Z][a-z]+(?:!\s*(?=\w)|,\s*(?i:{_NEWS})))"
)


def _uncalled(text: str) -> str:
    """A clause without whom it is said to: "John, I have a dog" is "I have a dog"."""
    called = _CALLED.match(text)
    return text if called is None else text[called.end() :]


def without_lead_in(text: str) -> str:
    """A clause without how it leads in; as it is where nothing else is said.

    Examples
    --------
    >>> without_lead_in("yeah, i have a cat"), without_lead_in("Hey Jo, my cat is ill"), without_lead_in("Yes!")
    ('i have a cat', 'my cat is ill', 'Yes!')
    """
    plain = _LEAD_IN.sub("", _uncalled(straightened(text)))
    return plain if any(map(str.isalnum, plain)) else text


def without_asides(sentence: str) -> str:
    """A sentence without how it leads in and trails off, short forms of chats written out.

    Examples
    --------
    >>> without_asides("ugh ok. mr okafor didnt see it lol")
    "mr okafor didn't see it"
    """
    return _spelled_out(_TAIL.sub(r"\1", _LEAD_IN.sub("", straightened(sentence))))


def _spelled_out(text: str) -> str:
    text = _SPLIT.sub(r"\1'\2", text)
    text = _ITS.sub("it's", _CAUSE.sub("because", text))
    text = _ILL.sub(_will, text)
    return _SPELLED.sub(lambda m: _SHORT.get(m.group().lower(), m.group()), text)


def _will(match: re.Match[str]) -> str:
    """The "ill" of chats: "I'll", unless somebody is or feels ill."""
    before = match["before"]
    if (before and _FEELING_ILL.match(before)) or match["next"].lower() in _NO_VERB:
        return match.group()
    return f"{before} I'll" if before else "I'll"


def _third_person(text: str, who: str) -> str:
    """First person as third, but for what is quoted of others."""
    named, owned, done = False, False, ""

    def subject(match: re.Match[str]) -> str:
        nonlocal named
        joined, rest = match["joined"] or "", match.string[match.end("gap") :]
        # "We moved to Rome" tells of each of them, "we are five" of all together.
        several = match["subject"].lower() == "we" and _of_several(match, rest)
        name = "they" if named else f"{who} and others" if several else who
        # "My brother and I play", not "it rained and I play".
        together = joined and len(match.string[: match.start()].split()) <= JOINED_WORDS
        first, named = not (named or several or together), True
        return joined + name + (match["gap"] or "") + _conjugated(match, third=first)

    def own(match: re.Match[str]) -> str:
        nonlocal owned
        word = match.group().lower()
        if word in _OTHER:
            return _OTHER[word]
        first, owned = not owned and who not in done + match.string[: match.start()], True
        theirs = "theirs" if word in ("mine", "ours") else "their"
        return f"{who}'s" if first else theirs.capitalize() if match.group() in ("My", "Our") else theirs

    parts = _QUOTED.split(text)
    for place in range(0, len(parts), 2):
        part = _AND_ME.sub(r"\g<other> and I", _ME_AND.sub(r"\g<other> and I", parts[place]))
        part = _INVERTED.sub(lambda m: f"{_PLURAL.get(m['aux'].lower(), m['aux'])} they", part)
        parts[place] = _OWN_WORD.sub(own, _SUBJECT.sub(subject, part))
        done += parts[place]
    return "".join(parts)


def _agreeing(told: str, who: str) -> str:
    """A statement whose further verbs agree with its subject, as the first one does."""
    match = _ALSO_DOES.match(told, len(who) + 1) if told.startswith(f"{who} ") else None
    if match is None or _BARE_AFTER.search(match["before"]):
        return told
    verb, follows = match["verb"], match["next"]
    bare = verb in ("am", "have", "do", "don't") or (is_bare_verb(verb) and follows in STOP_WORDS)
    if not (bare or (verb in _WITH_INFINITIVE and follows == "to")):
        return told
    return f"{told[: match.start('verb')]}{_verb(verb)}{told[match.end('verb') :]}"


def _of_several(match: re.Match[str], rest: str) -> bool:
    """True if what "we" are is true of several only."""
    verb = (match["verb"] or "").lower()
    being = match["short"] == "'re" or verb in ("are", "were", "aren't", "weren't")
    after = rest if match["short"] else rest[rest.lower().find(verb) + len(verb) :]
    return _SHARED.search(rest[:60]) is not None or (being and not _DOING.match(after))


def _conjugated(match: re.Match[str], *, third: bool) -> str:
    short = (match["short"] or "").lower()
    adverbs, verb = match["adverbs"] or "", match["verb"] or ""
    if short:
        be = "is" if third else "are"
        had = "had" if verb.lower() in ("been", "had", "better") else "would"
        full = {"'m": be, "'re": be, "'ve": "has" if third else "have", "'ll": "will", "'d": had}[short]
        return f" {full}" if not match["gap"] else f"{full} {adverbs}{verb}"
    if verb.lower() == "been":
        return f"{'has' if third else 'have'} {adverbs}{verb}"
    return adverbs + (_verb(verb.lower()) if third else _PLURAL.get(verb.lower(), verb))


_PLURAL = {"am": "are", "was": "were"}


def _verb(verb: str) -> str:
    """The form of a verb for the third person singular."""
    if verb in _FIXED or verb in _NO_VERB or not verb or is_past(verb):
        return verb
    if verb in _BE:
        return _BE[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z")) or (verb.endswith("o") and verb[-2:-1] not in "aeiou"):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}s"


def _lower(text: str) -> str:
    first = text.split(" ", 1)[0]
    plain = (first[1:].islower() or first == "A") and (first.lower() in _FUNCTION or first.endswith("ing"))
    return text[0].lower() + text[1:] if plain else text


def _goes_on(text: str) -> bool:
    """True if a clause can go on after other words as it is written: it begins small, or with a name."""
    first = text.split(" ", 1)[0].split("'")[0]
    return not first.istitle() or any(first in each.name.split() for each in Doc(text).entities)


_FUNCTION = frozenset(
    """
    the a an it it's that that's this there there's we we're our he she he's she's they his her please
    don't in on at when if no yes not and because maybe your you you're their those these each every some now then so
    by for with from all both call many most more after before during since until as what who how where why
    """.split()  # noqa: SIM905
)
_CLAUSE = re.compile(
    r"^(?:(?:the|a|an|his|her|their|our|it|it's|that|that's|this|there|there's|we"
    r"|we're|he|she|he's|she's|they|they're|people|everyone|somebody|\w+'s|[A-Z]\w+"
    r"|\w+)\s+){1,5}?"
    r"(?:is|are|was|were|has|have|had|will|would|can|can't|could|isn't|aren't|wasn't"
    r"|\w+s|\w+ed|got|went|said)\b|^(?:it's|that's|there's|he's|she's|they're|we're)\b",
    re.IGNORECASE,
)


def _is_clause(text: str) -> bool:
    return _CLAUSE.match(text) is not None
