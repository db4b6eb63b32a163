// A query profile has a node for each of its versions.
DROP CONSTRAINT query_profile_name IF EXISTS;
CREATE INDEX query_profile_version IF NOT EXISTS FOR (q:QueryProfile) ON (q.tenant_id, q.name, q.version);
