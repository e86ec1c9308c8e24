"""Forms of the files that other services export: one pure reader each, in one table.

A reader takes one element of a file, a JSON object, and yields what was said or noted in it, and the reason of each
part left out. The shapes are those of the services' own code and documentation in 2026.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

ExportElement = Mapping[str, Any]

STUDENT, COMPANION = "student", "companion"
AUTHORS = {
    **dict.fromkeys(("user", "human", "student"), STUDENT),
    **dict.fromkeys(("assistant", "ai", "tutor", "teacher", "companion", "bot", "model"), COMPANION),
}
"""Whom the names of authors stand for in every format."""


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


class Format(NamedTuple):
    """A format: keys of which an element has one, the key that its elements stand under in an object, its reader."""

    keys: frozenset[str]
    under: str | None
    read: Callable[[ExportElement], Iterator[Line | str]]


EXPORT_FORMATS = {
    "chatgpt": Format(frozenset(["mapping"]), None, _chatgpt),
    "letta": Format(frozenset(["agents", "in_context_message_indices", "in_context_message_ids"]), None, _letta),
    "mem0": Format(frozenset(["memory"]), "results", _mem0),
    "honcho": Format(frozenset(["peer_id", "peer_name"]), "items", _honcho),
    "graphiti": Format(frozenset(["source_description", "valid_at"]), "episodes", _graphiti),
    "jsonl": Format(frozenset(["messages"]), None, _jsonl),
}


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
