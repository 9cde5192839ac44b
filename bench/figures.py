#!/usr/bin/env python3
"""figures.py [--quick] [DIR] -- the figures of bench/README.md once more, behind `./go figures`.

Each run's JSON and each picture (.svg, by gnuplot) are left in DIR, build/figures by default. All runs are in virtual time, so
several at once do not disturb each other, and one seed gives one picture. --quick: few points and tiny times, to see that all of it
works; its figures say nothing. NAMDB names the program (else build/namdb). Ends with 0 if all runs and pictures are there, 1 if one
is not, 2 if the arguments are wrong.
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMDB = os.environ.get("NAMDB", os.path.join(ROOT, "build", "namdb"))
ALIVE_S = 20

FIGURE6_CLIENTS = "1,10,20,30,40,50,60,70"
FIGURE6 = ("rsi", "rsi-paper", "2pc-verbs", "2pc-ipoeth", "2pc-ipoib")
# What the NAM paper's 4.3 says of them: clients and transactions per second. For sockets it gives no number of clients; its
# curves are flat, and end at 70.
PAPER = {
    "rsi-paper": [(60, 1.8e6)],
    "2pc-verbs": [(40, 1.1e6), (70, 320e3)],
    "2pc-ipoeth": [(70, 32e3)],
    "2pc-ipoib": [(70, 22e3)],
}

# XStore's figure 10, workload C, uniform: what a client caches of the index. Beside each its name there and its requests per second.
XSTORE = {
    "learned": (("--cache", "learned"), "XStore", 82e6),
    "tree": (("--cache", "tree"), "whole index cached", 78e6),
    # As many READs as in the paper, where four of seven inner levels are cached: three more inner nodes, and the leaf.
    "tree-top": (("--cache", "tree", "--levels", "1"), "Cell, top 4 levels cached", 13.9e6),
    "none": (("--cache", "none"), None, None),
    "messages": (("--cache", "messages"), "DrTM-Tree", 22e6),
}


# Words that give out commit ids (tsoracle/README.md, "Lanes").
LANES = {"lanes-1": "one word of commit ids", "lanes-8": "eight words"}


class Trouble(Exception):
    pass


def say(text):
    print("figures: " + text, file=sys.stderr, flush=True)


def has_protocol(name):
    """True if this namdb knows it on the model."""
    return subprocess.run([NAMDB, "bench", "tpcw", "--sim", "fdr4x", "--protocol", name, "--help"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def runs(quick):
    """Name: arguments of `namdb bench`, longest first; and whether namdb draws it itself, alone."""
    fdr = ["tpcw", "--sim", "fdr4x", "--nodes", "2+2" if quick else "4+3", "--clients", "1,4" if quick else FIGURE6_CLIENTS]
    tiny = ["--products", "500", "--seconds", "0.001"]
    words = (["--nodes", "4+4", "--clients", "4,8"] + tiny if quick else
             ["--nodes", "56+56", "--clients", "56,112,224,560,1000", "--products", "100000", "--warm", "0.008", "--seconds", "0.001"])
    out = {
        "cx6": (["tpcw", "--sim", "cx6"] + (["--nodes", "4+4", "--clients", "4,8"] + tiny if quick else
                                            ["--nodes", "56+56", "--clients", "56,112,224,448,672,1000", "--warm", "0.008"]), True),
        "lanes-1": (["tpcw", "--sim", "cx6", "--lanes", "1"] + words, False),
        "lanes-8": (["tpcw", "--sim", "cx6", "--lanes", "8"] + words, False),
        "tatp": (["tatp", "--sim", "cx6"] + (["--threads", "1,4", "--subscribers", "500", "--seconds", "0.001"] if quick else
                                             ["--threads", "1,8,16,32,48,64,80,96"]), True),
        "smallbank": (["smallbank", "--sim", "cx6"] + (["--threads", "1,4", "--accounts", "5000", "--seconds", "0.001"] if quick else
                                                       ["--threads", "1,8,16,32,48,64,80,96"]), True),
    }
    for protocol in FIGURE6:
        if not has_protocol(protocol):
            say("this namdb has no --protocol %s; figure 6 is drawn without it" % protocol)
            continue
        seconds = "0.2" if protocol.startswith("2pc-") else "0.03"
        out["figure6-" + protocol] = (fdr + ["--protocol", protocol] + (tiny if quick else ["--seconds", seconds]), False)
    # Figures 7 and 8 of the NAM paper.
    out["figure8a"] = (["join", "--sim", "fdr4x"] + (["--rows", "20000", "--threads", "2", "--selectivity", "1,0.25"] if quick else []),
                       True)
    out["figure8b"] = (["agg", "--sim", "fdr4x"] + (["--rows", "20000", "--threads", "2", "--groups", "10,5000"] if quick else []), True)
    out["machines"] = (["join", "--sim", "fdr4x"] + (["--rows", "20000", "--threads", "2", "--machines", "1,2"] if quick else
                                                     ["--nodes", "8+8", "--threads", "8", "--machines", "1,2,4,8"]), True)
    ycsb = ["ycsb", "--sim", "xstore", "--workload", "c", "--distribution", "uniform", "--through", "index", "--coroutines", "4"]
    ycsb += (["--records", "3000", "--nodes", "2+1", "--clients", "4,8", "--seconds", "0.001"] if quick else
             ["--records", "1000000", "--nodes", "15+1", "--parts", "24", "--clients", "60,240,720,1440", "--seconds", "0.001"])
    for name, (cache, _, _) in XSTORE.items():
        out["xstore-" + name] = (ycsb + list(cache), False)
    out["oracle"] = (["oracle", "--client", "all", "--fabric", "sim"] + (["--pause", "0.2"] if quick else []), True)
    out["oracle-fdr4x"] = (["oracle", "--client", "all", "--sim", "fdr4x"] +
                           (["--pause", "0.2", "--rate", "1000"] if quick else []), True)
    return out


def run(name, args, draws, folder):
    """The run's JSON; it also lies in the folder. Trouble if it fails."""
    picture = ["--plot", os.path.join(folder, name + ".svg")] if draws else []
    p = subprocess.run([NAMDB, "bench", *args, "--json", *picture], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       check=False)
    if p.returncode != 0:
        # A model's bench tells on stderr that its checks held; why it failed comes last.
        lines = p.stderr.strip().splitlines() or ["it said nothing"]
        raise Trouble("%s: exit code %d: %s" % (name, p.returncode, lines[-1]))
    try:
        got = json.loads(p.stdout)
    except ValueError as e:
        raise Trouble("%s: its output is not JSON: %s" % (name, e)) from None
    write(os.path.join(folder, name + ".json"), p.stdout)
    return got


