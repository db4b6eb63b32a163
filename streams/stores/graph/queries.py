"""The reads of the graph, as constants with parameters. Every node of every pattern is bound to the caller's tenants.

Ids are compared with IN, even a single one: row by row the embedded graph is ten times slower, and for `{id: $id}`
beside another property it scans all nodes of the label. Named properties are returned, never nodes, to which the
engine adds its own. Public data is read with `$tenants`, data of people with `$tenant`. A server's index over several
properties serves only queries on all of them, at least by IS NOT NULL. Names with an underscore are parts.
"""

from typing import Final

PERSONA: Final = """
    MATCH (u:UserProfile)
    WHERE u.id IN $ids AND u.tenant_id = $tenant
    OPTIONAL MATCH (u)-[:HAS_OBJECTIVE]->(o:Objective)
    WHERE o.tenant_id = $tenant AND o.recorded_at <= $as_of
    RETURN u.id AS id, u.user_id AS user_id, u.user_role AS user_role, u.department AS department,
           u.access_level AS access_level, u.objective_ids AS objective_ids, u.recorded_at AS recorded_at,
           u.recorded_at <= $as_of AS current, u.document_id AS document_id, o.id AS objective,
           o.objective_id AS objective_id, o.title AS title, o.status AS status, o.recorded_at AS objective_at"""

PERSONA_THEN: Final = """
    MATCH (e:AuditEvent)
    WHERE e.tenant_id = $tenant AND e.subject_id = $user_id AND e.kind = 'profile' AND e.created_at <= $as_of
    RETURN e.id AS id, e.detail AS detail, e.created_at AS created_at, e.document_id AS document_id,
           e.subject_id AS user_id
    ORDER BY e.created_at DESC, e.id
    LIMIT 1"""

_NEWEST_SUMMARIES: Final = """RETURN s.id AS id, s.conversation_id AS conversation_id, s.text AS text, s.topic AS topic,
           s.from_seq AS from_seq, s.to_seq AS to_seq, s.recency AS recency, s.client_id AS client_id,
           s.user_id AS user_id
    ORDER BY s.recency DESC, s.to_seq DESC, s.id
    LIMIT $limit"""

SUMMARIES_OF_CONVERSATION: Final = f"""
    MATCH (s:ConversationSummary)
    WHERE s.tenant_id = $tenant AND s.conversation_id = $conversation_id AND s.user_id = $user_id
      AND s.recency <= $as_of
    {_NEWEST_SUMMARIES}"""

SUMMARIES_OF_USER: Final = f"""
    MATCH (s:ConversationSummary)
    WHERE s.tenant_id = $tenant AND s.user_id = $user_id AND s.recency <= $as_of
    {_NEWEST_SUMMARIES}"""

_EVENTS: Final = """MATCH (s:ConversationSummary)
    WHERE s.tenant_id = $tenant AND s.user_id = $user_id AND s.recency IS NOT NULL
    WITH DISTINCT s
    MATCH (s)-[:HAS_EVENT]->(e:TimePoint)
    WHERE e.tenant_id = $tenant AND e.created_at <= $as_of"""

_NEWEST_EVENTS: Final = """RETURN e.id AS id, e.label AS label, e.at AS at, e.kind AS kind, e.message_id AS message_id,
           e.created_at AS created_at, s.client_id AS client_id, s.conversation_id AS conversation_id,
           s.user_id AS user_id
    ORDER BY e.created_at DESC, e.id
    LIMIT $limit"""

EVENTS_OF_USER: Final = f"""
    {_EVENTS}
    {_NEWEST_EVENTS}"""

EVENTS_BETWEEN: Final = f"""
    {_EVENTS}
      AND e.at >= $since AND e.at < $until
    {_NEWEST_EVENTS}"""

_CLAIM: Final = """c.id AS id, c.author AS author, c.text AS text, c.subject AS subject, c.attribute AS attribute,
           c.value AS value, c.message_id AS message_id, c.confidence AS confidence, c.stated AS stated,
           c.created_at AS created_at, c.topic AS topic, c.partition AS partition, c.offset AS offset,
           c.seq AS seq, c.functional AS functional, c.lang AS lang, c.client_id AS client_id,
           c.conversation_id AS conversation_id, c.user_id AS user_id, c.frame_id AS frame_id, c.readers AS readers"""

