// The documents of a tenant, the newest first.
CREATE INDEX document_time IF NOT EXISTS FOR (n:Document) ON (n.tenant_id, n.recorded_at);
