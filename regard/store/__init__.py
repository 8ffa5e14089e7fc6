"""Store: run folders, packed weights and the models that come with the package."""
