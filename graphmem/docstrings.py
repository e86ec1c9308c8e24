"""What docstrings say of classes, their attributes and the parameters of functions: each is described once."""

import ast
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any


def docstring_summary(described: Any) -> str:
    """Return the first paragraph of a docstring on one line, without sections of the specification.

    Examples
    --------
    >>> docstring_summary(parameters_of)
    'Return the descriptions of parameters in a docstring, by name, each on one line.'
    """
    paragraph = inspect.cleandoc(described.__doc__ or "").partition("\n\n")[0]
    return re.sub(r" \(spec [\d., ]+\)", "", " ".join(paragraph.split()))


def parameters_of(described: Any) -> dict[str, str]:
    """Return the descriptions of parameters in a docstring, by name, each on one line.

    Examples
    --------
    >>> def grow(leaf: str, days: int) -> None:
    ...     '''Let a leaf grow.
    ...
    ...     Parameters
    ...     ----------
    ...     leaf : the one
    ...         that grows
    ...     days : 1 or more
    ...     '''
    >>> parameters_of(grow)
    {'leaf': 'the one that grows', 'days': '1 or more'}
    """
    _, _, section = inspect.cleandoc(described.__doc__ or "").partition("Parameters\n----------\n")
    found = re.findall(r"^(\w+) : (.*(?:\n    .*)*)", section.partition("\n\n")[0], re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def attributes_of(described: type) -> dict[str, str]:
    """Return the docstrings of a class' attributes and of those of its bases, by name, each on one line.

    Examples
    --------
    >>> from graphmem.model import Edge
    >>> attributes_of(Edge)["weight"]
    'Strength, 0 to 1.'
    """
    return {
        name: text
        for each in reversed(described.__mro__)
        for name, text in _attributes_in(each.__module__).get(each.__qualname__, {}).items()
    }


@cache
def _attributes_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings of attributes by the names of a module's classes."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {
        each.name: {
            attribute.target.id: " ".join(str(docstring.value.value).split())
            for attribute, docstring in pairwise(each.body)
            if isinstance(attribute, ast.AnnAssign) and isinstance(attribute.target, ast.Name)
            if isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
        }
        for each in tree.body
        if isinstance(each, ast.ClassDef)
    }
