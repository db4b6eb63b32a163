// Consultations whose questions may be one question in other words, newest first.
CREATE INDEX consulta_signature IF NOT EXISTS FOR (n:Consulta) ON (n.tenant_id, n.signature, n.created_at);
