"""Documents to chunks: strategies choose spans, everything else follows from them."""
