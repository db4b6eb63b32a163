// What was decided or said about one thing, newest first: who a user was at a time, what became of a pack.
CREATE INDEX audit_subject IF NOT EXISTS FOR (n:AuditEvent) ON (n.tenant_id, n.subject_id, n.created_at);
