"""Values that try to be part of a query: for Cypher, Lucene, Redis and Lua, Qdrant's filters, and what parses them."""

from itertools import product

CYPHER = (
    "x' OR 1=1 //", 'x" OR "1"="1', "x'}) DETACH DELETE n //", 'x"}) DETACH DELETE n //', "`) DETACH DELETE n //",
    "Claim`) MATCH (m) DETACH DELETE m //", "n:Claim|Message", "]->(m) DETACH DELETE m //",
    "CONTRADICTS]-() RETURN 1 //",
    "x' RETURN 1 UNION MATCH (n) RETURN n //", "x'; MATCH (n) DETACH DELETE n;", "$tenant", "$tenants[0]",
    "r.tenant_id",
    "{tenant_id: 'beta'}", "x\\' OR true //", "x\\u0027 OR true //", "\\u0060) //", "/* x */", "x // y",
    "x */ OR true /*",
    "CALL db.labels()", "CALL { MATCH (n) DETACH DELETE n }", "LOAD CSV FROM 'file:///etc/passwd' AS x", "apoc.load",
    "x' SET n.tenant_id = 'beta' //", "x' CREATE (:Claim) //", "${jndi:ldap://127.0.0.1/x}", "toString(1)", "NULL",
    "null",
)  # fmt: skip
LUCENE = (
    "*:*", "tenant_id:beta", "x AND y", "x OR *", "NOT x", "+x -y", "x~2", "x^9", '"x y"~5', "[a TO z]", "{a TO z}",
    "(x",
    "x)", "x\\", "?*", "/x.*/", "&& ||", "!x", "x:y:z",
)  # fmt: skip
REDIS = (
    "x:turns", "x:*", "[a-z]*", "?", "{x}", "}x{", "x\r\nFLUSHALL\r\n", "*1\r\n$8\r\nFLUSHALL\r\n", "x\x00y", "%3A",
    "%7C",
    "KEYS *", "redis.call('FLUSHALL')", "'..redis.call('FLUSHALL')..'", "]] return 1 --", "ARGV[1]", "KEYS[1]",
)  # fmt: skip
QDRANT = (
    '{"any": ["beta"]}', '{"must": []}', '"}],"must":[{"key":"tenant_id","match":{"value":"beta"}}]', "tenant_id",
    "user_id[].x", "a.b.c", '{"key": "tenant_id"}', "is_empty", "0", "-1", "1e999", "true",
)  # fmt: skip
BEFORE = ("", "ana", "ç\u0301", "\U0001f600 ", "a|b", "%", " ")
AFTER = ("", " ", "\n", "'", '"', "`", "\\", "\u2028", "*/")


def payloads() -> list[str]:
    """All of them, alone and between other characters; each differs from all others."""
    core = (*CYPHER, *LUCENE, *REDIS, *QDRANT)
    return list(dict.fromkeys(f"{before}{text}{after}" for before, text, after in product(BEFORE, core, AFTER)))
