"""The screens of the application, one module each, in the order of the work."""
