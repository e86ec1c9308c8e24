"""Write the results, inputs and operations of the clients in Python and TypeScript, made from api/schema.graphql.

The forms of both are the templates in `scripts/client`. With --check, tell by the exit code whether both are current.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    get_named_type,
    is_list_type,
    is_non_null_type,
    value_from_ast_untyped,
)
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic.alias_generators import to_snake

from graphmem_client.errors import GraphmemError, Refusal, Unavailable

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / "client" / "graphmem_client" / "generated.py"
TYPESCRIPT = ROOT / "client" / "typescript" / "src" / "generated.ts"
SCALARS = {
    "ID": ("str", "string"),
    "String": ("str", "string"),
    "Int": ("int", "number"),
    "Float": ("float", "number"),
    "Boolean": ("bool", "boolean"),
    "DateTime": ("datetime", "string"),
    "Date": ("date", "string"),
    "JSON": ("Any", "unknown"),
}
"""Types in Python and TypeScript."""
SEPARATE = {"Memory": {"surpriseResponse", "uncertainties", "entities"}, "Student": {"questions", "verifyIntegrity"}}
"""Fields that lead to more, beside those with arguments: no part of a result. The student's are operations."""
SEALED = ("Memory", "content")
"""Field that is an error without the student's session, and asked for where there is one."""
STUDENT_IDS = {("student", "id"), ("enrolStudent", "id"), ("importStudent", "id")}
"""Arguments of operations that are the id of a student, under another name than everywhere else."""


@dataclass(frozen=True)
class Part:
    """A value of an enum, a field or a parameter: its name in the schema, and how both languages declare it."""

    name: str
    python: str
    typescript: str
    description: str


@dataclass(frozen=True)
class Type:
    """An enum, an input or a result."""

    kind: str
    name: str
    description: str
    fields: tuple[Part, ...]


@dataclass(frozen=True)
class Operation:
    """Operation of the API: a field of a root type, or `within` the query `student`."""

    kind: str
    name: str
    field: GraphQLField
    within: bool = False

    @property
    def constant(self) -> str:
        """Name of its document."""
        return to_snake(self.name).upper() + ("_OF_STUDENT" if self.within else "")

    @property
    def python(self) -> str:
        """Name in Python."""
        return to_snake(self.name)

    @property
    def description(self) -> str:
        """What it does."""
        return flat(self.field.description)

    @property
    def fragments(self) -> list[str]:
        """Fragments that its document needs."""
        return list(used_fragments(get_named_type(self.field.type)))

    @property
    def document(self) -> str:
        """Document without fragments."""
        declared = [f"${name}: {each.type}" for name, each in self.field.args.items()]
        given = ", ".join(f"{name}: ${name}" for name in self.field.args)
        asked = f"{self.name}({given})" if given else self.name
        asked += f" {{ ...{self.fragments[0]} }}" if self.fragments else ""
        if self.within:
            asked, declared = f"student(id: $studentId) {{ {asked} }}", ["$studentId: ID!", *declared]
        declared += ["$opened: Boolean!"] if SEALED[0] in self.fragments else []
        head = f"({', '.join(declared)})" if declared else ""
        return f"{self.kind} {self.name[0].upper()}{self.name[1:]}{head} {{ {asked} }}"

    def given(self) -> Iterator[tuple[str, dict[str, str], Any]]:
        """Yield each argument with the names of its parameters; an input that stands alone is taken apart."""
        for name, each in self.field.args.items():
            inner = each.type.of_type if is_non_null_type(each.type) else each.type
            own = inner.fields if isinstance(inner, GraphQLInputObjectType) else {name: each}
            names = {field: "studentId" if (self.name, field) in STUDENT_IDS else field for field in own}
            yield name, names, (inner, own)

    @property
    def parameters(self) -> list[Part]:
        """Parameters."""
        within = Part("studentId", "student_id: str", "studentId: string", "Id of the student within the institution.")
        return [within] * self.within + [
            Part(names[field], f"{to_snake(names[field])}: {declared(each)}",
                 names[field] + typescript(each.type, is_optional(each)), flat(each.description))
            for _, names, (_, own) in self.given() for field, each in own.items()
        ]  # fmt: skip

    @property
    def is_needed(self) -> bool:
        """True if a parameter has to be given."""
        return not all(part.typescript.endswith("| null") for part in self.parameters)

    @property
    def documentation(self) -> str:
        """What it does, and what is given."""
        described = [f"{part.python.partition(':')[0]} : {part.description}" for part in self.parameters]
        return "\n".join([self.description, *(["", "Parameters", "----------", *described] if described else [])])

    @property
    def returns(self) -> str:
        """Type of its result in Python."""
        return annotation(self.field.type)

    @property
    def typescript_returns(self) -> str:
        """Type of its result in TypeScript."""
        return typescript(self.field.type)[2:]

    @property
    def python_call(self) -> str:
        """What the transport is given in Python."""
        found = ['"studentId": student_id'] if self.within else []
        for name, names, (inner, own) in self.given():
            fields = ", ".join(f"{to_snake(field)}={to_snake(names[field])}" for field in own)
            found.append(f'"{name}": {f"{inner.name}({fields})" if name not in own else to_snake(names[name])}')
        student = "student_id" if self.has_student else "None"
        within = f', "{self.name}"' if self.within else ""
        return f"_{self.constant}, {self.returns}, {student}, {{{', '.join(found)}}}{within}"

    @property
    def typescript_call(self) -> str:
        """What the transport is given in TypeScript."""
        found = ["studentId: given.studentId"] if self.within else []
        for name, names, (_, own) in self.given():
            fields = ", ".join(f"{field}: given.{names[field]}" for field in own)
            found.append(f"{name}: {{ {fields} }}" if name not in own else f"{name}: given.{names[name]}")
        student = "given.studentId" if self.has_student else "null"
        given = f"{{ {', '.join(found)} }}" if found else "{}"
        return ", ".join([self.constant, student, given, *([f'"{self.name}"'] if self.within else [])])

    @property
    def has_student(self) -> bool:
        """True if a student is named."""
        return any(part.name == "studentId" for part in self.parameters)


