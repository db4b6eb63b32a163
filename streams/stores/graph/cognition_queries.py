"""The reads of the graph for complex questions, under the rules of `queries`: themes, mentions, consultations.

A name in braces counts links without reading their ends, which takes no time however many there are.
"""

from typing import Final

# A passage that the newest version of its document as of then contains, and that the asker may read.
_CHUNK: Final = """c.created_at <= $as_of AND c.access <= $access
      AND (c.retired_at IS NULL OR c.retired_at > $as_of
           OR (c.retired_at <= c.recorded_at AND c.recorded_at <= $as_of))"""
THEMES: Final = """
    MATCH (x:Term)<-[:HAS_TERM]-(t:Tema)
    WHERE x.id IN $term_ids AND x.tenant_id IN $tenants
      AND t.tenant_id = x.tenant_id AND t.created_at <= $as_of AND any(k IN $terms WHERE k IN t.term_keys)
    WITH DISTINCT t
    MATCH (t)<-[a:ABOUT_THEME]-(d:Document)
    WHERE d.tenant_id IN $tenants AND a.access <= $access
    WITH DISTINCT t
    WITH t, size([k IN t.term_keys WHERE k IN $terms]) AS met, size(t.term_keys) AS wanted
    WHERE 2 * met >= wanted
    RETURN t.id AS id, t.nome AS name, t.nivel AS level, met AS met, wanted AS wanted
    ORDER BY 1.0 * met / wanted DESC, met DESC, t.id
    LIMIT $limit"""

NEAR_THEMES: Final = """
    MATCH (t:Tema)-[:SUBTEMA_DE]-(n:Tema)
    WHERE t.id IN $ids AND t.tenant_id IN $tenants AND n.tenant_id = t.tenant_id AND n.created_at <= $as_of
    MATCH (n)<-[a:ABOUT_THEME]-(d:Document)
    WHERE d.tenant_id = t.tenant_id AND a.access <= $access
    RETURN DISTINCT n.id AS id, n.nome AS name, n.nivel AS level, t.id AS near
    ORDER BY n.id, t.id
    LIMIT $limit"""

DOCUMENTS_ABOUT: Final = """
    MATCH (t:Tema)<-[a:ABOUT_THEME]-(d:Document)
    WHERE t.id IN $ids AND t.tenant_id IN $tenants AND d.tenant_id = t.tenant_id AND a.access <= $access
    RETURN t.id AS id, d.id AS document"""

SECTIONS_ABOUT: Final = f"""
    MATCH (t:Tema)<-[:ABOUT_THEME]-(d:Document)
    WHERE t.id IN $ids AND t.tenant_id IN $tenants AND d.tenant_id = t.tenant_id
    MATCH (d)<-[:PART_OF]-(c:Chunk)
    WHERE c.tenant_id = t.tenant_id AND {_CHUNK}
      AND toLower(c.title) CONTAINS toLower(t.nome)
    RETURN c.id AS id, t.id AS by, c.position AS position, c.document_id AS document_id
    ORDER BY c.position, c.id, t.id
    LIMIT $limit"""

LAW_ABOUT: Final = """
    MATCH (t:Tema)<-[x:TRATA_DE|SOBRE_TEMA|RELACIONADO_A]-(n)
    WHERE t.id IN $ids AND t.tenant_id IN $tenants AND n.tenant_id = t.tenant_id AND n.created_at <= $as_of
    RETURN t.id AS by, type(x) AS link, n.id AS id, n.referencia AS case, n.numero AS ruling, n.lei AS law,
           n.artigo AS article
    ORDER BY x.relevancia DESC, n.id, t.id
    LIMIT $limit"""

NAMING: Final = f"""
    MATCH (e:Entity)
    WHERE e.id IN $ids AND e.tenant_id IN $tenants AND COUNT {{ (e)<-[:MENTIONS]-() }} <= $most
    MATCH (e)<-[:MENTIONS]-(c:Chunk)
    WHERE c.tenant_id = e.tenant_id AND {_CHUNK}
    RETURN c.id AS id, e.id AS entity, c.document_id AS document_id
    ORDER BY c.id, e.id
    LIMIT $limit"""

CONNECTED: Final = f"""
    MATCH (s:Chunk)-[:MENTIONS]->(e:Entity)
    WHERE s.id IN $ids AND s.tenant_id IN $tenants AND e.tenant_id = s.tenant_id
      AND COUNT {{ (e)<-[:MENTIONS]-() }} <= $most
    MATCH (e)<-[:MENTIONS]-(c:Chunk)
    WHERE c.tenant_id = s.tenant_id AND NOT c.id IN $ids AND {_CHUNK}
    WITH c.id AS id, c.document_id AS document_id, count(DISTINCT e.id) AS shared, min(e.name) AS via
    RETURN id AS id, via AS via, shared AS shared, document_id AS document_id
    ORDER BY shared DESC, id
    LIMIT $limit"""

CONSULTATIONS: Final = """
    MATCH (c:Consulta)
    WHERE c.tenant_id = $tenant AND c.signature = $signature AND c.created_at <= $as_of
    RETURN c.id AS id, c.pergunta_usuario AS question, c.verification_status AS status,
           c.access_level AS access_level, c.scope AS scope, c.case_id AS case_id, c.created_at AS created_at,
           c.client_id AS client_id, c.conversation_id AS conversation_id, c.usuario_id AS user_id
    ORDER BY c.created_at DESC, c.id
    LIMIT $limit"""

ANSWERS_OF: Final = """
    MATCH (c:Consulta)-[:DECOMPOSTA_EM]->(q:SubPergunta)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND q.tenant_id = $tenant AND q.created_at <= $as_of
    RETURN c.id AS consultation, q.id AS id, q.texto AS question, q.resposta AS answer, q.signature AS signature,
           q.chunks AS chunks, q.evidence AS evidence, q.confidence AS confidence, q.verified AS verified
    ORDER BY c.id, q.id"""

CONSULTATIONS_CORRECTED: Final = """
    MATCH (c:Consulta)-[:CORRIGIDA_POR]->(k:Correcao)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND k.tenant_id = $tenant AND k.created_at <= $as_of
      AND k.tipo <> 'formatacao'
    RETURN c.id AS id, k.id AS correction, k.client_id AS client_id, k.conversation_id AS conversation_id,
           k.usuario_id AS user_id
    ORDER BY c.id, k.id"""

PENALTIES: Final = """
    MATCH (n:Chunk)<-[p:PENALIZA]-(k:Correcao)
    WHERE n.id IN $ids AND n.tenant_id IN $tenants AND k.tenant_id = $tenant AND k.created_at <= $as_of
    MATCH (k)<-[:CORRIGIDA_POR]-(c:Consulta)
    WHERE c.tenant_id = $tenant AND c.created_at <= $as_of
    RETURN n.id AS id, p.peso AS weight, k.id AS correction, c.pergunta_usuario AS question,
           k.client_id AS client_id, k.conversation_id AS conversation_id, k.usuario_id AS user_id,
           n.document_id AS document_id
    ORDER BY n.id, k.id, c.id"""
