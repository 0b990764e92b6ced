"""One file per algorithm, called as users type it, with `_` for `-`; each has `run(search)`."""
