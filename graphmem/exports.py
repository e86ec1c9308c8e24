"""Chats and memories in the files that other services export: the form of each, and the turns of a student in them.

A reader takes one element of a file, a JSON object, and yields what was said or noted in it, and the reason of each
part left out. The shapes are those of the own code and documentation of the services in 2026 (spec 18).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import InvalidInput
from graphmem.validation import MESSAGE_LIMIT

ExportElement = Mapping[str, Any]

STUDENT, COMPANION = "student", "companion"
AUTHORS = {
    **dict.fromkeys(("user", "human", "student"), STUDENT),
    **dict.fromkeys(("assistant", "ai", "tutor", "teacher", "companion", "bot", "model"), COMPANION),
}
"""Whom the names of authors stand for in every format."""


PIECE_CHARACTERS = 2**20
"""Characters that are read of a file at once."""


class Line(NamedTuple):
    """A message of an export, or a note where nobody is its author."""

    chat: str
    author: str | None
    text: str
    at: datetime | None


def _chatgpt(chat: ExportElement) -> Iterator[Line | str]:
    """Yield the thread that ChatGPT shows last: from `current_node` up to the root of `mapping`."""
    nodes = chat["mapping"]
    leaf: Any = chat.get("current_node") or next(
        (name for name in reversed(nodes) if not nodes[name].get("children")), None
    )
    path: dict[str, ExportElement] = {}
    while leaf in nodes and leaf not in path:
        path[leaf] = nodes[leaf]
        leaf = nodes[leaf].get("parent")
    beside = [node for name, node in nodes.items() if name not in path and node.get("message")]
    yield from ["another version of an edited message"] * len(beside)
    for message in (node["message"] for node in reversed(path.values()) if node.get("message")):
        role, content = message["author"]["role"], message.get("content") or {}
        hidden = message.get("weight") == 0 or (message.get("metadata") or {}).get(
            "is_visually_hidden_from_conversation"
        )
        tool = message.get("recipient") not in (None, "all") or message.get("channel") in ("commentary", "analysis")
        if role not in AUTHORS or hidden or tool:
            yield "a message of the system or a tool"
        elif content.get("content_type") not in ("text", "multimodal_text"):
            yield "a message without text"
        else:
            # What was spoken is a part with a text of its own.
            texts = [part if isinstance(part, str) else part.get("text") for part in content.get("parts") or []]
            yield from ["a picture or a file"] * sum(text is None for text in texts)
            at = _moment(message.get("create_time") or chat.get("create_time"))
            yield Line(str(chat.get("conversation_id") or chat.get("id")), role, "\n".join(filter(None, texts)), at)


def _mem0(memory: ExportElement) -> Iterator[Line | str]:
    """Yield a memory of mem0's `get_all`, which mem0 has put into its own words."""
    if memory.get("role") in AUTHORS or (memory.get("metadata") or {}).get("role") in AUTHORS:
        role = memory.get("role") or memory["metadata"]["role"]
        yield Line(str(memory.get("run_id") or "mem0"), role, memory["memory"], _moment(memory.get("created_at")))
    else:
        yield Line(str(memory.get("id")), None, memory["memory"], _moment(memory.get("created_at")))


def _letta(document: ExportElement) -> Iterator[Line | str]:
    """Yield the messages of the agents of an agent file, of either form; replies stand in calls of `send_message`."""
    for agent in document.get("agents") or [document]:
        for message in agent.get("messages") or []:
            role, text = message["role"], _text_of(message.get("content"))
            if role == "user" and (packed := _object(text)):
                role, text = (
                    (role, str(packed.get("message"))) if packed.get("type") == "user_message" else ("system", "")
                )
            calls = [call.get("function") or {} for call in message.get("tool_calls") or []]
            sent = [
                _object(call.get("arguments")).get("message") for call in calls if call.get("name") == "send_message"
            ]
            if sent or role in AUTHORS:
                text = "\n".join(map(str, sent)) if sent else text
                yield Line(
                    str(agent.get("id") or agent.get("name")), role, text or "", _moment(message.get("created_at"))
                )
            else:
                yield "a message of the system or a tool"
    yield from ["a memory block, in the agent's words"] * len(
        document.get("blocks") or document.get("core_memory") or ()
    )


def _graphiti(episode: ExportElement) -> Iterator[Line | str]:
    """Yield the lines `author: text` of an episode of messages, or the text of another one."""
    at = _moment(episode.get("valid_at") or episode.get("created_at"))
    chat = str(episode.get("group_id") or episode.get("source_description") or "graphiti")
    if episode.get("source") == "json":
        yield "an episode of JSON"
    elif episode.get("source") == "message":
        for line in str(episode["content"]).splitlines():
            author, colon, text = line.partition(":")
            yield Line(chat, author.split("(")[0].strip(), text.strip(), at) if colon else "a line without an author"
    else:
        yield Line(str(episode.get("uuid") or chat), None, episode["content"], at)


