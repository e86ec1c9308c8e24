// Enrol a student of whom everything else is imported, with keys, relationships and overlay; only now can it be opened.
// No row, and nothing written, where somebody else erases or imports the student by now.
// mode: write
// scope: student
// params: institution: str, student_id: str, token: str, step: int, student: map, outgoing: list, incoming: list, overlay: list, discovered: list
// returns: known: int, discovered: int
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
WHERE erasure.token = $token
// Writing the mark locks it.
SET erasure.step = erasure.step + 1
WITH erasure WHERE erasure.step = $step
CREATE (student:Student {institution: $institution, id: $student_id})
SET student += $student, student.student_id = $student_id
WITH erasure, student
CALL (student) {
  UNWIND $outgoing AS each
  MATCH (to) WHERE elementId(to) = each.element AND to.institution = $institution AND to.student_id = $student_id
  CREATE (student)-[edge:$(each.type)]->(to)
  SET edge += each.properties
}
CALL (student) {
  UNWIND $incoming AS each
  MATCH (from) WHERE elementId(from) = each.element AND from.institution = $institution AND from.student_id = $student_id
  CREATE (from)-[edge:$(each.type)]->(student)
  SET edge += each.properties
}
CALL (student) {
  UNWIND $overlay AS held
  MATCH (concept:Concept {institution: $institution, id: held.concept})
  CREATE (student)-[knows:KNOWS]->(concept)
  SET knows += held.properties
  RETURN count(knows) AS known
}
CALL (student) {
  MATCH (student)-[:KNOWS]->(from:Concept)-[edge:PREREQUISITE_OF|PART_OF|RELATED_TO]->(to:Concept)<-[:KNOWS]-(student)
  UNWIND [found IN $discovered WHERE found.edge_id = edge.id] AS found
  MERGE (from)-[discovered:DISCOVERED {institution: $institution, student_id: $student_id, edge_id: edge.id}]->(to)
  ON CREATE SET discovered.since = found.since
  RETURN count(discovered) AS discovered
}
DELETE erasure
RETURN known, discovered
