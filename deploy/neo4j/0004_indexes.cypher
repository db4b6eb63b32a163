// The two of the cognitive schema, with their fixed names.
CREATE INDEX tema_nome IF NOT EXISTS FOR (t:Tema) ON (t.nome);
CREATE INDEX consulta_tenant IF NOT EXISTS FOR (c:Consulta) ON (c.tenant_id);
// Messages of a frame in order; decisions of a message, and of a period.
CREATE INDEX message_conv IF NOT EXISTS FOR (m:Message) ON (m.tenant_id, m.frame_id, m.seq);
CREATE INDEX decision_msg IF NOT EXISTS FOR (d:CDCDecision) ON (d.tenant_id, d.message_id);
CREATE INDEX decision_time IF NOT EXISTS FOR (d:CDCDecision) ON (d.tenant_id, d.created_at);
// Claims by status, by subject and attribute, of a conversation, about a subject in any spelling.
CREATE INDEX claim_topic IF NOT EXISTS FOR (c:Claim) ON (c.tenant_id, c.conversation_id, c.status);
CREATE INDEX claim_subject IF NOT EXISTS FOR (c:Claim) ON (c.tenant_id, c.subject, c.attribute);
CREATE INDEX claim_conversation IF NOT EXISTS FOR (c:Claim) ON (c.tenant_id, c.conversation_id, c.created_at);
CREATE INDEX claim_subject_key IF NOT EXISTS FOR (c:Claim) ON (c.tenant_id, c.subject_key, c.created_at);
// Summaries of a conversation and of a user, newest first.
CREATE INDEX summary_conv IF NOT EXISTS FOR (s:ConversationSummary) ON (s.tenant_id, s.conversation_id, s.recency);
CREATE INDEX summary_user IF NOT EXISTS FOR (s:ConversationSummary) ON (s.tenant_id, s.user_id, s.recency);
// Knowledge by class; knowledge, concepts and processes of a tenant as of a time; what shares a name.
CREATE INDEX knowledge_class IF NOT EXISTS FOR (k:Knowledge) ON (k.tenant_id, k.memory_class, k.recency);
CREATE INDEX knowledge_time IF NOT EXISTS FOR (k:Knowledge) ON (k.tenant_id, k.created_at);
CREATE INDEX concept_time IF NOT EXISTS FOR (c:Concept) ON (c.tenant_id, c.created_at);
CREATE INDEX process_time IF NOT EXISTS FOR (p:Process) ON (p.tenant_id, p.created_at);
CREATE INDEX knowledge_name IF NOT EXISTS FOR (k:Knowledge) ON (k.tenant_id, k.name_key);
CREATE INDEX concept_name IF NOT EXISTS FOR (c:Concept) ON (c.tenant_id, c.name_key);
