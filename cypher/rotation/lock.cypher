// Lock a student while some values are sealed anew; the number of turns, which a prediction is sealed for.
// mode: write
// scope: student
// params: institution: str, student_id: str, now: datetime
// returns: turns: int
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, as every other write of its graph does.
SET student.jobs_at = coalesce(student.jobs_at, $now)
RETURN student.turns AS turns
