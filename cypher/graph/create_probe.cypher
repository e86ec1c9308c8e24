// The smallest durable write: one node, the baseline of a benchmark.
// mode: write
// scope: service
// params: at: datetime
// returns:
CREATE (:Probe {at: $at})
