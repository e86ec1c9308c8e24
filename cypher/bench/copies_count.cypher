MATCH (n:BenchCopy) RETURN count(n) AS copies
