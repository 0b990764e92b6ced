"""What all methods share: the driver, the course of a search, relaxations with cuts."""
