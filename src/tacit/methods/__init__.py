"""Methods: each makes a table safe in its own way."""
