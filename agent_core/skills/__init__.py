"""Skills: know-how in folders, told to the agent as a menu and read when it is needed."""
