"""Reads a VTU file with meshio, and prints what it finds as JSON."""

import json
import sys

import meshio

mesh = meshio.read(sys.argv[1])
print(
    json.dumps(
        {
            "points": mesh.points.ravel().tolist(),
            "cells": {block.type: block.data.ravel().tolist() for block in mesh.cells},
            "body": mesh.point_data["body"].ravel().tolist(),
        }
    )
)
