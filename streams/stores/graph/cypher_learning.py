"""The Cypher texts that write consultations and what corrections penalise; constants as those of `graph_cypher`."""

from typing import Final

FACTS: Final = {
    "Consulta": """
        UNWIND $rows AS r
        MERGE (n:Consulta {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
    "SubPergunta": """
        UNWIND $rows AS r
        MERGE (n:SubPergunta {id: r.id})
        SET n.tenant_id = r.tenant_id, n += r.props""",
}

LINKS: Final = {
    "DECOMPOSTA_EM": """
        UNWIND $rows AS r
        MERGE (a:Consulta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:SubPergunta {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:DECOMPOSTA_EM]->(b)""",
    "FILHA_DE": """
        UNWIND $rows AS r
        MERGE (a:SubPergunta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:SubPergunta {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:FILHA_DE]->(b)""",
    "REUSED": """
        UNWIND $rows AS r
        MERGE (a:Consulta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Consulta {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:REUSED]->(b)""",
    "USA_NO:Processo": """
        UNWIND $rows AS r
        MERGE (a:SubPergunta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Processo {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:USA_NO]->(b)""",
    "USA_NO:Dispositivo": """
        UNWIND $rows AS r
        MERGE (a:SubPergunta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Dispositivo {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:USA_NO]->(b)""",
    "USA_NO:Jurisprudencia": """
        UNWIND $rows AS r
        MERGE (a:SubPergunta {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Jurisprudencia {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[:USA_NO]->(b)""",
    "PENALIZA:Processo": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Processo {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:PENALIZA]->(b)
        SET x += r.props""",
    "PENALIZA:Dispositivo": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Dispositivo {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:PENALIZA]->(b)
        SET x += r.props""",
    "PENALIZA:Jurisprudencia": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Jurisprudencia {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:PENALIZA]->(b)
        SET x += r.props""",
    "PENALIZA:Chunk": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:Chunk {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:PENALIZA]->(b)
        SET x += r.props""",
    "PENALIZA:SubPergunta": """
        UNWIND $rows AS r
        MERGE (a:Correcao {id: r.from_id}) ON CREATE SET a.tenant_id = r.tenant_id
        MERGE (b:SubPergunta {id: r.to_id}) ON CREATE SET b.tenant_id = r.to_tenant
        MERGE (a)-[x:PENALIZA]->(b)
        SET x += r.props""",
}
