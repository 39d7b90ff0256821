"""`compliant`: any clip gives way to small pushes, without training (Ye & Liu 2008)."""
