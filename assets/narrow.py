#!/usr/bin/env python3
"""Keep the first 128 numbers of each row of static256.bin: they come in the order of how much they tell, and the rest brings nothing to searching.

  python3 narrow.py STATIC256_BIN STATIC128_BIN
"""
import struct
import sys

KEPT = 128
data = open(sys.argv[1], "rb").read()
pieces, dims, letters = struct.unpack("<III", data[:12])
head = 12 + 4 * (pieces + 1) + 4 * pieces + letters
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<III", pieces, KEPT, letters))
    out.write(data[12:head])
    for at in range(pieces):
        start = head + at * dims
        out.write(data[start:start + KEPT])
