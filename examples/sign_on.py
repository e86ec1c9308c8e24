"""Single sign-on: a random secret per student, wrapped by a key service. docs/sign_on.md says why.

graphmem serve
export API=http://127.0.0.1:8000 ADMIN_TOKEN=$(graphmem token --role admin) APP_TOKEN=$(graphmem token --role app)
export WRAPPING_KEY=$(openssl rand -hex 32)
python examples/sign_on.py
"""

import contextlib
import os
import secrets
import sqlite3
import urllib.parse
import uuid

from nacl.secret import Aead

from graphmem import Client, GraphmemError
from graphmem.errors import Conflict, Locked

TAKE_NEXT = "UPDATE students SET secret = next_secret, next_secret = NULL WHERE subject = ?"


class KeyService:
    """Stands for the app's key service: there the key never leaves it, and each call is logged."""

    def __init__(self, key: bytes) -> None:
        self._box = Aead(key)

    def wrap(self, secret: bytes, student_id: str) -> bytes:
        """Encrypt a secret; it opens for this student only."""
        return bytes(self._box.encrypt(secret, student_id.encode()))

    def unwrap(self, wrapped: bytes, student_id: str) -> bytes:
        """Decrypt a secret."""
        return bytes(self._box.decrypt(wrapped, student_id.encode()))


class SignOn:
    """Opens the session of whoever the single sign-on says is there."""

    def __init__(self, database: sqlite3.Connection, keys: KeyService, admin: Client, app: Client) -> None:
        self._database, self._keys, self._admin, self._app = database, keys, admin, app
        database.execute(
            "CREATE TABLE IF NOT EXISTS students"
            " (subject TEXT PRIMARY KEY, student_id TEXT, secret BLOB, next_secret BLOB, enrolled INTEGER DEFAULT 0)"
        )

    def opened(self, subject: str) -> str:
        """Open a session of the student of an account, enrolled at the first sign-on; the student's id in graphmem."""
        student_id, wrapped, waiting, enrolled = self._account(subject)
        if not enrolled:
            # Enrolled already, where an earlier sign-on was cut short just after it.
            with contextlib.suppress(Conflict):
                self._admin.enrol_student(student_id, self._password(wrapped, student_id))
            self._run("UPDATE students SET enrolled = 1 WHERE subject = ?", subject)
        try:
            self._app.open_session(student_id, self._password(wrapped, student_id))
        except Locked:
            if waiting is None:
                raise
            # A change of the secret was cut short after graphmem had taken the new one.
            self._app.open_session(student_id, self._password(waiting, student_id))
            self._run(TAKE_NEXT, subject)
        return student_id

    def page(self, api: str, student_id: str) -> str:
        """A link to the page for people, for an hour: what is remembered of a student whose session is open here."""
        token = self._app.make_student_token(student_id)
        given = {"code": token, "student": student_id, "session": self._app.sessions[student_id]}
        return f"{api}/#{urllib.parse.urlencode(given)}"

    def change_secret(self, subject: str) -> None:
        """Give a student another secret; sessions on other devices end."""
        student_id = self.opened(subject)
        new = self._keys.wrap(secrets.token_bytes(32), student_id)
        self._run("UPDATE students SET next_secret = ? WHERE subject = ?", new, subject)
        old = self._account(subject)[1]
        self._app.change_password(
            student_id, self._password(old, student_id), self._password(new, student_id), end_sessions=True
        )
        self._run(TAKE_NEXT, subject)

    def erased(self, subject: str) -> None:
        """Erase a student: in graphmem with all that is kept, and here with the secret."""
        self._admin.erase_student(self._account(subject)[0])
        self._run("DELETE FROM students WHERE subject = ?", subject)

    def _account(self, subject: str) -> tuple[str, bytes, bytes | None, int]:
        """Id and wrapped secrets of an account; made and stored before anybody relies on them."""
        student_id = uuid.uuid4().hex
        wrapped = self._keys.wrap(secrets.token_bytes(32), student_id)
        insert = "INSERT OR IGNORE INTO students (subject, student_id, secret) VALUES (?, ?, ?)"
        self._run(insert, subject, student_id, wrapped)
        select = "SELECT student_id, secret, next_secret, enrolled FROM students WHERE subject = ?"
        found: tuple[str, bytes, bytes | None, int] = self._database.execute(select, (subject,)).fetchone()
        return found

    def _password(self, wrapped: bytes, student_id: str) -> str:
        return self._keys.unwrap(wrapped, student_id).hex()

    def _run(self, statement: str, *values: str | bytes) -> None:
        with self._database:
            self._database.execute(statement, values)


def main() -> None:
    """One student signs on, says something and signs off; another device of the same account remembers it."""
    keys, database = KeyService(bytes.fromhex(os.environ["WRAPPING_KEY"])), sqlite3.connect("accounts.sqlite")
    api, admin_token, app_token = (os.environ[name] for name in ("API", "ADMIN_TOKEN", "APP_TOKEN"))
    with Client(api, admin_token) as admin, Client(api, app_token) as phone, Client(api, app_token) as tablet:
        student = SignOn(database, keys, admin, phone).opened("subject-of-the-account")
        phone.handle_turn(student, "t1", "My dog Bello ate my homework on fractions!")
        SignOn(database, keys, admin, tablet).opened("subject-of-the-account")
        print(SignOn(database, keys, admin, tablet).page(api, student))
        phone.close_session(student)
        print(tablet.context(student, "How is the dog?").prompt)
        tablet.close_session(student)


if __name__ == "__main__":
    try:
        main()
    except GraphmemError as refused:
        raise SystemExit(f"{refused.code}: {refused}") from refused
