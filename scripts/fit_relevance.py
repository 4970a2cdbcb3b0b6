#!/usr/bin/env python3
"""Fits the weights by which recall judges what is of use for a prompt.

Reads what `remora bench recall --json` prints for labelled sets (one file a set
and tier), fits logistic regressions, reports them with one project left out at a
time, and writes `relevance.tsv`. Needs nothing but Python.

    remora bench recall --set fixtures/recall --json > full.json
    remora bench recall --set fixtures/recall --tier fast --json > fast.json
    scripts/fit_relevance.py --full full.json --fast fast.json \\
        --out crates/remora-memory/src/recall/relevance.tsv

A candidate is judged by what would be injected for it: a superseded turn that leads
to the right one is right.
"""

import argparse
import json
import math

# What counts as much as a thing that had to be given: one that may be given is
# right too, but nothing is lost without it.
WEIGHT = {"must": 1.0, "may": 0.7, "none": 1.0, "must_not": 1.5}
RIDGE = 1.0
# As in the product.
MAX_CARDS = 3
LEAST_BESIDE_BEST = 0.7
QUESTION_SHARE = 0.75


def read_sets(paths):
    """The prompts of all sets; those without candidates count as they were answered."""
    situations = []
    for path in paths:
        with open(path) as file:
            data = json.load(file)
        situations += [one for one in data["situations"] if one["moment"] == "prompt"]
    return situations


def solve(matrix, vector):
    """Gauss with pivots; the matrix is small."""
    n = len(vector)
    rows = [matrix[i][:] + [vector[i]] for i in range(n)]
    for at in range(n):
        pivot = max(range(at, n), key=lambda r: abs(rows[r][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        head = rows[at][at] or 1e-12
        for r in range(n):
            if r != at and rows[r][at]:
                factor = rows[r][at] / head
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[at])]
    return [rows[i][n] / (rows[i][i] or 1e-12) for i in range(n)]


def sigmoid(x):
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


def fit(situations, names, start=None):
    """Newton's method for a logistic regression with a ridge."""
    samples = []
    for one in situations:
        for c in one["candidates"]:
            x = [1.0] + [c["features"][name] for name in names]
            samples.append((x, c["label"] in ("must", "may"), WEIGHT[c["label"]]))
    size = len(names) + 1
    weights = start[:] if start else [0.0] * size
    for _ in range(12):
        gradient = [0.0] * size
        hessian = [[0.0] * size for _ in range(size)]
        for x, y, w in samples:
            p = sigmoid(sum(a * b for a, b in zip(weights, x)))
            miss, slope = w * (y - p), w * p * (1 - p)
            for i, value in enumerate(x):
                if not value:
                    continue
                gradient[i] += miss * value
                row = hessian[i]
                part = slope * value
                for j in range(i, size):
                    row[j] += part * x[j]
        for i in range(size):
            ridge = RIDGE if i else 1e-6
            gradient[i] -= ridge * weights[i]
            hessian[i][i] += ridge
            for j in range(i):
                hessian[i][j] = hessian[j][i]
        step = solve(hessian, gradient)
        weights = [a + b for a, b in zip(weights, step)]
        if max(abs(s) for s in step) < 1e-3:
            break
    return weights


class Model:
    """The model of a tier."""

    def __init__(self, situations, names, start=None):
        self.names = names
        self.weights = fit(situations, names, start.weights if start else None)

    def probability(self, candidate):
        features = candidate["features"]
        pairs = zip(self.names, self.weights[1:])
        return sigmoid(self.weights[0] + sum(w * features[n] for n, w in pairs))


def choose(one, model, least):
    """What would be injected, as the product chooses it."""
    if one["question"]:
        least *= QUESTION_SHARE
    scored = [(model.probability(c), c) for c in one["candidates"] if not c["refused"]]
    scored.sort(key=lambda each: -each[0])
    best = scored[0][0] if scored else 0.0
    chosen = {}
    for p, c in scored:
        if p < max(least, LEAST_BESIDE_BEST * best) or len(chosen) == MAX_CARDS:
            break
        chosen.setdefault(c["injected"], c)
    return list(chosen.values())


def figures(judged, least):
    given = right = wanted = found = quiet = kept = never = 0
    for one, model in judged:
        wanted += one["wanted"]
        quiet += one["quiet"]
        if not one["candidates"]:
            wrong = len(one["wrong"]) + len(one["forbidden"])
            given += one["given"]
            right += one["given"] - wrong
            never += len(one["forbidden"])
            found += one["wanted"] - len(one["missed"])
            kept += one["quiet"] and one["given"] == 0
            continue
        chosen = choose(one, model, least)
        labels = [c["label"] for c in chosen]
        given += len(labels)
        right += sum(label in ("must", "may") for label in labels)
        never += labels.count("must_not")
        found += len({place for c in chosen for place in c["wanted"]})
        kept += one["quiet"] and not labels
    share = lambda a, b: 100 * a / b if b else float("nan")
    return share(right, given), share(found, wanted), share(kept, quiet), never


def report(situations, names, whole):
    projects = sorted({one["project"] for one in situations})
    judged = []
    for project in projects:
        model = Model([one for one in situations if one["project"] != project], names, whole)
        judged += [(one, model) for one in situations if one["project"] == project]
    print("left out one project at a time: least, precision, recall, quiet, must not")
    for least in [x / 100 for x in range(30, 72, 2)]:
        print("  %.2f  %5.1f %5.1f %5.1f %3d" % ((least,) + figures(judged, least)))
    for project in projects:
        own = [each for each in judged if each[0]["project"] == project]
        print("    %-14s %5.1f %5.1f %5.1f %3d" % ((project,) + figures(own, 0.5)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", nargs="+", required=True)
    parser.add_argument("--fast", nargs="+", required=True)
    parser.add_argument("--out")
    args = parser.parse_args()
    columns = []
    for tier in ("full", "fast"):
        situations = read_sets(getattr(args, tier))
        if tier == "full":
            # The encoder cannot read every script; such prompts have no part in the
            # weights that count with it.
            is_read = lambda one: any(c["features"]["encoder"] for c in one["candidates"])
            situations = [one for one in situations if not one["candidates"] or is_read(one)]
        every = next(one["candidates"][0]["features"] for one in situations if one["candidates"])
        names = list(every)
        used = [n for n in names if tier == "full" or not n.startswith(("encoder", "meaning"))]
        count = sum(len(one["candidates"]) for one in situations)
        print(f"{tier}: {len(situations)} prompts, {count} candidates")
        whole = Model(situations, used)
        report(situations, used, whole)
        columns.append(dict(zip(["bias"] + used, whole.weights)))
    if args.out:
        with open(args.out, "w") as file:
            file.write("# name, weight with the encoder, weight without; made by scripts/fit_relevance.py\n")
            for name in ["bias"] + names:
                cells = (column.get(name, 0.0) for column in columns)
                file.write("%s\t%.4f\t%.4f\n" % (name, *cells))


if __name__ == "__main__":
    main()
