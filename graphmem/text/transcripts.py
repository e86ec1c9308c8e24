"""Transcripts: talk that somebody pasted, with the name of the speaker before each line (spec 7)."""

from dataclasses import dataclass

NAME_WORDS, NAME_CHARACTERS = 3, 40
"""Most words and characters of a speaker's name."""
ME = frozenset({"me", "i"})
"""What somebody who pastes talk may call themselves."""


@dataclass(frozen=True)
class SpokenLine:
    """A line of a transcript: who says it, where its words begin and end in the text, and whether it is in brackets."""

    speaker: str
    start: int
    end: int
    bracketed: bool


def spoken_lines(text: str) -> tuple[SpokenLine, ...]:
    """Return the lines of a transcript, in order; none of a text that is none.

    One line in the form "[Bob]: ..." makes a transcript; in the form "Bob: ..." every line must have a speaker, and one
    of them speaks twice or is called "me".

    Examples
    --------
    >>> text = "[Bob]: I'm allergic to nuts."
    >>> [(line.speaker, text[line.start : line.end]) for line in spoken_lines(text)]
    [('Bob', "I'm allergic to nuts.")]
    >>> [line.speaker for line in spoken_lines("Bob: do you skate?\\nme: yes, a lot")]
    ['Bob', 'me']
    >>> spoken_lines("Note: 3 + 4 is 7"), spoken_lines("question: what is 3 + 4?\\nanswer: 7")
    ((), ())
    """
    found, lines, place = list[SpokenLine](), 0, 0
    for line in text.split("\n"):
        head, colon, words = line.partition(":")
        name = head.strip()
        bracketed = name.startswith("[") and name.endswith("]")
        name = name.strip("[] ")
        named = bool(name) and len(name) <= NAME_CHARACTERS and len(name.split()) <= NAME_WORDS
        if colon and words.strip() and named and (bracketed or name[0].isupper() or name.casefold() in ME):
            start = place + len(head) + 1
            found.append(SpokenLine(name, start + len(words) - len(words.lstrip()), place + len(line), bracketed))
        lines += bool(line.strip())
        place += len(line) + 1
    names = [each.speaker.casefold() for each in found]
    whole = len(found) == lines > 1 and (len(set(names)) < len(names) or not ME.isdisjoint(names))
    return tuple(found) if whole or any(each.bracketed for each in found) else ()


def own_words(text: str, lines: tuple[SpokenLine, ...], name: str | None) -> tuple[str, tuple[SpokenLine, ...]]:
    """Return a transcript with blanks in the place of what others say and of all names, and the lines of others.

    Parameters
    ----------
    text : str
    lines : its `spoken_lines`
    name : of the student, whose lines are the student's own

    Examples
    --------
    >>> text = "Bob: I have a dog\\nme: I have a cat"
    >>> own_words(text, spoken_lines(text), "Ann")[0].split()
    ['I', 'have', 'a', 'cat']
    """
    own = {*ME, *([] if name is None else [name.casefold(), name.casefold().split()[0]])}
    others = tuple(each for each in lines if each.speaker.casefold() not in own)
    kept = list(text)
    for each in lines:
        first = text.rfind("\n", 0, each.start) + 1
        until = each.end if each in others else each.start
        kept[first:until] = " " * (until - first)
    return "".join(kept), others
