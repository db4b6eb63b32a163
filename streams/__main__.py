"""The `fathom` command."""

import os
import signal
import sys

OLDEST = (3, 11)
INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # Nothing is begun while modules load: a Ctrl-C just ends it, wherever it strikes.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    _open_closed()
    # Before any import of ours: an older Python could not even read those files.
    if sys.version_info < OLDEST:
        found = ".".join(str(part) for part in sys.version_info[:3])
        sys.stderr.write("fathom needs Python 3.11 or newer, this is %s: install it with a newer one\n" % found)  # noqa: UP031
        sys.exit(3)
    # Installed beside another distribution's `agents`, ours is found only so; child processes start in this folder.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if sys.argv[1:] == ["--version"]:
        from streams.version import version

        sys.stdout.write("fathom " + version() + "\n")
        sys.exit(0)
    from streams.edges.cli.main import run

    try:
        sys.exit(run(sys.argv[1:]))
    finally:
        # The exit code is decided.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _open_closed() -> None:
    """Open /dev/null where stdin, stdout or stderr is closed: else the next file or socket would take its place."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
