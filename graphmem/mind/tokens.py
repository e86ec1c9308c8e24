"""How many tokens a text is, for budgets (spec 10.6)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from graphmem.mind.embedder import WEIGHTS

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@lru_cache(maxsize=1)
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text, by the word pieces of the shipped embedder.

    No two language models count alike; for English these are a few more than theirs, so that a budget holds.

    Examples
    --------
    >>> count_tokens(["I have a dog.", ""])
    [5, 0]
    """
    return [len(each.ids) for each in _tokenizer().encode_batch(list(texts), add_special_tokens=False)]
