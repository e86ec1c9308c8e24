"""Whether a remembered statement answers a question, as a small network sees it that reads both.

`scripts/train/answering.py` makes it; its figures lie beside the weights.
"""

from collections.abc import Sequence
from pathlib import Path

from graphmem.text.doc import Doc
from graphmem.text.pair_network import load_pair_network
from graphmem.text.query_parser import question_in
from graphmem.text.stems import stem
from graphmem.text.words import word_rarity

ANSWERING_FOLDER = Path(__file__).with_name("weights") / "answering"
RARE_WORD, MOST_SHARED = 2.8, 2
"""Rarity from which on a word tells what a text is about, and how many of them in common are enough."""
AT_NOTHING, OF_LIKENESS, OF_RANK, OF_WORDS = -3.85, 5.07, 0.6, 1.98
"""Log odds that a line is about a question where nothing speaks for it; what likeness, weight beside the best line and
words in common add. Fitted to 141 questions of the shipped chats, whose evidence is known; the network made them surer
of a student's own questions, and less sure of a tutor's, so that it is asked for replies only."""
AT_EVEN, OF_ABOUT, OF_NETWORK = 0.37, 0.7, 0.27
"""What those log odds and the network's count for an answer. Fitted to the same."""
ANSWERS, NEAREST = -0.6, -1.5
"""Fitness from which on a statement is taken for an answer, and from which on it comes near: chat by chat left out, of
97 answers 45 are quoted (47 with the network and likeness alone), 15 statements in vain (18), and for 27 questions of
what was never told 8 (10)."""
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


def telling_stems(text: Doc) -> frozenset[str]:
    """Return stems of the words of a text that are rare enough to tell what it is about."""
    words = (word for word in text.excerpt.plain_words if word[0].isalpha() and word_rarity(word) >= RARE_WORD)
    return frozenset(map(stem, words))


def about_odds(asked: frozenset[str], line: str, similarity: float, share: float = 0.0) -> float:
    """Return the log odds that a line is about what is asked.

    Parameters
    ----------
    asked : stems of the telling words of the question
    line : str
    similarity : cosine of the line with the question
    share : weight of the line beside the best one's, where it was searched for

    Examples
    --------
    >>> asked = telling_stems(Doc("How are the otters?"))
    >>> about_odds(asked, "I have two otters.", 0.4) > about_odds(asked, "I swim on Mondays.", 0.4)
    True
    """
    shared = asked & Doc(line).excerpt.stems
    words = min(1.0, len(shared) / MOST_SHARED)
    return AT_NOTHING + OF_LIKENESS * similarity + OF_RANK * share + OF_WORDS * words


def answer_fitness(
    question: str, statements: Sequence[str], about: Sequence[float], folder: Path = ANSWERING_FOLDER
) -> list[float]:
    """Return how well each of the statements that come nearest to a question answers it.

    Parameters
    ----------
    question : str
    statements : sequence of str
    about : log odds that each statement is about the question
    folder : of the network

    Returns
    -------
    list of float, log odds

    Raises
    ------
    SetupError      a file is missing or damaged

    Examples
    --------
    >>> told = ["I have a cat called Duma.", "I play chess on Fridays."]
    >>> cat, chess = answer_fitness("What's my cat called?", told, [1.0, -2.8])
    >>> cat > ANSWERS > chess
    True
    """
    logits = load_pair_network(folder).logits(question, statements)
    return [AT_EVEN + OF_ABOUT * odds + OF_NETWORK * logit for logit, odds in zip(logits, about, strict=True)]