def operations_of(schema: GraphQLSchema) -> Iterator[Operation]:
    """Yield every operation: fields of the root types, and those of a student that lead to more."""
    for kind in ("query", "mutation", "subscription"):
        for name, field in getattr(schema, f"{kind}_type").fields.items():
            yield Operation(kind, name, field)
    student = schema.type_map["Student"]
    assert isinstance(student, GraphQLObjectType)
    for name, field in student.fields.items():
        if name not in parts(student):
            yield Operation("query", name, field, within=True)


def types_of(schema: GraphQLSchema) -> Iterator[Type]:
    """Yield enums, inputs and results, each after those it refers to."""
    roots, done = (schema.query_type, schema.mutation_type, schema.subscription_type), set[str]()

    def after(type_: Any) -> Iterator[Type]:
        if type_.name in done or type_.name in SCALARS or type_.name.startswith("__") or type_ in roots:
            return
        done.add(type_.name)
        fields = parts(type_)
        for each in fields.values():
            if not isinstance(type_, GraphQLEnumType):
                yield from after(get_named_type(each.type))
        kind = {GraphQLEnumType: "enum", GraphQLInputObjectType: "input"}.get(type(type_), "result")
        shown = tuple(part_of(kind, type_.name, name, each) for name, each in fields.items())
        yield Type(kind, type_.name, flat(type_.description), shown)

    for type_ in schema.type_map.values():
        yield from after(type_)


def part_of(kind: str, owner: str, name: str, each: Any) -> Part:
    """Return a value of an enum or a field of a type."""
    if kind == "enum":
        return Part(name, f'{name} = "{name.lower()}"', "", flat(each.description))
    if kind == "input":
        return Part(name, f"{to_snake(name)}: {declared(each)}", name + typescript(each.type, is_optional(each)),
                    flat(each.description))  # fmt: skip
    python = annotation(each.type)
    default = ["None"] if python.endswith("| None") else []
    if get_named_type(each.type).name == "String":
        default = [f"Field({', '.join([*default, 'repr=False'])})"]
    value = f"{to_snake(name)}: {python}{''.join(f' = {each}' for each in default)}"
    return Part(name, value, name + typescript(each.type, (owner, name) == SEALED), flat(each.description))


def flat(text: str | None) -> str:
    """Return a text in one line."""
    return " ".join((text or "").split())


def is_optional(given: Any) -> bool:
    """Return whether an argument or a field of an input may be left out."""
    return not is_non_null_type(given.type) or cast(Any, given.ast_node).default_value is not None


def typescript(type_: Any, optional: bool = False) -> str:
    """Return the annotation of a GraphQL type in TypeScript; what may be left out may be null."""
    inner = type_.of_type if is_non_null_type(type_) else type_
    name = SCALARS.get(str(inner), ("", str(inner)))[1]
    found = f"Array<{typescript(inner.of_type)[2:]}>" if is_list_type(inner) else name
    return f"{'?' if optional else ''}: {found}{'' if inner is not type_ and not optional else ' | null'}"


