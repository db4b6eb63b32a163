"""The options of `fathom replay`, with their help."""

from pathlib import Path
from typing import Annotated

import typer

Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="exact: packs from recorded partial packs; rebuild: stores from the log; reprocess: classify, retrieve "
        "and assemble again, as of then.",
    ),
]
ToEarliest = Annotated[bool, typer.Option("--to-earliest", help="From the beginning of the log. [default]")]
ToDatetime = Annotated[
    str | None, typer.Option("--to-datetime", metavar="TIME", help="From a time on, ISO 8601; UTC without a zone.")
]
ByDuration = Annotated[
    str | None, typer.Option("--by-duration", metavar="PnDTnHnMnS", help="From so long ago on; also 90m.")
]
ToOffset = Annotated[int | None, typer.Option("--to-offset", min=0, help="From this offset of messages.in.")]
ShiftBy = Annotated[int | None, typer.Option("--shift-by", max=0, help="From so many messages before the end: -500.")]
FromFile = Annotated[
    Path | None, typer.Option("--from-file", metavar="FILE", help="From the offsets of TOPIC,PARTITION,OFFSET lines.")
]
Export = Annotated[bool, typer.Option("--export", help="Print the offsets it would start from, as CSV.")]
OnlyTenant = Annotated[str | None, typer.Option("--tenant", help="Only this tenant's.")]
OnlyConversation = Annotated[str | None, typer.Option("--conversation", help="Only this conversation's.")]
StoreNames = Annotated[str, typer.Option("--stores", help="Of a rebuild: what to fill.")]
With = Annotated[Path | None, typer.Option("--with", metavar="FILE", help="Other settings, as FATHOM_…=VALUE lines.")]
Sample = Annotated[float, typer.Option("--sample", min=0.0, max=1.0, help="Answer this share of the messages.")]
MaxRateOption = Annotated[
    float | None, typer.Option("--max-rate", min=0.1, help="Messages a second, at most. Default: no limit.")
]
Report = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write the report as an HTML page, too.")]
QuarantinedNow = Annotated[
    bool,
    typer.Option("--quarantined-now", help="Hide what is quarantined now. Default: what was when a message came."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done. [default]")]
Execute = Annotated[bool, typer.Option("--execute", help="Do it.")]
NewId = Annotated[str | None, typer.Option("--id", help="Names the replay's topics. Default: a new one.")]
Resume = Annotated[str | None, typer.Option("--resume", metavar="ID", help="Go on with a replay that ended early.")]
