"""A language-model server for tests: real HTTP on 127.0.0.1, the OpenAI protocols, and trouble on demand.

It speaks `/v1/chat/completions` and `/v1/responses`, whole and streamed, and answers sensibly from what it
is asked, so that whole turns work. What should go wrong is told request by request with `Act`::

    with llm_server(Act(status=429), Act()) as server:
        settings = Settings(model="openai:stub", model_base_url=server.base_url)

Acts are used up one per request; after them comes `then`, which by default answers properly. By hand:
`python -m tests.support.llm_server --port 0` prints the address to put into GRAPHMEM_MODEL_BASE_URL.
"""

import argparse
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]

LINE = r"^(\d+)\* [^:\n]*: (.*)$"
"""A line of talk that a model is to read."""


@dataclass(frozen=True)
class Act:
    """How one request is answered; the default is a proper answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content: str | None = None
    """What the model writes, instead of a proper answer."""
    body: str | None = None
    """The whole body of the HTTP answer, instead of one made from the content."""
    finish: str = "stop"
    """Why the model stopped writing, e.g. `length` or `content_filter`."""
    refusal: str | None = None
    """What the model says when it declines."""
    delay: float = 0.0
    """Seconds before the answer begins."""
    until: threading.Event | None = None
    """What the answer waits for."""
    pace: float = 0.0
    """Seconds between two pieces of a streamed answer."""
    size: int = 7
    """Characters of each piece."""
    cut: float = 1.0
    """Share of the answer after which the connection is dropped."""
    quiet_end: bool = False
    """With `cut`: the answer ends early as if it were whole."""
    hang: bool = False
    """No answer at all until the server stops."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def text(self) -> str:
        """Everything the model was told, as one text."""
        return "\n".join([self.body.get("instructions") or "", *_texts(self._messages)])

    @property
    def question(self) -> str:
        """What the model was asked, without its instructions."""
        return "\n".join(_texts([message for message in self._messages if message.get("role") == "user"]))

    @property
    def _messages(self) -> list[Json]:
        messages: list[Json] = self.body.get("messages") or self.body.get("input") or []
        return messages


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, dict):
        yield from _texts(node.get("content") or node.get("text") or [])


Answerer = Callable[[Seen], str | None]
"""What a model writes to a request; None for a proper answer."""


class LlmServer:
    """A running server: its address, the requests it saw, and the acts that are still to come."""

    def __init__(
        self, acts: tuple[Act, ...], then: Act, port: int, answer: Answerer, trouble: Callable[[Seen], Act | None]
    ) -> None:
        self._trouble = trouble
        self._answer = answer
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
        self._acts = deque(acts)
        self._then = then
        self._lock = threading.Lock()
        self.http = _Http(("127.0.0.1", port), _Handler)
        self.http.llm = self  # type: ignore[attr-defined]  # how a handler finds what it should do

    @property
    def base_url(self) -> str:
        """The address for GRAPHMEM_MODEL_BASE_URL."""
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def act(self, *acts: Act) -> None:
        """Add acts for the next requests."""
        with self._lock:
            self._acts.extend(acts)

    def recover(self) -> None:
        """Answer properly from now on."""
        with self._lock:
            self._then = Act()

    def next_act(self, seen: Seen) -> Act:
        with self._lock:
            self.seen.append(seen)
            act = self._trouble(seen) or (self._acts.popleft() if self._acts else self._then)
        return act if act.content is not None else replace(act, content=self._answer(seen))


