"""`hypercube`: protect every cell by the cheapest hypercube of suppressed cells around it."""
