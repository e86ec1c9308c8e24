// Note sealed values that do not open, each once; a row for each that is new.
// A message among them waits for its reply no longer.
// mode: write
// scope: student
// params: institution: str, student_id: str, values: list, now: datetime
// returns: label: str, node_id: str, field: str
MATCH (:Student {institution: $institution, id: $student_id})
UNWIND $values AS value
MERGE (noticed:TamperedValue {institution: $institution, student_id: $student_id, label: value.label,
                              node_id: value.node_id, field: value.field})
ON CREATE SET noticed.at = $now
WITH value, noticed
CALL (value) {
  MATCH (turn:Turn {institution: $institution, student_id: $student_id, id: value.node_id})
  WHERE value.label = 'Turn' AND turn.state = 'received'
  SET turn.state = 'tampered'
}
WITH value, noticed WHERE noticed.at = $now
RETURN value.label AS label, value.node_id AS node_id, value.field AS field
