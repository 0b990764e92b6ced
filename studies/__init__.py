"""Quality on instance sets: one script per published table, with committed results."""
