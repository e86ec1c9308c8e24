"""Stems of English words: one form for all inflections of a word, and whether two words are forms of one."""

from functools import lru_cache

from snowballstemmer import stemmer

from graphmem.text.lexicon import word_set
from graphmem.text.words import is_known

MAX_STEMMED_LETTERS = 40
"""Letters of a word that is stemmed; longer ones are none of English."""

# Irregular forms, each after the word that it is a form of.
_FORMS = """
    be am is are was were been; have has had; do does did done; go goes went gone; say said; tell told; get got gotten
    give gave given; take took taken; make made; come came; see saw seen; know knew known; think thought; find found
    feel felt; leave left; keep kept; lend lent; pay paid; buy bought; bring brought; lose lost; forget forgot forgotten
    swear swore sworn; steal stole stolen; break broke broken; fight fought; beat beaten; write wrote written
    speak spoke spoken; teach taught; learn learnt; meet met; run ran; eat ate eaten; drink drank drunk
    drive drove driven; fly flew flown; fall fell fallen; hide hid hidden; hold held; sell sold; send sent; sit sat
    sleep slept; spend spent; stand stood; win won; wear wore worn; wake woke woken; throw threw thrown
    draw drew drawn; grow grew grown; sing sang sung; swim swam swum; begin began begun; choose chose chosen
    build built; catch caught; ride rode ridden; rise rose risen; arise arose arisen; become became
    shake shook shaken; swing swung; hang hung; dig dug; stick stuck; spin spun; bite bit bitten; blow blew blown
    tear tore torn; bend bent; bleed bled; feed fed; breed bred; lead led; shoot shot; shine shone; freeze froze frozen
    weave wove woven; creep crept; deal dealt; dream dreamt; flee fled; forbid forbade forbidden
    forgive forgave forgiven; kneel knelt; leap leapt; mean meant; mistake mistook mistaken; rebuild rebuilt
    ring rang rung; seek sought; shrink shrank shrunk; slide slid; spit spat; spring sprang sprung; strike struck
    string strung; swell swollen; sweep swept; weep wept; withdraw withdrew withdrawn; overcome overcame; undo undid
    undone; misunderstand misunderstood; understand understood; oversleep overslept; overtake overtook overtaken
    hear heard; burn burnt; spell spelt; spill spilt; spoil spoilt; lean leant; smell smelt; light lit; cling clung
    sting stung; sling slung; wring wrung; sink sank sunk; stink stank stunk; bind bound; show shown
    prove proven; lie lain; redo redid redone; retake retook retaken
    rewrite rewrote rewritten; outgrow outgrew outgrown; withhold withheld; withstand withstood
    child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice
    goose geese; knife knives; life lives; wife wives; half halves; leaf leaves; wolf wolves; shelf shelves
    thief thieves; loaf loaves; bus buses
"""
_IRREGULAR = {
    form: forms[0] for line in _FORMS.replace("\n", ";").split(";") if (forms := line.split()) for form in forms[1:]
}
_PLURALS = word_set("""
    children men women people feet teeth mice geese knives lives wives halves leaves wolves shelves thieves loaves buses
    am is are has does goes
""")
_ENGLISH = stemmer("english")


