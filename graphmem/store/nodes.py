"""One declaration for each kind of node: from it properties are written, opened, hashed, exported and sealed anew.

The types of the fields of a model say how they are stored (`graphmem.model.fields`); what only the graph holds is
listed here beside them. A property of another name is neither exported nor imported (spec 2, 14).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from dataclasses import Field as DataclassField
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import cache, cached_property, partial
from math import isfinite
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints
from zlib import compress, decompress

import numpy as np
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, create_model
from pydantic import Field as Limits

from graphmem import model, sealing
from graphmem.errors import Tampered
from graphmem.model import Keys, Level, Modality, Session, SourceKind, TurnState, Vector, Verdict, Who
from graphmem.model.fields import Count, Name, Placement, Share, placement_of
from graphmem.sealing import PAD, Stored, StudentLock, padded

T = TypeVar("T")
ModelT = TypeVar("ModelT")

REMARK = "remark"
"""The kind in the graph of a chat remark that was observed; `chat` is that of turns, whose ids are not its refs."""
QUICKLY = 1
"""Level of compression: a third to a half is left of JSON, and a smaller write is a faster one."""
LAST = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than any stored time: cursor of the first page of a list that is newest first."""

CLEAR = "clear"
"""Stands for the field where any clear one was altered."""


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield some items after the other.

    Examples
    --------
    >>> [list(some) for some in batches([1, 2, 3], 2)]
    [[1, 2], [3]]
    """
    return (items[start : start + size] for start in range(0, len(items), size))


def moment(value: Any) -> datetime:
    """Return a datetime of the database as an aware Python datetime in UTC."""
    native: datetime = value.to_native()
    return native.astimezone(UTC)


def token_text(value: Any) -> str:
    """Return a sealed session token of the database as text."""
    return bytes(value).decode()


def from_ms(value: int) -> datetime:
    """Return milliseconds since 1970 as an aware datetime in UTC."""
    return datetime.fromtimestamp(value / 1000, UTC)


def source_kind(kind: str) -> SourceKind:
    """Return the kind of a source as it is found in the graph.

    Examples
    --------
    >>> source_kind("remark"), source_kind("lesson")
    (<SourceKind.CHAT: 'chat'>, <SourceKind.LESSON: 'lesson'>)
    """
    return SourceKind.CHAT if kind == REMARK else SourceKind(kind)


@contextmanager
def readable(label: str, node_id: str) -> Iterator[None]:
    """Take clear properties of a node that are missing or make no sense for what they are: changed by hand.

    Raises
    ------
    Tampered        instead of whatever reading them raised

    Examples
    --------
    >>> with readable("Memory", "memory-1"):
    ...     int("many")
    Traceback (most recent call last):
    graphmem.errors.Tampered: Memory memory-1 cannot be read: a clear value of it was altered or removed.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as e:
        raise Tampered.altered(label, node_id, CLEAR) from e


