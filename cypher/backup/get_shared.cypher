// Some nodes that are no student's, by their element ids, each with the relationships that lead from it to others.
// mode: read
// scope: service
// params: elements: list of str
// returns: element: str, labels: list of str, properties: map, edges: list of [end: str, type: str, properties: map]
UNWIND $elements AS element
MATCH (node) WHERE elementId(node) = element AND node.student_id IS NULL
RETURN element, labels(node) AS labels, properties(node) AS properties,
       COLLECT { MATCH (node)-[edge]->(to) WHERE to.student_id IS NULL AND edge.student_id IS NULL
                 RETURN [elementId(to), type(edge), properties(edge)] } AS edges
