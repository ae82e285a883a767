"""What Hart tells the person who runs it."""


class OperatorError(Exception):
    """Something the operator must mend. Its text is one clear line, shown without a stack trace.

    Args:
        message: What is wrong and where, and what to do about it. Never a secret.
    """
