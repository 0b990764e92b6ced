"""Tests of the formats."""  # noqa: A005 - tests mirror the rooms of src/tacit, and one is io
