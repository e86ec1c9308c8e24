"""Word lists of English, one for each concept; every rule about language reads these."""


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which blanks part."""
    return frozenset(text.split())


# Short forms (don't, I'll) are cut at the apostrophe before they are looked up.
STOP_WORDS = word_set("""
    a able about above actually after again ah aha all also although always am an and another any anyone anything
    are aren around as ask asked at away back be because been before being below best better between both but by
    call called came can cannot cant come comes coming could couldn did didn do does doesn doing don done dont down
    during each easy either else enough equal equals etc even ever every everyone everything exactly far few figure
    find fine first for from get gets getting give given gives go goes going gonna good got gotten great guess guys
    had hadn haha happen happened hard has hasn have haven having he hello help helped helping her here hers hey hi
    him his hm hmm how however i idea if im in instead into is isn it its ive just keep kind know knows last later
    least less let lets like likely little ll lol look looks lot lots made make makes making many may maybe me mean
    means might mine more most much must my myself near need needs neither never next no none nor not nothing now of
    off oh ok okay on once one ones only onto or other others our ours out over own part per perhaps please plus
    pretty probably put quite rather re really right said same saw say saying says see seem seems seen shall she
    should shouldn since so some someone something sometimes soon sorry still stuff such sure take takes tell than
    thank thanks that the their theirs them then there therefore these they thing things think this those though
    thought through thus to together told too took toward tried tries try trying two u um umm under understand until
    up upon ur us use used using usually ve very want wanted wants was wasn way we well went were weren what
    whatever when where whether which while who whole whom whose why will with within without won wont would wouldn
    wow ya yeah yep yes yet you your yours yourself
""")
"""Function words, and talk that says nothing about its subject."""

QUERY_STOP_WORDS = word_set("""
    a about all am an and any are as at be been but by can could d did do does doing for from had has have having he
    her hers him his how i if in into is it its itself ll m me my of on or our re s she should so some such t than that
    the their them then there these they this those to ve was we were what when where which while who whom whose why
    will with would you your
""")
"""Words that questions are made of: "first", "help" or "money" may be what one looks for, so they are not here."""


INTERROGATIVES = word_set("what why how when where who which whose")
"""Words that open a question, whatever follows."""

NEGATIONS = word_set("""
    not no never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt isnt arent wasnt wont
    havent
""")
"""Words that deny; so does everything that ends in n't (`is_negation`)."""

FIRST_PERSON = word_set("i i'm i've i'd i'll im ive my me mine myself we we're we've we'd we'll our ours us")
SECOND_PERSON = word_set("you you're you've you'd you'll your yours yourself u ur")
SMALL_NUMBERS = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
"""Number words up to the ages of pupils, as a part of a pattern."""

WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905
MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
SEASONS = tuple("spring summer autumn fall winter".split())  # noqa: SIM905
_SHORT_DATES = "mon tue tues wed thu thur thurs fri sat jan feb mar apr jun jul aug sept sep oct nov dec"
# "may", "spring" and "fall" say when only beside other words; `time_ranges` reads them there.
TIME_WORDS = (
    word_set("""
        yesterday today tonight tomorrow ago last week weeks weekend weekends month months year years recently since
        birthday christmas easter
    """)
    | word_set(_SHORT_DATES)
    | {day + plural for day in WEEKDAYS for plural in ("", "s")}
    | set(MONTHS + SEASONS) - {"may", "spring", "fall"}
)
"""Words that say when."""

# Each relative under one name, so that "mum" and "mother" are one person.
_KIN = {
    "mother": "mum mom mam mummy mommy mammy mama",
    "father": "dad daddy papa",
    "grandmother": "grandma granny nan gran nana nanna",
    "grandfather": "grandpa granddad grandad gramps",
    "aunt": "auntie",
}
SAME_KIN = {name: kin for kin, names in _KIN.items() for name in names.split()}
KIN = (
    word_set("""
        sister brother uncle cousin nephew niece stepmother stepfather stepmom stepmum stepdad stepsister stepbrother
        son daughter wife husband girlfriend boyfriend partner twin
    """)
    | _KIN.keys()
    | SAME_KIN.keys()
)
"""Relatives, in the singular."""

GREETINGS = word_set("hi hello hey hiya howdy yo sup greetings")
GOODBYES = word_set("bye goodbye cya goodnight")
THANKS = word_set("thanks thank thx ty thnx cheers appreciate")
INTERJECTIONS = word_set("""
    wow whoa oh ooh ohh ah aha aww aw haha hahaha hehe lol omg ok okay alright yay woohoo hmm hm um uh well sorry please
""")
PRAISE = word_set("""
    cool nice great awesome amazing good lovely sweet fantastic wonderful excellent brilliant perfect super neat
    incredible congrats congratulations interesting impressive inspiring glad welcome
""")
PHATIC = (
    GREETINGS
    | GOODBYES
    | THANKS
    | INTERJECTIONS
    | PRAISE
    | word_set("morning afternoon evening how how's how're how've what's up talk chat kidding worries problem luck")
)
"""Words of small talk: a sentence of these, and of `LIGHT` words, greets, thanks, praises or takes leave."""
# No "I", "my", "not", "yes": those tell something.
LIGHT = word_set("""
    a an the is it's its it that that's thats this these so really very pretty totally absolutely truly such just
    too also to of for and you your you're u are all much lot lots man dude buddy mate guys everyone there again
    have been doing going day things everything anything new see seeing hear hearing know from with later soon
    tomorrow about i'm be sounds sound looks look fun bit on always sharing asking help support what job work
    feedback kind words thing compliment encouragement
""")
"""Words that may stand around small talk."""


def is_negation(word: str) -> bool:
    """True if a word in lower case is a negation.

    Examples
    --------
    >>> [is_negation(word) for word in ("never", "isn't", "note")]
    [True, True, False]
    """
    return word in NEGATIONS or word.endswith("n't")


def base_kin(word: str) -> str:
    """The one name of a relative.

    Examples
    --------
    >>> base_kin("mum"), base_kin("sister")
    ('mother', 'sister')
    """
    return SAME_KIN.get(word, word)