def write(path, text):
    """All of it or nothing."""
    try:
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(path + ".new", path)
    except OSError as e:
        raise Trouble("%s: %s" % (path, e.strerror)) from None


def all_runs(todo, folder):
    """Every run, as many at once as there are cores: {name: JSON}, and how many failed."""
    got, failed, since = {}, 0, {}

    def timed(name, args, draws):
        since[name] = time.monotonic()
        return run(name, args, draws, folder)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        left = {pool.submit(timed, name, args, draws): name for name, (args, draws) in todo.items()}
        try:
            while left:
                done, _ = concurrent.futures.wait(left, ALIVE_S, concurrent.futures.FIRST_COMPLETED)
                now = time.monotonic()
                for f in done:
                    name = left.pop(f)
                    try:
                        got[name] = f.result()
                        say("%s: %.0f s" % (name, now - since[name]))
                    except (Trouble, OSError) as e:
                        failed += 1
                        say(str(e))
                if not done:
                    say("still at it: " + ", ".join("%s (%.0f s)" % (n, now - since[n]) for n in left.values() if n in since))
        except KeyboardInterrupt:
            for f in left: # those that run have the same ^C
                f.cancel()
            raise
    return got, failed


# ---- figure 6 ----

def quoted(text):
    return "'%s'" % text.replace("'", "''")


