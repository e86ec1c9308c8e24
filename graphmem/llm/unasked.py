"""Questions that a language model need not be asked: it tells the same with its notes (spec 12, 17)."""

from collections.abc import Callable, Mapping
from typing import Any

from graphmem.model import Analyse, Classify, MindQuestion, PairClass, PairVerdict

__all__ = ["UNASKED"]

_COMPATIBLE = PairVerdict(PairClass.COMPATIBLE, 0.0, 0.0, 0.0)
UNASKED: Mapping[type[MindQuestion[Any]], Callable[[Any], Any]] = {
    Classify: lambda question: tuple(_COMPATIBLE for _ in question.pairs),
    Analyse: lambda question: tuple(None for _ in question.episodes),
}
"""Their answers, at no cost: what contradicts and what a surprise means stands in the notes."""
