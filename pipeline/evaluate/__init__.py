"""How well a corpus is found again: questions with known answers, asked of several ways to cut and embed it."""
