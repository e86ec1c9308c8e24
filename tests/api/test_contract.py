"""What the API offers is what apps are written against: names, arguments and types of the contract."""

from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    is_introspection_type,
    is_specified_scalar_type,
)

from graphmem_api.schema import make_schema

CONTRACT = build_schema((Path(__file__).parent / "contract.graphql").read_text("utf-8"))
OURS = make_schema()._schema

# What the contract has and graphmem does not offer yet.
LATER = {
    "Subscription": set[str](),
    "Mutation": set[str](),
}  # fmt: skip


def test_every_type_we_share_has_the_contracts_fields_arguments_and_types() -> None:
    for name, theirs in CONTRACT.type_map.items():
        ours = OURS.type_map.get(name)
        if ours is None or is_introspection_type(theirs) or is_specified_scalar_type(theirs):
            continue
        assert isinstance(ours, type(theirs)), name
        if isinstance(theirs, GraphQLEnumType):
            assert isinstance(ours, GraphQLEnumType)
            assert set(theirs.values) <= set(ours.values), name
        if isinstance(theirs, GraphQLObjectType | GraphQLInputObjectType):
            _same_fields(name, theirs, ours)


def _same_fields(name: str, theirs: object, ours: object) -> None:
    for field, wanted in theirs.fields.items():  # type: ignore[attr-defined]
        if field in LATER.get(name, set()):
            assert field not in ours.fields, f"{name}.{field} is here now: take it off the list"  # type: ignore[attr-defined]
            continue
        given = ours.fields[field]  # type: ignore[attr-defined]
        assert str(given.type) == str(wanted.type), f"{name}.{field}"
        arguments = getattr(wanted, "args", {})
        for argument, declared in arguments.items():
            assert str(given.args[argument].type) == str(declared.type), f"{name}.{field}({argument})"
        for argument, added in getattr(given, "args", {}).items():
            assert argument in arguments or not str(added.type).endswith("!"), f"{name}.{field}({argument}) is required"


def test_what_is_for_later_is_in_the_contract() -> None:
    for name, fields in LATER.items():
        assert fields <= set(_object(CONTRACT, name).fields), name


def _object(schema: GraphQLSchema, name: str) -> GraphQLObjectType:
    found = schema.type_map[name]
    assert isinstance(found, GraphQLObjectType)
    return found