_NEWEST_CLAIMS: Final = f"""RETURN {_CLAIM}
    ORDER BY c.created_at DESC, c.partition DESC, c.offset DESC, c.seq DESC, c.id
    LIMIT $limit"""

CLAIMS_OF_CONVERSATION: Final = f"""
    MATCH (c:Claim)
    WHERE c.tenant_id = $tenant AND c.conversation_id = $conversation_id AND c.client_id = $client_id
      AND c.created_at <= $as_of
    {_NEWEST_CLAIMS}"""

# Behind the claim `after`, of several of one time.
CLAIMS_OF_USER: Final = f"""
    MATCH (c:Claim)
    WHERE c.tenant_id = $tenant AND c.user_id = $user_id
      AND c.created_at <= $as_of AND (c.created_at < $as_of OR c.id > $after)
    RETURN {_CLAIM}
    ORDER BY c.created_at DESC, c.id
    LIMIT $limit"""

# A claim without readers is of an earlier version, in which an application's had the client for its user.
CLAIMS_ABOUT: Final = f"""
    MATCH (c:Claim)
    WHERE c.tenant_id = $tenant AND c.subject_key IN $subjects AND c.created_at <= $as_of
      AND ($reader IN c.readers OR $anybody IN c.readers OR $shared IN c.readers
           OR (c.readers IS NULL AND (c.user_id = $reader OR c.user_id = c.client_id)))
    {_NEWEST_CLAIMS}"""

_CONTRADICTION: Final = """RETURN new.id AS new, old.id AS old, x.kind AS kind, x.score AS score, x.status AS status,
           x.detected_at AS detected_at, new.client_id AS new_client_id, new.conversation_id AS new_conversation_id,
           new.user_id AS new_user_id, new.message_id AS new_message_id, old.client_id AS old_client_id,
           old.conversation_id AS old_conversation_id, old.user_id AS old_user_id, old.message_id AS old_message_id"""

CONTRADICTED_BY: Final = f"""
    MATCH (old:Claim)<-[x:CONTRADICTS]-(new:Claim)
    WHERE old.id IN $ids AND old.tenant_id = $tenant AND new.tenant_id = $tenant AND x.detected_at <= $as_of
    {_CONTRADICTION}"""

CONTRADICTING: Final = f"""
    MATCH (new:Claim)-[x:CONTRADICTS]->(old:Claim)
    WHERE new.id IN $ids AND old.tenant_id = $tenant AND new.tenant_id = $tenant AND x.detected_at <= $as_of
    {_CONTRADICTION}"""

CLAIMS_BY_ID: Final = f"""
    MATCH (c:Claim)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND c.created_at <= $as_of
    RETURN {_CLAIM}"""

SUPERSEDED: Final = """
    MATCH (old:Claim)<-[:SUPERSEDES]-(new:Claim)
    WHERE old.id IN $ids AND old.tenant_id = $tenant AND new.tenant_id = $tenant AND new.created_at <= $as_of
    RETURN old.id AS id, new.id AS new, new.client_id AS new_client_id, new.conversation_id AS new_conversation_id,
           new.user_id AS new_user_id, new.message_id AS new_message_id"""

CORRECTED: Final = """
    MATCH (c:Claim)<-[:CORRECTS]-(k:Correcao)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND k.tenant_id = $tenant AND k.created_at <= $as_of
      AND k.tipo <> 'formatacao' AND (k.ruling IS NULL OR k.ruling = 'retract')
    RETURN c.id AS id, k.new_claim_id AS new_claim_id, k.ruling AS ruling, k.client_id AS client_id,
           k.conversation_id AS conversation_id, k.usuario_id AS user_id, k.message_id AS message_id"""

CONSULTATION: Final = """
    MATCH (c:Consulta)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND c.created_at <= $as_of
    RETURN c.paths AS paths, c.client_id AS client_id, c.conversation_id AS conversation_id"""

DECISION: Final = """
    MATCH (d:CDCDecision)
    WHERE d.id IN $ids AND d.tenant_id = $tenant AND d.created_at <= $as_of
    RETURN d.message_id AS message_id, d.depth_level AS depth_level, d.detected_signals AS detected_signals"""

