// Sealed texts that may repeat a memory: questions, reflections, unfinished jobs, the prediction.
// No row when the session has ended.
// mode: read
// scope: student
// params: institution: str, student_id: str, session_id: str, now: datetime
// returns: version: int, turns: int, prediction: bytes, questions: list of [label: str, id: str, text: bytes], jobs: list of [id: str, kind: str, payload: bytes]
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (session:OpenSession {institution: $institution, student_id: $student_id, id: $session_id})
WHERE session.expires_at > $now
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
RETURN student.version AS version, student.turns AS turns, companion.prediction AS prediction,
       COLLECT { MATCH (question:Question {institution: $institution, student_id: $student_id})
                 WHERE question.id IS NOT NULL RETURN ['Question', question.id, question.text] AS told
                 UNION ALL
                 MATCH (reflection:Reflection {institution: $institution, student_id: $student_id})
                 WHERE reflection.id IS NOT NULL RETURN ['Reflection', reflection.id, reflection.text] AS told } AS questions,
       COLLECT { MATCH (job:Job {institution: $institution, student_id: $student_id})
                 WHERE job.id IS NOT NULL AND job.payload IS NOT NULL AND job.state <> 'done'
                 RETURN [job.id, job.kind, job.payload] } AS jobs
