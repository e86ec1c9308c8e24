"""Stems of English words: one form for all inflections of a word."""

from functools import lru_cache

from snowballstemmer import stemmer

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
_PLURALS = frozenset(
    [
        "children",
        "men",
        "women",
        "people",
        "feet",
        "teeth",
        "mice",
        "geese",
        "knives",
        "lives",
        "wives",
        "halves",
        "leaves",
        "wolves",
        "shelves",
        "thieves",
        "loaves",
        "buses",
        "am",
        "is",
        "are",
        "has",
        "does",
        "goes",
    ]
)
_ENGLISH = stemmer("english")


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


_SAME_IN_PAST = frozenset(
    "beat cut hit hurt put let quit shut drawed misread read shed split".split()  # noqa: SIM905
)


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
    return word.endswith("ed") and word not in (
        "need",
        "feed",
        "bleed",
        "breed",
        "speed",
        "succeed",
        "proceed",
        "exceed",
    )
