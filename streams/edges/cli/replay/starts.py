"""Where a replay starts: a time, or offsets of a topic as `kafka-consumer-groups` takes and exports them."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from streams.edges.client.errors import CONFIG, USAGE, CommandFailed
from streams.replay.log import Log, PartitionRange
from streams.replay.selection import duration, moment


@dataclass(frozen=True, slots=True)
class Start:
    """The stated start, at most one of them; none is the beginning of the log."""

    earliest: bool = False
    at: str | None = None
    back: str | None = None
    offset: int | None = None
    shift: int | None = None
    file: Path | None = None

    def check(self, mode: str) -> None:
        """Raises `CommandFailed` where two are stated, or offsets of a mode that takes none."""
        stated = {
            "--to-earliest": self.earliest or None,
            "--to-datetime": self.at,
            "--by-duration": self.back,
            "--to-offset": self.offset,
            "--shift-by": self.shift,
            "--from-file": self.file,
        }
        given = [name for name, value in stated.items() if value is not None]
        if len(given) > 1:
            raise CommandFailed(f"give one of {' and '.join(given)}", USAGE)
        if given and given[0] in ("--to-offset", "--shift-by", "--from-file") and mode != "reprocess":
            raise CommandFailed(f"{given[0]} is for --mode reprocess; start {mode} from a time", USAGE)

    def since(self, now: datetime) -> int | None:
        """The start time in ms; None for another start. Raises `CommandFailed`."""
        try:
            if self.at is not None:
                return moment(self.at)
            return None if self.back is None else round((now - duration(self.back)).timestamp() * 1000)
        except (ValueError, OverflowError) as error:
            raise CommandFailed(
                f"{'--to-datetime' if self.at is not None else '--by-duration'}: {error}", USAGE
            ) from None

    async def offsets(self, log: Log, topic: str) -> Mapping[int, int] | None:
        """The first offset by partition; None where a time or nothing is stated. Raises `CommandFailed`."""
        spans = await log.spans(topic)
        if self.offset is not None:
            found = dict.fromkeys((span.partition for span in spans), self.offset)
        elif self.shift is not None:
            found = {span.partition: span.end + min(self.shift, 0) for span in spans}
        elif self.file is not None:
            found = _of_file(self.file, topic, spans)
        else:
            return None
        late = [span for span in spans if found.get(span.partition, span.end) > span.end]
        if late:
            raise CommandFailed(
                f"{topic}[{late[0].partition}] ends at offset {late[0].end}, before {found[late[0].partition]}", USAGE
            )
        return {span.partition: max(found.get(span.partition, span.end), span.begin) for span in spans}


def _of_file(path: Path, topic: str, spans: Iterable[PartitionRange]) -> dict[int, int]:
    known = {span.partition for span in spans}
    found: dict[int, int] = {}
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no UTF-8 text"
        raise CommandFailed(f"--from-file {path}: {why}", CONFIG) from None
    for number, row in enumerate(rows, start=1):
        where = f"--from-file {path}, line {number}"
        if not row or row[0] != topic:
            continue
        if len(row) != 3 or not (row[1].isdecimal() and row[2].isdecimal()):
            raise CommandFailed(f"{where}: write {topic},PARTITION,OFFSET", USAGE)
        if int(row[1]) not in known:
            raise CommandFailed(f"{where}: {topic} has {len(known)} partitions, none of number {row[1]}", USAGE)
        found[int(row[1])] = int(row[2])
    if not found:
        raise CommandFailed(f"--from-file {path} has no line of {topic}; write {topic},PARTITION,OFFSET", USAGE)
    return found


def exported(topic: str, offsets: Mapping[int, int]) -> str:
    """The offsets as CSV, as `--from-file` takes them."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows((topic, each, offsets[each]) for each in sorted(offsets))
    return out.getvalue()
