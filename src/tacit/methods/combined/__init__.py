"""Combined suppression: few cells, and those as intervals as narrow as protection allows."""
