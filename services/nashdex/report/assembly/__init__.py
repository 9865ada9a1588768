"""From what the steps wrote to ``report.json``. Every number of the report is computed here or by a step."""
