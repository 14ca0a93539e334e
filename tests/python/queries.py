"""`warpmem query` answers as DuckDB does, or refuses. Called as: queries.py PROGRAM."""

import json
import math
import subprocess
import sys
from pathlib import Path

import duckdb

PROGRAM = sys.argv[1]

# Five traces under three policies, with ties, nulls, text that differs in case, and unsigned columns.
TABLES = {
    "runs": """
        SELECT format('{}-{}', t, s) AS run_id, trace, dram_scheduler, machine, '' AS overrides,
               CASE WHEN (t * 3 + s) % 7 = 2 THEN NULL ELSE CAST(4 + t * 0.5 + s * 0.25 AS DOUBLE) END AS ipc_thread,
               CAST(1000 * (t + 1) - 10 * s AS UBIGINT) AS cycles,
               CAST((t * s) % 4 AS UINTEGER) AS stalls,
               CAST(t - s AS BIGINT) AS shift,
               CASE WHEN s = 0 THEN NULL ELSE CAST((t + s) / 7 AS DOUBLE) END AS row_hit_rate,
               t % 2 = 0 AS is_even
        FROM (SELECT unnest(range(5)) AS t) AS ts, (SELECT unnest(range(3)) AS s) AS ss,
             (SELECT ['bfs', 'Bfs', 'gemm', 'gups_a', 'gups%b'] AS traces,
                     ['fcfs', 'fr-fcfs', 'warped-mc'] AS schedulers, ['titan', 'accelsim-qv100'] AS machines) AS names,
             LATERAL (SELECT traces[t + 1] AS trace, schedulers[s + 1] AS dram_scheduler,
                             machines[t % 2 + 1] AS machine) AS named
        ORDER BY t, s""",
    "loads": """
        SELECT format('{}-{}', i % 5, i % 3) AS run_id, CAST(i AS BIGINT) AS load,
               CAST(i % 4 AS UINTEGER) AS pc,
               CASE WHEN i % 6 = 0 THEN NULL ELSE CAST((i * 37) % 101 AS BIGINT) END AS divergence,
               CAST((i * 53) % 211 + 100 AS UBIGINT) AS load_time,
               CASE WHEN i % 10 = 3 THEN NULL ELSE CAST(((i * 29) % 97) / 8 AS DOUBLE) END AS wait
        FROM (SELECT unnest(range(120)) AS i)""",
    "channels": """
        SELECT format('{}-{}', i // 4 % 5, i // 20) AS run_id, CAST(i % 4 AS UINTEGER) AS channel,
               CAST(((i * 17) % 23) / 23 AS DOUBLE) AS bandwidth_utilization
        FROM (SELECT unnest(range(32)) AS i)""",
}

