#!/bin/sh
# Make the secrets that docker-compose.yml names, each once: a second run leaves them as they are.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
# Only the owner gets into the folder; the containers' users, who are others, read the single files.
chmod 700 secrets
for name in grafana_password neo4j_password qdrant_api_key; do
    if [ ! -s "secrets/$name" ]; then
        LC_ALL=C tr -dc 'A-Za-z0-9' < /dev/urandom | head -c 32 > "secrets/$name"
        chmod 644 "secrets/$name"
        printf 'made deploy/secrets/%s\n' "$name"
    fi
done
# Neo4j's image takes user and password in one file.
printf 'neo4j/%s' "$(cat secrets/neo4j_password)" > secrets/neo4j_auth
chmod 644 secrets/neo4j_auth
# It wraps the keys of persons (deploy/compose.keys.yml): keep a copy apart from all data.
if [ ! -s secrets/master_key ]; then
    head -c 32 /dev/urandom | base64 > secrets/master_key
    chmod 644 secrets/master_key
    printf 'made deploy/secrets/master_key\n'
fi
# The key of the model's server behind /v1 (docs/openai.md): write it here; a local model asks for none.
if [ ! -s secrets/upstream_key ]; then
    printf '%s' "${FATHOM_UPSTREAM_KEY:-no-key-yet}" > secrets/upstream_key
    chmod 644 secrets/upstream_key
    printf 'made deploy/secrets/upstream_key\n'
fi
# Whose the token of /ask is: add others beside it.
if [ ! -s secrets/ask_tokens ]; then
    token=$(LC_ALL=C tr -dc 'A-Za-z0-9' < /dev/urandom | head -c 32)
    printf '{"%s": {"tenant": "default"}}\n' "$token" > secrets/ask_tokens
    chmod 644 secrets/ask_tokens
    printf 'made deploy/secrets/ask_tokens\n'
fi
