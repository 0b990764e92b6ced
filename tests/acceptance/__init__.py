"""What a user is promised, tested from documentation and papers alone."""
