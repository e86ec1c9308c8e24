MATCH (node) WHERE NOT node:Concept AND NOT node:Usage RETURN node LIMIT 300