class NodeSealer:
    """One node of one student, whose fields are sealed and opened with the student's keys."""

    def __init__(self, keys: Keys, who: Who, label: str, node_id: str) -> None:
        self._keys, self._who, self._place = keys, who, (label, node_id)

    def seal(self, field: str, value: str) -> Stored:
        """Seal a text of this node; readable where nothing is sealed, as everything below."""
        return sealing.seal(self._keys, self._who, (*self._place, field), value)

    def seal_json(self, field: str, value: Any) -> Stored:
        """Seal anything JSON can say."""
        return self.seal(field, json.dumps(value, ensure_ascii=False))

    def seal_packed(self, field: str, value: bytes) -> Stored:
        """Seal JSON, compressed; readable it stays as it is."""
        if self._keys.clear:
            return value.decode()
        return sealing.seal_bytes(self._keys, self._who, (*self._place, field), padded(compress(value, QUICKLY)))

    def boxed(self, field: str, sealed: Stored, lock: StudentLock) -> Any:
        """Open JSON that was sealed while the student was locked."""
        try:
            return json.loads(sealing.open_sealed_box(self._keys, self._who, lock, sealed))
        except Tampered as e:
            raise Tampered.at(*self._place, field) from e

    def seal_boxed(self, value: Any, lock: StudentLock) -> Stored:
        """Seal anything JSON can say as `boxed` opens it."""
        return sealing.seal_for(lock, self._who, json.dumps(value, ensure_ascii=False))

    def seal_vector(self, field: str, vector: Vector, parts: Sequence[Vector] = ()) -> bytes | list[float]:
        """Seal an embedding, followed by its parts' in half precision; with sealing off return a list of numbers."""
        own, halves = np.asarray(vector, dtype=np.float32), [np.asarray(part, dtype=np.float16) for part in parts]
        if self._keys.clear:
            return [float(each) for each in np.concatenate([own, *halves])]
        together = b"".join([own.tobytes(), *(half.tobytes() for half in halves)])
        return sealing.seal_bytes(self._keys, self._who, (*self._place, field), together)

    def vectors(self, field: str, sealed: bytes | list[float], count: int) -> tuple[Vector, list[Vector]]:
        """Open an embedding of shape (dimension,) that `count` parts follow, and those."""
        if isinstance(sealed, list):
            if not self._keys.clear:
                raise Tampered.at(*self._place, field)
            rows = np.asarray(sealed, dtype=np.float32).reshape(count + 1, -1)
            return rows[0], list(rows[1:])
        opened = self._opened(field, sealed)
        dimension = len(opened) // (4 + 2 * count)
        halves = np.frombuffer(opened[4 * dimension :], dtype=np.float16).reshape(count, dimension)
        return np.frombuffer(opened[: 4 * dimension], dtype=np.float32), list(halves.astype(np.float32))

    def vector(self, field: str, sealed: bytes | list[float]) -> Vector:
        """Open an embedding without parts."""
        return self.vectors(field, sealed, 0)[0]

    def text(self, field: str, sealed: Stored) -> str:
        """Open a text."""
        return self._opened(field, sealed).rstrip(PAD).decode()

    def json(self, field: str, sealed: Stored) -> Any:
        """Open what `seal_json` sealed."""
        return json.loads(self._opened(field, sealed).rstrip(PAD))

    def packed(self, field: str, sealed: Stored) -> bytes:
        """Open what `seal_packed` sealed: JSON, no longer compressed."""
        opened = self._opened(field, sealed)
        return opened if self._keys.clear else decompress(opened)

    def _opened(self, field: str, sealed: Stored) -> bytes:
        return sealing.opened_value(self._keys, self._who, (*self._place, field), sealed)


class SealedForm(StrEnum):
    """Form of a sealed value when it is opened."""

    TEXT = "text"
    JSON = "json"
    PACKED = "packed"  # compressed JSON
    WORK = "work"  # payload of a job, whose kind says how it is sealed
    VECTOR = "vector"  # embedding, which is not exported


def _without_zone_name(value: Any) -> Any:
    """Return a time as ISO 8601 has it: Neo4j writes a zone's name behind the offset."""
    return value.partition("[")[0] if isinstance(value, str) else value


Number = Annotated[float, Limits(allow_inf_nan=False)]
Cost = Annotated[float, Limits(ge=0, allow_inf_nan=False)]
Time = Annotated[AwareDatetime, BeforeValidator(_without_zone_name)]
_TYPES: Mapping[Any, Any] = {float: Number, datetime: Time}
"""Types in the document of fields of models whose types do not say more."""


