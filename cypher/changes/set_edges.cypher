// Set properties of existing relationships between memories; null removes one.
// One end of each counts as written, so that others see it.
// mode: write
// scope: student
// params: institution: str, student_id: str, rows: list, written: int
// returns: touched: list of map
UNWIND $rows AS row
MATCH (from:Memory {institution: $institution, student_id: $student_id, id: row.from})
USING INDEX from:Memory(institution, student_id, id)
MATCH (to:Memory {institution: $institution, student_id: $student_id, id: row.to})
USING INDEX to:Memory(institution, student_id, id)
MATCH (from)-[edge:$(row.type)]->(to)
SET edge += row.properties, from.written = $written
RETURN collect(DISTINCT {label: 'Memory', id: row.from, links: [row.type]}) +
       collect(DISTINCT CASE row.type WHEN 'ABSTRACTS' THEN {label: 'Memory', id: row.to, links: [row.type]} END) AS touched
