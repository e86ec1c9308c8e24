"""The sentence splitter."""

import re

SentenceSpan = tuple[int, int]
"""Start and end in a text, in characters."""

# A run of marks is tried from its first mark only, so that a long one costs no more than its length.
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*]*+(?=\s|$)|[。！？]+|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|vs|no|approx|e\.g|i\.e|a\.m|p\.m|(?-i:[A-HJ-Z]))$", re.I
)


def sentence_spans(text: str) -> list[SentenceSpan]:
    """The sentences and lines of a text, without the white space around them; blank ones left out.

    Examples
    --------
    >>> [("I met Mr. Hill. At 3.30? Yes!")[a:b] for a, b in sentence_spans("I met Mr. Hill. At 3.30? Yes!")]
    ['I met Mr. Hill.', 'At 3.30?', 'Yes!']
    """
    spans, start = [], 0
    for match in _END.finditer(text):
        if match.group() == "." and _goes_on(text, start, match.start()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [span for span in (stripped(text, *span) for span in spans) if span[0] < span[1]]


def _goes_on(text: str, start: int, end: int) -> bool:
    """True if a full stop at `end` belongs to an abbreviation, or to the number of a list."""
    return _ABBREVIATION.search(text, max(start, end - 7), end) is not None or (
        end - start < 5 and text[start:end].strip().isdecimal()
    )


def stripped(text: str, start: int, end: int) -> SentenceSpan:
    """A span without the white space at its ends.

    Examples
    --------
    >>> stripped(" a ", 0, 3)
    (1, 2)
    """
    part = text[start:end]
    if not part or part.isspace():
        return start, start
    return end - len(part.lstrip()), start + len(part.rstrip())
