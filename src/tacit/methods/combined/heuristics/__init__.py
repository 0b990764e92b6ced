"""Solutions of combined suppression from patterns."""
