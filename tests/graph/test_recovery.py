"""A recovery key that an institution may choose: without it there is no copy of any student's key (spec 14)."""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest
from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.commands.students import make_recovery_key, read_recovery_key
from graphmem.errors import Conflict, Forbidden, InvalidInput, Locked
from graphmem.flows import students
from graphmem.flows.students import recover_student, verify_integrity
from graphmem.flows.transfer import export_student, export_text, import_student
from graphmem.jobs.runner import run_jobs
from graphmem.model import Role, Session, Who
from tests.conftest import BOTH_FORMS, PASSWORD, Enrol, Pupil, another_replica, say
from tests.support.client import Client, Refused
from tests.support.remembering import asked, held, nodes
from tests.support.tampering import by_hand, noticed

SECRET, PUBLIC = sealing.new_recovery_key()
NEW_PASSWORD = "quite another password"


def text_of(key: bytes) -> str:
    return urlsafe_b64encode(key).decode()


def choosing(gm: Graphmem, institution: str, public: bytes = PUBLIC) -> Graphmem:
    """A process whose settings name a recovery key of an institution."""
    settings = gm.settings.model_copy(update={"recovery_keys": {institution: public}})
    return another_replica(gm, settings=settings)


async def enrolled(gm: Graphmem, institution: str) -> Pupil:
    who = Who(institution, "bea")
    await students.enrol(gm, who, PASSWORD, "Name of bea")
    return await again(gm, who, PASSWORD)


async def again(gm: Graphmem, who: Who, password: str) -> Pupil:
    token, session = await students.open_session(gm, who, password)
    return Pupil(who, password, session, token)


async def everything(gm: Graphmem, who: Who) -> list[dict[str, Any]]:
    return await asked(gm, who, "MATCH (n {institution: $i, student_id: $s}) RETURN properties(n) AS p")


def openable(rows: list[dict[str, Any]]) -> list[str]:
    """Names of properties, of whatever node, that the recovery key opens."""
    box, found = SealedBox(PrivateKey(SECRET)), []
    for row in rows:
        for name, value in row["p"].items():
            if isinstance(value, bytes | bytearray):
                try:
                    box.decrypt(bytes(value))
                    found.append(name)
                except CryptoError:
                    continue
    return found


