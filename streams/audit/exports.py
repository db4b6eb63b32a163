"""Audit entries as files: CSV, JSON lines, Parquet; a file is there once it is whole."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.errors import FathomError
from streams.audit.entries import AuditEntry

COLUMNS = tuple(AuditEntry.model_fields)
NUMBERS = {"partition": "int32", "offset": "int64", "tokens": "int64", "latency_ms": "int64", "degraded": "bool_"}
# A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")

Write = Callable[[Sequence[AuditEntry]], None]


class NoParquet(FathomError):
    """The library that writes Parquet is not installed."""


@contextmanager
def opened(form: str, path: Path) -> Iterator[Write]:
    """What writes entries to a new file; where it fails, there is no file. Raises `NoParquet`, `OSError`."""
    unfinished = path.with_name(f"{path.name}.part")
    try:
        with FORMATS[form](unfinished) as write:
            yield write
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)

        def write(entries: Sequence[AuditEntry]) -> None:
            rows.writerows([_cell(value) for value in each.model_dump(mode="json").values()] for each in entries)

        yield write


@contextmanager
def _json(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8") as file:

        def write(entries: Sequence[AuditEntry]) -> None:
            file.writelines(f"{each.model_dump_json()}\n" for each in entries)

        yield write


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise NoParquet(
            "Parquet needs pyarrow, which is not installed: `pip install --require-hashes -r "
            "deploy/requirements/parquet.txt`, or `pip install 'fathom-context[parquet]'`; or use --format csv or json"
        ) from None
    columns = [(name, getattr(pyarrow, NUMBERS.get(name, "string"))()) for name in COLUMNS]
    columns[COLUMNS.index("at")] = ("at", pyarrow.timestamp("ms", tz="UTC"))
    schema = pyarrow.schema(columns)
    with parquet.ParquetWriter(path, schema, compression="zstd") as file:

        def write(entries: Sequence[AuditEntry]) -> None:
            if entries:
                file.write_batch(pyarrow.RecordBatch.from_pylist([each.model_dump() for each in entries], schema))

        yield write


FORMATS: Mapping[str, Callable[[Path], Any]] = {"csv": _csv, "json": _json, "parquet": _parquet}


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
