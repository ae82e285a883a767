"""The ``hart`` command."""

import sys

from bot.errors import OperatorError

EXIT_OPERATOR_ERROR = 2


def main() -> None:
    """Run a command; what the operator must mend is one line and a non-zero exit."""
    from bot.cli.app import app

    try:
        app()
    except OperatorError as error:
        print(f"hart: {error}", file=sys.stderr)
        sys.exit(EXIT_OPERATOR_ERROR)
