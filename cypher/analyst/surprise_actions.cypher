// Effects of a student's surprises, action by action: the newest of each level, the highest level first.
// mode: read
// scope: student
// params: institution: str, student_id: str, limit: int
// returns: level: str, episode: str, at: datetime, signal: float, turn: str, verdict: str, flashbulb: bool, members: list of str, lit: list of str, facts: list of str, beliefs: list of str, closed: list of map, linked: list of str, questions: list of map, reflections: list of map, procedures: list of str
UNWIND ['paradigm_shift', 'cognitive_dissonance', 'boundary', 'normal'] AS level
CALL (level) {
  MATCH (episode:Memory {institution: $institution, student_id: $student_id})
  WHERE episode.id IS NOT NULL AND episode.surprise_response IS NOT NULL AND episode.surprise_level = level
  RETURN episode ORDER BY episode.timestamp DESC, episode.id LIMIT $limit
}
MATCH (episode)-[:FORMED_FROM]->(source:Source)
WITH level, episode, source,
     COLLECT { MATCH (belief:Memory {role: 'belief'})-[:FORMED_FROM]->(source) WHERE belief.timestamp = source.at
               RETURN belief.id ORDER BY belief.id } AS beliefs
RETURN level, episode.id AS episode, episode.timestamp AS at, episode.surprise AS signal, source.ref AS turn,
       episode.verdict AS verdict, episode.flashbulb AS flashbulb,
       COLLECT { MATCH (episode)-[:ABSTRACTS]->(member:Memory) RETURN member.id ORDER BY member.timestamp, member.id } AS members,
       COLLECT { MATCH (lit:Memory)-[:FORMED_FROM]->(source) WHERE lit.flashbulb RETURN lit.id ORDER BY lit.id } AS lit,
       COLLECT { MATCH (fact:Fact {origin: 'surprise'})-[:FORMED_FROM]->(source)
                 RETURN fact.id ORDER BY fact.seq } AS facts,
       beliefs,
       // What was known already can take a belief's place, so the moment it was closed counts as well as the new id.
       COLLECT { MATCH (prior:Memory {institution: $institution, student_id: $student_id})-[edge:TEMPORAL_EVOLUTION|REFINES]-(new:Memory)
                 USING INDEX prior:Memory(institution, student_id, id)
                 WHERE prior.id IS NOT NULL AND CASE type(edge) WHEN 'REFINES' THEN startNode(edge) ELSE endNode(edge) END = new
                   AND (prior.invalid_at = source.at OR new.id IN beliefs)
                 WITH prior, edge, new ORDER BY prior.id, new.id
                 RETURN {prior: prior.id, edge: type(edge), new: new.id, holds: new.invalid_at IS NULL} } AS closed,
       COLLECT { MATCH (episode)-[:REMINDS_OF]->(linked:Memory) RETURN linked.id ORDER BY linked.id } AS linked,
       COLLECT { MATCH (source)<-[:FORMED_FROM]-(:Memory)-[:RAISES]->(question:Question) WITH DISTINCT question ORDER BY question.id
                 RETURN {id: question.id, state: question.state} } AS questions,
       COLLECT { MATCH (episode)-[:RAISES]->(reflection:Reflection) WITH reflection ORDER BY reflection.id
                 RETURN {id: reflection.id, state: reflection.state} } AS reflections,
       COLLECT { MATCH (procedure:Memory {role: 'procedure'})-[:FORMED_FROM]->(source)
                 RETURN procedure.id ORDER BY procedure.id } AS procedures
