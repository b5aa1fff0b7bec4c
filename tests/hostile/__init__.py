"""Files that somebody made to mislead, to crash or to burden whoever reads them."""
