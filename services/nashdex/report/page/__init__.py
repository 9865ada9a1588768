"""The report's page: one HTML file that needs nothing beside it, made from ``report.json`` and battle logs."""