def _honcho(message: ExportElement) -> Iterator[Line | str]:
    """Yield a message of a session."""
    author = message.get("peer_id") or message.get("peer_name")
    yield Line(str(message.get("session_id")), author, message["content"], _moment(message.get("created_at")))


def _jsonl(chat: ExportElement) -> Iterator[Line | str]:
    """Yield the messages of a chat in OpenAI's form, each with its time in `at` or `created_at`."""
    name = str(chat.get("id") or json.dumps(chat["messages"][:1]))
    for message in chat["messages"]:
        if message["role"] in ("system", "developer", "tool", "function"):
            yield "a message of the system or a tool"
        else:
            at = _moment(message.get("at") or message.get("created_at") or chat.get("at"))
            yield Line(name, message["role"], _text_of(message.get("content")), at)


ExportReader = Callable[[ExportElement], Iterator[Line | str]]
EXPORT_FORMATS: Mapping[str, tuple[frozenset[str], str | None, ExportReader]] = {
    "chatgpt": (frozenset(["mapping"]), None, _chatgpt),
    "letta": (frozenset(["agents", "in_context_message_indices", "in_context_message_ids"]), None, _letta),
    "mem0": (frozenset(["memory"]), "results", _mem0),
    "honcho": (frozenset(["peer_id", "peer_name"]), "items", _honcho),
    "graphiti": (frozenset(["source_description", "valid_at"]), "episodes", _graphiti),
    "jsonl": (frozenset(["messages"]), None, _jsonl),
}
"""Keys of which an element of a format has one, the key that its elements stand under in an object, its reader."""


def _text_of(content: Any) -> str:
    """Return the text of a message's content: a string, or a list of parts with text."""
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if isinstance(part, dict) and part.get("text"))
    return str(content or "")


