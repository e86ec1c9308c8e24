// The smallest read, the baseline of a benchmark.
// mode: read
// scope: service
// params:
// returns: one: int
RETURN 1 AS one
