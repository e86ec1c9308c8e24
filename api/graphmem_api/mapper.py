"""GraphQL types made of dataclasses: their fields, types and descriptions, so that each is written once (spec 18).

Arguments that several operations have are described here.

Parameters
----------
student_id : Id of the student within the institution, 1 to 128 characters.
first : Most items of the page, 1 to 200.
after : Where the page begins: `next` of the page before; null: the first page.
as_of : Answer with what was known at that moment (UTC); null: now.
text : What the student said, 1 to 32,000 characters.
turn_id : Id of the message, 1 to 128 characters; the same id and text again give the same answer and change nothing,
    another text gives CONFLICT.
at : When it was said (UTC), at most 300 s in the future; null: now.
task : The exercise or lesson the talk is about, at most 32,000 characters; kept for the session until another is given,
    never remembered as the student's words; null: as before, empty: none any more.
opener : What the tutor said before this message and graphmem has not seen, 1 to 32,000 characters.
used : Ids of the memories that the app's own reply was built on, at most 100: they count as used.
reply : The app's own reply, 1 to 32,000 characters; null: graphmem replies.
name : How the companion is called, 1 to 100 characters; null: as it is.
persona : Who the companion is and how it speaks, 1 to 2,000 characters; null: as it is.
expertise : Names or ids of concepts it knows best, at most 50; they count in importance; null: as they are.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum
from types import MappingProxyType, UnionType
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import strawberry
from strawberry.annotation import StrawberryAnnotation
from strawberry.types.arguments import InputContext
from strawberry.types.base import StrawberryObjectDefinition
from strawberry.types.field import StrawberryField

from graphmem.docstrings import attributes_of, docstring_summary, parameters_of
from graphmem.model import Level, Who
from graphmem.model.enums import Word

ID = strawberry.ID
NONE_USED: list[ID] = []
COMMON_ARGUMENTS = parameters_of(sys.modules[__name__])
"""Descriptions of these arguments, where an operation has no other one of the same name."""


M = TypeVar("M")
C = TypeVar("C", bound=type)


@dataclass(frozen=True)
class Shown(Generic[M]):
    """A value of the model and the student it belongs to; fields without a resolver are the value's.

    beside : what resolvers need besides
    """

    who: Who
    value: M
    beside: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value, name)


def expose(source: type, name: str = "", *, on: type | None = None, **shape: Any) -> None:
    """Make a dataclass a type of the schema; resolvers are annotated with it, and return it as it is.

    Parameters
    ----------
    source : type, the dataclass
    name : of the GraphQL type; empty: as the class
    on : the type in its place, a subclass of `Shown` with fields of its own, which may replace those of the dataclass
    shape : what is shown where that is not simply all of it, see `_fields_of`
    """
    own = {name: each for name, each in vars(on).items() if isinstance(each, StrawberryField)} if on else {}
    found = {each.python_name: each for each in _fields_of(source, **shape)}
    for field, each in own.items():
        each.python_name, each.origin = field, on
        if field in found:
            each.graphql_name = found[field].graphql_name
            each.description = each.description or found[field].description
    _define(on or source, name or source.__name__, list((found | own).values()))


def _fields_of(
    source: type,
    *,
    given: bool = False,
    hidden: Sequence[str] = (),
    renamed: Mapping[str, str] = MappingProxyType({}),
    properties: Sequence[str] = (),
    ids: Sequence[str] = (),
    nullable: Sequence[str] = (),
) -> list[StrawberryField]:
    """Return the fields of the GraphQL type of a dataclass whose fields are documented.

    Parameters
    ----------
    source : type, the dataclass
    given : it is an input, in which what has a default may miss
    hidden : fields that are left out
    renamed : GraphQL names, by field
    properties : names of properties that are shown as well; their docstrings are the descriptions
    ids : fields of text that are ids, although their names do not end with `id` or `ids`
    nullable : fields that may be null in the schema, although they never are None
    """
    hints, described = get_type_hints(source), attributes_of(source)
    found = {f.name: described[f.name] for f in fields(source) if f.name in described and f.name not in hidden}
    for name in properties:
        getter = getattr(source, name).fget
        hints[name], found[name] = get_type_hints(getter)["return"], docstring_summary(getter)
    defaults = {f.name: _default(f) for f in fields(source) if given}

    def annotation(name: str) -> StrawberryAnnotation:
        hint = _shown_hint(hints[name], is_id=name in ids or re.search(r"(^|_)ids?$", name) is not None)
        return StrawberryAnnotation(hint | None if name in nullable or defaults.get(name) else hint)

    return [
        StrawberryField(name, renamed.get(name), annotation(name), source, description=told, **defaults.get(name, {}))
        for name, told in found.items()
    ]


def _shown_hint(hint: Any, *, is_id: bool) -> Any:
    """Return the annotation that Strawberry takes for a type of the model."""
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_shown_hint(each, is_id=is_id) for each in get_args(hint))]  # noqa: UP007
    if get_origin(hint) is tuple:
        return list[_shown_hint(get_args(hint)[0], is_id=is_id)]  # type: ignore[misc]
    if hint is str and is_id:
        return strawberry.ID
    # An enum without descriptions is text.
    return str if isinstance(hint, type) and issubclass(hint, Enum) and not issubclass(hint, Word) else hint


def shows(source: type, name: str = "", **shape: Any) -> Callable[[C], C]:
    """Return the decorator of a subclass of `Shown` that is the GraphQL type of a dataclass, with more fields."""

    def exposed(target: C) -> C:
        expose(source, name, on=target, **shape)
        return target

    return exposed


def taken(source: type, **shape: Any) -> Callable[[C], C]:
    """Return the decorator of the class that names the GraphQL input of a dataclass; resolvers get the dataclass."""

    def of_input(target: C) -> C:
        found = _fields_of(source, given=True, **shape)

        def value(_: type, given: Mapping[str, Any], context: InputContext) -> Any:
            """Return the dataclass of an input; null is the default, a list is a tuple."""
            values = {}
            for each in found:
                key = context.config.name_converter.from_field(each)
                value = context.convert(given.get(key), each.resolve_type(), key)
                if value is not None:
                    values[each.python_name] = tuple(value) if isinstance(value, list) else value
            return source(**values)

        _define(target, target.__name__, found, from_input=value)
        return target

    return of_input


def describe(target: Any) -> None:
    """Give a type of the schema, its fields and their arguments the descriptions of their docstrings."""
    definition, attributes = target.__strawberry_definition__, attributes_of(target)
    definition.description = docstring_summary(target)
    for each in definition.fields:
        resolver = each.base_resolver.wrapped_func if each.base_resolver else None
        told = docstring_summary(resolver) if resolver else attributes.get(each.python_name)
        each.description = told or each.description
        parameters = COMMON_ARGUMENTS | parameters_of(resolver)
        for argument in each.arguments:
            argument.description = parameters.get(argument.python_name)


def _define(target: type, name: str, found: list[StrawberryField], from_input: Any = None) -> None:
    """Give a class the definition by which Strawberry knows it."""
    cast(Any, target).__strawberry_definition__ = StrawberryObjectDefinition(
        name=name,
        is_input=from_input is not None,
        is_interface=False,
        origin=target,
        description=docstring_summary(target),
        interfaces=[],
        extend=False,
        directives=(),
        is_type_of=None,
        resolve_type=None,
        fields=found,
        from_input=from_input,
    )


def _default(field: Field[Any]) -> dict[str, Any]:
    """Return the default of a field as Strawberry takes it, where a tuple is a list."""
    if field.default is MISSING:
        return {}
    return {"default_factory": list} if field.default == () else {"default": field.default}


for _enum in Word.__subclasses__():
    strawberry.enum(_enum, name="SurpriseLevel" if _enum is Level else None, description=docstring_summary(_enum))
    for _value in cast(Any, _enum).__strawberry_definition__.values:
        _value.description = _enum[_value.name].description
