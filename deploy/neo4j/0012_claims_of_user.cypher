// A user's claims, newest first.
CREATE INDEX claim_user IF NOT EXISTS FOR (c:Claim) ON (c.tenant_id, c.user_id, c.created_at);
