// Set the sealed texts of memories that exist, and the payloads of jobs that are not done.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, jobs: list
// returns: memories: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
// A counted version tells every replica that what it holds is stale.
SET student.memory_version = student.memory_version + 1
WITH student
CALL () {
  UNWIND $jobs AS each
  MATCH (job:Job {institution: $institution, student_id: $student_id, id: each.id})
  WHERE job.payload IS NOT NULL
  SET job.payload = each.payload
}
CALL (student) {
  UNWIND $memories AS each
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: each.id})
  USING INDEX memory:Memory(institution, student_id, id)
  SET memory += each.properties, memory.written = student.memory_version
  RETURN count(memory) AS memories
}
RETURN memories,
       [each IN $memories | {label: 'Memory', id: each.id, set: keys(each.properties)}] AS touched
