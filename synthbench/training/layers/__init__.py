"""The layers that the models are made of."""
