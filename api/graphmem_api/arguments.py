"""Arguments that several operations have.

Parameters
----------
student_id : Id of the student within the institution, 1 to 128 characters.
first : Most items of the page, 1 to 200.
after : Where the page begins: `next` of the page before; null: the first page.
as_of : Answer with what was known at that moment (UTC); null: now.
text : What the student said, 1 to 32,000 characters.
turn_id : Id of the message, 1 to 128 characters; the same id and text again give the same answer and change nothing,
    another text gives CONFLICT.
at : When it was said (UTC), at most 300 s in the future; null: now.
task : The exercise or lesson the talk is about, at most 32,000 characters; kept for the session until another is given,
    never remembered as the student's words; null: as before, empty: none any more.
opener : What the tutor said before this message and graphmem has not seen, 1 to 32,000 characters.
used : Ids of the memories that the app's own reply was built on, at most 100: they count as used.
reply : The app's own reply, 1 to 32,000 characters; null: graphmem replies.
name : How the companion is called, 1 to 100 characters; null: as it is.
persona : Who the companion is and how it speaks, 1 to 2,000 characters; null: as it is.
expertise : Names or ids of concepts it knows best, at most 50; they count in importance; null: as they are.
"""

import sys

import strawberry

from graphmem.docstrings import parameters_of

ID = strawberry.ID
NONE_USED: list[ID] = []
COMMON_ARGUMENTS = parameters_of(sys.modules[__name__])
"""Descriptions of these arguments, where an operation has no other one of the same name."""