_SAME_IN_PAST = word_set("beat cut hit hurt put let quit shut drawed misread read shed split")
_VOWELS = frozenset("aeiouy")
_SIBILANTS = ("sses", "shes", "ches", "xes", "zes")
_NOT_PLURAL = ("ss", "us", "is")
_LATIN_PLURALS = (("ix", "ices"), ("ex", "ices"), ("us", "i"), ("um", "a"), ("on", "a"), ("is", "es"), ("a", "ae"))
_LATIN_LETTERS = 6
"""Letters of the shortest word that is given a plural as in Latin or Greek, but for those in -is."""
_ENDINGS = ("ern", "en", "em", "er", "es", "os", "as", "is", "se", "us", "e", "n", "s", "a", "o")
"""Endings of nouns and adjectives in German and Spanish, longest first."""
_LEAST_BASE = 4
"""Letters that are left of a word of another language without its ending."""


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The stem of a word in lower case; of other scripts than Latin the word itself.

    Notes
    -----
    Irregular forms by a table, all others by the Snowball stemmer for English (Porter2).

    Source: Porter 2001, Snowball: a language for stemming algorithms.

    Examples
    --------
    >>> stem("studies") == stem("studying"), stem("hoping") == stem("hop"), stem("bought"), stem("дроби")
    (True, False, 'buy', 'дроби')
    """
    word = word.removesuffix("'s")
    if len(word) > MAX_STEMMED_LETTERS or not word.isascii():
        return word
    return str(_ENGLISH.stemWord(regular(word)))


def regular(word: str) -> str:
    """The word that an irregular English form in lower case belongs to; any other word itself.

    Examples
    --------
    >>> regular("halves"), regular("bought"), regular("walked")
    ('half', 'buy', 'walked')
    """
    return _IRREGULAR.get(word, word)


def is_past(word: str) -> bool:
    """True if an English word in lower case is a past form of a verb, regular or irregular.

    Examples
    --------
    >>> is_past("bought"), is_past("wanted"), is_past("want"), is_past("need")
    (True, True, False, False)
    """
    if word in _SAME_IN_PAST:
        return True
    if word in _IRREGULAR:
        return word not in _PLURALS
    present = ("need", "feed", "bleed", "breed", "speed", "succeed", "proceed", "exceed")
    return word.endswith("ed") and word not in present


def uninflected(word: str) -> str:
    """An English word in lower case without the endings of plural, past and progressive; no word by itself.

    Unlike a stem it keeps what makes another word of it: `power` and `powerful` differ.

    Source: Porter 1980, An algorithm for suffix stripping, its steps 1a to 1c.

    Examples
    --------
    >>> uninflected("divided") == uninflected("dividing") == uninflected("divide")
    True
    >>> uninflected("numerals") == uninflected("numerator"), uninflected("halves") == uninflected("half")
    (False, True)
    """
    word = regular(word)
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(_SIBILANTS):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(_NOT_PLURAL):
        word = word[:-1]
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWELS & set(rest):
            word = rest
            break
    word = word.removesuffix("e")
    # "add" and "adding", "control" and "controlled": a doubled letter counts once.
    word = word[:-1] if word[-2:-1] == word[-1:] and len(word) > 2 else word
    return word[:-1] + "i" if word.endswith("y") else word


def base(word: str) -> str:
    """A folded word of German or Spanish without its ending of number, case or gender; no word by itself.

    Examples
    --------
    >>> base("primzahlen") == base("primzahl"), base("raices") == base("raiz"), base("negativen") == base("negative")
    (True, True, True)
    """
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _LEAST_BASE), "")
    word = word.removesuffix(ending)
    return word[:-1] + "c" if word.endswith("z") else word


def latin_plural(word: str) -> str | None:
    """The plural of a word in lower case by the rules of Latin and Greek; None where none of them fits.

    Examples
    --------
    >>> latin_plural("matrix"), latin_plural("vertex"), latin_plural("radius"), latin_plural("angle")
    ('matrices', 'vertices', 'radii', None)
    """
    for singular, plural in _LATIN_PLURALS:
        if word.endswith(singular) and (len(word) >= _LATIN_LETTERS or singular == "is"):
            return word.removesuffix(singular) + plural
    return None


@lru_cache(maxsize=20_000)
def is_form_of(word: str, name: str) -> bool:
    """True if a word is a name or an inflected form of it, both folded.

    Examples
    --------
    >>> is_form_of("fractions", "fraction"), is_form_of("matrices", "matrix"), is_form_of("primzahlen", "primzahl")
    (True, True, True)
    >>> is_form_of("powerful", "power"), is_form_of("numerator", "numeral"), is_form_of("optimism", "optimization")
    (False, False, False)
    """
    if word == name or uninflected(word) == uninflected(name) or word == latin_plural(name):
        return True
    return base(word) == base(name) and not is_known(word)
