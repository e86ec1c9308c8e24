// Number of an institution's nodes by label.
// mode: read
// scope: institution
// params: institution: str
// returns: label: str, nodes: int
UNWIND ['Student', 'Companion', 'OpenSession', 'Turn', 'Fact', 'Memory', 'Entity', 'LedgerEntry', 'Source', 'Job'] AS label
CALL (label) {
  MATCH (n:$(label))
  WHERE n.institution = $institution
  RETURN count(n) AS nodes
}
RETURN label, nodes
