"""Recoding: categories merged until fewer cells are sensitive."""
