"""A class: enrol students from a list, note a teacher's observations, and see how everybody gets on.

graphmem serve
export API=http://127.0.0.1:8000
export ADMIN_TOKEN=$(graphmem token --role admin) TEACHER_TOKEN=$(graphmem token --role teacher)
python examples/classroom.py class.csv observations.csv passwords.csv

class.csv: student_id,display_name,time_zone; observations.csv: student_id,at,text. The passwords of new students are
written to the third file, for cards to be cut out; nobody can open a student without. Both lists may be given again,
longer.
"""

import csv
import os
import secrets
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from graphmem_client import Client
from graphmem_client.errors import Conflict, GraphmemError
from graphmem_client.generated import ObservationInput, SourceKind

AT_A_TIME = 100


def rows(file: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a list."""
    with Path(file).open(encoding="utf-8-sig", newline="") as source:
        yield from csv.DictReader(source)


def enrol(admin: Client, students: str, passwords: str) -> int:
    """Enrol who is not yet; each password is on disk before it is needed. Return how many were new."""
    new = 0
    Path(passwords).touch(mode=0o600)
    with Path(passwords).open("a", encoding="utf-8") as cards:
        for row in rows(students):
            if admin.student(row["student_id"]) is not None:
                continue
            password = secrets.token_urlsafe(9)
            print(row["student_id"], password, sep=",", file=cards, flush=True)
            try:
                zone = row.get("time_zone") or None
                admin.enrol_student(row["student_id"], password, row.get("display_name") or None, zone)
                new += 1
            except Conflict:
                print(f"{row['student_id']} was enrolled meanwhile: the last line of {passwords} is void.")
    return new


def note(teacher: Client, observations: str) -> int:
    """Note what the teacher has seen; the same row again changes nothing. Return how many rows there are."""
    noted = defaultdict[str, list[ObservationInput]](list)
    for row in rows(observations):
        at, ref = datetime.fromisoformat(row["at"]), f"{row['at']} {row['text']}"[:128]
        noted[row["student_id"]].append(ObservationInput(kind=SourceKind.TEACHER, ref=ref, text=row["text"], at=at))
    for student_id, seen in noted.items():
        for start in range(0, len(seen), AT_A_TIME):
            teacher.observe(student_id, seen[start : start + AT_A_TIME])
    return sum(map(len, noted.values()))


def main(students: str, observations: str, passwords: str) -> None:
    """Bring in a class."""
    api = os.environ["API"]
    with Client(api, os.environ["ADMIN_TOKEN"]) as admin, Client(api, os.environ["TEACHER_TOKEN"]) as teacher:
        new, seen = enrol(admin, students, passwords), note(teacher, observations)
        print(f"{new} students are new; {seen} observations noted.")
        for row in rows(students):
            known = teacher.progress(row["student_id"])
            well = sum(each.familiarity > 0.6 for each in known)
            print(f"{row['student_id']}: {len(known)} concepts met, {well} well")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except GraphmemError as refused:
        raise SystemExit(f"{refused.code}: {refused}") from refused
