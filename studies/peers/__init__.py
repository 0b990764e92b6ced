"""Other programs that studies compare tacit with, each run as a program of its own."""
