"""Transactional producers: who may write, what is open, and how a transaction ends.

Each change is journaled before it is answered. The decision to commit or abort is a line of its own, written before
the first marker: after a crash the markers still missing are written on load, so no partition decides alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from streams.broker.errors import Code, RequestRefused
from streams.broker.journal import Journal
from streams.broker.offsets import Committed, Offsets, Partition
from streams.broker.topics import Topics, all_logs

LONGEST_S = 900.0
LAST_EPOCH = 0x7FFE
ID_BLOCK = 1_000
COMPACT_ABOVE = 20_000
DECIDED = ("Committing", "Aborting")


@dataclass(slots=True)
class Transaction:
    id: str
    producer_id: int
    epoch: int
    timeout: float
    state: str = "Empty"  # Ongoing, Committing, Aborting, Committed, Aborted
    partitions: set[Partition] = field(default_factory=set)
    offsets: dict[str, dict[Partition, Committed]] = field(default_factory=dict)
    deadline: float = 0.0

    def as_line(self) -> dict[str, object]:
        return {
            "id": self.id,
            "producer": self.producer_id,
            "epoch": self.epoch,
            "timeout": self.timeout,
            "state": self.state,
            "partitions": sorted(self.partitions),
            "offsets": [
                (group, *partition, *committed)
                for group, items in self.offsets.items()
                for partition, committed in items.items()
            ],
        }


def from_line(line: dict) -> Transaction:  # type: ignore[type-arg]
    tx = Transaction(line["id"], line["producer"], line["epoch"], line["timeout"], line["state"])
    tx.partitions = {(topic, index) for topic, index in line["partitions"]}
    for group, topic, index, *committed in line["offsets"]:
        tx.offsets.setdefault(group, {})[topic, index] = Committed(*committed)
    return tx


class Transactions:
    def __init__(self, directory: Path, topics: Topics, offsets: Offsets, clock: Callable[[], float]) -> None:
        self._journal = Journal(directory / "transactions.jsonl")
        self._topics, self._offsets, self._clock = topics, offsets, clock
        self._by_id: dict[str, Transaction] = {}
        self._by_producer: dict[int, Transaction] = {}
        self._next_id = self._reserved_below = 1_000
        self._load()

    def _load(self) -> None:
        for line in self._journal.replay():
            if "reserved" in line:
                self._next_id = self._reserved_below = line["reserved"]
            else:
                self._adopt(from_line(line))
        for tx in self._by_id.values():
            tx.deadline = self._clock() + tx.timeout
            if tx.state in DECIDED:
                self._finish(tx)
        self._abort_orphans()

    def _abort_orphans(self) -> None:
        # A power cut may cost the journal lines but not the records; such a transaction would block readers for ever.
        for name, index, log in all_logs(self._topics.by_name.values()):
            for producer_id in list(log.producers.open):
                tx = self._by_producer.get(producer_id)
                if tx is None or tx.state != "Ongoing" or (name, index) not in tx.partitions:
                    epoch = log.producers.epoch(producer_id)
                    log.append_marker(producer_id, epoch, False, self._topics.by_name[name].segment_bytes)

    def _adopt(self, tx: Transaction) -> None:
        self._by_id[tx.id] = self._by_producer[tx.producer_id] = tx

    def _save(self, tx: Transaction) -> None:
        self._journal.append([tx.as_line()])
        if self._journal.lines > COMPACT_ABOVE + 2 * len(self._by_id):
            self._journal.rewrite([{"reserved": self._reserved_below}, *(t.as_line() for t in self._by_id.values())])

    def new_producer_id(self) -> int:
        if self._next_id >= self._reserved_below:
            self._journal.append([{"reserved": self._next_id + ID_BLOCK}], sync=True)
            self._reserved_below = self._next_id + ID_BLOCK
        self._next_id += 1
        return self._next_id - 1

    def start_producer(self, id: str, timeout: float) -> tuple[int, int]:
        """Producer id and epoch of a (re)starting transactional producer; whoever held the id before is fenced."""
        if not 0 < timeout <= LONGEST_S:
            raise RequestRefused(Code.INVALID_TRANSACTION_TIMEOUT)
        tx = self._by_id.get(id)
        if tx is None:
            tx = Transaction(id, self.new_producer_id(), 0, timeout)
        else:
            self._fence(tx)
            if tx.epoch > LAST_EPOCH:
                del self._by_producer[tx.producer_id]
                tx = Transaction(id, self.new_producer_id(), 0, timeout)
        tx.timeout = timeout
        self._adopt(tx)
        self._save(tx)
        return tx.producer_id, tx.epoch

    def _fence(self, tx: Transaction) -> None:
        if tx.state in DECIDED:
            self._end(tx, commit=tx.state == "Committing")
        # Up before the marker: it carries the new epoch into each partition, where it fences the old one.
        tx.epoch += 1
        if tx.state == "Ongoing":
            self._end(tx, commit=False)
        tx.state = "Empty"

    def _checked(self, id: str, producer_id: int, epoch: int) -> Transaction:
        tx = self._by_id.get(id)
        if tx is None or tx.producer_id != producer_id:
            raise RequestRefused(Code.INVALID_PRODUCER_ID_MAPPING)
        if tx.epoch != epoch:
            raise RequestRefused(Code.INVALID_PRODUCER_EPOCH)
        return tx

    def _begin(self, tx: Transaction) -> None:
        if tx.state != "Ongoing":
            tx.state = "Ongoing"
            tx.deadline = self._clock() + tx.timeout

    def add_partitions(self, id: str, producer_id: int, epoch: int, partitions: Iterable[Partition]) -> None:
        tx = self._checked(id, producer_id, epoch)
        self._begin(tx)
        tx.partitions.update(partitions)
        self._save(tx)

    def add_group(self, id: str, producer_id: int, epoch: int) -> None:
        tx = self._checked(id, producer_id, epoch)
        self._begin(tx)
        self._save(tx)

    def add_offsets(self, id: str, producer_id: int, epoch: int, group: str, items: dict[Partition, Committed]) -> None:
        tx = self._checked(id, producer_id, epoch)
        if tx.state != "Ongoing":
            raise RequestRefused(Code.INVALID_TXN_STATE)
        tx.offsets.setdefault(group, {}).update(items)
        self._save(tx)

    def may_write(self, producer_id: int, epoch: int, partition: Partition) -> None:
        """Refused unless this batch belongs to an open transaction that has announced the partition."""
        tx = self._by_producer.get(producer_id)
        if tx is None:
            raise RequestRefused(Code.INVALID_PRODUCER_ID_MAPPING)
        if tx.epoch != epoch:
            raise RequestRefused(Code.INVALID_PRODUCER_EPOCH)
        if tx.state != "Ongoing" or partition not in tx.partitions:
            raise RequestRefused(Code.INVALID_TXN_STATE)

    def end(self, id: str, producer_id: int, epoch: int, commit: bool) -> None:
        tx = self._checked(id, producer_id, epoch)
        if tx.state == ("Committed" if commit else "Aborted"):
            return
        # A decision the disk refused to take is asked for again, and may only be the same one.
        if tx.state not in ("Ongoing", _decision(commit)):
            raise RequestRefused(Code.INVALID_TXN_STATE)
        self._end(tx, commit)

    def _end(self, tx: Transaction, commit: bool) -> None:
        tx.state = _decision(commit)
        self._save(tx)
        self._finish(tx)

    def _finish(self, tx: Transaction) -> None:
        commit = tx.state == "Committing"
        for name, index in sorted(tx.partitions):
            topic = self._topics.by_name.get(name)
            if topic is None or index >= len(topic.partitions):
                continue
            log = topic.partitions[index]
            if tx.producer_id in log.producers.open or log.producers.epoch(tx.producer_id) < tx.epoch:
                log.append_marker(tx.producer_id, tx.epoch, commit, topic.segment_bytes)
        if commit:
            for group, items in tx.offsets.items():
                self._offsets.commit(group, items)
        tx.state = "Committed" if commit else "Aborted"
        tx.partitions, tx.offsets = set(), {}
        self._save(tx)

    def tick(self) -> None:
        """Abort what has been open for too long, and fence its producer."""
        now = self._clock()
        for tx in self._by_id.values():
            if tx.state == "Ongoing" and tx.deadline <= now:
                tx.epoch += 1
                self._end(tx, commit=False)
            elif tx.state in DECIDED:
                # The disk refused when it was decided; readers wait for it.
                self._end(tx, commit=tx.state == "Committing")

    def close(self) -> None:
        self._journal.close()


def _decision(commit: bool) -> str:
    return "Committing" if commit else "Aborting"
