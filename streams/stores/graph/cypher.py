"""Every Cypher text of the graph, as constants with parameters: nothing is ever built from a value.

Only what Neo4j 5 and the embedded graph both run: rows by UNWIND, MERGE on `id` (unique over tenants), both ends
before a link. A version guard needs a write before its read, or two writers both pass it: the SET of `tenant_id` takes
the lock. A query profile is set at its creation only: every decision would otherwise wait for the lock of that node.
"""

from typing import Final

from streams.stores.graph import cypher_learning as learning

FACTS: Final = {
    "Message": """
        UNWIND $rows AS r
        MERGE (n:Message {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    "CDCDecision": """
        UNWIND $rows AS r
        MERGE (n:CDCDecision {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    "QueryProfile": """
        UNWIND $rows AS r
        MERGE (n:QueryProfile {id: r.id})
        ON CREATE SET n.tenant_id = r.tenant_id, n += r.props""",
    "AuditEvent": """
        UNWIND $rows AS r
        MERGE (n:AuditEvent {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    "Claim": """
        UNWIND $rows AS r
        MERGE (n:Claim {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    "Correcao": """
        UNWIND $rows AS r
        MERGE (n:Correcao {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    **learning.FACTS,
}

LATEST: Final = {
    "Conversation": """
        UNWIND $rows AS r
        MERGE (n:Conversation {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.last_at IS NULL OR n.last_at <= r.version
        SET n += r.props""",
    "ConversationSummary": """
        UNWIND $rows AS r
        MERGE (n:ConversationSummary {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.to_seq IS NULL OR n.to_seq <= r.version
        SET n += r.props""",
    "Claim": """
        UNWIND $rows AS r
        MERGE (n:Claim {id: r.id})
        SET n.tenant_id = r.tenant_id
        WITH n, r WHERE n.status_rank IS NULL OR n.status_rank <= r.version
        SET n += r.props""",
    "TimePoint": """
        UNWIND $rows AS r
        MERGE (n:TimePoint {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "UserProfile": """
        UNWIND $rows AS r
        MERGE (n:UserProfile {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Objective": """
        UNWIND $rows AS r
        MERGE (n:Objective {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Document": """
        UNWIND $rows AS r
        MERGE (n:Document {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Chunk": """
        UNWIND $rows AS r
        MERGE (n:Chunk {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Concept": """
        UNWIND $rows AS r
        MERGE (n:Concept {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Knowledge": """
        UNWIND $rows AS r
        MERGE (n:Knowledge {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Process": """
        UNWIND $rows AS r
        MERGE (n:Process {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Step": """
        UNWIND $rows AS r
        MERGE (n:Step {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Tema": """
        UNWIND $rows AS r
        MERGE (n:Tema {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Entity": """
        UNWIND $rows AS r
        MERGE (n:Entity {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Processo": """
        UNWIND $rows AS r
        MERGE (n:Processo {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Jurisprudencia": """
        UNWIND $rows AS r
        MERGE (n:Jurisprudencia {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
    "Dispositivo": """
        UNWIND $rows AS r
        MERGE (n:Dispositivo {id: r.id})
        SET n.tenant_id = r.tenant_id,
            n.created_at = CASE WHEN n.created_at < r.created_at THEN n.created_at ELSE r.created_at END
        WITH n, r WHERE n.recorded_at IS NULL OR n.recorded_at <= r.version
        SET n += r.props""",
}

LINKS: Final = {
    "IN_CONVERSATION": """
        UNWIND $rows AS r
        MERGE (a:Message {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Conversation {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:IN_CONVERSATION]->(b)""",
    "FOR_MESSAGE": """
        UNWIND $rows AS r
        MERGE (a:CDCDecision {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Message {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:FOR_MESSAGE]->(b)""",
    "USED_PROFILE": """
        UNWIND $rows AS r
        MERGE (a:CDCDecision {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:QueryProfile {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:USED_PROFILE]->(b)""",
    "MADE_IN": """
        UNWIND $rows AS r
        MERGE (a:Claim {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Message {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:MADE_IN]->(b)""",
    "CONTRADICTS": """
        UNWIND $rows AS r
        MERGE (a:Claim {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Claim {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:CONTRADICTS]->(b)
        SET x += r.props""",
    "SUPERSEDES": """
        UNWIND $rows AS r
        MERGE (a:Claim {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Claim {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:SUPERSEDES]->(b)""",
    "CORRECTS": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Claim {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:CORRECTS]->(b)""",
    "CORRIGIDA_POR": """
        UNWIND $rows AS r
        MERGE (a:Consulta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Correcao {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:CORRIGIDA_POR]->(b)""",
    "SUMMARIZES": """
        UNWIND $rows AS r
        MERGE (a:ConversationSummary {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Conversation {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:SUMMARIZES]->(b)""",
    "HAS_EVENT": """
        UNWIND $rows AS r
        MERGE (a:ConversationSummary {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:TimePoint {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:HAS_EVENT]->(b)""",
    "PART_OF": """
        UNWIND $rows AS r
        MERGE (a:Chunk {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Document {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:PART_OF]->(b)""",
    "HAS_STEP": """
        UNWIND $rows AS r
        MERGE (a:Process {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Step {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:HAS_STEP]->(b)
        SET x += r.props""",
    "HAS_OBJECTIVE": """
        UNWIND $rows AS r
        MERGE (a:UserProfile {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Objective {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:HAS_OBJECTIVE]->(b)""",
    "MENTIONS": """
        UNWIND $rows AS r
        MERGE (a:Chunk {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Entity {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:MENTIONS]->(b)""",
    "RELATED_TO": """
        UNWIND $rows AS r
        MERGE (a:Concept {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Concept {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:RELATED_TO]->(b)""",
    "HAS_TERM:Concept": """
        UNWIND $rows AS r
        MERGE (a:Concept {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Term {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:HAS_TERM]->(b)""",
    "HAS_TERM:Knowledge": """
        UNWIND $rows AS r
        MERGE (a:Knowledge {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Term {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:HAS_TERM]->(b)""",
    "HAS_TERM:Process": """
        UNWIND $rows AS r
        MERGE (a:Process {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Term {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:HAS_TERM]->(b)""",
    "ABOUT_THEME": """
        UNWIND $rows AS r
        MERGE (a:Document {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Tema {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:ABOUT_THEME]->(b)
        SET x += r.props""",
    "SUBTEMA_DE": """
        UNWIND $rows AS r
        MERGE (a:Tema {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Tema {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:SUBTEMA_DE]->(b)""",
    "TRATA_DE": """
        UNWIND $rows AS r
        MERGE (a:Processo {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Tema {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:TRATA_DE]->(b)
        SET x += r.props""",
    "SOBRE_TEMA": """
        UNWIND $rows AS r
        MERGE (a:Jurisprudencia {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Tema {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:SOBRE_TEMA]->(b)
        SET x += r.props""",
    "RELACIONADO_A": """
        UNWIND $rows AS r
        MERGE (a:Dispositivo {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Tema {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:RELACIONADO_A]->(b)
        SET x += r.props""",
    **learning.LINKS,
}

ABOUT: Final = """
    UNWIND $rows AS r
    MATCH (a:Knowledge) WHERE a.tenant_id = r.tenant_id AND a.name_key = r.name_key
    MATCH (b:Concept) WHERE b.tenant_id = r.tenant_id AND b.name_key = r.name_key
    MERGE (a)-[:ABOUT]->(b)"""

# What is retired is kept: as of a time before, it is still found. A version that has it again makes it found again.
RETIRE: Final = {
    "Chunk": """
        UNWIND $rows AS r
        MATCH (d:Document {id: r.id})
        WHERE d.complete_at IS NOT NULL AND (r.whole OR d.complete_at > r.at)
        MATCH (n:Chunk)
        WHERE n.tenant_id = r.tenant_id AND n.document_id = r.document_id AND n.recorded_at < d.complete_at
          AND (n.retired_at IS NULL OR n.retired_at < n.recorded_at OR n.retired_at > d.complete_at)
        SET n.retired_at = d.complete_at""",
    "Knowledge": """
        UNWIND $rows AS r
        MATCH (d:Document {id: r.id})
        WHERE d.complete_at IS NOT NULL AND (r.whole OR d.complete_at > r.at)
        MATCH (n:Knowledge)
        WHERE n.tenant_id = r.tenant_id AND n.document_id = r.document_id AND n.recorded_at < d.complete_at
          AND (n.retired_at IS NULL OR n.retired_at < n.recorded_at OR n.retired_at > d.complete_at)
        SET n.retired_at = d.complete_at""",
    "Concept": """
        UNWIND $rows AS r
        MATCH (d:Document {id: r.id})
        WHERE d.complete_at IS NOT NULL AND (r.whole OR d.complete_at > r.at)
        MATCH (n:Concept)
        WHERE n.tenant_id = r.tenant_id AND n.document_id = r.document_id AND n.recorded_at < d.complete_at
          AND (n.retired_at IS NULL OR n.retired_at < n.recorded_at OR n.retired_at > d.complete_at)
        SET n.retired_at = d.complete_at""",
    "Process": """
        UNWIND $rows AS r
        MATCH (d:Document {id: r.id})
        WHERE d.complete_at IS NOT NULL AND (r.whole OR d.complete_at > r.at)
        MATCH (n:Process)
        WHERE n.tenant_id = r.tenant_id AND n.document_id = r.document_id AND n.recorded_at < d.complete_at
          AND (n.retired_at IS NULL OR n.retired_at < n.recorded_at OR n.retired_at > d.complete_at)
        SET n.retired_at = d.complete_at""",
}
