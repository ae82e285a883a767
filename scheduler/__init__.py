"""Time: schedules, zones and what is due. Knows no chat and no agent."""
