// How many copies there are.
MATCH (n:BenchCopy) RETURN count(n) AS copies