# Statements with one answer in any order of its rows; with ORDER BY at their end, in that order.
EQUAL = """
SELECT trace, dram_scheduler, ipc_thread FROM runs ORDER BY trace, dram_scheduler
SELECT a.dram_scheduler, AVG(a.ipc_thread / b.ipc_thread) AS ratio, COUNT(*) AS n FROM runs a JOIN runs b ON a.trace = b.trace AND b.dram_scheduler = 'fr-fcfs' GROUP BY a.dram_scheduler ORDER BY a.dram_scheduler
SELECT a.trace, a.cycles, b.cycles AS base FROM runs a JOIN runs b ON a.trace = b.trace AND b.dram_scheduler = 'fr-fcfs' WHERE a.dram_scheduler <> 'fr-fcfs' ORDER BY a.trace, a.cycles
SELECT a.trace, a.cycles, b.cycles FROM runs a LEFT JOIN runs b ON a.trace = b.trace AND b.ipc_thread > 5 AND a.is_even ORDER BY 1, 2, 3
SELECT a.run_id, b.run_id AS other FROM runs a RIGHT JOIN runs b ON a.trace = b.machine AND a.shift = 0
SELECT a.run_id, b.run_id AS other FROM runs a FULL JOIN runs b ON a.shift = b.stalls AND a.dram_scheduler = 'fcfs' AND b.dram_scheduler = 'warped-mc'
SELECT a.run_id, b.run_id AS other FROM runs a JOIN runs b ON a.trace = b.trace AND a.cycles < b.cycles
SELECT a.run_id, b.run_id AS other FROM runs a JOIN runs b ON a.cycles + 995 < b.cycles OR a.shift = b.stalls + 3
SELECT r.trace, l.pc, COUNT(l.divergence) AS n FROM runs r LEFT JOIN loads l USING (run_id) GROUP BY r.trace, l.pc
SELECT run_id, r.trace, c.channel FROM runs r FULL JOIN channels c USING (run_id)
SELECT run_id, COUNT(*) FROM runs NATURAL JOIN loads GROUP BY run_id
SELECT * FROM (SELECT run_id, pc FROM loads WHERE load < 9) AS l NATURAL JOIN (SELECT run_id, shift FROM runs) AS r
SELECT r.trace, c.channel, l.pc, COUNT(*) AS n FROM runs r JOIN channels c ON r.run_id = c.run_id JOIN loads l ON l.run_id = r.run_id AND l.pc = c.channel GROUP BY 1, 2, 3
SELECT r.trace, SUM(l.divergence) AS total FROM runs AS r, loads AS l WHERE r.run_id = l.run_id AND l.wait > 3 GROUP BY r.trace
SELECT x.trace, y.n FROM (SELECT trace, MAX(cycles) AS m FROM runs GROUP BY trace) x CROSS JOIN (SELECT COUNT(*) AS n FROM channels) y
SELECT COUNT(*), COUNT(ipc_thread), COUNT(DISTINCT ipc_thread), COUNT(DISTINCT dram_scheduler), SUM(stalls), AVG(stalls) FROM runs
SELECT COUNT(*) - 100 AS below FROM runs
SELECT SUM(ipc_thread), MIN(trace), MAX(trace), AVG(ipc_thread) FROM runs WHERE cycles > 1000000
SELECT trace, SUM(ipc_thread) FROM runs WHERE ipc_thread IS NULL GROUP BY trace
SELECT MEDIAN(divergence), QUANTILE_CONT(divergence, 0.9), QUANTILE_DISC(divergence, 0.9), QUANTILE_DISC(wait, 0.25), QUANTILE_CONT(wait, 0.01) FROM loads
SELECT pc, MEDIAN(load_time), QUANTILE_CONT(wait, 0.5), QUANTILE_DISC(load_time, 0.99), QUANTILE_DISC(wait, 0) FROM loads GROUP BY pc
SELECT pc, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY wait) AS p FROM loads GROUP BY pc ORDER BY p
SELECT pc, STDDEV(wait), STDDEV_POP(wait), VARIANCE(wait), VAR_POP(divergence), CORR(wait, divergence), COVAR_SAMP(wait, divergence), COVAR_POP(wait, load_time) FROM loads GROUP BY pc
SELECT trace, ARG_MAX(dram_scheduler, ipc_thread) AS best, ARG_MIN(dram_scheduler, cycles) AS fast FROM runs GROUP BY trace
SELECT trace, COUNT(*) FILTER (WHERE is_even) AS n, SUM(cycles) FILTER (WHERE dram_scheduler = 'fcfs') AS c FROM runs GROUP BY trace
SELECT BOOL_AND(is_even), BOOL_OR(is_even), BOOL_OR(ipc_thread > 100) FROM runs
SELECT STRING_AGG(dram_scheduler, '/' ORDER BY cycles) AS s FROM runs WHERE trace = 'bfs'
SELECT machine, SUM(DISTINCT stalls), AVG(DISTINCT shift) FROM runs GROUP BY machine
SELECT pc % 2 AS odd, COUNT(*) AS n FROM loads GROUP BY pc % 2 HAVING COUNT(*) > 10 ORDER BY pc % 2
SELECT pc + 1 AS p, SUM(load_time) / COUNT(*) AS mean FROM loads GROUP BY p HAVING mean > 200 ORDER BY mean DESC
SELECT trace, COUNT(*) AS n FROM runs WHERE ipc_thread > 4.5 GROUP BY ALL ORDER BY ALL
SELECT MAX(ipc_thread) - MIN(ipc_thread) AS spread, dram_scheduler FROM runs GROUP BY 2 ORDER BY spread
SELECT machine, dram_scheduler, AVG(cycles) FROM runs GROUP BY machine, dram_scheduler HAVING AVG(cycles) > 2500 AND machine = 'titan'
SELECT CASE WHEN ipc_thread > 5 THEN 'fast' WHEN ipc_thread IS NULL THEN 'none' ELSE 'slow' END AS c, COUNT(*) FROM runs GROUP BY c
SELECT CASE dram_scheduler WHEN 'fcfs' THEN 1 WHEN 'fr-fcfs' THEN 2.5 END AS c FROM runs
SELECT 7 / 2 AS q, 7 // 2 AS w, -7 // 2 AS v, 7 % 3 AS a, -7 % 3 AS b, 7 % -3 AS c, 7.5 % 2 AS d, cycles / 3 AS e FROM runs
SELECT shift / NULLIF(stalls, 0) AS q, shift % 3 AS r FROM runs
SELECT run_id FROM runs WHERE ipc_thread <> 5.0
SELECT run_id FROM runs WHERE NOT (ipc_thread > 5 AND row_hit_rate > 0.5)
SELECT run_id FROM runs WHERE ipc_thread > 5 OR row_hit_rate > 0.5
SELECT run_id FROM runs WHERE shift NOT IN (1, 2, NULL)
SELECT run_id FROM runs WHERE shift IN (1, 2, NULL)
SELECT run_id FROM runs WHERE ipc_thread NOT IN (SELECT ipc_thread FROM runs WHERE trace = 'bfs')
SELECT run_id FROM runs WHERE ipc_thread NOT IN (SELECT ipc_thread FROM runs WHERE trace = 'gemm' AND ipc_thread IS NOT NULL)
SELECT run_id FROM runs WHERE run_id IN (SELECT run_id FROM loads WHERE divergence > 95)
SELECT run_id, ipc_thread IN (SELECT ipc_thread FROM runs WHERE shift > 100) AS e, NULL = NULL AS n, ipc_thread IS DISTINCT FROM 5.0 AS d FROM runs
SELECT trace FROM runs WHERE trace LIKE 'gups_%' ORDER BY 1
SELECT trace FROM runs WHERE trace LIKE 'gups$_%' ESCAPE '$'
SELECT trace FROM runs WHERE trace ILIKE 'b_S' AND trace NOT LIKE 'B%'
SELECT trace FROM runs WHERE trace BETWEEN 'a' AND 'g' AND cycles NOT BETWEEN 900 AND 1000
SELECT trace, ipc_thread FROM runs ORDER BY ipc_thread DESC, trace, cycles
SELECT trace, ipc_thread FROM runs ORDER BY ipc_thread NULLS FIRST, trace DESC, cycles
SELECT trace, cycles FROM runs ORDER BY -shift, cycles * 2 DESC, trace LIMIT 7 OFFSET 3
SELECT trace AS cycles, cycles AS trace FROM runs ORDER BY trace DESC, cycles
SELECT dram_scheduler FROM runs UNION SELECT machine FROM runs
SELECT dram_scheduler FROM runs WHERE is_even UNION ALL SELECT machine FROM runs ORDER BY 1
SELECT trace FROM runs EXCEPT SELECT trace FROM runs WHERE is_even
SELECT ipc_thread FROM runs INTERSECT SELECT ipc_thread FROM runs WHERE machine = 'accelsim-qv100'
SELECT shift FROM runs UNION SELECT stalls FROM runs EXCEPT SELECT 3 INTERSECT SELECT shift FROM runs
SELECT DISTINCT machine, is_even FROM runs ORDER BY machine
SELECT DISTINCT ON (trace) trace, dram_scheduler, cycles FROM runs ORDER BY trace, cycles
SELECT trace, ipc_thread FROM runs r WHERE ipc_thread = (SELECT MAX(ipc_thread) FROM runs AS o WHERE o.trace = r.trace)
SELECT trace, cycles FROM runs WHERE cycles > (SELECT AVG(cycles) FROM runs)
SELECT run_id, (SELECT COUNT(*) FROM loads l WHERE l.run_id = r.run_id AND l.divergence > r.shift) AS n FROM runs r
SELECT run_id FROM runs r WHERE EXISTS (SELECT 1 FROM channels c WHERE c.run_id = r.run_id AND c.bandwidth_utilization > 0.9)
SELECT run_id FROM runs r WHERE NOT EXISTS (SELECT * FROM channels c WHERE c.run_id = r.run_id)
SELECT run_id FROM runs r WHERE stalls IN (SELECT l.pc FROM loads l WHERE l.run_id = r.run_id AND l.wait < 2)
SELECT trace, SUM(cycles) AS s FROM runs r GROUP BY trace HAVING SUM(cycles) > (SELECT SUM(o.cycles) FROM runs o WHERE o.trace < r.trace) ORDER BY s
SELECT trace, dram_scheduler, ROW_NUMBER() OVER (PARTITION BY trace ORDER BY cycles DESC) AS n FROM runs
SELECT run_id, RANK() OVER (ORDER BY stalls) AS r, DENSE_RANK() OVER (ORDER BY stalls DESC) AS d, PERCENT_RANK() OVER (PARTITION BY machine ORDER BY stalls) AS p, CUME_DIST() OVER (ORDER BY stalls) AS c FROM runs
SELECT load, NTILE(7) OVER (ORDER BY load) AS t, NTILE(3) OVER (PARTITION BY pc ORDER BY load_time, load) AS u FROM loads
SELECT load, SUM(divergence) OVER (PARTITION BY pc ORDER BY load) AS s, COUNT(divergence) OVER (PARTITION BY pc ORDER BY load) AS c, MIN(divergence) OVER (PARTITION BY pc ORDER BY load) AS m, MAX(wait) OVER (ORDER BY load) AS x, AVG(wait) OVER (PARTITION BY pc ORDER BY load) AS a FROM loads
SELECT load, SUM(divergence) OVER (ORDER BY pc) AS peers, COUNT(*) OVER (ORDER BY pc) AS n, LAST_VALUE(pc) OVER (ORDER BY pc) AS l FROM loads
SELECT load, AVG(wait) OVER (PARTITION BY pc ORDER BY load ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS a, MAX(divergence) OVER (ORDER BY load ROWS BETWEEN 1 PRECEDING AND 3 FOLLOWING) AS b, SUM(divergence) OVER (ORDER BY load ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) AS c FROM loads
SELECT load, SUM(divergence) OVER (ORDER BY load ROWS UNBOUNDED PRECEDING) AS a, SUM(divergence) OVER (PARTITION BY pc ORDER BY load ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS b, MEDIAN(wait) OVER (PARTITION BY pc) AS c, MIN(divergence) OVER (ORDER BY load DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS d FROM loads
SELECT load, LAG(divergence) OVER (ORDER BY load) AS a, LEAD(divergence, 2, -1) OVER (PARTITION BY pc ORDER BY load) AS b, FIRST_VALUE(load) OVER (PARTITION BY pc ORDER BY wait DESC, load) AS c FROM loads
SELECT trace, cycles / MAX(cycles) OVER (PARTITION BY trace) AS part, COUNT(*) OVER () AS n FROM runs
SELECT trace, SUM(cycles) AS c, SUM(SUM(cycles)) OVER (ORDER BY trace) AS running, RANK() OVER (ORDER BY COUNT(ipc_thread)) AS r FROM runs GROUP BY trace
SELECT trace, dram_scheduler, cycles FROM runs QUALIFY ROW_NUMBER() OVER (PARTITION BY trace ORDER BY cycles) = 1
SELECT trace, SUM(cycles) OVER w AS s, MIN(cycles) OVER (w ORDER BY cycles) AS m FROM runs WINDOW w AS (PARTITION BY trace)
WITH base AS (SELECT trace, ipc_thread AS ipc FROM runs WHERE dram_scheduler = 'fr-fcfs'), best AS (SELECT trace, MAX(ipc_thread) AS ipc FROM runs GROUP BY trace) SELECT b.trace, best.ipc / b.ipc AS gain FROM base b JOIN best ON b.trace = best.trace ORDER BY gain DESC, b.trace
WITH t(a, b) AS (SELECT trace, cycles FROM runs), u AS (SELECT a, MAX(b) AS m FROM t GROUP BY a) SELECT t.a, t.b FROM t JOIN u ON t.a = u.a AND t.b = u.m
SELECT v.name, COUNT(r.run_id) FROM (VALUES ('bfs', 1), ('gemm', 2), ('none', 3)) AS v(name, n) LEFT JOIN runs r ON r.trace = v.name GROUP BY v.name
SELECT ABS(shift), SIGN(shift), ROUND(ipc_thread, 1), ROUND(-2.5), FLOOR(-1.5), CEIL(1.2), SQRT(cycles), LN(cycles), LOG10(cycles), EXP(shift), POWER(2, shift), GREATEST(shift, stalls, 1), LEAST(shift, ipc_thread), COALESCE(ipc_thread, row_hit_rate, 0), NULLIF(stalls, 0) FROM runs
SELECT UPPER(trace), LOWER(trace), LENGTH(trace), REPLACE(trace, 'g', 'GG'), SUBSTR(trace, 2, 2), SUBSTRING(trace FROM 3), trace || '/' || dram_scheduler, CONCAT(trace, NULL, 1), STARTS_WITH(trace, 'g'), LEFT(trace, 2) FROM runs
SELECT CAST(ipc_thread AS INTEGER), CAST(CAST(2.5 AS DOUBLE) AS INTEGER), CAST(-3.7 AS BIGINT), CAST('12' AS INTEGER), CAST(cycles AS VARCHAR), CAST(is_even AS INTEGER), cycles::DOUBLE, TRY_CAST(trace AS INTEGER) FROM runs
SELECT trace AS t, cycles + 1 AS c, c * 2 AS d FROM runs WHERE d > 4000
SELECT "trace", Trace, TRACE FROM RUNS WHERE Dram_Scheduler = 'fcfs'
SELECT * EXCLUDE (overrides, machine) FROM runs
SELECT r.*, c.channel FROM runs r JOIN channels c ON r.run_id = c.run_id
SELECT 1 AS one, 'a' AS text, NULL AS nothing, TRUE AS yes
SELECT COUNT(*) FROM runs WHERE FALSE
SELECT (SELECT MAX(cycles) FROM runs WHERE trace = 'none') AS m, (SELECT COUNT(*) FROM runs) AS n
SELECT trace, n FROM (SELECT trace, COUNT(*) AS n FROM runs GROUP BY trace) AS t WHERE n = (SELECT MAX(k) FROM (SELECT COUNT(*) AS k FROM runs GROUP BY trace) AS u)
SELECT trace, MAX(cycles) AS cycles FROM runs GROUP BY trace ORDER BY cycles
FROM runs SELECT trace, cycles WHERE stalls = 0
"""

