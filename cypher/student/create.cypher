// Enrol a student with a companion; an existing student is left as it is. No row while somebody of this id is erased.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, student: map, companion: map
// returns: created: bool, touched: list of map
// The mark of an erasure is locked, so that none begins meanwhile.
MERGE (erasure:Erasure {institution: $institution, student_id: $student_id})
ON CREATE SET erasure.enrolling = true
WITH erasure WHERE erasure.enrolling
DELETE erasure
WITH count(*) AS free WHERE free > 0
MERGE (student:Student {institution: $institution, id: $student_id})
ON CREATE SET student += $student, student.student_id = $student_id, student.version = 0,
              student.turns = 0, student.facts = 0, student.memory_version = 0, student.memories_removed = 0, student.calls = 0,
              student.input_tokens = 0, student.output_tokens = 0, student.cost = 0.0
MERGE (companion:Companion {institution: $institution, student_id: $student_id})
ON CREATE SET companion += $companion
MERGE (companion)-[:ACCOMPANIES]->(student)
RETURN student.public_key = $student.public_key AS created,
       [{label: 'Student', id: 'student', made: true},
        {label: 'Companion', id: 'companion', made: true, links: ['ACCOMPANIES']}] AS touched
