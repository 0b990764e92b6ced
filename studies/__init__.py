"""Quality on instance sets: one script a published table, results committed beside it."""
