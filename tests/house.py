"""house.py -- starts the real program: storage nodes, shells, and the clocks that watch them.

A test file defines functions test_*; house.main() runs each in order, prints one
line per test, and exits 0, 1 (a test failed) or 77 (all were skipped). Names on the
command line choose tests. NAMDB names the program (else build/namdb).
Only processes started here are ever signalled, by their id.
"""
import csv
import ctypes
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMDB = os.environ.get("NAMDB", os.path.join(ROOT, "build", "namdb"))
SANITIZE = os.environ.get("NAM_SANITIZE", "")
# How much slower a sanitizer build may be.
SLOW = {"": 1, "address,undefined": 4, "thread": 12}.get(SANITIZE, 4)
# The long form, of ./go test --long and ./go soak.
LONG = os.environ.get("NAM_LONG") == "1"
DATA = os.path.join(os.path.dirname(ROOT), "shared", "data")


def rounds(many, few, sanitized=None):
    """How often, or how much: many in the long form, else few; sanitized, if it is given, in a sanitizer's build."""
    return many if LONG else few if not SANITIZE or sanitized is None else sanitized


class Skip(Exception):
    pass


def skip(why):
    raise Skip(why)


def check(ok, what="", *more):
    if not ok:
        raise AssertionError(" ".join([str(what)] + [str(m) for m in more]))


def same(got, want, what=""):
    if got != want:
        raise AssertionError("%s got %r, want %r" % (what, got, want))


def contains(text, *parts):
    for p in parts:
        if p not in text:
            raise AssertionError("%r is not in:\n%s" % (p, text))


def until(predicate, seconds, what):
    """Waits for predicate() to be true, at most seconds (longer under sanitizers)."""
    end = time.monotonic() + seconds * SLOW
    while True:
        got = predicate()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError("%s: not within %.1f s" % (what, seconds * SLOW))
        time.sleep(0.02)


class Wrong(list):
    """What must not be, in words; of a kind (numbers aside) the first is kept, and how often it came."""

    def __init__(self):
        super().__init__()
        self.kinds = {}

    def add(self, *words):
        text = " ".join(str(w) for w in words).strip()
        kind = re.sub(r"[0-9]+", "#", text)[:160]
        if kind not in self.kinds:
            self.kinds[kind] = [len(self), 0]
            self.append(text)
        place = self.kinds[kind]
        place[1] += 1
        if place[1] > 1:
            self[place[0]] = re.sub(r" \(%d times\)$" % (place[1] - 1), "", self[place[0]]) + " (%d times)" % place[1]


class Result:
    def __init__(self, args, rc, out, err):
        self.args, self.rc, self.out, self.err = args, rc, out, err

    def __str__(self):
        return "%s\nexit %s\n-- stdout --\n%s\n-- stderr --\n%s" % (
            " ".join(self.args)[:500], self.rc, self.out[-4000:], self.err[-4000:])

    def ok(self):
        check(self.rc == 0, "expected success:", self)
        return self

    def fails(self, code=1):
        check(self.rc == code, "expected exit %d:" % code, self)
        return self

    def rows(self):
        """CSV output without its header line."""
        return [tuple(r) for r in csv.reader(io.StringIO(self.out))][1:]

    def value(self):
        self.ok()
        rows = self.rows()
        check(len(rows) == 1 and len(rows[0]) == 1, "expected one value:", self)
        return rows[0][0]

    def sqlstate(self):
        m = re.search(r"ERROR:\s+([0-9A-Z]{5}):", self.err + self.out)
        check(m is not None, "expected an ERROR with its SQLSTATE:", self)
        return m.group(1)


def clean_env(extra=None):
    env = dict(os.environ)
    env.setdefault("LC_ALL", "C.UTF-8")
    env["ASAN_OPTIONS"] = "detect_leaks=1:abort_on_error=0:exitcode=99:" + env.get("ASAN_OPTIONS", "")
    env["UBSAN_OPTIONS"] = "print_stacktrace=1:" + env.get("UBSAN_OPTIONS", "")
    env["TSAN_OPTIONS"] = "exitcode=98:" + env.get("TSAN_OPTIONS", "")
    env.update(extra or {})
    return env