class Part(BaseModel):
    """Part of the document: nothing in it that is not named."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True, frozen=True)


@dataclass(frozen=True)
class Field:
    """A property of a kind of node, or a part of one that is sealed as a JSON map.

    type : in the document, opened; may be None where the property need not be there
    sealed : form of the sealed value; None where the property is clear
    exported : it is in the document
    hashed : the integrity hash covers it, where it covers the node
    attribute : field of the model whose value it holds; empty of what only the graph holds
    shared : `attribute` is one key of the JSON map that is sealed in it
    default : of the model's field; `...` where there is none
    hint : type in the model; None where it is that of the document
    """

    name: str
    type: Any
    sealed: SealedForm | None = None
    exported: bool = True
    hashed: bool = True
    attribute: str = ""
    shared: bool = False
    default: Any = ...
    hint: Any = None

    @cached_property
    def read(self) -> Callable[[Any], Any]:
        """From a value of the database to one of Python; raises ValueError, TypeError or AttributeError."""
        return _value_reader(self.hint or self.type)

    @property
    def may_be_none(self) -> bool:
        """True if the property need not be there."""
        return NoneType in get_args(self.type)

    @property
    def left_out(self) -> Any:
        """What a document means that does not name it; `...` where it must."""
        return None if self.may_be_none else ... if self.default is None else storable_value(self.default)

    def value(self, value: Any) -> Any:
        """Return Python's value of one of the database; raises as `read` does, also where one must be there."""
        return None if value is None and self.may_be_none else self.read(value)

    def fits(self, value: Any, *, required: bool = False) -> bool:
        """Return whether a value of the database is of its type, or need not be there."""
        if value is None:
            return self.may_be_none or not required
        if type(value) is int and _bare_hint(self.type) is AwareDatetime:
            return False
        try:
            self.read(value)
        except (ValueError, TypeError, AttributeError):
            return False
        return True


@dataclass(frozen=True)
class NodeKind:
    """A kind of node, by its label, and its properties.

    description : of its part of the document
    hashed : the integrity hash covers it
    named : name of its part of the document, where that is not its label
    keyed : properties by which one is found, beside those of the student
    """

    label: str
    description: str
    fields: tuple[Field, ...]
    hashed: bool = True
    named: str = ""
    keyed: tuple[str, ...] = ("id",)

    @cached_property
    def sealed(self) -> Mapping[str, SealedForm]:
        """The form of each sealed property, by its name."""
        return {each.name: each.sealed for each in self.fields if each.sealed is not None}

    @cached_property
    def clear(self) -> Mapping[str, Field]:
        """The clear properties by their names."""
        return {each.name: each for each in self.fields if each.sealed is None}

    @cached_property
    def exported(self) -> frozenset[str]:
        """Names of the properties in the document."""
        return frozenset(each.name for each in self.fields if each.exported)

    @cached_property
    def unhashed(self) -> frozenset[str]:
        """Names of the properties that the integrity hash does not cover."""
        return frozenset(each.name for each in self.fields if not each.hashed)

    @cached_property
    def part(self) -> type[Part]:
        """The model of its properties in the document."""
        own = [each for each in self.fields if each.exported]
        types = {each.name: (each.type, each.left_out) for each in own if not each.shared}
        for name in dict.fromkeys(each.name for each in own if each.shared):
            inner = [each for each in own if each.name == name]
            types[name] = (_inner(name.capitalize(), f"Sealed {name} of a {self.label.lower()}.", inner), ...)
        return _part_model(self.named or self.label, self.description, types)


def _part_model(name: str, description: str, types: Mapping[str, Any]) -> type[Part]:
    return cast(type[Part], create_model(f"{name}Part", __base__=Part, __doc__=description, **types))


def _inner(name: str, description: str, own: Sequence[Field], **more: Any) -> type[Part]:
    """Return the model of values sealed together; optional ones have defaults."""
    return _part_model(name, description, {each.attribute: (each.type, each.left_out) for each in own} | more)


def _bare_hint(hint: Any) -> Any:
    """Return a type without annotations and without None."""
    args = get_args(hint)
    if get_origin(hint) is Annotated:
        return _bare_hint(args[0])
    return _bare_hint(next(each for each in args if each is not NoneType)) if NoneType in args else hint


def _value_reader(hint: Any) -> Callable[[Any], Any]:
    """Return the function that reads a value of some type from the database, or from sealed JSON."""
    bare = _bare_hint(hint)
    if get_origin(bare) in (list, tuple):
        item = _bare_hint(get_args(bare)[0])
        read = partial(_opened_map, item) if is_dataclass(item) else _value_reader(item)
        return lambda value: tuple(read(each) for each in _of(list, value))
    if get_origin(bare) is Literal:
        return partial(_of, str)
    return _READERS.get(bare, cast(Callable[[Any], Any], bare))


