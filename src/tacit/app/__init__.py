"""The web application: makes a job, runs it like any other, and shows the release."""
