"""From a request to a published dataset directory."""
