"""The guide and the style sheet for Neo4j Browser, given out to a browser on this machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from graphmem.store import queries


def browser_guide(institution: str, student_id: str) -> str:
    """The guide as Neo4j Browser plays it, about one student.

    Examples
    --------
    >>> 'student_id: "ada"' in browser_guide("school", "ada")
    True
    """
    text = (queries.CYPHER / "browser" / "guide.html").read_text("utf-8")
    for name, value in (("INSTITUTION", institution), ("STUDENT", student_id)):
        text = text.replace(f'"{name}"', escape(json.dumps(value), quote=False))
    return text


@contextmanager
def served_guide(institution: str, student_id: str) -> Iterator[str]:
    """The address under which this machine gives out `guide.html` and `style.grass` meanwhile.

    Neo4j Browser takes guides from `localhost` without being told to, by that name only.
    """
    style = (queries.CYPHER / "browser" / "style.grass").read_text("utf-8")
    files = {"/guide.html": browser_guide(institution, student_id), "/style.grass": style}

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = files.get(self.path.partition("?")[0])
            body = b"" if text is None else text.encode()
            self.send_response(HTTPStatus.NOT_FOUND if text is None else HTTPStatus.OK)
            self.send_header("Content-Type", "text/html; charset=utf-8" if "guide" in self.path else "text/plain")
            # Browser is served from another port, which makes it another origin.
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Called for each request; nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
