#!/usr/bin/env python3
"""Reads what an ELF file asks of the system that starts it, without binutils.

Enters: the highest version of glibc that it may ask for, and files (`glibc_needs.py 2.17 FILE...`). Leaves: a line for each
file with its machine, its libraries and the versions of symbols; exit code 1 if a file asks for more, or for a library that
is not glibc's.
"""

import struct
import sys

LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"}
MACHINES = {62: "x86-64", 183: "aarch64"}
LOAD, DYNAMIC = 1, 2
NEEDED, STRTAB, VERNEED, VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


class Elf:
    """A 64-bit little-endian ELF file, by its program headers: sections may be stripped."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path}: not a 64-bit little-endian ELF file")
        self.machine = self.unpack("<H", 18)[0]
        start, (size, count) = self.unpack("<Q", 32)[0], self.unpack("<HH", 54)
        # type, flags, offset, address, physical address, size in the file
        headers = [self.unpack("<IIQQQQ", start + size * i) for i in range(count)]
        self.segments = [header[2:4] + header[5:6] for header in headers if header[0] == LOAD]
        self.entries = []
        for offset in [header[2] for header in headers if header[0] == DYNAMIC]:
            while (entry := self.unpack("<QQ", offset))[0]:
                self.entries.append(entry)
                offset += 16

    def unpack(self, layout, offset):
        return struct.unpack_from(layout, self.bytes, offset)

    def offset(self, address):
        for offset, start, size in self.segments:
            if start <= address < start + size:
                return address - start + offset
        raise ValueError(f"no segment contains the address {address:#x}")

    def entry(self, tag):
        return next((value for found, value in self.entries if found == tag), None)

    def name(self, index):
        start = self.offset(self.entry(STRTAB)) + index
        return self.bytes[start : self.bytes.index(0, start)].decode()

    def libraries(self):
        return [self.name(value) for tag, value in self.entries if tag == NEEDED]

    def versions(self):
        """The needed versions of symbols, as pairs of a library and a version."""
        needs = self.entry(VERNEED)
        record = self.offset(needs) if needs else 0
        for _ in range(self.entry(VERNEEDNUM) or 0):
            _, count, file, version, following = self.unpack("<HHIII", record)
            version += record
            for _ in range(count):
                name, step = self.unpack("<II", version + 8)
                yield self.name(file), self.name(name)
                version += step
            record += following


def numbers(version):
    """`GLIBC_2.17` as (2, 17); None for a name without a number, such as `GLIBC_PRIVATE`."""
    try:
        return tuple(int(part) for part in version.removeprefix("GLIBC_").split("."))
    except ValueError:
        return None


def main():
    highest, *paths = sys.argv[1:]
    excessive = False
    for path in paths:
        elf = Elf(path)
        versions = sorted({version for _, version in elf.versions()}, key=lambda version: numbers(version) or (99,))
        too_new = [version for version in versions if (numbers(version) or (99,)) > numbers(highest)]
        others = [library for library in elf.libraries() if library not in LIBRARIES and not library.startswith("ld-linux")]
        machine = MACHINES.get(elf.machine, elf.machine)
        print(f"{path}: {machine}, {' '.join(elf.libraries())}, {' '.join(versions)}")
        if too_new or others:
            excessive = True
            print(f"{path}: more than glibc {highest}: {' '.join(too_new + others)}", file=sys.stderr)
        if not versions:
            sys.exit(f"{path}: asks for no version of glibc: it is not linked with it, or not read rightly")
    sys.exit(1 if excessive else 0)


if __name__ == "__main__":
    main()