def _of(kind: type[ModelT], value: ModelT) -> ModelT:
    """Return a value that is of exactly one type; TypeError else."""
    if type(value) is not kind:
        raise TypeError(f"a value is no {kind.__name__}")
    return value


@cache
def _columns(cls: type) -> Mapping[str, Callable[[Any], Any]]:
    """Return the functions that read the fields of a class, by their names in their order."""

    def optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda value: None if value is None else read(value)

    hints = get_type_hints(cls)
    names = cast(Any, cls)._fields if issubclass(cls, tuple) else [each.name for each in fields(cast(Any, cls))]
    readers = {name: _value_reader(hints[name]) for name in names}
    return {name: optional(read) if NoneType in get_args(hints[name]) else read for name, read in readers.items()}


def from_row(cls: type[ModelT], row: Mapping[str, Any] | Sequence[Any], **apart: Any) -> ModelT:
    """Return a value made of a row of a statement, by the types of its fields.

    Parameters
    ----------
    cls : dataclass or named tuple
    row : columns by the names of fields, others beside them, or values in the order of the fields
    apart : fields that lie elsewhere

    Raises
    ------
    ValueError, TypeError, AttributeError    a value is of another type
    """
    readers = _columns(cast(Any, cls))
    values = row if isinstance(row, Mapping) else dict(zip(readers, row, strict=False))
    own = {name: readers[name](values[name]) for name in readers if name in values and name not in apart}
    return cls(**own, **apart)


def unsealed(place: NodeSealer, form: SealedForm, name: str, value: Any, box: StudentLock | None = None) -> Any:
    """Open a sealed property, by its form.

    Parameters
    ----------
    place : of the node
    form, name, value : of the property
    box : lock of the student, where it was sealed while the student was locked

    Raises
    ------
    Tampered        it does not open
    """
    if box is not None:
        return place.boxed(name, value, box)
    if form is SealedForm.TEXT:
        return place.text(name, value)
    return json.loads(place.packed(name, value)) if form is SealedForm.PACKED else place.json(name, value)


def resealed(place: NodeSealer, form: SealedForm, name: str, value: Any, box: StudentLock | None = None) -> Stored:
    """Seal what `unsealed` opens."""
    if box is not None:
        return place.seal_boxed(value, box)
    if form is SealedForm.TEXT:
        return place.seal(name, value)
    if form is SealedForm.PACKED:
        return place.seal_packed(name, json.dumps(value, ensure_ascii=False).encode())
    return place.seal_json(name, value)


def finite_number(value: Any) -> float:
    """Return a number of the database as it is; TypeError if it is none, or not finite."""
    if type(value) not in (int, float) or not isfinite(value):
        raise TypeError("a value is no number")
    return cast(float, value)


def _time(value: Any) -> datetime:
    """Read a time; many are read as milliseconds, which take the driver a tenth of the time."""
    return from_ms(value) if type(value) is int else moment(value)


_READERS: Mapping[Any, Callable[[Any], Any]] = {
    float: finite_number,
    int: partial(_of, int),
    bool: partial(_of, bool),
    str: partial(_of, str),
    datetime: _time,
    AwareDatetime: _time,
    date: lambda value: value.to_native(),
}


@cache
def of(cls: Any) -> tuple[Field, ...]:
    """Return the properties that hold the values of a model, as the types of its fields declare them."""
    hints = get_type_hints(cls, include_extras=True)
    return tuple(_field(each, hints[each.name]) for each in fields(cls) if not placement_of(hints[each.name]).apart)


