// The words by which concepts, definitions and processes are found.
CREATE CONSTRAINT term_identity IF NOT EXISTS FOR (n:Term) REQUIRE (n.tenant_id, n.id) IS UNIQUE;
CREATE CONSTRAINT term_merge_key IF NOT EXISTS FOR (n:Term) REQUIRE n.id IS UNIQUE;
