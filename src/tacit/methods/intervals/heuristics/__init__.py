"""Safe intervals around a point, and fewer of them at the same cost."""
