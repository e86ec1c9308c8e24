"""Domain classification: the part of a student's life that something belongs to, by its words."""

import re

from graphmem.model import Domain, MemoryKind, Modality
from graphmem.text.doc import Doc
from graphmem.text.lexicon import KIN
from graphmem.text.memory_types import ADDRESS, LAPSE, MINE, READ_WORDS, TYPE_CHARACTERS, Sort, is_question


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DOMAINS = {
    Domain.SCHOOL: _words("""
        school class classes classroom lesson lessons homework teacher test tests exam exams quiz quizzes grade
        grades
        math maths algebra geometry fraction fractions equation equations multiply divide subtract decimal percent
        triangle rectangle area perimeter science biology chemistry physics history geography essay spelling grammar
        vocabulary study studying studied studies learn learning exercise exercises worksheet homeroom principal
        assembly recess semester college university degree italian answer problem solution calculate total sum
        verb noun orthography pupils tutor tutoring assignment
    """),
    Domain.RELATIONSHIPS: KIN
    | _words("""
        friend friends friendship family parents grandparents siblings kids children bestie neighbour
        neighbours neighbor bully bullies bullied relationship wedding married marriage divorce divorced date dating
        crush brothers sisters cousins love loved teammates adoption adopt parent baby husband's
    """),
    Domain.HOBBIES: _words("""
        football soccer basketball baseball tennis handball volleyball hockey rugby cricket swim swimming swam skate
        skating ski skiing dive diving dance dancing ballet gymnastics karate judo chess game games gaming videogame
        minecraft roblox fortnite lego paint painting paintings draw drawing sketch sing singing song songs piano
        guitar violin trumpet drums flute cello clarinet saxophone orchestra choir band concert concerts music book
        books reading novel movie movies film films show series anime manga cook cooking bake baking recipe garden
        gardening camping hike hiking fishing cycling bike biking run running marathon yoga knit knitting sew sewing
        pottery photography photo photos team match tournament coach club treehouse crane origami chords strum
        collect collecting travel travelling trip vacation holiday sport sports play playing won lost goal theatre
        theater festival writing screenplay poetry podcast console strings
    """),
    Domain.HEALTH: _words("""
        sick ill illness doctor hospital dentist nurse medicine medication pill pills asthma allergy allergic
        allergies
        diabetes diabetic dyslexia dyslexic adhd autism autistic epilepsy fever flu cold covid headache headaches
        migraine stomach stomachache injury injured wound bandage plaster surgery operation therapy therapist
        counseling glasses wheelchair pain diet vegetarian vegan lactose gluten intolerant sleep insomnia tired
        anxiety depression asleep weight gym workout health healthy pregnant cancer vaccine
    """),
    Domain.PERSONAL: _words("""
        birthday name age live lives living home house address phone favourite favorite born moved move room bedroom
        job work career dream wish afraid scared food eat pet pets dog dogs cat cats religion hair
    """),
}
_LOVED = re.compile(r"\b(?:broke up|get along|hang out|hanging out|best friend|in love|a teacher like you)\b")
_TYPICAL = {
    Domain.RELATIONSHIPS: 1.5,
    Domain.HEALTH: 1.3,
    Domain.HOBBIES: 1.2,
    Domain.SCHOOL: 1.1,
    Domain.PERSONAL: 1.0,
}
"""What one word of a domain counts: a sister outweighs the game she plays, a game the room it is played in."""
OF_SUBJECT = 1.1
"""What school gets ahead where something is known about the world, or was forgotten."""
QUESTION = 0.5
"""What it gets ahead where something is asked, but not about the companion."""
RECKONED = 4.0
"""What it gets ahead where something is reckoned: story problems are about anything."""
_RECKONING = re.compile(
    r"\d\s?[+*/×÷=]\s?\$?\d|\d [-x] \$?\d|=\s*\$?\d|\bhow (?:do|would) (?:you|i) say\b"
    r"|\bx and y\b|\btotal\b|\bitalian\b"
)
_DIGITS = re.compile(r"\d+")


def domain_of(doc: Doc, sort: Sort, people: bool = False) -> Domain:
    """Classify the life domain of a student that a piece belongs to.

    Parameters
    ----------
    doc : Doc, in English; of a long one the first 600 characters are read
    sort : what sort of memory it is; knowledge is of school unless its words say otherwise
    people : whether somebody is named in it

    Returns
    -------
    Domain; where no word tells, `personal` if the student speaks of their own, else `school` for knowledge, methods and
    questions, else `other`

    Examples
    --------
    >>> from graphmem.text.memory_types import sort_of
    >>> docs = map(Doc, ("My sister plays chess", "I have asthma", "There are 60 seconds"))
    >>> [domain_of(doc, sort_of(doc)).value for doc in docs]
    ['relationships', 'health', 'school']
    """
    plain = doc.plain[:TYPE_CHARACTERS]
    words = doc.terms[:READ_WORDS]
    scores = {domain: _TYPICAL[domain] * sum(w in known for w in words) for domain, known in _DOMAINS.items()}
    about_people = people and sort.kind is not MemoryKind.CONCEPT
    scores[Domain.RELATIONSHIPS] += 2 * (_LOVED.search(plain) is not None) + about_people
    if sort.kind is MemoryKind.CONCEPT or LAPSE.search(plain):
        scores[Domain.SCHOOL] += OF_SUBJECT
    numbers = len(_DIGITS.findall(plain))
    if _RECKONING.search(plain) or numbers > 2 or (numbers == 2 and sort.kind is MemoryKind.CONCEPT):
        scores[Domain.SCHOOL] += RECKONED
    if sort.kind is MemoryKind.EPISODE and is_question(doc) and not ADDRESS.search(plain):
        scores[Domain.SCHOOL] += QUESTION
    best = max(scores, key=lambda domain: scores[domain])
    if scores[best] > 0:
        return best
    reckons = sort.kind is MemoryKind.EPISODE and any(map(str.isdigit, plain))
    if sort.modality is Modality.PROCEDURAL or reckons:
        return Domain.SCHOOL
    return Domain.PERSONAL if MINE.search(plain) or sort.modality is Modality.SENSORY else Domain.OTHER