# A node of an earlier version is that of all messages of its id: what the last of them said is not the others'.
DECISIONS_MADE: Final = """
    MATCH (d:CDCDecision)-[:FOR_MESSAGE]->(m:Message)
    WHERE d.tenant_id = $tenant AND d.created_at >= $since AND d.created_at <= $as_of AND m.tenant_id = $tenant
      AND (m.conversation_id = d.conversation_id OR ($client_id = '' AND $user_id = ''))
      AND ($client_id = '' OR m.client_id = $client_id) AND ($user_id = '' OR m.user_id = $user_id)
    WITH d, max(CASE WHEN m.conversation_id = d.conversation_id THEN m.client_id END) AS client_id, max(m.user_id) AS u
    RETURN d.id AS id, d.message_id AS message_id, d.conversation_id AS conversation_id, d.evidence AS evidence,
           coalesce(d.client_id, client_id) AS client_id, d.created_at AS created_at, d.depth_level AS depth_level,
           d.tokens_used AS tokens_used, d.latency_ms AS latency_ms, d.degraded AS degraded, u AS user_id
    ORDER BY d.created_at DESC, d.id
    LIMIT $limit"""

CORRECTIONS_MADE: Final = """
    MATCH (k:Correcao)
    WHERE k.tenant_id = $tenant AND k.id IS NOT NULL AND k.created_at >= $since AND k.created_at <= $as_of
      AND ($client_id = '' OR k.client_id = $client_id) AND ($user_id = '' OR k.usuario_id = $user_id)
    RETURN k.id AS id, k.created_at AS created_at
    ORDER BY k.created_at DESC, k.id
    LIMIT $limit"""

QUESTIONS: Final = """
    MATCH (d:CDCDecision)-[:FOR_MESSAGE]->(m:Message)
    WHERE d.id IN $ids AND d.tenant_id = $tenant AND m.tenant_id = $tenant AND m.created_at <= $as_of
      AND m.conversation_id = d.conversation_id
    RETURN d.id AS id, m.content AS content, d.message_id AS message_id, m.client_id AS client_id,
           m.conversation_id AS conversation_id, m.user_id AS user_id"""

DECISION_ON: Final = """
    MATCH (d:CDCDecision)-[:FOR_MESSAGE]->(m:Message)
    WHERE d.message_id = $message_id AND d.tenant_id = $tenant AND d.created_at <= $as_of AND m.tenant_id = $tenant
    RETURN d.id AS id, d.pack_id AS pack_id, d.conversation_id AS conversation_id, d.created_at AS created_at,
           d.depth_level AS depth_level, d.detected_signals AS detected_signals, d.tokens_used AS tokens_used,
           d.latency_ms AS latency_ms, m.conversation_id AS said_in, m.client_id AS client_id, m.user_id AS user_id,
           m.topic AS topic, m.partition AS partition, m.offset AS offset
    ORDER BY d.id"""

CONTESTED: Final = """
    MATCH (c:Claim)<-[:CORRECTS]-(k:Correcao)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND k.tenant_id = $tenant AND k.created_at <= $as_of
    RETURN k.id AS id, c.id AS claim_id, k.usuario_id AS usuario_id, k.tipo AS tipo, k.texto AS texto,
           k.new_value AS new_value, k.ruling AS ruling, k.created_at AS created_at
    ORDER BY k.created_at, k.id"""

PROCESSES: Final = """
    MATCH (x:Term)<-[:HAS_TERM]-(p:Process)
    WHERE x.id IN $term_ids AND x.tenant_id IN $tenants
      AND p.tenant_id = x.tenant_id AND p.created_at <= $as_of AND p.access <= $access
      AND (p.retired_at IS NULL OR p.retired_at > $as_of
           OR (p.retired_at <= p.recorded_at AND p.recorded_at <= $as_of))
      AND any(t IN $terms WHERE t IN p.term_keys)
    WITH DISTINCT p
    WITH p, size([t IN p.term_keys WHERE t IN $terms]) AS met, size(p.term_keys) AS wanted
    RETURN p.id AS id, p.name AS name, p.how_to_terms AS how_to_terms, p.access_level AS access_level,
           p.created_at AS created_at, p.document_id AS document_id, met AS met, wanted AS wanted
    ORDER BY 1.0 * met / wanted DESC, met DESC, p.id
    LIMIT $limit"""

