"""What of a tenant is in the graph, label by label and page by page, and its removal: constants with parameters.

A page is nodes in the order of ids, each with its links to nodes that the tenant may know; of a node without one the
link is null.
"""

from typing import Final

LISTED: Final = {
    "Conversation": """
        MATCH (n:Conversation) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Message": """
        MATCH (n:Message) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "ConversationSummary": """
        MATCH (n:ConversationSummary) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "TimePoint": """
        MATCH (n:TimePoint) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "UserProfile": """
        MATCH (n:UserProfile) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Objective": """
        MATCH (n:Objective) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Knowledge": """
        MATCH (n:Knowledge) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Concept": """
        MATCH (n:Concept) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Process": """
        MATCH (n:Process) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Step": """
        MATCH (n:Step) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "QueryProfile": """
        MATCH (n:QueryProfile) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Document": """
        MATCH (n:Document) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Chunk": """
        MATCH (n:Chunk) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Entity": """
        MATCH (n:Entity) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Fact": """
        MATCH (n:Fact) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Evidence": """
        MATCH (n:Evidence) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Claim": """
        MATCH (n:Claim) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "CDCDecision": """
        MATCH (n:CDCDecision) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Tema": """
        MATCH (n:Tema) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Consulta": """
        MATCH (n:Consulta) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Term": """
        MATCH (n:Term) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "SubPergunta": """
        MATCH (n:SubPergunta) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Correcao": """
        MATCH (n:Correcao) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Processo": """
        MATCH (n:Processo) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Jurisprudencia": """
        MATCH (n:Jurisprudencia) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "Dispositivo": """
        MATCH (n:Dispositivo) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "ToolResolution": """
        MATCH (n:ToolResolution) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
    "AuditEvent": """
        MATCH (n:AuditEvent) WHERE n.tenant_id = $tenant AND n.id > $after
        WITH n ORDER BY n.id LIMIT $limit
        OPTIONAL MATCH (n)-[x]->(m) WHERE m.tenant_id IN [$tenant, '_public']
        RETURN n.id AS id, type(x) AS link, m.id AS other ORDER BY n.id""",
}

REMOVED: Final = {
    "Conversation": "MATCH (n:Conversation) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Message": "MATCH (n:Message) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "ConversationSummary": "MATCH (n:ConversationSummary) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "TimePoint": "MATCH (n:TimePoint) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "UserProfile": "MATCH (n:UserProfile) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Objective": "MATCH (n:Objective) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Knowledge": "MATCH (n:Knowledge) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Concept": "MATCH (n:Concept) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Process": "MATCH (n:Process) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Step": "MATCH (n:Step) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "QueryProfile": "MATCH (n:QueryProfile) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Document": "MATCH (n:Document) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Chunk": "MATCH (n:Chunk) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Entity": "MATCH (n:Entity) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Fact": "MATCH (n:Fact) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Evidence": "MATCH (n:Evidence) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Claim": "MATCH (n:Claim) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "CDCDecision": "MATCH (n:CDCDecision) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Tema": "MATCH (n:Tema) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Consulta": "MATCH (n:Consulta) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Term": "MATCH (n:Term) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "SubPergunta": "MATCH (n:SubPergunta) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Correcao": "MATCH (n:Correcao) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Processo": "MATCH (n:Processo) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Jurisprudencia": "MATCH (n:Jurisprudencia) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "Dispositivo": "MATCH (n:Dispositivo) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "ToolResolution": "MATCH (n:ToolResolution) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
    "AuditEvent": "MATCH (n:AuditEvent) WHERE n.tenant_id = $tenant AND n.id IN $ids DETACH DELETE n",
}
