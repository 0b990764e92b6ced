"""Safe patterns: built, repaired, cleaned up, improved."""
