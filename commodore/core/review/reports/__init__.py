"""A review as text, Markdown, HTML and JSON."""
