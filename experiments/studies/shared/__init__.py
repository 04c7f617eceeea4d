"""What several studies use: the look of figures, the printed curves, formats of tables, questions to an arm."""
