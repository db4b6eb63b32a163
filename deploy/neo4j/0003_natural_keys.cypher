// What else is unique in a tenant. A node that lacks one of the properties (a stub) is not bound by these.
CREATE CONSTRAINT chunk_uid IF NOT EXISTS FOR (c:Chunk) REQUIRE (c.tenant_id, c.chunk_uid) IS UNIQUE;
CREATE CONSTRAINT query_profile_name IF NOT EXISTS FOR (q:QueryProfile) REQUIRE (q.tenant_id, q.name) IS UNIQUE;
CREATE CONSTRAINT tema_identity_nome IF NOT EXISTS FOR (t:Tema) REQUIRE (t.tenant_id, t.nome, t.nivel) IS UNIQUE;
CREATE CONSTRAINT conversation_key IF NOT EXISTS FOR (c:Conversation) REQUIRE (c.tenant_id, c.client_id, c.conversation_id) IS UNIQUE;
CREATE CONSTRAINT processo_ref IF NOT EXISTS FOR (p:Processo) REQUIRE (p.tenant_id, p.tipo, p.referencia) IS UNIQUE;
