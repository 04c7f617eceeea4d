"""What is made of this paper's shipped results as a whole: claims, numbers for the report, the page."""
