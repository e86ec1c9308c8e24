"""Documents of operations: what is asked for follows from the fields of the result."""

from collections.abc import Iterator
from typing import Any, get_args

from pydantic.alias_generators import to_camel

from graphmem.client.results import MemoryResult, Result


def document(kind: str, field: str, arguments: str, result: type[Result] | None, *, of_student: bool = False) -> str:
    """The GraphQL document of one operation.

    Parameters
    ----------
    kind : str, `query`, `mutation` or `subscription`
    field : str
    arguments : str, `name: Type` with commas between them
    result : what is asked for of the answer; None where it is a scalar
    of_student : whether it is a field of `student` and not of the operation itself

    Examples
    --------
    >>> document("mutation", "closeSession", "studentId: ID!", None)
    'mutation CloseSession($studentId: ID!) { closeSession(studentId: $studentId)  }'
    """
    names = [each.split(":")[0].strip() for each in arguments.split(",") if each.strip()]
    given = ", ".join(f"{name}: ${name}" for name in names)
    wanted = "" if result is None else "{ " + " ".join(_selection(result)) + " }"
    asked = f"{field}({given}) {wanted}" if given else f"{field} {wanted}"
    declared = [f"${each.strip()}" for each in arguments.split(",") if each.strip()]
    if of_student:
        asked, declared = f"student(id: $studentId) {{ {asked} }}", ["$studentId: ID!", *declared]
    if "$opened" in asked:
        declared.append("$opened: Boolean!")
    head = f"({', '.join(declared)})" if declared else ""
    return f"{kind} {field[0].upper()}{field[1:]}{head} {{ {asked} }}"


def _selection(result: type[Result]) -> Iterator[str]:
    for name, field in result.model_fields.items():
        nested = [each for each in _types(field.annotation) if isinstance(each, type) and issubclass(each, Result)]
        # What is sealed is an error without the student's session.
        condition = " @include(if: $opened)" if (result, name) == (MemoryResult, "content") else ""
        yield to_camel(name) + condition + "".join(f" {{ {' '.join(_selection(each))} }}" for each in nested)


def _types(annotation: Any) -> Iterator[Any]:
    yield annotation
    for each in get_args(annotation):
        yield from _types(each)
