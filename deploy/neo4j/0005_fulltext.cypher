// Lexical search. A hit may be any tenant's: filter the tenant after YIELD, and ask for five times as many.
CREATE FULLTEXT INDEX chunk_text IF NOT EXISTS FOR (n:Chunk|Knowledge) ON EACH [n.text];
CREATE FULLTEXT INDEX claim_text IF NOT EXISTS FOR (n:Claim) ON EACH [n.text];
