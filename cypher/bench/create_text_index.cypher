// Words, searched by Neo4j, stemmed as English.
CREATE FULLTEXT INDEX bench_copy_by_words IF NOT EXISTS FOR (n:BenchCopy) ON EACH [n.content]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
