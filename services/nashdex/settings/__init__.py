"""The settings of a run, composed of the sections that packages declare in their ``settings`` modules."""
