// The ids of an institution's students.
// mode: read
// scope: institution
// params: institution: str
// returns: ids: list of str
MATCH (student:Student {institution: $institution})
WITH student.id AS id ORDER BY id
RETURN collect(id) AS ids