def parts(type_: Any) -> dict[str, Any]:
    """Return the values of an enum, the fields of an input, or those of a type that its result has."""
    if isinstance(type_, GraphQLEnumType):
        return dict(type_.values)
    if not isinstance(type_, GraphQLObjectType | GraphQLInputObjectType):
        return {}
    apart = SEPARATE.get(type_.name, set())
    return {name: field for name, field in type_.fields.items() if not getattr(field, "args", {}) and name not in apart}


def fragment(type_: GraphQLObjectType) -> str:
    """Return the fragment of a result."""
    chosen = []
    for name, field in parts(type_).items():
        inner = get_named_type(field.type)
        sealed = " @include(if: $opened)" if (type_.name, name) == SEALED else ""
        chosen.append(f"{name} {{ ...{inner.name} }}" if isinstance(inner, GraphQLObjectType) else name + sealed)
    return f"fragment {type_.name} on {type_.name} {{ {' '.join(chosen)} }}"


def used_fragments(type_: Any) -> dict[str, None]:
    """Return the names of the fragments that a result needs, its own first."""
    found: dict[str, None] = {}
    if isinstance(type_, GraphQLObjectType):
        found[type_.name] = None
        for field in parts(type_).values():
            found |= used_fragments(get_named_type(field.type))
    return found


def annotation(type_: Any, many: str = "tuple[{}, ...]") -> str:
    """Return the Python type of a GraphQL type."""
    inner = type_.of_type if is_non_null_type(type_) else type_
    name = SCALARS.get(str(inner), (str(inner),))[0]
    found = many.format(annotation(inner.of_type, many)) if is_list_type(inner) else name
    return found if inner is not type_ or found == "Any" else f"{found} | None"


def declared(given: Any) -> str:
    """Return the type of a parameter, and its default; None leaves it to the API."""
    type_, node = annotation(given.type, "Sequence[{}]"), given.ast_node.default_value
    if is_non_null_type(given.type) and node is None:
        return type_
    default, named = None if node is None else value_from_ast_untyped(node), get_named_type(given.type)
    if default is None:
        return f"{type_} = None"
    if default == []:
        value = "()"
    elif isinstance(named, GraphQLEnumType):
        value = f"{named.name}.{default}"
    else:
        value = repr(default).replace("'", '"')
    return f"{type_.removesuffix(' | None')} = {value}"


def documented(text: str, indent: int) -> str:
    """Return a docstring in Python; further lines of a parameter's description are indented."""
    lines = [
        line
        for each in text.split("\n")
        for line in textwrap.wrap(each, 104, subsequent_indent="    " * (" : " in each[:40]), break_long_words=False)
        or [""]
    ]
    return '"""' + ("\n" + " " * indent).join([*lines, *([""] if len(lines) > 1 else [])]) + '"""'


def generated(schema: str) -> dict[Path, str]:
    """Return both modules for the text of a schema by their paths, the one in Python formatted."""
    built = build_schema(schema)
    forms = Environment(loader=FileSystemLoader(ROOT / "scripts" / "client"), trim_blocks=True, lstrip_blocks=True,
                        undefined=StrictUndefined, keep_trailing_newline=True)  # fmt: skip
    forms.filters["doc"] = documented
    roots = (built.query_type, built.mutation_type, built.subscription_type)
    results = [each for each in built.type_map.values() if isinstance(each, GraphQLObjectType) and each not in roots]
    codes = {GraphmemError.code, Unavailable.code} | {each.code for each in Refusal.__subclasses__()}
    given: Mapping[str, Any] = {
        "types": list(types_of(built)),
        "fragments": {each.name: fragment(each) for each in results if not each.name.startswith("__")},
        "operations": list(operations_of(built)),
        "codes": [f'"{code}"' for code in sorted(codes)],
    }
    python, typed = (forms.get_template(f"{path.name}.jinja").render(given) for path in (PYTHON, TYPESCRIPT))
    ruff = [str(Path(sys.executable).parent / "ruff"), "format", "--quiet", "--stdin-filename", str(PYTHON), "-"]
    done = subprocess.run(ruff, input=python, check=True, capture_output=True, text=True)
    return {PYTHON: done.stdout, TYPESCRIPT: typed}


def main(*, check: bool) -> bool:
    """Write the files, or compare them; whether they are current now."""
    found = generated((ROOT / "api" / "schema.graphql").read_text("utf-8"))
    for file, text in found.items():
        if not check:
            file.write_text(text, "utf-8")
    return all(file.exists() and file.read_text("utf-8") == text for file, text in found.items())


if __name__ == "__main__":
    sys.exit(0 if main(check="--check" in sys.argv) else 1)
