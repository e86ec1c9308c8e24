// Create some relationships between nodes of a student who is being imported, and to concepts of the world.
// mode: write
// scope: student
// params: institution: str, student_id: str, edges: list, links: list
// returns: created: int
CALL () {
  UNWIND $edges AS each
  MATCH (from) WHERE elementId(from) = each.start AND from.institution = $institution AND from.student_id = $student_id
  MATCH (to) WHERE elementId(to) = each.end AND to.institution = $institution AND to.student_id = $student_id
  CREATE (from)-[edge:$(each.type)]->(to)
  SET edge += each.properties
  RETURN count(edge) AS edges
}
CALL () {
  UNWIND $links AS each
  MATCH (from) WHERE elementId(from) = each.start AND from.institution = $institution AND from.student_id = $student_id
  MATCH (concept:Concept {institution: $institution, id: each.end})
  CREATE (from)-[link:$(each.type)]->(concept)
  SET link += each.properties
  RETURN count(link) AS links
}
RETURN edges + links AS created
