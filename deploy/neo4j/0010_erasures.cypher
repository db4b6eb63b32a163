// What was forgotten stays forgotten; what stems from a conversation is found by it.
CREATE CONSTRAINT erasure_identity IF NOT EXISTS FOR (n:Erasure) REQUIRE (n.tenant_id, n.id) IS UNIQUE;
CREATE CONSTRAINT erasure_key IF NOT EXISTS FOR (n:Erasure) REQUIRE n.id IS UNIQUE;
CREATE INDEX claim_talk IF NOT EXISTS FOR (n:Claim) ON (n.tenant_id, n.conversation_id, n.client_id);
CREATE INDEX consulta_talk IF NOT EXISTS FOR (n:Consulta) ON (n.tenant_id, n.conversation_id, n.client_id);
CREATE INDEX audit_talk IF NOT EXISTS FOR (n:AuditEvent) ON (n.tenant_id, n.conversation_id, n.client_id);