def limit_of(point):
    if point["limit"] == "latency":
        return "nothing is full"
    machine = point["machine"] + ": " if "machine" in point else ""
    return "%s%s %.0f %%" % (machine, point["limit"], 100 * point["utilisation"])


def figure6(curves, picture, quick):
    """gnuplot's script. curves: {protocol: JSON}."""
    out, throughput, latency = [], [], []
    paper = dict(PAPER)
    if "rsi-paper" not in curves:
        paper["rsi"] = paper["rsi-paper"]
    for i, (name, got) in enumerate(curves.items(), 1):
        out.append("$curve%d << EOD" % i)
        out += ["%d %.6g %.6g" % (p["clients"], p["throughput_tps"], p["p50_us"]) for p in got["points"]]
        out.append("EOD")
        last = got["points"][-1]
        title = "%s (%d clients: %s)" % (name, last["clients"], limit_of(last))
        throughput.append("$curve%d using 1:2 with linespoints lt %d pt 7 ps 0.5 title %s" % (i, i, quoted(title)))
        latency.append("$curve%d using 1:3 with linespoints lt %d pt 7 ps 0.5 title %s" % (i, i, quoted(name)))
        if name in paper:
            out.append("$paper%d << EOD" % i)
            out += ["%d %d" % at for at in paper[name]]
            out.append("EOD")
            throughput.append("$paper%d using 1:2 with points lt %d pt 2 ps 2 lw 2 notitle" % (i, i))
    nodes = next(iter(curves.values()))["nodes"]
    out += ["set terminal svg size 1000,1000 noenhanced background rgb 'white'", "set output " + quoted(picture),
            "set multiplot title %s" % quoted("the NAM paper's figure 6 on fdr4x, %s machines; crosses: the paper's figures%s"
                                        % (nodes, "; --quick: these curves say nothing" if quick else "")),
            "set grid", "set logscale y", "set xlabel 'clients' offset 0,0.6", "set xrange [0:*]", "set offsets 0,2,0,0",
            "set lmargin 12", "set format y '%.0s%c'", "set key below vertical maxcols 1 left Left reverse",
            "set origin 0,0.38", "set size 1,0.58", "set title 'throughput'", "set ylabel 'txn/s'", "plot " + ", ".join(throughput),
            "set origin 0,0", "set size 1,0.38", "set key below horizontal maxcols 5", "set format y '%g'",
            "set title 'latency, median'", "set ylabel 'us'", "plot " + ", ".join(latency), "unset multiplot", ""]
    return "\n".join(out)


def xstore(curves, picture, quick):
    """The same for the caches of an ordered index: throughput over clients, and crosses at the paper's figures."""
    out, plots = [], []
    for i, (name, got) in enumerate(curves.items(), 1):
        out.append("$curve%d << EOD" % i)
        out += ["%d %.6g" % (p["clients"], p["throughput_tps"] / 1e6) for p in got["points"]]
        out.append("EOD")
        last = got["points"][-1]
        _, there, rate = XSTORE[name]
        title = "%s (%s)" % (name, limit_of(last)) + ("; %s: %g M/s" % (there, rate / 1e6) if rate else "")
        plots.append("$curve%d using 1:2 with linespoints lt %d pt 7 ps 0.5 title %s" % (i, i, quoted(title)))
        if rate:
            out += ["$paper%d << EOD" % i, "%d %g" % (last["clients"], rate / 1e6), "EOD"]
            plots.append("$paper%d using 1:2 with points lt %d pt 2 ps 2 lw 2 notitle" % (i, i))
    out += ["set terminal svg size 1000,800 noenhanced background rgb 'white'", "set output " + quoted(picture),
            "set title %s" % quoted("YCSB C, uniform, on the model xstore; crosses: the paper's peaks, with 100 M keys%s"
                                    % ("; --quick: these curves say nothing" if quick else "")),
            "set grid", "set xlabel 'clients'", "set xrange [0:*]", "set yrange [0:*]", "set offsets 0,20,0,0", "set ylabel 'M lookups/s'",
            "set key below vertical maxcols 1 left Left reverse", "plot " + ", ".join(plots), ""]
    return "\n".join(out)