def _field(told: DataclassField[Any], noted: Any) -> Field:
    place = placement_of(noted)
    hint = noted if place == Placement() else get_args(noted)[0]
    bare, optional = _bare_hint(hint), NoneType in get_args(hint)
    limited = next(each for each in get_args(hint) if each is not NoneType) if optional else hint
    type_, default = _TYPES.get(limited, limited), ... if told.default is MISSING else told.default
    if get_origin(bare) is tuple:
        (item, _) = get_args(bare)
        type_ = list[_statement_model(item) if is_dataclass(item) else item]  # type: ignore[misc]
    form = None
    if place.sealed:
        form = SealedForm.TEXT if bare is str and not place.shared else SealedForm.JSON
        # A sealed value may be missing in the model, where it is locked.
        optional = optional and (place.shared or default is not ...)
    type_, name = type_ | None if optional else type_, place.name or told.name
    return Field(name, type_, form, attribute=told.name, shared=place.shared, default=default, hint=hint)


def _statement_model(cls: Any) -> type[Part]:
    """Return the model of a statement within a summary; `keyed` as of a node."""
    own = [Field(f.name, int if f.type == Time else f.type, attribute=f.attribute) for f in of(cls)]
    keyed = (dict[Literal["content_hash", "slot_key"], str] | None, None)
    return _inner("Statement", "Statement that became part of a summary; `keyed` as of a node.", own, keyed=keyed)


def clear_properties(value: Any, *names: str) -> dict[str, Any]:
    """Return the clear properties that hold a model's values, or only some of them."""
    own = [each for each in of(cast(Any, type(value))) if each.sealed is None and (not names or each.name in names)]
    return {each.name: storable_value(getattr(value, each.attribute)) for each in own}


def sealed_properties(place: NodeSealer, value: Any, *names: str) -> dict[str, Any]:
    """Return the sealed properties that hold a model's texts, or only some of them."""
    found, shared = dict[str, Any](), dict[str, dict[str, Any]]()
    for each in of(cast(Any, type(value))):
        own = getattr(value, each.attribute)
        if each.sealed is None or (names and each.name not in names):
            continue
        if each.shared:
            if own != ():
                shared.setdefault(each.name, {})[each.attribute] = storable_value(own)
        elif own is None and each.may_be_none:
            found[each.name] = None
        else:
            found[each.name] = resealed(place, each.sealed, each.name, "" if own is None else own)
    return found | {name: place.seal_json(name, told) for name, told in shared.items()}


def stored(session: Session, label: str, value: Any) -> dict[str, Any]:
    """Return all properties of a node of some kind that hold a model's values, the sealed ones sealed for it."""
    own = clear_properties(value)
    return own | sealed_properties(NodeSealer(session.keys, session, label, own["id"]), value)