@contextmanager
def llm_server(
    *acts: Act,
    then: Act | None = None,
    port: int = 0,
    answer: Answerer = lambda _: None,
    trouble: Callable[[Seen], Act | None] = lambda _: None,
) -> Iterator[LlmServer]:
    """Run a server in a thread, on a free port unless one is given.

    What `answer` leaves open is answered properly; `trouble` acts before all else where it wants to.
    """
    server = LlmServer(acts, then or Act(), port, answer, trouble)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # connections that may wait at once


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        llm: LlmServer = self.server.llm  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen = Seen(self.path, dict(self.headers), body)
        act = llm.next_act(seen)
        while act.until is not None and not act.until.wait(0.02) and not llm.stopping.is_set():
            pass
        if llm.stopping.wait(None if act.hang else act.delay) or act.hang:
            self.close_connection = True
            return
        try:
            self._answer(act, seen)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client has had enough, as it may

    def _answer(self, act: Act, seen: Seen) -> None:
        protocols: dict[str, type[Chat | Responses]] = {"/v1/chat/completions": Chat, "/v1/responses": Responses}
        protocol = protocols.get(seen.path)
        if protocol is None:
            self._whole(404, {}, json.dumps({"error": {"message": f"no such path: {seen.path}"}}), 1.0)
        elif act.status != 200:
            error = act.body or json.dumps({"error": {"message": f"trouble on demand: {seen.text}"}})
            self._whole(act.status, act.headers, error, act.cut)
        elif act.body is not None:
            self._whole(200, act.headers, act.body, act.cut)
        elif seen.body.get("stream"):
            self._streamed(act, list(protocol(act, seen).events()))
        else:
            self._whole(200, act.headers, json.dumps(protocol(act, seen).whole()), act.cut)

    def _whole(self, status: int, headers: Mapping[str, str], body: str, cut: float) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: int(len(data) * cut)])
        self.close_connection = cut < 1

    def _streamed(self, act: Act, events: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events[: int(len(events) * act.cut)]:
            data = event.encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            time.sleep(act.pace)
        if act.cut == 1 or act.quiet_end:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = act.cut < 1

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a test's output is its own."""


class Chat:
    """The shapes of `/v1/chat/completions`."""

    def __init__(self, act: Act, seen: Seen) -> None:
        self.act = act
        self.content = act.content if act.content is not None else proper_answer(seen)
        self.usage = usage(seen, self.content)
        self.common = {"id": "chatcmpl-1", "created": 1_780_000_000, "model": seen.body["model"]}
        tools = seen.body.get("tools") if not seen.body.get("response_format") else None
        self.tool: str | None = tools[0]["function"]["name"] if tools else None

    def whole(self) -> Json:
        tokens = {"prompt_tokens": self.usage[0], "completion_tokens": self.usage[1], "total_tokens": sum(self.usage)}
        choice = {"index": 0, "finish_reason": self._finish(), "message": {"role": "assistant", **self._message()}}
        return {**self.common, "object": "chat.completion", "choices": [choice], "usage": tokens}

    def events(self) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        if self.act.refusal is not None:
            yield self._chunk({"refusal": self.act.refusal})
        elif self.tool:
            yield self._chunk(self._call("", name=self.tool))
            yield from (self._chunk(self._call(piece)) for piece in pieces(self.content, self.act.size))
        else:
            yield from (self._chunk({"content": piece}) for piece in pieces(self.content, self.act.size))
        yield self._chunk({}, finish=self._finish())
        tokens = {"prompt_tokens": self.usage[0], "completion_tokens": self.usage[1], "total_tokens": sum(self.usage)}
        yield sse({**self.common, "object": "chat.completion.chunk", "choices": [], "usage": tokens})
        yield "data: [DONE]\n\n"

    def _finish(self) -> str:
        return "tool_calls" if self.tool and self.act.finish == "stop" else self.act.finish

    def _message(self) -> Json:
        if self.act.refusal is not None:
            return {"content": None, "refusal": self.act.refusal}
        if self.tool:
            function = {"name": self.tool, "arguments": self.content}
            return {"content": None, "tool_calls": [{"id": "call-1", "type": "function", "function": function}]}
        return {"content": self.content}

    def _call(self, arguments: str, **name: str) -> Json:
        start = {"id": "call-1", "type": "function"} if name else {}
        return {"tool_calls": [{"index": 0, **start, "function": {**name, "arguments": arguments}}]}

    def _chunk(self, delta: Json, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return sse({**self.common, "object": "chat.completion.chunk", "choices": [choice]})


class Responses:
    """The shapes of `/v1/responses`."""

    def __init__(self, act: Act, seen: Seen) -> None:
        self.act = act
        self.content = act.content if act.content is not None else proper_answer(seen)
        self.usage = usage(seen, self.content)
        self.model = seen.body["model"]

    def whole(self) -> Json:
        return self._response("completed", [self._item("completed", [self._part(self.content)])])

    def events(self) -> Iterator[str]:
        at = {"output_index": 0, "content_index": 0, "item_id": "msg-1"}
        yield self._event("response.created", response=self._response("in_progress", []))
        yield self._event("response.output_item.added", output_index=0, item=self._item("in_progress", []))
        yield self._event("response.content_part.added", **at, part=self._part(""))
        for piece in pieces(self.content, self.act.size):
            yield self._event("response.output_text.delta", **at, delta=piece, logprobs=[])
        yield self._event("response.output_text.done", **at, text=self.content, logprobs=[])
        yield self._event("response.output_item.done", output_index=0, item=self.whole()["output"][0])
        yield self._event("response.completed", response=self.whole())

    def _response(self, status: str, output: list[Json]) -> Json:
        tokens = {
            "input_tokens": self.usage[0],
            "output_tokens": self.usage[1],
            "total_tokens": sum(self.usage),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        fixed = {"object": "response", "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}
        named = {"id": "resp-1", "created_at": 1_780_000_000, "model": self.model, "status": status}
        return {**fixed, **named, "output": output, "usage": tokens if status == "completed" else None}

    def _item(self, status: str, parts: list[Json]) -> Json:
        return {"id": "msg-1", "type": "message", "role": "assistant", "status": status, "content": parts}

    def _part(self, text: str) -> Json:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _event(self, name: str, **data: Any) -> str:
        return f"event: {name}\n" + sse({"type": name, "sequence_number": 0, **data})


def sse(data: Json) -> str:
    """One server-sent event."""
    return f"data: {json.dumps(data)}\n\n"


def pieces(text: str, size: int) -> list[str]:
    """A text in the pieces in which it is streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def usage(seen: Seen, content: str) -> tuple[int, int]:
    """Tokens in and out, four characters each, as the server reports them."""
    return len(seen.text) // 4, len(content) // 4 + 1


def proper_answer(seen: Seen) -> str:
    """The fields that the request's schema asks for, filled from the student's newest words."""
    said = [unescape(text) for text in re.findall(r"<student>(.*?)</student>", seen.question, re.DOTALL)]
    found = re.findall(LINE, seen.question, re.MULTILINE)
    lines = [(int(number), unescape(text.partition(" (unexpected; foreseen:")[0])) for number, text in found]
    newest = (said[-1] if said else lines[-1][1] if lines else "nothing yet").strip()
    excerpt = newest[:120]
    expected = seen.question.partition("<expected>\n")[2].partition("\n</expected>")[0]
    foreseen = [unescape(line.partition(" ")[2]) for line in expected.split("\n")]
    unexpected = "(unexpected; foreseen:" in seen.question
    fields: Json = {
        "reply": f"You said: {excerpt} — what would you try next, and why?",
        "danger": "none",
        "came_true": foreseen.index(newest) + 1 if newest in foreseen else 0,
        "expected": [f"0.7 I would try it again, because {excerpt}"],
        "used": [1] if "<COMPANION_MEMORY>" in seen.question else [],
        "notes": [noted(text) for _, text in lines if re.search(r"[^\W\d_]{4,}", text)],
        "learned": f"Speaks of {', '.join(longest_words(lines[-1][1]))} when sums are asked for." if unexpected else "",
        "question": "",
        "teach": "",
    }
    schema = _schema(seen.body)
    return json.dumps({name: fields[name] for name in schema.get("properties", fields) if name in fields})


def longest_words(text: str) -> list[str]:
    """The three longest words of a text that have four letters or more."""
    return sorted(set(re.findall(r"[^\W\d_]{4,}", text.lower())), key=lambda word: (-len(word), word))[:3]


def noted(text: str) -> Json:
    """One note, as a model writes it."""
    quote = text[:120]
    return {
        "quote": quote,
        "statement": f"The student wrote: {quote}",
        "about": "student",
        "kind": "event",
        "ledger": "none",
        "importance": 0.5,
        "links": [],
    }


def _schema(body: Json) -> Json:
    if body.get("response_format"):
        schema: Json = body["response_format"].get("json_schema", {}).get("schema", {})
    elif "text" in body:
        schema = body["text"].get("format", {}).get("schema", {})
    elif body.get("tools"):
        tool = body["tools"][0]
        schema = tool.get("function", tool).get("parameters", {})
    else:
        schema = {}
    return schema


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A language-model server that answers from what it is asked.")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between two streamed pieces")
    options = parser.parse_args()
    with llm_server(then=Act(delay=options.delay, pace=options.pace), port=options.port) as server:
        print(server.base_url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
