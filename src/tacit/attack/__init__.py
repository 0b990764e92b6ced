"""What an intruder can deduce: exact intervals of any cell, audit with evidence, cuts."""
