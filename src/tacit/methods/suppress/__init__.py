"""Complete cell suppression: exact and heuristic."""
