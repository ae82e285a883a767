"""Where the agent's commands run, apart from this process and from each other."""
