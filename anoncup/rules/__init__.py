"""What a competition file says: the model, its values, parameters and rounds."""
