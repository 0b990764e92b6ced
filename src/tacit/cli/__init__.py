"""The command line: `tacit COMMAND`."""
