"""What a text is made of: blocks, the outline above them, sentences, words, graphemes."""
