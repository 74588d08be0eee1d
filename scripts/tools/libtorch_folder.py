"""Which folder is the libtorch that the crate tch needs, for scripts/libtorch."""
import ast
import platform
import shutil
import sys

VERSION = "2.11.0"

# Files that torch-sys's build and a program's start need, as they are in a libtorch folder.
HEADERS = "include/torch/csrc/api/include/torch/torch.h"
LIBRARIES = ["libc10.so", "libcudart.so.13", "libcupti.so.13", "libgomp.so.1", "libshm.so", "libtorch_cpu.so"]
OLDEST_GLIBC = (2, 28)


def say(text):
    print(f"scripts/libtorch: {text}", file=sys.stderr)


def fail(text):
    sys.exit(f"scripts/libtorch: {text}")


def version_of(folder):
    """The version of a libtorch folder: from a file in archives, from a module in a Python's."""
    try:
        return (folder / "build-version").read_text().strip()
    except OSError:
        pass
    try:
        module = ast.parse((folder / "version.py").read_text())
    except (OSError, SyntaxError):
        return None
    for line in module.body:
        if isinstance(line, ast.Assign) and getattr(line.targets[0], "id", "") == "__version__":
            return getattr(line.value, "value", None)
    return None


def lacks(folder):
    """Why a folder is not the wanted libtorch, in words; None if it is."""
    version = version_of(folder)
    if version is None:
        return "is no libtorch (neither build-version nor version.py says which)"
    if version.split("+")[0] != VERSION:
        return f"holds libtorch {version}, not {VERSION}"
    if not (folder / HEADERS).is_file():
        return "lacks the headers"
    for library in ["c10", "torch_cpu"]:
        if not any((folder / "lib" / f"lib{library}{suffix}").is_file() for suffix in [".so", ".dylib"]):
            return f"lacks lib{library}"
    return None


def check_platform():
    libc, release = platform.libc_ver()
    here = f"{sys.platform} on {platform.machine()}" + (f" with {libc} {release}" if libc else "")
    oldest = ".".join(map(str, OLDEST_GLIBC))
    fits = sys.platform == "linux" and platform.machine() in ("x86_64", "AMD64") and libc == "glibc"
    if not fits or tuple(int(part) for part in release.split(".")[:2]) < OLDEST_GLIBC:
        fail(
            f"nothing that can be fetched runs here: this is {here}, the wheels are for x86-64 Linux with glibc "
            f"{oldest} or newer. Install torch {VERSION} for a Python on the path, or unpack libtorch {VERSION} and set "
            "LIBTORCH to it."
        )


def check_space(parent, megabytes):
    free = shutil.disk_usage(parent).free // 1_000_000
    if free < megabytes:
        fail(f"{parent} has {free} MB left, making libtorch takes {megabytes} MB for a while; make room or use --to")
