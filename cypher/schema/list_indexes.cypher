// Names of the indexes of this database; a constraint has an index of its name.
// mode: read
// scope: service
// params:
// returns: names: list of str
SHOW INDEXES YIELD name
RETURN collect(name) AS names
