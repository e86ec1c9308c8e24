"""Types of fields that give the range of their values and how the graph stores them; embeddings (spec 2)."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from pydantic import Field as Limits

T = TypeVar("T")

Name = Annotated[str, Limits(min_length=1, max_length=500)]
Count = Annotated[int, Limits(ge=0)]
Snr = Annotated[int, Limits(ge=0, le=1000)]
Urgency = Annotated[int, Limits(ge=1, le=3)]
Share = Annotated[float, Limits(ge=0, le=1, allow_inf_nan=False)]
Balance = Annotated[float, Limits(ge=-1, le=1, allow_inf_nan=False)]
ToleranceRange = Annotated[float, Limits(ge=0.2, le=0.8)]


Vector = NDArray[np.float32]
"""An embedding, of shape (dimension,), of length 1."""
Matrix = NDArray[np.float32]
"""Embeddings, of shape (n, dimension), each row of length 1."""


@dataclass(frozen=True)
class Placement:
    """How the graph stores a field; one whose type does not say it is a property of the field's own name, in clear.

    name : property that holds it; empty for the field's own name
    sealed : it is encrypted with the student's key
    shared : several fields are sealed as one JSON map in the property `name`
    apart : it is no property: a label, an edge, or computed
    """

    name: str = ""
    sealed: bool = False
    shared: bool = False
    apart: bool = False


Sealed = Annotated[T, Placement(sealed=True)]
Detail = Annotated[T, Placement("details", sealed=True, shared=True)]
PersonaPart = Annotated[T, Placement("persona", sealed=True, shared=True)]
Unstored = Annotated[T, Placement(apart=True)]


def placement_of(hint: Any) -> Placement:
    """Return how the graph stores a field of an annotated type.

    Examples
    --------
    >>> placement_of(Sealed[str | None]).sealed, placement_of(Share).sealed
    (True, False)
    """
    noted = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((each for each in noted if isinstance(each, Placement)), Placement())
