"""Tables as statisticians hold them."""
