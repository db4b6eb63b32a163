"""The `fathom` command."""

import sys

OLDEST = (3, 11)


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # Before any import of ours: an older Python could not even read those files.
    if sys.version_info < OLDEST:
        found = ".".join(str(part) for part in sys.version_info[:3])
        sys.stderr.write("fathom needs Python 3.11 or newer, this is %s: install it with a newer one\n" % found)  # noqa: UP031
        sys.exit(3)
    if sys.argv[1:] == ["--version"]:
        from streams.version import version

        sys.stdout.write("fathom " + version() + "\n")
        sys.exit(0)
    from streams.edges.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