def run(*args, stdin="", timeout=60, env=None, cwd=None):
    """namdb ARGS to its end. stdin: text or bytes."""
    args = [NAMDB] + [str(a) for a in args]
    if isinstance(stdin, str):
        stdin = stdin.encode()
    try:
        p = subprocess.run(args, input=stdin, capture_output=True, timeout=timeout * SLOW,
                           env=clean_env(env), cwd=cwd)
    except subprocess.TimeoutExpired as e:
        raise AssertionError("%s did not end in %d s\n%s\n%s" % (
            " ".join(args)[:300], timeout * SLOW, (e.stdout or b"")[-2000:], (e.stderr or b"")[-2000:]))
    r = Result(args, p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace"))
    no_sanitizer_report(r.err)
    return r


def no_sanitizer_report(text):
    for word in ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer", "runtime error:",
                 "FATAL: ThreadSanitizer", "namdb: bug at "):
        if word in text:
            at = text.index(word)
            raise AssertionError("the program reported on itself:\n" + text[at:at + 6000])


def daemon(args, log, env):
    """Starts a daemon. It ends with this process, also when ctest kills this process: else it would take memory and time of
    every later test. Linux ends it with the thread that started it, so only the main thread asks for this."""
    libc = ctypes.CDLL(None)
    pr_set_pdeathsig = 1
    bound = threading.current_thread() is threading.main_thread()
    return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
                            preexec_fn=(lambda: libc.prctl(pr_set_pdeathsig, signal.SIGKILL)) if bound else None)


