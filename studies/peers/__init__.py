"""Other programs that studies compare tacit with, each run as a separate program."""
