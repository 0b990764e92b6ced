"""Files of tau-ARGUS: one module per format."""
