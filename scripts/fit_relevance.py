#!/usr/bin/env python3
"""Fits the weights by which recall judges what is of use for a prompt.

Reads what `remora bench recall --json` prints for labelled sets (one file a set
and tier), fits a logistic regression for each tier, reports it with one project
left out at a time, and writes `relevance.tsv`. Needs nothing but Python.

    remora bench recall --set fixtures/recall --json > full.json
    remora bench recall --set fixtures/recall --tier fast --json > fast.json
    scripts/fit_relevance.py --full full.json --fast fast.json \\
        --out crates/remora-memory/src/recall/relevance.tsv
"""

import argparse
import json
import math

# What counts as much as a thing that had to be given: one that may be given is
# right too, but nothing is lost without it.
WEIGHT = {"must": 1.0, "may": 0.7, "none": 1.0, "must_not": 1.5}
RIDGE = 1.0
MAX_CARDS = 3
LEAST_BESIDE_BEST = 0.7


def read_sets(paths, tier):
    """Candidates of all prompts: (project, situation, wanted, rows)."""
    situations = []
    for path in paths:
        with open(path) as file:
            data = json.load(file)
        for one in data["situations"]:
            if one["moment"] != "prompt":
                continue
            rows = [(c["features"], c["label"]) for c in one["candidates"]]
            # The encoder cannot read every script; such prompts have no part in
            # the weights that count with it.
            if tier == "full" and rows and not any(f["encoder"] for f, _ in rows):
                continue
            situations.append((one["project"], one["id"], one["wanted"], one["quiet"], rows))
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


def fit(situations, names):
    """Newton's method for a logistic regression with a ridge."""
    samples = []
    for _, _, _, _, rows in situations:
        for features, label in rows:
            x = [1.0] + [features.get(name, 0.0) for name in names]
            samples.append((x, 1.0 if label in ("must", "may") else 0.0, WEIGHT[label]))
    size = len(names) + 1
    weights = [0.0] * size
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
        if max(abs(s) for s in step) < 1e-6:
            break
    return weights


def choose(rows, names, weights, least):
    scored = [
        (sigmoid(weights[0] + sum(w * f.get(n, 0.0) for n, w in zip(names, weights[1:]))), label)
        for f, label in rows
    ]
    scored.sort(key=lambda one: -one[0])
    best = scored[0][0] if scored else 0.0
    bar = max(least, LEAST_BESIDE_BEST * best)
    return [label for p, label in scored if p >= bar][:MAX_CARDS]


def figures(judged, least, names):
    given = right = wanted = found = quiet = kept = never = 0
    for (_, _, want, is_quiet, rows), weights in judged:
        labels = choose(rows, names, weights, least)
        given += len(labels)
        right += sum(label in ("must", "may") for label in labels)
        never += labels.count("must_not")
        wanted += want
        # A situation asks for one thing, nearly always.
        found += want if "must" in labels else 0
        quiet += is_quiet
        kept += is_quiet and not labels
    share = lambda a, b: 100 * a / b if b else float("nan")
    return share(right, given), share(found, wanted), share(kept, quiet), never


def report(situations, names):
    projects = sorted({one[0] for one in situations})
    judged = []
    for project in projects:
        others = [one for one in situations if one[0] != project]
        weights = fit(others, names)
        judged += [(one, weights) for one in situations if one[0] == project]
    print("left out one project at a time: least, precision, recall, quiet, must not")
    for least in [x / 100 for x in range(30, 75, 5)]:
        print("  %.2f  %5.1f %5.1f %5.1f %3d" % ((least,) + figures(judged, least, names)))
    for project in projects:
        own = [one for one in judged if one[0][0] == project]
        print("    %-14s %5.1f %5.1f %5.1f %3d" % ((project,) + figures(own, 0.5, names)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", nargs="+", required=True)
    parser.add_argument("--fast", nargs="+", required=True)
    parser.add_argument("--out")
    args = parser.parse_args()
    fitted = {}
    for tier in ("full", "fast"):
        situations = read_sets(getattr(args, tier), tier)
        names = list(next(rows[0][0] for *_, rows in situations if rows))
        used = [n for n in names if tier == "full" or not n.startswith(("encoder", "meaning"))]
        print(f"{tier}: {len(situations)} prompts, {sum(len(s[4]) for s in situations)} candidates")
        report(situations, used)
        fitted[tier] = dict(zip(["bias"] + used, fit(situations, used)))
    if args.out:
        with open(args.out, "w") as file:
            file.write("# name, weight with the encoder, weight without; made by scripts/fit_relevance.py\n")
            for name in ["bias"] + names:
                row = [fitted[tier].get(name, 0.0) for tier in ("full", "fast")]
                file.write("%s\t%.4f\t%.4f\n" % (name, *row))


if __name__ == "__main__":
    main()
