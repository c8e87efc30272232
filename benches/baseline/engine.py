"""A stand-in for the engine that memdir replaces, made for the bench and for nothing else.

What it does is what that engine did for each block of Python that a model wrote: a new process gets its parameters
pickled in an environment variable, runs the block with ten file functions in its namespace, and writes the pickled
result to standard output. The functions check that a path stays in the memory, then use plain files, unflushed.

`pack MEMORY` prints the parameters for the code on standard input; the harness does that before the clock starts.
Without arguments it is the child.
"""

import base64
import os
import pickle
import sys

PARAMETERS = "ENGINE_PARAMETERS"
ROOT = os.getcwd()


def inside(path):
    full = os.path.realpath(os.path.join(ROOT, path))
    if full != ROOT and not full.startswith(ROOT + os.sep):
        raise PermissionError(f"{path} is outside of the memory")
    return full


def read_file(path):
    with open(inside(path), encoding="utf-8", newline="") as file:
        return file.read()


def create_file(path, content=""):
    full = inside(path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8", newline="") as file:
        file.write(content)
    return True


def update_file(path, old_content, new_content):
    text = read_file(path)
    if text.count(old_content) != 1:
        return f"Error: the old content stands {text.count(old_content)} times in {path}"
    return create_file(path, text.replace(old_content, new_content))


def delete_file(path):
    os.remove(inside(path))
    return True


def check_if_file_exists(path):
    return os.path.isfile(inside(path))


def create_dir(path):
    os.makedirs(inside(path), exist_ok=True)
    return True


def check_if_dir_exists(path):
    return os.path.isdir(inside(path))


def list_files():
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(found)


def get_size(path=""):
    full = inside(path)
    if os.path.isfile(full):
        return os.path.getsize(full)
    walk = os.walk(full)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in walk for name in names)


def go_to_link(link):
    return read_file(f"{link.strip('[]')}.md")


TOOLS = [
    read_file, create_file, update_file, delete_file, check_if_file_exists,
    create_dir, check_if_dir_exists, list_files, get_size, go_to_link,
]


def can_be_pickled(value):
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True


def child():
    global ROOT
    parameters = pickle.loads(base64.b64decode(os.environ[PARAMETERS]))
    ROOT = os.path.realpath(parameters["memory"])
    os.chdir(ROOT)
    names = {tool.__name__: tool for tool in TOOLS}
    error = ""
    try:
        exec(parameters["code"], names)
    except Exception as caught:
        error = f"{type(caught).__name__}: {caught}"
    tools = {tool.__name__ for tool in TOOLS} | {"__builtins__"}
    variables = {name: value for name, value in names.items() if name not in tools and can_be_pickled(value)}
    sys.stdout.write(base64.b64encode(pickle.dumps((variables, error))).decode())


def pack(memory):
    print(base64.b64encode(pickle.dumps({"memory": memory, "code": sys.stdin.read()})).decode())


def main():
    pack(sys.argv[2]) if sys.argv[1:2] == ["pack"] else child()
