"""One file per algorithm, named as users type it, with `_` for `-`; each has `run(search)`."""
