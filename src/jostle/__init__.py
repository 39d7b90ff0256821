"""Responsive characters from a handful of clips."""