def lanes(curves, picture, quick):
    """The same for the words that give out commit ids; beside each point stands what is full there."""
    out, plots = [], []
    for i, (name, got) in enumerate(curves.items(), 1):
        out.append("$curve%d << EOD" % i)
        out += ["%d %.6g %s" % (p["clients"], p["throughput_tps"] / 1e6, json.dumps(limit_of(p))) for p in got["points"]]
        out.append("EOD")
        title = LANES[name]
        plots.append("$curve%d using 1:2 with linespoints lt %d pt 7 ps 0.5 title %s" % (i, i, quoted(title)))
        plots.append("$curve%d using 1:2:3 with labels %s offset 0,%s font ',9' notitle" % (i, "right" if i == 2 else "left",
                                                                                   "0.7" if i == 2 else "-0.7"))
    nodes = next(iter(curves.values()))["nodes"]
    out += ["set terminal svg size 1000,700 noenhanced background rgb 'white'", "set output " + quoted(picture),
            "set title %s" % quoted("the checkout on cx6, %s machines%s" % (nodes, "; --quick: these curves say nothing" if quick else "")),
            "set grid", "set xlabel 'clients'", "set xrange [0:*]", "set yrange [0:*]", "set offsets 0,150,3,0", "set ylabel 'M txn/s'",
            "set key below", "plot " + ", ".join(plots), ""]
    return "\n".join(out)


def draw(name, script, curves, folder, quick):
    picture = os.path.join(folder, name + ".svg")
    p = subprocess.run(["gnuplot"], input=script(curves, picture, quick), capture_output=True, text=True, check=False)
    if p.returncode != 0:
        raise Trouble("gnuplot made no %s: %s" % (picture, " ".join(p.stderr.split())[-300:]))


# ---- all ----

def main(argv):
    quick, folder = False, None
    for a in argv:
        if a == "--quick":
            quick = True
        elif a.startswith("-") or folder is not None:
            print("usage: ./go figures [--quick] [DIR]\n%s" % __doc__.split("\n", 2)[2].rstrip(), file=sys.stderr)
            return 2
        else:
            folder = a
    folder = folder or os.path.join(ROOT, "build", "figures")
    try:
        if shutil.which("gnuplot") is None:
            raise Trouble("gnuplot is not here: apt install gnuplot-nox")
        if not os.access(NAMDB, os.X_OK):
            raise Trouble("%s is not here: ./go build" % NAMDB)
        os.makedirs(folder, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise Trouble("%s cannot be written" % folder)
        todo = runs(quick)
        say("%d runs on %d cores, into %s%s" % (len(todo), os.cpu_count() or 1, folder, "" if quick else "; some minutes"))
        got, failed = all_runs(todo, folder)
        curves = {p: got["figure6-" + p] for p in FIGURE6 if "figure6-" + p in got}
        if curves:
            draw("figure6", figure6, curves, folder, quick)
        curves = {n: got["xstore-" + n] for n in XSTORE if "xstore-" + n in got}
        if curves:
            draw("xstore", xstore, curves, folder, quick)
        curves = {n: got[n] for n in LANES if n in got}
        if curves:
            draw("lanes", lanes, curves, folder, quick)
    except Trouble as e:
        say(str(e))
        return 1
    except OSError as e:
        say("%s: %s" % (e.filename, e.strerror))
        return 1
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    say("%d of %d runs are in %s" % (len(got), len(todo), folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
