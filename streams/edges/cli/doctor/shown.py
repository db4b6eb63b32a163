"""The findings as text: a line for each check, and below one that fails its cause, the next step and the page."""

from collections.abc import Iterable, Iterator, Sequence

from streams.edges.cli.doctor.findings import FINE, Finding
from streams.edges.cli.progress import note
from streams.replay.reconcile import ReconciledKind


def show(findings: Sequence[Finding]) -> None:
    """Print the findings."""
    for line in lines(findings):
        print(line)


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """The lines of the findings, and a last one that counts them."""
    width = max((len(each.id) for each in findings), default=0)
    for each in findings:
        yield f"{each.state:<7} {each.id:<{width}}  {each.seen}"
        if each.cause:
            yield f"{'':8}{'':{width}}  {each.cause}"
            yield f"{'':8}{'':{width}}  fix: {each.fix}  ({each.doc})"
    yield f"{len(findings)} checks, {sum(each.state not in FINE for each in findings)} with something to do"


def show_reconciled(table: Iterable[ReconciledKind], left: int, *, changed: bool) -> None:
    """Print what was missing or unknown to the log, by tenant and kind."""
    rows = list(table)
    odd = [row for row in rows if row["missing"] or row["orphans"]]
    for row in odd:
        print(
            f"{row['tenant']}: {row['kind']} {row['of']}: {row['missing']:,} of {row['expected']:,} missing, "
            f"{row['orphans']:,} orphans"
        )
    expected = sum(row["expected"] for row in rows)
    print(f"reconciled: {expected:,} expected by the log, {left:,} findings{' left' if odd and not left else ''}")
    if left and not changed:
        note("--repair writes what is missing again; --remove-orphans removes what the log does not know")
