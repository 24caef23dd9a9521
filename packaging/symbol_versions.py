#!/usr/bin/env python3
"""Reads the symbol versions that a shared library needs, straight from its ELF sections.

usage: symbol_versions.py LIBRARY [NEWEST]    prints the versions of each library it needs; with NEWEST (such as 2.17) fails if a
version of glibc beyond it is among them.
"""
import struct
import sys


def sections_of(data, path):
    """The section headers of an ELF file."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit(f"{path}: not a little-endian 64-bit ELF file")
    at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return [struct.unpack_from("<IIQQQQIIQQ", data, at + k * size) for k in range(count)]


def text_of(data, sections, table, offset):
    """A text of the string table with the number `table`."""
    begin = sections[table][4] + offset
    return data[begin:data.index(b"\0", begin)].decode()


def needed_versions(path):
    """{library: [versions]} of the section .gnu.version_r."""
    with open(path, "rb") as file:
        data = file.read()
    sections = sections_of(data, path)
    found = {}
    for kind, place, link, entries in ((s[1], s[4], s[6], s[7]) for s in sections):
        if kind != 0x6FFFFFFE:  # SHT_GNU_verneed
            continue
        for _ in range(entries):
            _, versions, library, first, step = struct.unpack_from("<HHIII", data, place)
            names = found.setdefault(text_of(data, sections, link, library), [])
            entry = place + first
            for _ in range(versions):
                _, _, _, name, after = struct.unpack_from("<IHHII", data, entry)
                names.append(text_of(data, sections, link, name))
                entry += after
            place += step
    return found


def number(version):
    return tuple(int(part) for part in version.split("_", 1)[1].split("."))


def main():
    path = sys.argv[1]
    found = needed_versions(path)
    for library, versions in sorted(found.items()):
        print(library, *sorted(versions))
    glibc = [v for names in found.values() for v in names if v.startswith("GLIBC_2")]
    newest = max(glibc, key=number, default="GLIBC_0")
    print("newest:", newest)
    if len(sys.argv) > 2 and number(newest) > number("GLIBC_" + sys.argv[2]):
        raise SystemExit(f"{path} needs {newest}, newer than {sys.argv[2]}")


if __name__ == "__main__":
    main()
