"""Headers made from the rules."""