def storable_value(value: Any) -> Any:
    """Return a value as the driver takes it: of an enum its value, a moment in UTC, of statements the sealed JSON."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, tuple):
        return [_value_document(each) if is_dataclass(each) else storable_value(each) for each in value]
    return value.value if isinstance(value, StrEnum) else value


def _value_document(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    told = {each.attribute: getattr(value, each.attribute) for each in of(cls)}
    return {
        name: round(1000 * own.timestamp()) if isinstance(own, datetime) else storable_value(own)
        for name, own in told.items()
    }


def _opened_map(cls: Any, told: Mapping[str, Any]) -> Any:
    values = [(each, told[each.attribute]) for each in of(cls)]
    return cls(**{each.attribute: None if value is None else each.read(value) for each, value in values})


def opened(cls: type[ModelT], label: str, row: Mapping[str, Any], session: Session | None, **apart: Any) -> ModelT:
    """Return a model made of a node's properties; sealed ones are None or empty without the student's session.

    Parameters
    ----------
    cls : type of the model
    label : of the kind of node
    row : its properties; times may be in milliseconds
    session : opens its sealed properties
    apart : values of the model that lie elsewhere

    Raises
    ------
    Tampered        a sealed value does not open, or a clear one is missing or of another type
    """
    node_id = "companion" if label == "Companion" else str(row.get("id"))
    place = None if session is None else NodeSealer(session.keys, session, label, node_id)
    shared, values = dict[str, Mapping[str, Any]](), dict(apart)
    with readable(label, node_id):
        for each in of(cast(Any, cls)):
            if each.attribute not in apart:
                values[each.attribute] = _opened_value(each, row, place, shared)
        return cls(**values)


def _opened_value(
    each: Field, row: Mapping[str, Any], place: NodeSealer | None, shared: dict[str, Mapping[str, Any]]
) -> Any:
    value, empty = row.get(each.name), None if each.default is ... else each.default
    if each.sealed is None:
        if value is None and not each.may_be_none and each.default is ...:
            raise KeyError(each.name)
        return empty if value is None else each.read(value)
    if place is None or (value is None and each.may_be_none):
        return empty
    if not each.shared:
        return each.read(unsealed(place, each.sealed, each.name, row[each.name]))
    if each.name not in shared:
        shared[each.name] = place.json(each.name, row[each.name])
    told = shared[each.name].get(each.attribute)
    return empty if told is None else each.read(told)


_ID, _AT = Field("id", Name), Field("created_at", Time)
_OWNER = (Field("institution", str, exported=False), Field("student_id", str, exported=False))
_EMBEDDING = Field("embedding", list[float] | None, SealedForm.VECTOR, exported=False, hashed=False)


def _count_field(name: str, type_: Any) -> Field:
    """Return a counter property of a student, which the integrity hash does not cover."""
    return Field(name, type_, hashed=False)


def _locked(name: str, type_: Any = bytes) -> Field:
    """Return a property of a student that opens the rest, or says where it comes from, which is not exported."""
    return Field(name, type_, exported=False)


def _node_kind(
    label: str,
    description: str,
    cls: type | None,
    *more: Field,
    named: str = "",
    hashed: bool = True,
    keyed: tuple[str, ...] = ("id",),
) -> NodeKind:
    """A kind of node of what its model tells and of what only the graph holds, whose type counts where both do."""
    told, own = of(cls) if cls is not None else (), {each.name: each for each in more}
    kept = tuple(replace(each, type=own.pop(each.name).type) if each.name in own else each for each in told)
    return NodeKind(label, description, (*_OWNER, *kept, *own.values()), hashed, named, keyed)


_OPENED = dict[str, Any]
_QUESTION = (Field("asked_at", Time | None), Field("answered_at", Time | None))
_USED = (Field("calls", Count), Field("input_tokens", Count), Field("output_tokens", Count), Field("cost", Cost))

STUDENT_NODE = _node_kind(
    "Student",
    "Properties of the student, without keys.",
    None,
    _ID,
    _AT,
    *(_count_field(each, Count) for each in ("version", "memory_version")),
    _count_field("overlay_version", Count | None),
    *(_count_field(each, Count) for each in ("memories_removed", "turns", "facts")),
    *(_count_field(each.name, each.type) for each in _USED),
    *(_count_field(each, Time | None) for each in ("jobs_at", "decayed_at", "reconciled_at")),
    _count_field("reconciled_cycles", Count | None),
    _count_field("signals", list[Share] | None),
    Field("corrected_signals", list[Share] | None),
    Field("corrected_levels", list[Level] | None),
    Field("verdicts", list[Verdict] | None),
    *(_count_field(each, Count | None) for each in ("asked_turn", "episode_turn")),
    Field("recoveries", list[Time] | None),
    Field("time_zone", Name | None),
    Field("display_name", str | None, SealedForm.TEXT),
    *map(_locked, ("salt", "wrapped_key", "public_key", "sealed_private_key", "recovery_copy")),
    *(_locked(each, int) for each in ("argon2_ops", "argon2_memory")),
    *(_locked(each, str | None) for each in ("sealing", "imported")),
)
COMPANION_NODE = _node_kind(
    "Companion",
    "Properties of the companion.",
    model.Companion,
    Field("id", Literal["companion"]),
    Field("prediction", _OPENED | None, SealedForm.JSON, hashed=False),
    Field("prediction_embedding", list[float] | None, SealedForm.VECTOR, exported=False, hashed=False),
    keyed=(),
)
MEMORY_NODE = _node_kind(
    "Memory",
    "Properties of a memory.",
    model.Memory,
    Field("gravity_now", Share | None, hashed=False),
    Field("decayed_at", Time | None, hashed=False),
    Field("features", list[Number] | None),
    Field("activity", Cost | None),
    Field("episode", bool | None),
    Field("verdict", Verdict | None),
    Field("considered", bool | None),
    Field("considered_at", Time | None),
    Field("written", Count, hashed=False),
    Field("surprise_response", _OPENED | None, SealedForm.JSON),
    Field("verdict_note", str | None, SealedForm.TEXT),
    _EMBEDDING,
)
FACT_NODE = _node_kind("Fact", "Properties of a fact.", model.Fact, Field("origin", Name | None))
LEDGER_ENTRY_NODE = _node_kind(
    "LedgerEntry", "Properties of a ledger entry.", model.LedgerEntry, Field("ended", bool | None), _EMBEDDING
)
ENTITY_NODE = _node_kind("Entity", "Properties of an entity.", model.NamedEntity, Field("key", Name), keyed=("key",))
UNCERTAINTY_NODE = _node_kind(
    "Uncertainty", "Properties of an uncertainty.", model.Uncertainty, Field("undo", _OPENED | None, SealedForm.JSON)
)
CONCERN_NODE = _node_kind(
    "Concern",
    "Properties of a concern.",
    model.Concern,
    Field("probability", Share),
    Field("level", Level | None),
    Field("text", str | None, SealedForm.TEXT),
    Field("note", str | None, SealedForm.TEXT),
)
QUESTION_NODE = _node_kind("Question", "Properties of a question, or of a reflection.", model.Question, *_QUESTION)
REFLECTION_NODE = _node_kind("Reflection", QUESTION_NODE.description, model.Question, *_QUESTION, named="Question")
TURN_NODE = _node_kind(
    "Turn",
    "Properties of a turn of the running talk.",
    model.StoredTurn,
    _ID,
    Field("seq", Count | None),
    Field("at", Time),
    Field("state", TurnState),
    *(Field(each, Share | None) for each in ("surprise", "match")),
    Field("session_id", Name | None),
    Field("received_at", Time | None),
    Field("used", list[Name] | None),
    Field("outcome", _OPENED | None, SealedForm.PACKED),
    hashed=False,
)
SOURCE_NODE = _node_kind(
    "Source",
    "Properties of a source.",
    model.Source,
    # An observed remark has a kind of its own in the graph.
    Field("kind", Name),
    Field("formed_at", Time | None),
    Field("snr", Annotated[int, Limits(ge=0, le=1000)] | None),
    keyed=("kind", "ref"),
)
COMPRESSION_NODE = _node_kind(
    "Compression",
    "Properties of the record of a compression.",
    model.Compression,
    _ID,
    Field("at", Time),
    Field("loss_modalities", list[Modality]),
    Field("loss_nodes", list[int]),
    *(Field(each, list[Number]) for each in ("loss_entropy", "loss_gravity", "loss_edge_weight")),
)
JOB_NODE = _node_kind(
    "Job",
    "Properties of a job that waits or is dead.",
    None,
    _ID,
    Field("kind", Name),
    Field("state", Literal["waiting", "dead"]),
    Field("attempts", Count),
    _AT,
    Field("run_after", Time),
    Field("seq", Count | None),
    Field("error", str | None),
    Field("payload", _OPENED, SealedForm.WORK),
    hashed=False,
)
USAGE_NODE = _node_kind(
    "Usage",
    "Properties of the use of language models on a day.",
    None,
    Field("day", date),
    Field("kind", Name),
    Field("prompt", Name | None),
    *_USED,
    hashed=False,
    keyed=("day", "kind"),
)
NODE_KINDS: Mapping[str, NodeKind] = {
    each.label: each for each in tuple(globals().values()) if isinstance(each, NodeKind)
}
"""The kinds of nodes of a student by their labels."""
_KEPT: dict[str, tuple[str, ...]] = {
    "StudentBudget": ("day",),
    "ManifestPage": ("number",),
    "ManifestNote": (),
    "TamperedValue": ("label", "node_id", "field"),
}
_PASSING: dict[str, tuple[str, ...]] = {
    "OpenSession": ("id",),
    "Reservation": ("job_id", "day"),
    "PasswordTry": ("caller",),
}
STUDENT_LABELS: Mapping[str, tuple[str, ...]] = {
    "hashed": tuple(label for label, kind in NODE_KINDS.items() if kind.hashed),
    "exported": tuple(label for label in NODE_KINDS if label != "Job"),
    "kept": (*NODE_KINDS, *_KEPT),
    "all but Student": (*tuple(NODE_KINDS)[1:], *_KEPT, *_PASSING),
}
"""Labels of a student's nodes: covered by the integrity hash, exported, backed up, and deleted one batch at a time."""


