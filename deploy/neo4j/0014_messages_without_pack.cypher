// The messages of a tenant that no pack was made for, as those of an import, the newest first.
CREATE INDEX message_pack IF NOT EXISTS FOR (n:Message) ON (n.tenant_id, n.pack, n.created_at);
