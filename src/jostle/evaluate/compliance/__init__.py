"""`evaluate compliance`: clips that give way to small pushes, without training (Ye & Liu 2008)."""
