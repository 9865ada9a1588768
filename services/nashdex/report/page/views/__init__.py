"""What each section of the page draws and lists, made from ``report.json``."""
