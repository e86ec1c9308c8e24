// Version and edition of the server, and the clock it goes by.
// mode: read
// scope: service
// params:
// returns: version: str, edition: str
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
