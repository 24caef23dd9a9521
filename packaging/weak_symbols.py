#!/usr/bin/env python3
"""Makes the undefined symbols of Python in a shared library weak, so that a host without Python can load it: a weak symbol that nobody
has is zero. In Python they are found as before.

usage: weak_symbols.py LIBRARY
"""
import struct
import sys

from symbol_versions import sections_of, text_of

SHT_DYNSYM, STB_GLOBAL, STB_WEAK = 11, 1, 2


def weaken(path):
    """Changes the file; returns the number of symbols."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    sections = sections_of(data, path)
    found = 0
    for kind, place, size, link in ((s[1], s[4], s[5], s[6]) for s in sections):
        if kind != SHT_DYNSYM:
            continue
        for entry in range(place, place + size, 24):
            name, info, _, defined_in = struct.unpack_from("<IBBH", data, entry)
            of_python = text_of(data, sections, link, name).startswith(("Py", "_Py"))
            if of_python and defined_in == 0 and info >> 4 == STB_GLOBAL:
                data[entry + 4] = STB_WEAK << 4 | info & 15
                found += 1
    with open(path, "wb") as file:
        file.write(data)
    return found


if __name__ == "__main__":
    print(f"{sys.argv[1]}: {weaken(sys.argv[1])} symbols of Python are weak")
