"""The world outside, one vendor a folder. An adapter imports its own vendor and no other's."""
