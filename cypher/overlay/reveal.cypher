// Put concepts of the institution's world into a student's overlay, whose version goes up; one that is there stays.
// No row without the student.
// mode: write
// scope: student
// params: institution: str, student_id: str, ids: list of str, now: datetime
// returns: known: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.overlay_version = coalesce(student.overlay_version, 0) + 1
WITH student
CALL (student) {
  UNWIND $ids AS id
  MATCH (concept:Concept {institution: $institution, id: id})
  MERGE (student)-[knows:KNOWS]->(concept)
  ON CREATE SET knows.attitude = 0.0, knows.familiarity = 0.0, knows.since = $now
  RETURN count(DISTINCT concept) AS known
}
RETURN known,
       [id IN $ids | {label: 'Concept', id: id, links: ['KNOWS']}] AS touched
