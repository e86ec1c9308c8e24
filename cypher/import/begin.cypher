// Begin to import a student: nobody of this id can be enrolled meanwhile, and what is cut short is erased.
// `begun` is false, and nothing is written, where somebody of this id is enrolled, or erased or imported by others.
// mode: write
// scope: student
// params: institution: str, student_id: str, token: str, now: datetime
// returns: begun: bool, imported: str
MERGE (erasure:Erasure {institution: $institution, student_id: $student_id})
ON CREATE SET erasure.at = $now, erasure.token = $token, erasure.step = 0
WITH erasure
// Looked for while the mark is locked, which enrolling locks, too.
OPTIONAL MATCH (student:Student {institution: $institution, id: $student_id})
WITH erasure, student, student IS NULL AND erasure.token = $token AS begun
FOREACH (mark IN CASE WHEN NOT begun AND erasure.token = $token THEN [erasure] ELSE [] END | DELETE mark)
RETURN begun, student.imported AS imported
