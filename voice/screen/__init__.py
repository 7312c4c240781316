"""What is shown while a conversation runs."""
