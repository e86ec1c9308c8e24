// Link nodes to others, which are created where they are not known.
// mode: write, planned
// scope: student
// nodes: Memory-Entity, Memory-Question, Memory-Reflection, Student-Compression
// params: institution: str, student_id: str, rows: list
// returns: touched: list of map
UNWIND $rows AS row
MATCH (from:FROM)
USING INDEX from:FROM_INDEX
MERGE (to:TO)
ON CREATE SET to += row.made
MERGE (from)-[edge:$(row.type)]->(to)
ON CREATE SET edge += row.properties
RETURN collect(DISTINCT {label: 'TO_LABEL', id: row.to, made: true, links: [row.type]}) +
       collect(DISTINCT CASE 'FROM_LABEL' WHEN 'Memory' THEN {label: 'Memory', id: row.from, links: [row.type]} END) AS touched