class Node:
    """One storage node process."""

    def __init__(self, house, id, size="64m", listen="127.0.0.1:0", cluster=None, secret=None, expect=True,
                 more=()):
        self.house, self.id = house, id
        args = [NAMDB, "storage", "--id", str(id), "--size", size, "--listen", listen,
                "--secret-file", secret or house.secret] + list(more)
        if cluster:
            args += ["--cluster", cluster]
        self.log_path = os.path.join(house.dir, "node-%s-%d.log" % (id, len(house.nodes)))
        self.log = open(self.log_path, "w+b")
        self.p = daemon(args, self.log, clean_env(house.env))
        house.nodes.append(self)
        self.address = None
        if expect:
            until(lambda: self.ready() or self.p.poll() is not None, 20, "storage node %s" % id)
            check(self.p.poll() is None, "storage node ended at once:", self.text())
            self.address = re.search(r" at ([0-9.]+:[0-9]+)", self.text()).group(1)

    def text(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def ready(self):
        return "\nready\n" in self.text()

    def port(self):
        return int(self.address.rsplit(":", 1)[1])

    def kill(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()

    def terminate(self, seconds=5):
        """SIGTERM; its exit code."""
        self.p.send_signal(signal.SIGTERM)
        try:
            rc = self.p.wait(timeout=seconds * SLOW)
        except subprocess.TimeoutExpired:
            raise AssertionError("storage node %s ignores SIGTERM" % self.id)
        no_sanitizer_report(self.text())
        return rc


class Compute:
    """One `namdb compute` process."""

    def __init__(self, house, *more, fabric="shm", pg="127.0.0.1:0", expect=True):
        self.house = house
        args = [NAMDB, "compute", "--storage", house.storage(), "--fabric", fabric, "--secret-file", house.secret,
                *house.lease, "--pg", pg] + [str(a) for a in more]
        self.log_path = os.path.join(house.dir, "compute-%d.log" % len(house.computes))
        self.log = open(self.log_path, "w+b")
        self.p = daemon(args, self.log, clean_env(house.env))
        house.computes.append(self)
        self.port = None
        if expect:
            until(lambda: "\nready\n" in self.text() or self.p.poll() is not None, 30, "the compute node")
            check(self.p.poll() is None, "the compute node ended at once:", self.text())
            self.port = int(re.search(r" at [0-9.]+:([0-9]+)", self.text()).group(1))

    def text(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def psql(self, *args, stdin="", timeout=60, user="namdb", env=None):
        """psql with these arguments, to its end."""
        args = ["psql", "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", user, "-d", "namdb"] + list(args)
        try:
            p = subprocess.run(args, input=stdin.encode(), capture_output=True, timeout=timeout * SLOW,
                               env=dict(os.environ, LC_ALL="C.UTF-8", PGCONNECT_TIMEOUT="20", **(env or {})))
        except FileNotFoundError:
            skip("there is no psql here")
        return Result(args, p.returncode, p.stdout.decode("utf-8", "replace"), p.stderr.decode("utf-8", "replace"))

    def memory(self):
        """Resident bytes."""
        with open("/proc/%d/statm" % self.p.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self):
        """Seconds of CPU time so far, of threads that live and of those that have ended."""
        with open("/proc/%d/stat" % self.p.pid) as f:
            w = f.read().rsplit(")", 1)[1].split()
        whole, exact = (int(w[11]) + int(w[12])) / os.sysconf("SC_CLK_TCK"), 0
        for task in os.listdir("/proc/%d/task" % self.p.pid):
            try:
                with open("/proc/%d/task/%s/schedstat" % (self.p.pid, task)) as f:
                    exact += int(f.read().split()[0]) / 1e9
            except OSError:
                pass
        # The kernel counts a process in ticks, its threads in nanoseconds.
        return max(whole - 0.05, exact)

    def kill(self):
        if self.p.poll() is None:
            self.p.kill()
        self.p.wait()

    def terminate(self, seconds=10, code=0):
        self.p.send_signal(signal.SIGTERM)
        try:
            rc = self.p.wait(timeout=seconds * SLOW)
        except subprocess.TimeoutExpired:
            raise AssertionError("the compute node ignores SIGTERM: %s" % self.text())
        no_sanitizer_report(self.text())
        same(rc, code, "the compute node's exit code")


class Shell:
    """A session of `namdb sql` on pipes: one statement at a time, the session stays open."""

    def __init__(self, house, *args, fabric="shm", storage=None):
        self.args = [NAMDB, "sql", "--storage", storage or house.storage(), "--fabric", fabric, "--secret-file",
                     house.secret, *house.lease, "--csv"] + [str(a) for a in args]
        self.p = subprocess.Popen(self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=clean_env(house.env))
        house.shells.append(self)
        self.n = 0
        self.rest = b""
        self.history = ""

    def send(self, text):
        self.p.stdin.write(text.encode() + b"\n")
        self.p.stdin.flush()

    def read_until(self, mark, seconds):
        end = time.monotonic() + seconds * SLOW
        while mark not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                raise AssertionError("the shell said nothing more within %d s; so far: %r" % (
                    seconds * SLOW, self.rest[-2000:]))
            got = os.read(self.p.stdout.fileno(), 65536)
            if got == b"":
                raise AssertionError("the shell ended; it said: %r" % self.rest[-4000:])
            self.rest += got
        text, self.rest = self.rest.split(mark, 1)
        return text.decode("utf-8", "replace")

    def do(self, sql, timeout=30):
        """Runs sql; gives what was printed, errors included."""
        self.n += 1
        mark = "mark-%d-%d" % (os.getpid(), self.n)
        # \echo is not a statement, so it works in a failed transaction too.
        self.send(sql.rstrip() + ("" if sql.rstrip().endswith(";") or sql.startswith("\\") else ";"))
        self.send("\\echo " + mark)
        out = self.read_until(mark.encode() + b"\n", timeout)
        self.history = (self.history + out)[-5000:]
        no_sanitizer_report(out)
        return out

    def ok(self, sql, timeout=30):
        out = self.do(sql, timeout)
        check("ERROR" not in out, "%s:\n%s" % (sql, out))
        return out

    def do_or_end(self, sql, timeout=30):
        """As do; if the shell ends, what it said until then."""
        try:
            return self.do(sql, timeout)
        except (AssertionError, OSError):
            check(self.p.poll() is not None or self.ends(timeout), "the shell hangs:", self.rest[-1000:])
            self.rest += self.p.stdout.read()
            return self.rest.decode("utf-8", "replace")

    def ends(self, seconds):
        try:
            self.p.wait(timeout=seconds * SLOW)
        except subprocess.TimeoutExpired:
            return False
        return True

    def value(self, sql, timeout=30):
        out = self.ok(sql, timeout)
        rows = list(csv.reader(io.StringIO(out)))
        check(len(rows) == 2 and len(rows[1]) == 1, "expected one value from %s:\n%s" % (sql, out))
        return rows[1][0]

    def fails(self, sql, state, timeout=30):
        out = self.do(sql, timeout)
        m = re.search(r"ERROR:\s+([0-9A-Z]{5}):", out)
        check(m is not None, "%s: expected %s:\n%s" % (sql, state, out))
        same(m.group(1), state, sql + ": " + out)
        return out

    def close(self, code=None):
        if self.p.poll() is None:
            try:
                self.p.stdin.close()
            except OSError:
                pass
            try:
                self.p.wait(timeout=20 * SLOW)
            except subprocess.TimeoutExpired:
                self.p.kill()
                self.p.wait()
                raise AssertionError("the shell did not end with its input")
        self.rest += self.p.stdout.read()
        self.p.stdout.close()
        no_sanitizer_report(self.rest.decode("utf-8", "replace"))
        if code is not None:
            same(self.p.returncode, code, "shell's exit code")

    def drop(self):
        if self.p.poll() is None:
            self.p.kill()
            self.p.wait()


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, *args, env=None, program=None):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            program = program or NAMDB
            os.execve(program, [program] + [str(a) for a in args], clean_env(dict(env or {}, TERM="xterm")))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.said = ""
        self.code = None

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=20):
        """Waits until what came since the last match matches pattern; gives that text."""
        end = time.monotonic() + seconds * SLOW
        while True:
            plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r", "", self.said)
            m = re.search(pattern, plain)
            if m:
                self.said = plain[m.end():]
                return plain[:m.end()]
            left = end - time.monotonic()
            if left <= 0:
                raise AssertionError("waited for %r at the terminal; it shows: %r" % (pattern, plain[-3000:]))
            if not select.select([self.fd], [], [], min(left, 0.5))[0]:
                continue
            try:
                got = os.read(self.fd, 65536)
            except OSError:
                got = b""
            if got == b"":
                raise AssertionError("waited for %r; the program ended: %r" % (pattern, plain[-3000:]))
            self.said += got.decode("utf-8", "replace")

    def end(self, seconds=20):
        """Waits for the end; gives the exit code."""
        deadline = time.monotonic() + seconds * SLOW
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() > deadline:
                self.kill()
                raise AssertionError("the program at the terminal does not end: %r" % self.said[-2000:])
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.said += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    pass
        os.close(self.fd)
        no_sanitizer_report(self.said)
        return self.code

    def kill(self):
        if self.code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            self.code = -9


class House:
    """A run directory, a secret, and everything started in it; all gone at the end.

    lease_ms: of its cluster; None: the program's default. A long one, if a test is not about processes that stall:
    on a machine that is busy with other tests a process may stall for longer than the default lease."""

    def __init__(self, nodes=0, size="64m", lease_ms=5000):
        self.lease = [] if lease_ms is None else ["--lease", str(lease_ms)]
        self.dir = tempfile.mkdtemp(prefix="namdb-test-")
        self.secret = self.file("secret", "%s\n" % os.urandom(32).hex())
        os.chmod(self.secret, 0o600)
        self.env = {"HOME": self.dir}
        self.nodes, self.shells, self.terminals, self.computes = [], [], [], []
        for i in range(nodes):
            Node(self, i + 1, size)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for s in self.shells:
            s.drop()
        for t in self.terminals:
            t.kill()
        for c in self.computes:
            c.kill()
            c.log.close()
            if kind is not None:
                sys.stdout.write("-- log of a compute node --\n%s" % c.text()[-6000:])
        for n in self.nodes:
            n.kill()
            n.log.close()
            if kind is not None:
                sys.stdout.write("-- log of storage node %s --\n%s" % (n.id, n.text()[-3000:]))
        try:
            for n in self.nodes + self.computes:
                if kind is None:
                    no_sanitizer_report(n.text())
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)

    def file(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def node(self, id, **more):
        return Node(self, id, **more)

    def storage(self):
        return ",".join(n.address for n in self.nodes if n.address and n.p.poll() is None)

    def sql(self, *args, stdin="", fabric="shm", storage=None, timeout=60, secret=None, csv=True):
        """`namdb sql` to its end."""
        return run("sql", "--storage", storage or self.storage(), "--fabric", fabric, "--secret-file",
                   secret or self.secret, *self.lease, *(["--csv"] if csv else []), *args, stdin=stdin, timeout=timeout,
                   env=self.env)

    def do(self, text, **more):
        """One text through -c."""
        return self.sql("-c", text, **more)

    def shell(self, *args, **more):
        return Shell(self, *args, **more)

    def terminal(self, *args, program=None):
        t = Terminal(*args, env=self.env, program=program)
        self.terminals.append(t)
        return t

    def status(self):
        """region id -> what `namdb status --json` says of it."""
        r = run("status", "--storage", self.storage(), "--secret-file", self.secret, "--json", env=self.env).ok()
        return {n["id"]: n for n in json.loads(r.out)}


class Proxy:
    """Passes bytes between peers and a node. It can change what either hears first, cut connections, or hold its tongue."""

    def __init__(self, node, to_node=None, to_peer=None):
        self.node, self.to_node, self.to_peer = node, to_node, to_peer
        self.pairs = []
        self.lock = threading.Lock()
        self.flows = threading.Event()
        self.flows.set()
        self.door = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address = "127.0.0.1:%d" % self.door.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.door.accept()
            except OSError:
                return
            try:
                node = socket.create_connection(("127.0.0.1", self.node.port()))
            except OSError:
                peer.close()
                continue
            for s in (peer, node):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.append((peer, node))
            threading.Thread(target=self.pump, args=(peer, node, self.to_node, self.flows), daemon=True).start()
            threading.Thread(target=self.pump, args=(node, peer, self.to_peer, self.flows), daemon=True).start()

    @staticmethod
    def pump(src, dst, change=None, flows=None):
        first = True
        try:
            while True:
                got = src.recv(65536)
                if not got:
                    break
                if first and change:
                    got = change(bytearray(got))
                first = False
                if flows is not None:
                    flows.wait()
                dst.sendall(got)
        except OSError:
            pass
        for s in (src, dst):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def open_pairs(self):
        with self.lock:
            self.pairs = [p for p in self.pairs if p[0].fileno() >= 0 and alive(p[0])]
            return list(self.pairs)

    def cut(self, one=None):
        """Every connection there is breaks, or only one; new ones are let through."""
        if one is None:
            with self.lock:
                pairs, self.pairs = self.pairs, []
        else:
            pairs = [one]
            with self.lock:
                self.pairs = [p for p in self.pairs if p is not one]
        for pair in pairs:
            for s in pair:
                try:
                    # A reset, as a firewall sends it: what is under way is lost.
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def cut_one(self, dice):
        """One connection of those there are breaks. False: there was none."""
        pairs = self.open_pairs()
        if not pairs:
            return False
        self.cut(dice.choice(pairs))
        return True

    def silence(self, seconds):
        """For so long nothing passes; what was said meanwhile comes late, as TCP makes up for lost packets."""
        self.flows.clear()
        time.sleep(seconds)
        self.flows.set()

    def close(self):
        self.flows.set()
        self.door.close()
        self.cut()


def alive(s):
    """False: this socket's connection has ended."""
    try:
        return s.getpeername() is not None
    except OSError:
        return False


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    module = sys.modules["__main__"]
    tests = [(n, f) for n, f in vars(module).items() if n.startswith("test_") and callable(f)]
    wanted = sys.argv[1:]
    if not os.access(NAMDB, os.X_OK):
        print("namdb is not built: %s" % NAMDB)
        sys.exit(1)
    failed = skipped = passed = 0
    for name, f in tests:
        if wanted and name not in wanted and name[5:] not in wanted:
            continue
        t0 = time.monotonic()
        try:
            f()
        except Skip as e:
            skipped += 1
            print("skip: %s: %s" % (name, e), flush=True)
        except Exception:
            failed += 1
            print("FAILED %s\n%s" % (name, traceback.format_exc()), flush=True)
        else:
            passed += 1
            print("ok %s (%.1f s)" % (name, time.monotonic() - t0), flush=True)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(1 if failed else 77 if skipped and not passed else 0)
