"""Whether a remembered statement answers a question, as a small network sees it that reads both.

`scripts/make_answering.py` makes it; its figures lie beside the weights.
"""

from collections.abc import Sequence
from pathlib import Path

from graphmem.text.doc import Doc
from graphmem.text.lexicon import ANIMALS, KIN, base_kin
from graphmem.text.pair_network import load_pair_network
from graphmem.text.query_parser import question_in

ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
OF_NETWORK, OF_LIKENESS, AT_NOTHING = 0.5, 2.5, -1.7
"""How much the network counts, and the likeness to the question; log odds of an answer where both say nothing. Fitted
to questions of four chats and 39 students that the network has not seen (`scripts/make_answering.py --fit`)."""
OF_ANOTHER = 4.0
"""How much less fits what is told of another relative or animal than the one that is asked for."""
ANSWERS, NEAREST = -0.8, -2.2
"""Fitness from which on a statement is taken for an answer, and from which on it comes near; chosen on the same, with
the held-out questions in view."""
READ_CHARACTERS = 300
"""Characters of the longest message that is read as a whole with what may answer it."""


def asked_text(message: Doc) -> str:
    """A message that asks, or the question in it where it is long: what stands around one says of whom it is.

    Examples
    --------
    >>> asked_text(Doc("I must write to my teacher. What is her name?"))
    'I must write to my teacher. What is her name?'
    """
    return message.text if len(message.text) <= READ_CHARACTERS else question_in(message).text


def answer_fitness(
    question: str, statements: Sequence[str], cosines: Sequence[float], folder: Path = ANSWERING_FOLDER
) -> list[float]:
    """How well each of the statements that come nearest to a question answers it.

    Parameters
    ----------
    question : str
    statements : sequence of str
    cosines : of each statement with the question, in [-1, 1]
    folder : of the network

    Returns
    -------
    list of float, log odds

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> told = ["The student has a cat called Duma.", "The student plays chess on Fridays."]
    >>> cat, chess = answer_fitness("What's my cat called?", told, [0.6, 0.2])
    >>> cat > ANSWERS > chess
    True
    """
    logits, asked = load_pair_network(folder).logits(question, statements), Doc(question)
    return [
        OF_NETWORK * logit + OF_LIKENESS * cosine + AT_NOTHING - OF_ANOTHER * is_of_another(asked, Doc(statement))
        for logit, statement, cosine in zip(logits, statements, cosines, strict=True)
    ]


def is_of_another(question: Doc, statement: Doc) -> bool:
    """True if a statement names relatives or animals, and none of those that a question names.

    To the network a brother is nearly a sister.

    Examples
    --------
    >>> cat = Doc("What is my cat called?")
    >>> is_of_another(cat, Doc("My dog is called Bo.")), is_of_another(cat, Doc("She is called Minka."))
    (True, False)
    >>> is_of_another(Doc("What does mum do?"), Doc("My mother is a nurse."))
    False
    """
    kinds = zip(_relatives_and_animals(question), _relatives_and_animals(statement), strict=True)
    return any(asked and told and asked.isdisjoint(told) for asked, told in kinds)


def _relatives_and_animals(text: Doc) -> tuple[frozenset[str], frozenset[str]]:
    words = [word.removesuffix("'s").removesuffix("’s") for word in text.plain_words]
    singular = {word for each in words for word in (each, each.removesuffix("s"))}
    return frozenset(map(base_kin, singular & KIN)), frozenset(singular & ANIMALS)