# Statements with the answer itself: DuckDB fails where unsigned numbers become negative, or has no
# such function.
VALUES = {
    "SELECT MIN(cycles) - MAX(cycles) AS span, -MIN(stalls) - 1 AS least FROM runs": [[-4020, -1]],
    "SELECT cycles - 1005 AS d FROM runs WHERE trace = 'bfs' ORDER BY d": [[-25], [-15], [-5]],
    "SELECT cycles / 0 AS a, 0.0 / 0 AS b, 1 % 0 AS c, LN(0) AS d, SQRT(-1) AS e FROM runs LIMIT 1": [[None] * 5],
    "SELECT COUNT(*) AS n FROM runs WHERE cycles / stalls > 0 OR cycles / stalls IS NULL": [[15]],
    "SELECT ROUND(GEOMEAN(POWER(2, load)), 6) AS g FROM loads WHERE load < 3": [[2.0]],
    "SELECT LOG(100) AS l, ROUND(1250, -2) AS r, ROUND(2.345, 2) AS s": [[2.0, 1300, 2.35]],
    "SELECT ARRAY_AGG(dram_scheduler ORDER BY cycles) AS a FROM runs WHERE trace = 'bfs'": [[["warped-mc", "fr-fcfs", "fcfs"]]],
}

# Refused statements, each with a part of its message.
REFUSED = {
    "SELECT trace, cycles FROM runs a JOIN runs b ON a.trace = b.trace": "`trace` is ambiguous",
    "SELECT trace FROM runs a JOIN runs b ON trace = b.trace": "is a column of both tables",
    "SELECT a.trace FROM runs a LEFT JOIN runs b ON a.trace = b.trace AND a.cycles < b.cycles": "write JOIN",
    "SELECT trace FROM runs JOIN runs ON TRUE": "two tables of the name `runs`",
    "SELECT trace, cycles FROM runs GROUP BY trace": "`cycles` is neither in GROUP BY nor in an aggregate",
    "SELECT trace FROM runs WHERE MAX(cycles) > 3": "which is not allowed in WHERE",
    "SELECT trace FROM runs WHERE ROW_NUMBER() OVER (ORDER BY cycles) = 1": "QUALIFY",
    "SELECT SUM(MAX(cycles)) FROM runs": "aggregate within an aggregate",
    "SELECT trace FROM runs WHERE trace = 5": "compares text with a number",
    "SELECT trace + 1 FROM runs": "calculates with text",
    "SELECT SUM(trace) FROM runs": "is text, not a number",
    "SELECT trace FROM runs WHERE cycles": "is a number, not a condition",
    "SELECT (SELECT cycles FROM runs) AS c": "15 rows",
    "SELECT (SELECT cycles, trace FROM runs) AS c": "one column, not 2",
    "SELECT trace FROM runs UNION SELECT trace, cycles FROM runs": "1 and 2 columns",
    "SELECT trace FROM runs UNION SELECT cycles FROM runs": "is text and a number",
    "SELECT trace FROM runs EXCEPT ALL SELECT trace FROM runs": "leave out ALL",
    "SELECT DISTINCT trace FROM runs ORDER BY cycles": "add it to the SELECT",
    "SELECT trace FROM runs ORDER BY 3": "columns 1 to 1",
    "SELECT trace FROM runs GROUP BY ROLLUP (trace)": "ROLLUP",
    "SELECT trace FROM runs, LATERAL (SELECT 1) AS l": "LATERAL is not supported",
    "SELECT trace FROM runs a SEMI JOIN loads b ON a.run_id = b.run_id": "WHERE … IN (SELECT …)",
    "WITH RECURSIVE t AS (SELECT 1) SELECT * FROM t": "RECURSIVE",
    "SELECT MEDIAN(cycles) OVER (ORDER BY cycles) FROM runs": "only over whole partitions",
    "SELECT SUM(cycles) OVER (ORDER BY cycles RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM runs": "use ROWS",
    "SELECT cycles * cycles * cycles * cycles * cycles * cycles FROM runs": "exceeds 64-bit integers",
    "SELECT SUM(load) OVER (ORDER BY load ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING) FROM loads": "ends before it begins",
    "SELECT 2 ^ 3": "POWER(2, 3)",
    "SELECT CAST(trace AS DATE) FROM runs": "cast to BIGINT",
    "SELECT nonsense(trace) FROM runs": "`nonsense(trace)`: there is no such function",
    "SELECT trace FROM runs LIMIT cycles": "give a number",
    "SELECT trace FROM runs TABLESAMPLE (10)": "not supported",
    "SELECT trace FROM runs; SELECT trace FROM runs": "several statements",
    "UPDATE runs SET trace = 1": "would change",
    "SHOW TABLES": "write a SELECT",
}


