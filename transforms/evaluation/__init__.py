"""How good retrieval is: questions with known answers, and measures over their rankings."""
