// What a document contains, of which a new version retires what it no longer has.
CREATE INDEX chunk_document IF NOT EXISTS FOR (n:Chunk) ON (n.tenant_id, n.document_id);
CREATE INDEX knowledge_document IF NOT EXISTS FOR (n:Knowledge) ON (n.tenant_id, n.document_id);
CREATE INDEX concept_document IF NOT EXISTS FOR (n:Concept) ON (n.tenant_id, n.document_id);
CREATE INDEX process_document IF NOT EXISTS FOR (n:Process) ON (n.tenant_id, n.document_id);