def pattern(label: str, given: str) -> str:
    """Return what matches one node of a kind in Cypher: a student's, or a concept of the institution.

    Parameters
    ----------
    label : str, kind of the node
    given : str, the expression that gives what `key_of` returns

    Examples
    --------
    >>> pattern("Entity", "row.id")
    'Entity {institution: $institution, student_id: $student_id, key: row.id}'
    >>> pattern("Student", "row.from")
    'Student {institution: $institution, id: $student_id}'
    """
    kind = f"split({given}, ':')[0]"
    found = {"institution": "$institution", "student_id": "$student_id", "id": given, "key": given}
    found |= {"kind": kind, "ref": f"substring({given}, size({kind}) + 1)"}
    if label == "Student":
        found["id"] = "$student_id"
    return f"{label} {{{', '.join(f'{name}: {found[name]}' for name in keys(label))}}}"


def all_of(label: str, name: str) -> str:
    """Return what matches every node of a student of some label in Cypher, by the index of the label.

    Examples
    --------
    >>> all_of("Entity", "node")
    '(node:Entity {institution: $institution, student_id: $student_id}) WHERE node.key IS NOT NULL'
    """
    if label == "Student":
        return f"({name}:{pattern(label, '')})"
    there = " AND ".join(f"{name}.{each} IS NOT NULL" for each in keys(label)[2:])
    owned = f"({name}:{label} {{institution: $institution, student_id: $student_id}})"
    return f"{owned} WHERE {there}" if there else owned