STEPS: Final = """
    MATCH (p:Process)-[x:HAS_STEP]->(s:Step)
    WHERE p.id IN $ids AND p.tenant_id IN $tenants AND s.tenant_id = p.tenant_id
    RETURN p.id AS process_id, s.id AS id, x.order AS step, s.text AS text, s.created_at AS created_at"""

CONCEPTS: Final = """
    MATCH (x:Term)<-[:HAS_TERM]-(c:Concept)
    WHERE x.id IN $term_ids AND x.tenant_id IN $tenants
      AND c.tenant_id = x.tenant_id AND c.created_at <= $as_of AND c.access <= $access
      AND (c.retired_at IS NULL OR c.retired_at > $as_of
           OR (c.retired_at <= c.recorded_at AND c.recorded_at <= $as_of))
      AND any(t IN $terms WHERE t IN c.term_keys)
    WITH DISTINCT c
    WITH c, size([t IN c.term_keys WHERE t IN $terms]) AS met, size(c.term_keys) AS wanted
    WHERE 2 * met >= wanted
    RETURN c.id AS id, c.name AS name, c.definition AS definition, c.access_level AS access_level,
           c.created_at AS created_at, c.document_id AS document_id, met AS met, wanted AS wanted
    ORDER BY 1.0 * met / wanted DESC, met DESC, c.id
    LIMIT $limit"""

DEFINITIONS: Final = """
    MATCH (x:Term)<-[:HAS_TERM]-(k:Knowledge)
    WHERE x.id IN $term_ids AND x.tenant_id IN $tenants
      AND k.tenant_id = x.tenant_id AND k.created_at <= $as_of AND k.access <= $access
      AND k.memory_class = 'semantic'
      AND (k.retired_at IS NULL OR k.retired_at > $as_of
           OR (k.retired_at <= k.recorded_at AND k.recorded_at <= $as_of))
      AND any(t IN $terms WHERE t IN k.term_keys)
    WITH DISTINCT k
    WITH k, size([t IN k.term_keys WHERE t IN $terms]) AS met, size(k.term_keys) AS wanted
    WHERE 2 * met >= wanted
    RETURN k.id AS id, k.title AS name, k.text AS definition, k.memory_class AS memory_class,
           k.confidence AS confidence, k.access_level AS access_level, k.created_at AS created_at,
           k.document_id AS document_id, met AS met, wanted AS wanted
    ORDER BY 1.0 * met / wanted DESC, met DESC, k.id
    LIMIT $limit"""

# What stems from a conversation; a stub, made by a link, has no place and no time.
ERASURES: Final = """
    MATCH (e:Erasure)
    WHERE e.id IN $ids AND e.tenant_id = $tenant
    RETURN e.id AS id, e.up_to_seq AS up_to_seq, e.issued_at AS issued_at, e.erased AS erased"""

MESSAGES_OF: Final = """
    MATCH (c:Conversation)<-[:IN_CONVERSATION]-(m:Message)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND m.tenant_id = $tenant AND m.created_at IS NOT NULL
    RETURN m.id AS id, m.seq AS seq, m.created_at AS at, m.client_id AS client_id,
           m.conversation_id AS conversation_id"""

SUMMARIES_OF: Final = """
    MATCH (c:Conversation)<-[:SUMMARIZES]-(s:ConversationSummary)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND s.tenant_id = $tenant AND s.recency IS NOT NULL
    RETURN s.id AS id, s.to_seq AS seq, s.recency AS at"""

CLAIMS_OF: Final = """
    MATCH (c:Claim)
    WHERE c.tenant_id = $tenant AND c.conversation_id = $conversation_id AND c.client_id = $client_id
    RETURN c.id AS id, c.seq AS seq, c.created_at AS at"""

CONSULTATIONS_OF: Final = """
    MATCH (c:Consulta)
    WHERE c.tenant_id = $tenant AND c.conversation_id = $conversation_id AND c.client_id = $client_id
    RETURN c.id AS id, c.seq AS seq, c.created_at AS at"""

