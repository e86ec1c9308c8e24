// Number of a student's memories by modality, kind and domain, with their mean salience.
// mode: read
// scope: student
// params: institution: str, student_id: str
// returns: modality: str, kind: str, domain: str, memories: int, salience: float, consolidated: int
MATCH (memory:Memory {institution: $institution, student_id: $student_id}) WHERE memory.id IS NOT NULL
RETURN [label IN labels(memory) WHERE label <> 'Memory'][0] AS modality, memory.kind AS kind, memory.domain AS domain,
       count(memory) AS memories, avg(memory.salience) AS salience,
       count(CASE WHEN memory.consolidated THEN 1 END) AS consolidated
ORDER BY memories DESC, modality, kind, domain
