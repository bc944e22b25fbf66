"""The job around the transforms: configuration, the graph, the command line.

Importing this package imports nothing else.
"""