def _object(text: Any) -> dict[str, Any]:
    """Return the JSON object that a text holds; an empty one where it holds none."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(value: Any) -> datetime | None:
    """Return a time: seconds since 1970, or ISO 8601, which is UTC without an offset.

    Examples
    --------
    >>> _moment(1706745600.0) == _moment("2024-02-01T00:00:00Z") == _moment("2024-02-01T00:00:00")
    True
    """
    if value is None:
        return None
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    at = datetime.fromisoformat(value)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


class Turn(NamedTuple):
    """What the student said, what was replied and, at the beginning of a chat, what was said before; or a note, or what
    `speaker` said."""

    id: str
    text: str
    at: datetime
    reply: str | None = None
    opener: str | None = None
    speaker: str | None = None
    noted: bool = False


@dataclass
class Chats:
    """What a file holds: turns by chat in the order of time, and how often what was left out for which reason."""

    format: str
    turns: list[list[Turn]]
    left_out: Counter[str] = field(default_factory=Counter)
    undated: int = 0


def read_export(file: Path, format_: str, student: str, speaker: str | None = None) -> Chats:
    """Read an export, all of it before anything is stored.

    Parameters
    ----------
    file : Path, JSON or JSON lines; of a JSON list one element at a time is read
    format_ : str, a name in EXPORT_FORMATS, or `auto`
    student : str, id of the student, who may be an author by this name
    speaker : str, the author who is the student, where neither that name nor `user` is; None: nobody else

    Returns
    -------
    Chats, the oldest first; a message that has no time has that of the one before it, the first one the file's

    Raises
    ------
    InvalidInput    the file is broken, of another format, or nobody in it is the student; the message says what to do

    Source: spec 18.
    """
    lines: dict[str, list[Line]] = {}
    found = Chats(format_, [])
    whose = {**AUTHORS, student.casefold(): STUDENT, **({speaker.casefold(): STUDENT} if speaker else {})}
    if speaker:
        whose = {name: who for name, who in whose.items() if who != STUDENT or name == speaker.casefold()}
    for number, element in enumerate(_elements(file), start=1):
        if found.format == "auto":
            found.format = _recognised(element, file, number)
        try:
            for part in EXPORT_FORMATS[found.format][2](element):
                if isinstance(part, str):
                    found.left_out[part] += 1
                elif reason := _unfit(part.text):
                    found.left_out[reason] += 1
                else:
                    lines.setdefault(part.chat, []).append(part)
        except (KeyError, TypeError, AttributeError, ValueError) as e:
            raise InvalidInput(
                f"Element {number} of {file.name} is not of {found.format}: {e!r}. Name another --format, one of "
                f"{', '.join(EXPORT_FORMATS)}."
            ) from e
    _check_somebody(lines, whose, file)
    at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    for chat, said in lines.items():
        found.undated += sum(each.at is None for each in said)
        if turns := list(_turns(chat, _with_times(said, at), whose)):
            found.turns.append(turns)
        else:
            found.left_out["a chat in which the student says nothing"] += 1
    found.turns.sort(key=lambda turns: turns[0].at)
    return found


def _with_times(lines: list[Line], at: datetime) -> list[Line]:
    """Return lines in the order of time; one without a time has that of the line before it, the first one `at`."""
    dated: list[Line] = []
    for line in lines:
        dated.append(line._replace(at=line.at or (dated[-1].at if dated else at)))
    return sorted(dated, key=lambda line: line.at or at)


def _turns(chat: str, lines: list[Line], whose: Mapping[str, str]) -> Iterator[Turn]:
    """Yield the turns of a chat, which ends with what the student said and nobody replied to."""
    others = {each.author for each in lines if each.author and whose.get(each.author.casefold()) is None}
    # Between two people whoever is not the student replied.
    alone = others if len({each.author for each in lines if each.author}) <= 2 else set()
    said, opener = None, None
    for place, line in enumerate(lines):
        assert line.at is not None
        who = COMPANION if line.author in alone else whose.get((line.author or "").casefold())
        turn = Turn(_id(chat, place, line.text), line.text, line.at)
        if who == COMPANION and said is None:
            opener = line.text
        elif who == COMPANION and said is not None:
            said = said._replace(reply=line.text if said.reply is None else f"{said.reply}\n{line.text}")
        else:
            if said is not None:
                yield said
            said, opener = (turn._replace(opener=opener), None) if who == STUDENT else (None, opener)
            if said is None:
                yield turn._replace(speaker=line.author, noted=line.author is None)
    if said is not None:
        yield said


def _id(chat: str, place: int, text: str) -> str:
    """Return an id of a message that is the same at each reading of it."""
    return "import-" + hashlib.blake2b(f"{chat}\n{place}\n{text}".encode(), digest_size=16).hexdigest()


def _unfit(text: str) -> str | None:
    """Return why a text is left out, if it is."""
    if not text.strip():
        return "a message without text"
    return f"a message of more than {MESSAGE_LIMIT} characters" if len(text) > MESSAGE_LIMIT else None


def _check_somebody(lines: Mapping[str, list[Line]], whose: Mapping[str, str], file: Path) -> None:
    """Refuse a file in which nobody is the student, unless nobody speaks in it."""
    authors = {each.author for said in lines.values() for each in said if each.author}
    if not lines:
        raise InvalidInput(f"{file.name} holds no message.")
    if authors and not any(whose.get(each.casefold()) == STUDENT for each in authors):
        raise InvalidInput(
            f"Nobody in {file.name} is the student: name one with --speaker: {', '.join(sorted(authors))}."
        )


def _recognised(element: ExportElement, file: Path, number: int) -> str:
    for name, (keys, _, _) in EXPORT_FORMATS.items():
        if keys & element.keys():
            return name
    raise InvalidInput(
        f"Element {number} of {file.name} is of no known format: mend it, or name one with --format: "
        f"{', '.join(EXPORT_FORMATS)}."
    )


def _elements(file: Path) -> Iterator[ExportElement]:
    """Yield the objects of a file: of a JSON list, of the list in a JSON object, or one a line.

    Of a list only one element at a time is held.
    """
    decoder, text, number = json.JSONDecoder(), "", 0
    try:
        with file.open(encoding="utf-8-sig") as source:
            listed = False
            while True:
                text = text.lstrip(" \t\r\n,") if listed or number else text.lstrip()
                if not listed and not number and text.startswith("["):
                    listed, text = True, text[1:]
                    continue
                try:
                    element, end = decoder.raw_decode(text) if text else (None, 0)
                except json.JSONDecodeError:
                    element, end = None, 0
                if end:
                    text, number = text[end:], number + 1
                    yield from _objects_in(element, file, number)
                elif listed and text.startswith("]"):
                    return
                # A longer piece each time, so that a large element is not begun again too often.
                elif more := source.read(max(PIECE_CHARACTERS, len(text))):
                    text += more
                elif text or listed:
                    raise InvalidInput(
                        f"Element {number + 1} of {file.name} is broken, or the file is cut short: mend it, or export "
                        "it again."
                    )
                else:
                    return
    except UnicodeDecodeError as e:
        raise InvalidInput(f"{file.name} is not text: unpack an archive first, and give the JSON file in it.") from e


def _objects_in(element: Any, file: Path, number: int) -> Iterator[ExportElement]:
    if not isinstance(element, dict):
        raise InvalidInput(f"Element {number} of {file.name} is not an object.")
    for _, under, _ in EXPORT_FORMATS.values():
        if under and isinstance(element.get(under), list):
            yield from element[under]
            return
    yield element
