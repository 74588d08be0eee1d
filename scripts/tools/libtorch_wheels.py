"""Fetches libtorch from the wheels of torch, for scripts/libtorch."""
import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile

from libtorch_folder import LIBRARIES, VERSION, check_platform, check_space, fail, lacks, say, version_of

# Requirement, file, SHA-256. The files that we take from torch's wheel do not depend on its Python,
# so one wheel is named for all. The CUDA libraries are of the release that torch names.
WHEELS = [
    (
        f"torch=={VERSION}",
        f"torch-{VERSION}-cp311-cp311-manylinux_2_28_x86_64.whl",
        "7aa2f9bbc6d4595ba72138026b2074be1233186150e9292865e04b7a63b8c67a",
    ),
    (
        "nvidia-cuda-runtime==13.0.96",
        "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
    ),
    (
        "nvidia-cuda-cupti==13.0.85",
        "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl",
        "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
    ),
]
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_25_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"]
PIP_TAGS = [f"--platform={platform}" for platform in PLATFORMS]
PIP_TAGS += ["--implementation=cp", "--python-version=3.11", "--abi=cp311", "--abi=none"]
WHEELS_MB = 544
KEPT_MB = 510


def wheel(folder, name, sha256):
    """The path of a wheel in a folder, if it is there and right."""
    path = folder / name
    if not path.is_file():
        return None
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != sha256:
        fail(f"{path} is damaged or another file: SHA-256 {digest.hexdigest()}, not {sha256}")
    return path


def download(requirements, folder):
    if importlib.util.find_spec("pip") is None:
        fail(f"{sys.executable} has no pip to fetch the wheels with; install it, or name a folder of them with --wheels")
    say(f"fetching {', '.join(requirements)} through pip")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir"]
    # pip keeps partial downloads in TMPDIR, which is often too small a disk.
    environment = os.environ | {"TMPDIR": str(folder)}
    # Standard output is for the result alone.
    ended = subprocess.run([*command, *PIP_TAGS, "--dest", folder, *requirements], stdout=2, env=environment)
    if ended.returncode != 0:
        fail("pip could not fetch the wheels; it says why above")


def unpack(path, wanted, folder):
    """Writes the members of a wheel for which `wanted` names a place."""
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            place = None if member.is_dir() else wanted(member.filename)
            if place:
                target = folder / place
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)


def build(folder, wheels):
    """Lays out a libtorch folder from the wheels."""
    def place(name):
        if name.startswith("torch/include/"):
            return name.removeprefix("torch/")
        library = name.rsplit("/", 1)[-1]
        return f"lib/{library}" if "/lib/" in name and library in LIBRARIES else None

    for path in wheels:
        unpack(path, place, folder)
    for library in LIBRARIES:
        if not (folder / "lib" / library).is_file():
            fail(f"the wheels do not hold {library}")
    # torch-sys links -ltorch; the wheel's is an empty library that needs the CUDA part.
    (folder / "lib/libtorch.so").symlink_to("libtorch_cpu.so")
    (folder / "build-version").write_text(f"{VERSION}+cpu\n")


def fetch(target, given):
    """The libtorch folder `target`, from the wheels unless an earlier run left it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    # One run at a time. The lock is on the folder itself and ends with the process.
    lock = os.open(target.parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another run is at work there; waiting")
        fcntl.flock(lock, fcntl.LOCK_EX)
    if target.exists():
        why_not = lacks(target)
        if why_not:
            fail(f"{target} is there and {why_not}; remove it or use --to")
        say(f"{target} is there: {version_of(target)}")
        return target

    check_platform()
    shutil.rmtree(partial, ignore_errors=True)
    downloads = partial / "wheels"
    try:
        downloads.mkdir(parents=True)
        wheels, missing = {}, []
        for requirement, name, sha256 in WHEELS:
            if given and (path := wheel(given, name, sha256)):
                say(f"using {path}")
                wheels[name] = path
            else:
                missing.append((requirement, name, sha256))
        # pip holds each wheel twice for a while.
        check_space(target.parent, max(2 * WHEELS_MB, WHEELS_MB + KEPT_MB) if missing else KEPT_MB)
        if missing:
            download([requirement for requirement, _, _ in missing], downloads)
        for requirement, name, sha256 in missing:
            path = wheel(downloads, name, sha256)
            if path is None:
                fail(f"pip fetched another file for {requirement} than {name}")
            wheels[name] = path
        say("hashes are right; unpacking")
        build(partial / "libtorch", wheels.values())
        (partial / "libtorch").rename(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    say(f"{target} made from the wheels: {version_of(target)}")
    return target