AUDITS_OF: Final = """
    MATCH (e:AuditEvent)
    WHERE e.tenant_id = $tenant AND e.conversation_id = $conversation_id AND e.client_id = $client_id
    RETURN e.id AS id, e.seq AS seq, e.created_at AS at"""

DECISIONS_FOR: Final = """
    MATCH (m:Message)<-[:FOR_MESSAGE]-(d:CDCDecision)
    WHERE m.id IN $ids AND m.tenant_id = $tenant AND d.tenant_id = $tenant
    RETURN d.id AS id, d.conversation_id AS conversation_id"""

EVENTS_IN: Final = """
    MATCH (s:ConversationSummary)-[:HAS_EVENT]->(e:TimePoint)
    WHERE s.id IN $ids AND s.tenant_id = $tenant AND e.tenant_id = $tenant
    RETURN e.id AS id"""

CORRECTIONS_OF_CLAIMS: Final = """
    MATCH (c:Claim)<-[:CORRECTS]-(k:Correcao)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND k.tenant_id = $tenant
    RETURN k.id AS id"""

CORRECTIONS_OF_CONSULTATIONS: Final = """
    MATCH (c:Consulta)-[:CORRIGIDA_POR]->(k:Correcao)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND k.tenant_id = $tenant
    RETURN k.id AS id"""

SUB_QUESTIONS_OF: Final = """
    MATCH (c:Consulta)-[:DECOMPOSTA_EM]->(q:SubPergunta)
    WHERE c.id IN $ids AND c.tenant_id = $tenant AND q.tenant_id = $tenant
    RETURN q.id AS id"""

# Found by the conversation, and then by the nodes found.
PROFILE: Final = """
    MATCH (u:UserProfile)
    WHERE u.id IN $ids AND u.tenant_id = $tenant
    RETURN u.id AS id"""

PROFILES_OF: Final = """
    MATCH (e:AuditEvent)
    WHERE e.tenant_id = $tenant AND e.subject_id = $user_id AND e.kind = 'profile' AND e.created_at IS NOT NULL
    RETURN e.id AS id"""

OBJECTIVES_OF: Final = """
    MATCH (u:UserProfile)-[:HAS_OBJECTIVE]->(o:Objective)
    WHERE u.id IN $ids AND u.tenant_id = $tenant AND o.tenant_id = $tenant
    RETURN o.id AS id"""

OF_CONVERSATION: Final = {
    "Message": MESSAGES_OF,
    "ConversationSummary": SUMMARIES_OF,
    "Claim": CLAIMS_OF,
    "Consulta": CONSULTATIONS_OF,
    "AuditEvent": AUDITS_OF,
}
BEYOND: Final = {
    ("Message", "CDCDecision"): DECISIONS_FOR,
    ("ConversationSummary", "TimePoint"): EVENTS_IN,
    ("Claim", "Correcao"): CORRECTIONS_OF_CLAIMS,
    ("Consulta", "Correcao"): CORRECTIONS_OF_CONSULTATIONS,
    ("Consulta", "SubPergunta"): SUB_QUESTIONS_OF,
}

_RETIRED: Final = """WHERE n.tenant_id = $tenant AND n.document_id = $document_id AND n.recorded_at <= $as_of
      AND n.retired_at >= $as_of AND n.retired_at > n.recorded_at
    RETURN n.id AS id, n.document_id AS document_id, n.access_level AS access_level,
           n.recency AS recency, n.lang AS lang, n.retired_at AS retired_at"""

RETIRED_CHUNKS: Final = f"""
    MATCH (n:Chunk)
    {_RETIRED},
           n.title AS title, n.text AS text, n.position AS position, n.page AS page"""

RETIRED_DEFINITIONS: Final = f"""
    MATCH (n:Knowledge)
    {_RETIRED},
           n.title AS title, n.text AS text, n.confidence AS confidence"""

RETIRED_CONCEPTS: Final = f"""
    MATCH (n:Concept)
    {_RETIRED},
           n.name AS name, n.definition AS definition"""

ALL_NODES: Final = """
    MATCH (n) WHERE n.tenant_id IS NOT NULL RETURN labels(n)[0] AS label, n.id AS id, properties(n) AS props"""

ALL_LINKS: Final = """
    MATCH (a)-[x]->(b) RETURN type(x) AS type, a.id AS start, b.id AS finish, properties(x) AS props"""
