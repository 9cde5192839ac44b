#!/usr/bin/env python3
"""Time zones by name: clocks of zones all over the world, from 1900 to 2150 and hour by hour around their changes, at namdb and at a
real PostgreSQL 15, which reads the same files of the system."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_foreign
import house
from house import check, skip

ZONES = ["Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/Sao_Paulo", "America/Argentina/Buenos_Aires",
         "Australia/Lord_Howe", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Africa/Casablanca", "Pacific/Apia", "Pacific/Chatham",
         "America/St_Johns", "Antarctica/Troll", "Europe/Moscow", "Asia/Gaza", "Etc/GMT+5", "Etc/UTC", "Africa/Monrovia", "America/Nuuk"]


def statements():
    out = []
    for z in ZONES:
        out += ["SELECT t, t AT TIME ZONE '%s' FROM generate_series('1900-01-01 00:00+00'::timestamptz, '2150-01-01 00:00+00', '97 days 5 "
                "hours 13 minutes 7 seconds') t" % z,
                "SELECT t, t AT TIME ZONE '%s' FROM generate_series('1900-01-01'::timestamp, '2150-01-01', '89 days 7 hours 11 minutes "
                "3.5 seconds') t" % z,
                "SELECT t, t AT TIME ZONE '%s', (t AT TIME ZONE 'UTC') AT TIME ZONE '%s' FROM generate_series('2023-12-20'::timestamp, "
                "'2025-01-10', '17 minutes') t WHERE (t AT TIME ZONE '%s' AT TIME ZONE 'UTC') - t IS DISTINCT FROM ((t - interval '3 "
                "hours') AT TIME ZONE '%s' AT TIME ZONE 'UTC') - (t - interval '3 hours')" % (z, z, z, z),
                "SELECT '2024-07-01 12:00 %s'::timestamptz, '1985-01-15 08:30:15.25 %s'::timestamptz, '2044-12-31 23:59:59 %s'::timestamptz" % (z, z, z),
                "SELECT t, t AT TIME ZONE '%s' FROM (VALUES ('2037-03-28 23:30'::timestamp), ('2038-01-19 03:14:08'), ('2099-06-30'), "
                "('2399-10-31 01:30'), ('9999-12-31 22:00'), ('0044-03-15 BC'), ('infinity'), ('-infinity')) v (t)" % z]
    return out + ["SELECT '2024-07-01 12:00'::timestamptz AT TIME ZONE 'europe/berlin', '2024-07-01 12:00 EUROPE/berlin'::timestamptz",
                  "SELECT now() AT TIME ZONE 'Europe/Nowhere'", "SELECT '2024-07-01 12:00 Europe/Nowhere'::timestamptz",
                  "SELECT now() AT TIME ZONE '../../etc/passwd'", "SELECT now() AT TIME ZONE 'Europe/'", "SELECT now() AT TIME ZONE 'Europe/../Europe/Berlin'",
                  "SELECT '294276-12-31 23:59:59'::timestamp AT TIME ZONE 'America/New_York'",
                  "SELECT '2024-07-01 12:00 Europe/Berlin'::timestamp", "SELECT timezone('Asia/Tokyo', '2024-02-29 15:00'::timestamptz)"]


def test_zones():
    if not os.path.exists("/usr/share/zoneinfo/Europe/Berlin"):
        skip("there are no files of time zones here")
    texts = ["SET timezone = 'UTC'"] + statements()
    want, got = test_foreign.of_postgres(texts), test_foreign.of_namdb(texts)
    wrong, rows = [], 0
    for text, theirs, ours in zip(texts, want, got):
        rows += len(theirs[0] or [])
        if theirs != ours:
            a, b = ours[0] or [], theirs[0] or []
            wrong.append("%s\n    namdb      %s %s\n    PostgreSQL %s %s" % (text, ours[1], [x for x in a if x not in b][:4], theirs[1],
                                                                             [x for x in b if x not in a][:4]))
    check(not wrong, "%d answers differ:\n%s" % (len(wrong), "\n".join(wrong)))
    check(rows > 20000, "too few rows:", rows)
    print("  %d zones, %d statements, %d rows" % (len(ZONES), len(texts), rows))


if __name__ == "__main__":
    house.main()
