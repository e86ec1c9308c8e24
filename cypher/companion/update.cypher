// Change a companion's name, persona and expertise; nothing where it was changed meanwhile.
// The student's version counts up, so that what a process holds of the student is read anew.
// mode: write
// scope: student
// params: institution: str, student_id: str, old_persona: bytes, persona: bytes, expertise: list of str
// returns: version: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.version = student.version + 1
WITH student
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
WHERE companion.persona = $old_persona
SET companion.persona = $persona, companion.expertise = $expertise
RETURN student.version AS version,
       [{label: 'Companion', id: 'companion', set: ['persona', 'expertise']}] AS touched
