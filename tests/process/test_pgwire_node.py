#!/usr/bin/env python3
"""node's pg, pg-cursor and pg-copy-streams at `namdb compute`: clients, pools, cursors, streams. `./go test` installs them in
build/npm; NODE_PATH may name other places."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import house
from house import Compute, House, same, skip

shared = None

BEFORE = r"""
const { Client, Pool } = require('pg');
const assert = require('assert');
const options = { host: '127.0.0.1', port: +process.argv[2], user: 'node', database: 'db' };
const within = async f => { const c = new Client(options); await c.connect(); try { await f(c); } finally { await c.end(); } };
const fails = async (state, p) => { try { await p; } catch (e) { assert.strictEqual(e.code, state, e.message); return e; } assert.fail('no error ' + state); };
(async () => {
"""
AFTER = r"""
console.log('well');
})().catch(e => { console.error(e); process.exit(1); });
"""


def node(script, *modules):
    """Runs a script in which `within(f)` calls f with a connected client."""
    global shared
    program = shutil.which("node")
    if program is None:
        skip("there is no node here")
    places = [os.environ.get("NODE_PATH", ""), os.path.join(house.ROOT, "build", "npm", "node_modules"), "/usr/lib/node_modules",
              "/usr/local/lib/node_modules", "/usr/share/nodejs"]
    env = dict(os.environ, NODE_PATH=":".join(p for p in places if p))
    for module in ("pg",) + modules:
        if subprocess.run([program, "-e", "require('%s')" % module], capture_output=True, env=env).returncode != 0:
            skip("node's %s is not installed" % module)
    if shared is None:
        shared = Compute(House(nodes=1, size="256m"))
    p = subprocess.run([program, "-e", BEFORE + script + AFTER, "x", str(shared.port)], capture_output=True, text=True, env=env,
                       timeout=60 * house.SLOW)
    same((p.returncode, p.stdout), (0, "well\n"), p.stderr)


def test_values():
    node(r"""
await within(async c => {
  await c.query('CREATE TABLE n (id serial PRIMARY KEY, name varchar(20), at timestamp, tags text[], j json, num numeric, b bytea, ' +
                'big bigint, d date, yes boolean)');
  const at = new Date(2020, 1, 29, 3, 4, 5);
  let r = await c.query('INSERT INTO n (name, at, tags, j, num, b, big, d, yes) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9) RETURNING *',
    ['x', at, ['a', null, 'b"'], { k: [1] }, '1.50', Buffer.from([0, 255]), '9007199254740993', at, true]);
  assert.strictEqual(r.command + r.rowCount, 'INSERT1');
  const row = r.rows[0];
  assert.deepStrictEqual([row.id, row.name, row.at.getTime(), row.tags, row.j, row.num, [...row.b], row.big, row.yes],
    [1, 'x', at.getTime(), ['a', null, 'b"'], { k: [1] }, '1.50', [0, 255], '9007199254740993', true]);
  assert.deepStrictEqual(r.fields.map(f => f.dataTypeID), [23, 1043, 1114, 1009, 114, 1700, 17, 20, 1082, 16]);
  assert.strictEqual(row.d.getDate(), 29);
  for (let k = 0; k < 3; k++) {
    r = await c.query({ name: 'get', text: 'SELECT name, tags FROM n WHERE id = $1', values: [1] });
    assert.deepStrictEqual(r.rows, [{ name: 'x', tags: ['a', null, 'b"'] }]);
  }
  r = await c.query('SELECT 1 AS a; SELECT 2 AS b; UPDATE n SET name = name');
  assert.deepStrictEqual(r.map(x => [x.command, x.rowCount]), [['SELECT', 1], ['SELECT', 1], ['UPDATE', 1]]);
  await c.query('DROP TABLE n');
});
const binary = new Client({ ...options, binary: true });
await binary.connect();
const r = await binary.query({ text: 'SELECT $1::int AS a, 9007199254740993 AS b, true AS c, $2::text AS d', values: [7, 'x'] });
assert.deepStrictEqual(r.rows.map(row => Object.values(row).map(String)), [['7', '9007199254740993', 'true', 'x']]);
await binary.end();
""")


def test_errors():
    node(r"""
