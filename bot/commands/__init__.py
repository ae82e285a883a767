"""What people can ask of Hart itself rather than of the agent: ``/help``, ``/new``, ``/status`` …"""
