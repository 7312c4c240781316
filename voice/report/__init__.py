"""What is written when a conversation is over."""