async def test_without_the_setting_there_is_no_copy_anywhere(gm: Graphmem, ann: Pupil) -> None:
    await say(gm, ann, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(gm, ann.session)
    await students.change_password(gm, ann.who, PASSWORD, NEW_PASSWORD)
    await students.rotate_key(gm, ann.who, NEW_PASSWORD, end_sessions=True)
    rows = await everything(gm, ann.who)
    assert all("recovery_copy" not in row["p"] for row in rows)
    assert openable(rows) == []
    # With it, afterwards, there is one, which shows that the above would find it.
    ours = choosing(gm, ann.who.institution)
    await students.change_password(ours, ann.who, NEW_PASSWORD, PASSWORD)
    assert openable(await everything(gm, ann.who)) == ["recovery_copy"]
    # And with the next change after the setting was taken away it is gone.
    await students.change_password(gm, ann.who, PASSWORD, NEW_PASSWORD)
    assert openable(await everything(gm, ann.who)) == []
    assert (await verify_integrity(gm, ann.who)).intact


@BOTH_FORMS
async def test_a_new_password_is_set_and_nothing_is_forgotten(gm: Graphmem, institution: str) -> None:
    ours = choosing(gm, institution)
    bea = await enrolled(ours, institution)
    await say(ours, bea, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(ours, bea.session)
    before = [memory.content for memory in await held(ours, bea.session)]
    student = await recover_student(ours, bea.who, SECRET, NEW_PASSWORD)
    assert len(student.recoveries) == 1
    with pytest.raises(Locked):
        await export_student(ours, bea.session)
    with pytest.raises(Locked):
        await again(ours, bea.who, PASSWORD)
    later = await again(ours, bea.who, NEW_PASSWORD)
    assert [memory.content for memory in await held(ours, later.session)] == before
    assert (await verify_integrity(ours, bea.who)).intact
    # It can be done again, and the mark of each time stays.
    await recover_student(ours, bea.who, SECRET, PASSWORD)
    later = await again(ours, bea.who, PASSWORD)
    found = await students.find_student(ours, bea.who)
    assert found is not None
    assert found.recoveries[0] == student.recoveries[0] < found.recoveries[1]
    # Who takes a mark away by hand is noticed.
    await by_hand(gm, bea.who, "MATCH (a:Student {institution: $i, id: $s}) REMOVE a.recoveries")
    assert [each for each in (await verify_integrity(ours, bea.who)).fields if "recoveries" in each]


async def test_after_a_rotation_and_in_an_imported_student_the_recovery_key_opens_too(
    gm: Graphmem, institution: str
) -> None:
    ours = choosing(gm, institution)
    bea = await enrolled(ours, institution)
    await say(ours, bea, "My sister Ottilie hides marmalade in Lisbon.")
    await run_jobs(ours, bea.session)
    text = await export_text(ours, bea.session)
    carl = replace(bea.who, student_id="carl")
    await import_student(ours, carl, PASSWORD, text)
    await students.rotate_key(ours, bea.who, PASSWORD, session=bea.session)
    for who in (bea.who, carl):
        await recover_student(ours, who, SECRET, NEW_PASSWORD)
        session: Session = (await again(ours, who, NEW_PASSWORD)).session
        assert any("Ottilie" in str(memory.content) for memory in await held(ours, session))


async def test_what_is_not_the_recovery_key_changes_nothing(gm: Graphmem, enrol: Enrol, institution: str) -> None:
    ann = await enrol("ann")
    ours = choosing(gm, institution)
    other, _ = sealing.new_recovery_key()
    before = await everything(gm, ann.who)
    with pytest.raises(Forbidden, match="chosen no"):
        await recover_student(gm, ann.who, SECRET, NEW_PASSWORD)
    with pytest.raises(Forbidden, match="not the recovery key"):
        await recover_student(ours, ann.who, other, NEW_PASSWORD)
    # Enrolled before the setting: there is no copy.
    with pytest.raises(Conflict, match="never wrapped"):
        await recover_student(ours, ann.who, SECRET, NEW_PASSWORD)
    assert await everything(gm, ann.who) == before
    assert (await say(gm, ann, "I like trains.")).reply


async def test_a_copy_of_somebody_else_or_altered_is_refused(gm: Graphmem, institution: str) -> None:
    ours = choosing(gm, institution)
    bea = await enrolled(ours, institution)
    carl = Who(institution, "carl")
    await students.enrol(ours, carl, PASSWORD)
    (theirs,) = await nodes(ours, carl, "Student")
    for copy in (bytes(theirs["recovery_copy"]), b"\x07" * 200):
        await by_hand(gm, bea.who, "MATCH (a:Student {institution: $i, id: $s}) SET a.recovery_copy = $j", j=copy)
        with pytest.raises(Conflict, match="altered"):
            await recover_student(ours, bea.who, SECRET, NEW_PASSWORD)
    assert ("Student", "student", "recovery_copy") in await noticed(gm, bea.who)
    assert (await again(ours, bea.who, PASSWORD)).session


async def test_over_graphql_only_an_admin_with_the_key(
    gm: Graphmem,
    institution: str,
    http: httpx.AsyncClient,
    bearer: Callable[[Role], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(gm.settings.recovery_keys, institution, PUBLIC)
    bea = await enrolled(gm, institution)
    ask = """mutation($k: String!) {
               recoverStudent(studentId: "bea", recoveryKey: $k, password: "quite another password")
               { id recoveries displayName } }"""
    for role in (Role.APP, Role.TEACHER, Role.AUDITOR, Role.ANALYST):
        with pytest.raises(Refused) as refused:
            await Client(http, bearer(role), bea.token).call(ask, k=text_of(SECRET))
        assert refused.value.code == "FORBIDDEN"
    admin = Client(http, bearer(Role.ADMIN))
    for key, code in ((text_of(bytes(32)), "FORBIDDEN"), ("x", "INVALID_INPUT")):
        with pytest.raises(Refused) as refused:
            await admin.call(ask, k=key)
        assert refused.value.code == code
    assert (await again(gm, bea.who, PASSWORD)).session
    done = await admin.call(ask, k=text_of(SECRET))
    assert (done["id"], len(done["recoveries"]), done["displayName"]) == ("bea", 1, None)
    assert (await again(gm, bea.who, NEW_PASSWORD)).session
    told = await Client(http, bearer(Role.AUDITOR)).call('{ student(id: "bea") { recoveries } }')
    assert told["recoveries"] == done["recoveries"]


def test_any_three_of_five_shares_make_the_key_and_two_do_not(tmp_path: Path) -> None:
    public, files = make_recovery_key(tmp_path / "keys", 5, 3)
    assert len(files) == 5
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    for some in combinations(files, 3):
        assert text_of(sealing.public_recovery_key(read_recovery_key(some))) == public
    for few in combinations(files, 2):
        with pytest.raises(InvalidInput):
            read_recovery_key(few)
    _, others = make_recovery_key(tmp_path / "others", 5, 3)
    with pytest.raises(InvalidInput):
        read_recovery_key([*files[:2], others[2]])
    with pytest.raises(InvalidInput, match="already"):
        make_recovery_key(tmp_path / "keys", 5, 3)
    for shares, needed in ((3, 1), (2, 3), (17, 2)):
        with pytest.raises(InvalidInput):
            make_recovery_key(tmp_path / "none", shares, needed)


def test_a_whole_key_is_one_file(tmp_path: Path) -> None:
    public, (file,) = make_recovery_key(tmp_path, 1, 1)
    assert text_of(sealing.public_recovery_key(read_recovery_key([file]))) == public
    file.write_text("x")
    with pytest.raises(InvalidInput):
        read_recovery_key([file])