def query(sql):
    command = [PROGRAM, "-q", "query", "results", sql, "--format", "json"]
    return subprocess.run(command, capture_output=True, text=True)


def equal(left, right):
    if isinstance(left, float) or isinstance(right, float):
        numbers = (int, float)
        if not isinstance(left, numbers) or not isinstance(right, numbers):
            return False
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def key(row):
    number = lambda value: f"{float(f'{value:.9g}'):+.9e}"
    text = lambda value: number(value) if isinstance(value, (int, float)) else str(value)
    return [(value is None, text(value)) for value in row]


def plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if type(value).__name__ == "Decimal" else value


def check(sql, expected=None):
    ran = query(sql)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == "", ran.stderr
    answer = [list(row.values()) for row in json.loads(ran.stdout)]
    if expected is None:
        expected = [[plain(value) for value in row] for row in database.sql(sql).fetchall()]
    if "ORDER BY" not in sql.rsplit(")", 1)[-1]:
        answer, expected = sorted(answer, key=key), sorted(expected, key=key)
    assert len(answer) == len(expected), f"{len(answer)} rows instead of {len(expected)}"
    for row, right in zip(answer, expected):
        assert len(row) == len(right) and all(map(equal, row, right)), f"{row} instead of {right}"


Path("results").mkdir()
database = duckdb.connect()
for table, sql in TABLES.items():
    database.sql(f"COPY ({sql}) TO 'results/{table}.parquet' (FORMAT parquet)")
    database.sql(f"CREATE VIEW {table} AS FROM 'results/{table}.parquet'")

failures = []
statements = [line for line in EQUAL.splitlines() if line]
for sql, expected in [*((sql, None) for sql in statements), *VALUES.items()]:
    try:
        check(sql, expected)
    except Exception as error:
        failures.append(f"{sql}\n    {type(error).__name__}: {error}")
for sql, part in REFUSED.items():
    ran = query(sql)
    if ran.returncode != 2 or part not in ran.stderr:
        failures.append(f"{sql}\n    exit {ran.returncode}, without `{part}`: {ran.stderr}{ran.stdout[:200]}")
for failure in failures:
    print(failure)
assert not failures, f"{len(failures)} statements failed"
print(f"{len(statements)} statements answered as by DuckDB, {len(REFUSED)} refused")
