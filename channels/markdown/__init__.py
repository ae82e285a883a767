"""The CommonMark that models write: where its parts are, how to cut it, what to defuse. All pure."""
