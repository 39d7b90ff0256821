"""`evaluate reconstruction`: how well rows of a clip that was never seen go into a latent space and back."""
