"""What is fetched and rendered when."""
