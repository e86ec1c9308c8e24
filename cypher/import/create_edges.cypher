// Create some relationships between nodes of a student who is being imported, and to concepts of the world.
// No row, and nothing written, where this step was done before, or somebody else erases or imports the student by now.
// mode: write
// scope: student
// params: institution: str, student_id: str, token: str, step: int, edges: list, links: list, now: datetime
// returns: edges: int, links: int
MATCH (erasure:Erasure {institution: $institution, student_id: $student_id})
WHERE erasure.token = $token
SET erasure.at = $now
WITH erasure WHERE erasure.step = $step - 1
SET erasure.step = $step
WITH erasure
CALL () {
  UNWIND $edges AS each
  MATCH (from) WHERE elementId(from) = each.start
  MATCH (to) WHERE elementId(to) = each.end
    AND from.institution = $institution AND from.student_id = $student_id
    AND to.institution = $institution AND to.student_id = $student_id
  CREATE (from)-[edge:$(each.type)]->(to)
  SET edge += each.properties
  RETURN count(edge) AS edges
}
CALL () {
  UNWIND $links AS each
  MATCH (from) WHERE elementId(from) = each.start AND from.institution = $institution AND from.student_id = $student_id
  MATCH (concept:Concept {institution: $institution, id: each.concept})
  CREATE (from)-[link:$(each.type)]->(concept)
  SET link += each.properties
  RETURN count(link) AS links
}
RETURN edges, links