await within(async c => {
  const notices = [];
  c.on('notice', n => notices.push([n.severity, n.message]));
  await c.query('DROP TABLE IF EXISTS nowhere');
  assert.deepStrictEqual(notices, [['NOTICE', 'table "nowhere" does not exist, skipping']]);
  const e = await fails('42703', c.query('SELECT nothing'));
  assert.deepStrictEqual([e.severity, e.position], ['ERROR', '8']);
  await fails('22P02', c.query('SELECT $1::int', ['x']));
  await fails('08P01', c.query({ text: 'SELECT $1::int', values: [1, 2] }));
  await fails('0A000', c.query('LISTEN channel'));
  await c.query('BEGIN');
  await fails('22012', c.query('SELECT 1/0'));
  await fails('25P02', c.query('SELECT 1'));
  await c.query('ROLLBACK');
  await c.query('CREATE TABLE u (a int PRIMARY KEY); INSERT INTO u VALUES (1)');
  const d = await fails('23505', c.query('INSERT INTO u VALUES ($1)', [1]));
  assert.deepStrictEqual([d.table, d.constraint, d.detail], ['u', 'u_pkey', 'Key (a)=(1) already exists.']);
  await c.query('DROP TABLE u');
  assert.strictEqual((await c.query('SELECT 1 AS one')).rows[0].one, 1);
});
const slow = new Client({ ...options, statement_timeout: 200 });
await slow.connect();
await fails('57014', slow.query('SELECT count(*) FROM generate_series(1, 1000000000) a WHERE a % 7 = 3'));
await slow.end();
""")


def test_pool():
    node(r"""
const pool = new Pool({ ...options, max: 8 });
await pool.query('CREATE TABLE bank (id int PRIMARY KEY, n int)');
await pool.query('INSERT INTO bank SELECT g, 100 FROM generate_series(1, 4) g');
const move = async k => {
  const c = await pool.connect();
  try {
    await c.query('BEGIN');
    await c.query('UPDATE bank SET n = n - 1 WHERE id = $1', [1 + k % 2]);
    await c.query('UPDATE bank SET n = n + 1 WHERE id = $1', [3 + k % 2]);
    await c.query('COMMIT');
  } catch (e) { await c.query('ROLLBACK'); throw e; } finally { c.release(); }
};
await Promise.all([...Array(100).keys()].map(move));
assert.deepStrictEqual((await pool.query('SELECT n FROM bank ORDER BY id')).rows.map(r => r.n), [50, 50, 150, 150]);
const rows = await Promise.all([...Array(200).keys()].map(k => pool.query('SELECT $1::int AS i', [k])));
assert.strictEqual(rows.reduce((a, r) => a + r.rows[0].i, 0), 19900);
await pool.query('DROP TABLE bank');
await pool.end();
""")


def test_cursor():
    node(r"""
const Cursor = require('pg-cursor');
await within(async c => {
  const cur = c.query(new Cursor('SELECT g, $1::text AS t FROM generate_series(1, 1000) g', ['x']));
  let n = 0, rows;
  while ((rows = await cur.read(97)).length > 0) { for (const r of rows) assert.strictEqual(r.g, ++n); }
  assert.strictEqual(n, 1000);
  await cur.close();
  const early = c.query(new Cursor('SELECT g FROM generate_series(1, 100000000) g'));
  assert.strictEqual((await early.read(5)).length, 5);
  await early.close();
  await fails('22012', c.query(new Cursor('SELECT 1 / (g - 50) FROM generate_series(1, 100) g')).read(100));
  assert.strictEqual((await c.query('SELECT 1 AS one')).rows[0].one, 1);
});
""", "pg-cursor")


def test_copy_streams():
    node(r"""
const copy = require('pg-copy-streams'), { pipeline } = require('stream/promises'), { Readable } = require('stream');
await within(async c => {
  await c.query('CREATE TABLE cp (a int PRIMARY KEY, b text)');
  const lines = function* () { for (let k = 1; k <= 20000; k++) yield k + '\tline ' + k + '\n'; };
  await pipeline(Readable.from(lines()), c.query(copy.from('COPY cp FROM STDIN')));
  let size = 0;
  for await (const part of c.query(copy.to('COPY cp TO STDOUT'))) size += part.length;
  assert.strictEqual(size, [...lines()].join('').length);
  await fails('23505', pipeline(Readable.from(['1\tagain\n']), c.query(copy.from('COPY cp FROM STDIN'))));
  assert.strictEqual((await c.query('SELECT count(*)::int AS n FROM cp')).rows[0].n, 20000);
  await c.query('DROP TABLE cp');
});
""", "pg-copy-streams")


if __name__ == "__main__":
    try:
        house.main()
    finally:
        if shared is not None:
            try:
                shared.terminate()
            finally:
                shared.house.__exit__(None, None, None)
