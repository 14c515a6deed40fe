"""The items contract: typed items by identity, the seam that hosts inject."""
