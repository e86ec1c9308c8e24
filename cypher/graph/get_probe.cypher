// The least a read can be: what a benchmark measures reads against.
// mode: read
// scope: service
// params:
// returns: one: int
RETURN 1 AS one
