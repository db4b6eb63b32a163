"""For every check: the likely cause of its failure, the command or step that mends it, and where that is explained."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

GUIDE = "docs/operators-guide.md#"


@dataclass(frozen=True, slots=True)
class Remedy:
    """The likely cause of a failed check, the next step, and the page with its anchor."""

    cause: str
    fix: str
    doc: str


REMEDIES: Final[Mapping[str, Remedy]] = {
    "python": Remedy(
        "this Python is older than those Fathom is tested with",
        "install Python 3.11 or later, then `make setup`",
        GUIDE + "install-it",
    ),
    "packages": Remedy(
        "something else was installed into this environment", "pip install --force-reinstall .", GUIDE + "install-it"
    ),
    "settings": Remedy(
        "a value, file, policy or URL of the settings cannot be used", "fathom config check", GUIDE + "settings"
    ),
    "secrets": Remedy(
        "files with passwords can be read by other users of this machine", "chmod 600 FILE", GUIDE + "settings"
    ),
    "data-directory": Remedy(
        "the directory belongs to another user, or is open to all",
        "chown -R $(id -u) DIR && chmod 700 DIR",
        GUIDE + "processes",
    ),
    "disk": Remedy(
        "log and stores grow with what is sent, until their retention", "df -h DIR; free some of it", GUIDE + "topics"
    ),
    "damaged": Remedy(
        "files of the log or of a store were not as they had been written: a disk, a power cut, or somebody's hand",
        "look at what was set aside, then rm -r it",
        "docs/backup.md#damaged-files",
    ),
    "owner": Remedy("`fathom up` was killed, or does not run", "fathom up --data DIR", GUIDE + "processes"),
    "ready": Remedy(
        "a group, a store or the broker of the process does not do its work", "curl HTTP/health/ready", GUIDE + "health"
    ),
    "broker": Remedy(
        "it does not run, the address is wrong, or it refuses us", "fathom config show", "docs/errors.md#unavailable"
    ),
    "broker-version": Remedy(
        "a broker older than Kafka 2.3 lacks requests that Fathom sends", "upgrade the broker", GUIDE + "install-it"
    ),
    "topics": Remedy("they were never made, or deleted", "fathom topics apply", GUIDE + "topics"),
    "topic-partitions": Remedy(
        "FATHOM_PARTITIONS differs from what the topics were made with", "fathom topics plan", GUIDE + "topics"
    ),
    "topic-settings": Remedy("they were changed, or made by another version", "fathom topics apply", GUIDE + "topics"),
    "replication": Remedy(
        "FATHOM_REPLICATION differs from what the topics were made with",
        "kafka-reassign-partitions",
        GUIDE + "topics",
    ),
    "replicas": Remedy(
        "a broker of the cluster is away, or cannot follow",
        "kafka-topics --describe --under-replicated-partitions",
        GUIDE + "topics",
    ),
    "rights": Remedy(
        "the broker's ACL denies this user what workers do",
        "kafka-acls --add --allow-principal User:NAME --operation read --operation write --topic TOPIC",
        GUIDE + "a-kafka-that-asks-who-comes",
    ),
    "clock": Remedy("the clock of a producer, or of this machine, is wrong", "timedatectl status", GUIDE + "delivery"),
    "group": Remedy(
        "no worker runs this group, or what runs it is stuck",
        "fathom lag --seconds 30 --partitions",
        GUIDE + "processes",
    ),
    "unread-topics": Remedy("no worker has ever run the groups that read them", "fathom worker", GUIDE + "processes"),
    "dead-letters": Remedy(
        "records that a stage could not accept; the header fathom_reason of each says why",
        "fathom tail dead-letters.STAGE --from-beginning",
        "docs/errors.md#dead-letters",
    ),
    "redis": Remedy(
        "it does not run, or refuses us", "redis-cli -u $FATHOM_REDIS_URL ping", "docs/errors.md#unavailable"
    ),
    "redis-version": Remedy("a Redis older than 6.2", "upgrade it", GUIDE + "the-working-set-and-redis"),
    "redis-policy": Remedy(
        "it may evict conversations when its memory is full, and nobody notices",
        "redis-cli config set maxmemory-policy noeviction",
        GUIDE + "the-working-set-and-redis",
    ),
    "redis-persistence": Remedy(
        "after a restart it is empty, and every partition is restored from the log",
        "redis-cli config set appendonly yes",
        GUIDE + "the-working-set-and-redis",
    ),
    "redis-memory": Remedy(
        "nearly all of maxmemory is used: writes are refused soon",
        "redis-cli config set maxmemory MORE",
        GUIDE + "the-working-set-and-redis",
    ),
    "redis-clock": Remedy("its clock or this machine's is wrong", "timedatectl status", GUIDE + "delivery"),
    "keys": Remedy(
        "the store of the keys of persons does not run, refuses us, or its settings do not fit",
        "fathom config check",
        GUIDE + "keys-of-persons",
    ),
    "master-key": Remedy(
        "FATHOM_MASTER_KEY_FILE is not the file that the workers have, or the store is another one's",
        "name the file that the workers have, or restore it from its backup",
        GUIDE + "keys-of-persons",
    ),
    "keys-policy": Remedy(
        "it may evict keys when its memory is full, and what they encrypt is lost",
        "redis-cli config set maxmemory-policy noeviction",
        GUIDE + "keys-of-persons",
    ),
    "keys-persistence": Remedy(
        "after a restart the keys are gone, and what they encrypt is lost",
        "redis-cli config set appendonly yes && redis-cli config set appendfsync always",
        GUIDE + "keys-of-persons",
    ),
    "keys-apart": Remedy(
        "who empties the sessions, which is harmless, empties the keys too, which is not",
        "move the keys to a server of their own",
        GUIDE + "keys-of-persons",
    ),
    "graph": Remedy("it does not run, or refuses us", "fathom config show", GUIDE + "when-a-store-is-away"),
    "graph-version": Remedy("a Neo4j older than 5", "upgrade it", GUIDE + "install-it"),
    "graph-schema": Remedy(
        "no worker has started with this database since the last upgrade", "fathom worker", GUIDE + "install-it"
    ),
    "graph-indexes": Remedy(
        "an index was removed or is still being filled", "cypher-shell 'SHOW INDEXES'", GUIDE + "install-it"
    ),
    "index": Remedy("it does not run, or refuses us", "fathom config show", GUIDE + "when-a-store-is-away"),
    "index-version": Remedy(
        "a Qdrant older than 1.19 counts rare words over all tenants", "upgrade it", GUIDE + "install-it"
    ),
    "index-collections": Remedy("no worker with an index has started yet", "fathom worker", GUIDE + "reconcile"),
    "index-tenants": Remedy(
        "the collection was made by something else, or its making was interrupted", "fathom worker", GUIDE + "reconcile"
    ),
    "embedder": Remedy(
        "FATHOM_EMBEDDER was changed after passages had been stored",
        "set FATHOM_EMBEDDER back, or remove the index and run `fathom replay --mode rebuild --execute`",
        GUIDE + "replay",
    ),
    "model": Remedy(
        "the endpoint does not run, or its name or certificate is wrong",
        "curl $FATHOM_LLM_URL/models",
        GUIDE + "a-language-model-optional",
    ),
    "canary": Remedy("a group of the pack path does not run, or is behind", "fathom lag", GUIDE + "check-everything"),
}
