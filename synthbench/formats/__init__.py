"""The forms in which other tools take a dataset, one file each; `exporting` puts them to use."""
