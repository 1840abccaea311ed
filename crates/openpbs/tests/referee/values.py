"""How a value is written for the comparison: with its type and all its bits."""

import struct


def written(value):
    kind = type(value)
    if kind is int:
        return "%x" % value
    if kind is float:
        return "nan" if value != value else "D%016x" % struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind is tuple:
        return "(" + ",".join(map(written, value)) + ")"
    if kind is list:
        return "[" + ",".join(map(written, value)) + "]"
    if value is None or kind is bool or kind is type or kind is type(len):
        return repr(value)
    return kind.__name__


def number(bits):
    """The double of these bits."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]
