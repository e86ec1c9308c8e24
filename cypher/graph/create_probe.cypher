// The least a durable write can be: one node, which a benchmark measures writes against.
// mode: write
// scope: service
// params: at: datetime
// returns:
CREATE (:Probe {at: $at})
