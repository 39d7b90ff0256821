"""Other methods for the task of `policy`, from the same clips with the same reward: what it is compared with."""