def keys(label: str) -> tuple[str, ...]:
    """Return the properties by which a node of a kind is found, which have an index in this order."""
    if label in ("Student", "Concept"):
        return ("institution", "id")
    own = NODE_KINDS[label].keyed if label in NODE_KINDS else (_KEPT | _PASSING)[label]
    return ("institution", "student_id", *own)


def key_of(label: str, properties: Mapping[str, Any]) -> str:
    """Return what is unique of a student's node of a kind.

    Examples
    --------
    >>> key_of("Source", {"kind": "lesson", "ref": "l-1"}), key_of("Student", {"id": "ann"})
    ('lesson:l-1', 'student')
    """
    if label in ("Student", "Companion"):
        return label.lower()
    return ":".join(str(properties[name]) for name in NODE_KINDS[label].keyed)


def kind_of(labels: Sequence[str] | frozenset[str]) -> str | None:
    """Return the label that says which kind of node it is; None where it is none that is exported."""
    return next((label for label in labels if label in NODE_KINDS), None)


def bound_to(label: str, name: str, properties: Mapping[str, Any], turns: int) -> str:
    """Return the id that a sealed property of a node is bound to.

    Parameters
    ----------
    label : str, kind of the node
    name : str, of the property
    properties : of the node
    turns : int, of the student, whom a prediction follows

    Examples
    --------
    >>> bound_to("Companion", "prediction", {"id": "companion"}, 7), bound_to("Fact", "text", {"id": "fact-1"}, 7)
    ('companion@7', 'fact-1')
    """
    if label == "Student":
        return "student"
    if label == "Companion":
        return "companion" if name == "persona" else f"companion@{turns}"
    return str(properties["id"])
