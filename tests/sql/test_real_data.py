#!/usr/bin/env python3
"""Questions over the real CSV files in ../shared/data, answered by namdb and by SQLite. Skips where they are absent."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peer
import house
from house import DATA, House, check, contains, same, skip

TABLES = [
    ("countries", [("cca2", "varchar(2)"), ("name", "text"), ("region", "text"), ("subregion", "text"),
                   ("capital", "text"), ("area", "double precision"), ("landlocked", "boolean"),
                   ("lat", "double precision"), ("lng", "double precision"), ("currency", "text")], ["cca2"]),
    ("admin1", [("code", "text"), ("name", "text")], ["code"]),
    ("cities", [("id", "integer"), ("name", "text"), ("country", "varchar(2)"), ("admin1", "text"), ("admin2", "text"),
                ("lat", "double precision"), ("lng", "double precision")], ["id"]),
    ("movies", [("id", "integer"), ("title", "text"), ("us_gross", "bigint"), ("worldwide_gross", "bigint"),
                ("us_dvd_sales", "bigint"), ("production_budget", "bigint"), ("release_date", "date"),
                ("mpaa_rating", "text"), ("running_time_min", "integer"), ("distributor", "text"), ("source", "text"),
                ("major_genre", "text"), ("creative_type", "text"), ("rotten_tomatoes", "integer"),
                ("imdb_rating", "numeric(3,1)"), ("imdb_votes", "integer")], ["id"]),
    ("birdstrikes", [("airport", "text"), ("aircraft", "text"), ("damage", "text"), ("flight_date", "date"),
                     ("operator", "text"), ("origin_state", "text"), ("phase", "text"), ("wildlife_size", "text"),
                     ("species", "text"), ("time_of_day", "text"), ("cost_other", "integer"), ("cost_repair", "integer"),
                     ("cost_total", "integer"), ("speed_knots", "integer")], None),
    ("earthquakes", [("id", "text"), ("mag", "double precision"), ("place", "text"), ("time", "timestamp"),
                     ("felt", "integer"), ("tsunami", "integer"), ("sig", "integer"), ("mag_type", "text"),
                     ("kind", "text"), ("lng", "double precision"), ("lat", "double precision"),
                     ("depth_km", "double precision")], ["id"]),
    ("airports", [("iata", "text"), ("name", "text"), ("city", "text"), ("state", "text"), ("country", "text"),
                  ("latitude", "double precision"), ("longitude", "double precision")], ["iata"]),
    ("weather", [("day", "date"), ("precipitation", "numeric(6,1)"), ("temp_max", "numeric(5,1)"),
                 ("temp_min", "numeric(5,1)"), ("wind", "numeric(5,1)"), ("weather", "text")], ["day"]),
    ("packages", [("package", "text"), ("version", "text"), ("section", "text"), ("priority", "text"),
                  ("architecture", "text"), ("source", "text"), ("installed_kib", "bigint"), ("size_bytes", "bigint"),
                  ("description", "text")], ["package"]),
    ("depends", [("id", "integer"), ("package", "text"), ("depends_on", "text"), ("kind", "text"),
                 ("alternative", "integer"), ("op", "text"), ("version", "text")], ["id"]),
]

QUESTIONS = [
    # countries, admin1, cities
    ("ii", "SELECT count(*), count(capital) FROM countries"),
    ("ti!", "SELECT region, count(*) AS n FROM countries GROUP BY region ORDER BY n DESC, region"),
    ("ttf!", "SELECT cca2, name, area FROM countries WHERE landlocked AND area > 500000 ORDER BY area DESC"),
    ("tb!", "SELECT name, landlocked FROM countries WHERE subregion = 'Central Asia' ORDER BY name"),
    ("t!", "SELECT name FROM countries WHERE capital IS NULL ORDER BY name"),
    ("tt!", "SELECT name, capital FROM countries WHERE name LIKE '%land%' AND NOT landlocked ORDER BY name"),
    ("tiff!", "SELECT region, count(*), sum(area), avg(lat) FROM countries GROUP BY region ORDER BY region"),
    ("ti!", "SELECT currency, count(*) FROM countries GROUP BY currency HAVING count(*) > 2 ORDER BY count(*) DESC, currency NULLS LAST"),
    ("iii", "SELECT count(*), count(admin1), count(admin2) FROM cities"),
    ("itt!", "SELECT id, name, admin1 FROM cities WHERE country = 'IS' ORDER BY id"),
    ("ti!", "SELECT country, count(*) AS n FROM cities GROUP BY country ORDER BY n DESC, country LIMIT 20"),
    ("tff!", "SELECT name, lat, lng FROM cities WHERE lat < -52.5 ORDER BY lat, lng, name"),
    ("it!", "SELECT id, name FROM cities WHERE name LIKE '%\"%' OR name LIKE '%,%' ORDER BY id"),
    ("i", "SELECT count(*) FROM cities WHERE name LIKE '%ü%'"),
    ("itt!", "SELECT id, name, country FROM cities WHERE name = 'San José' ORDER BY id"),
    ("ii", "SELECT min(length(name)), max(length(name)) FROM cities"),
    ("ti!", "SELECT c.name, count(*) AS n FROM countries c JOIN cities t ON t.country = c.cca2 WHERE c.region = 'Africa' "
     "GROUP BY c.name ORDER BY n DESC, c.name"),
    ("tti!", "SELECT a.code, a.name, count(*) AS n FROM admin1 a JOIN cities t ON a.code = t.country || '.' || t.admin1 "
     "WHERE t.country IN ('CH', 'AT', 'LI') GROUP BY a.code, a.name ORDER BY n DESC, a.code"),
    ("tff!", "SELECT c.region, max(t.lat), min(t.lat) FROM cities t, countries c WHERE t.country = c.cca2 "
     "GROUP BY c.region ORDER BY c.region"),
    ("tt!", "SELECT c.name, t.name FROM countries c JOIN cities t ON t.country = c.cca2 AND t.name = c.capital "
     "WHERE c.region = 'Europe' ORDER BY c.name, t.id"),
    ("i", "SELECT count(*) FROM cities a JOIN cities b ON a.name = b.name AND a.country < b.country WHERE a.country = 'GB'"),
    ("i!", "SELECT DISTINCT length(country || admin1) AS n FROM cities WHERE admin1 IS NOT NULL ORDER BY n"),
    # movies
    ("iiii", "SELECT count(*), count(us_gross), count(rotten_tomatoes), count(distributor) FROM movies"),
    ("tii!", "SELECT major_genre, count(*), sum(worldwide_gross) FROM movies GROUP BY major_genre ORDER BY major_genre NULLS LAST"),
    ("titf!", "SELECT title, worldwide_gross, release_date, imdb_rating FROM movies WHERE worldwide_gross > 900000000 "
     "ORDER BY worldwide_gross DESC, id"),
    ("tifn!", "SELECT distributor, count(*) AS n, avg(imdb_rating), max(imdb_rating) FROM movies WHERE imdb_rating IS NOT NULL "
     "GROUP BY distributor ORDER BY n DESC, distributor NULLS LAST LIMIT 15"),
    ("ti", "SELECT CASE WHEN rotten_tomatoes >= 60 THEN 'fresh' WHEN rotten_tomatoes < 60 THEN 'rotten' ELSE 'unrated' END, "
     "count(*) FROM movies GROUP BY 1"),
    ("ttt!", "SELECT title, release_date, mpaa_rating FROM movies WHERE release_date BETWEEN '1975-01-01' AND '1979-12-31' "
     "ORDER BY release_date, id"),
    ("it!", "SELECT id, title FROM movies WHERE title LIKE '%''%' OR title LIKE '%\"%' ORDER BY id LIMIT 60"),
    ("tti!", "SELECT title, source, running_time_min FROM movies ORDER BY running_time_min DESC NULLS LAST, id LIMIT 10"),
    ("if!", "SELECT id, round(us_gross * 100.0 / production_budget, 1) FROM movies WHERE production_budget > 0 AND us_gross > 0 "
     "ORDER BY id LIMIT 500"),
    ("ii!", "SELECT id, worldwide_gross - us_gross FROM movies WHERE us_gross IS NOT NULL ORDER BY 2 DESC NULLS LAST, id LIMIT 25"),
    ("tti", "SELECT mpaa_rating, creative_type, count(*) FROM movies GROUP BY mpaa_rating, creative_type"),
    # birdstrikes (no key)
    ("i", "SELECT count(*) FROM birdstrikes"),
    ("tii!", "SELECT wildlife_size, count(*), sum(cost_total) FROM birdstrikes GROUP BY wildlife_size ORDER BY wildlife_size"),
    ("tti", "SELECT damage, phase, count(*) FROM birdstrikes GROUP BY damage, phase"),
    ("ti!", "SELECT species, count(*) AS n FROM birdstrikes WHERE origin_state = 'Texas' AND cost_total > 0 GROUP BY species "
     "ORDER BY n DESC, species LIMIT 12"),
    ("ti!", "SELECT flight_date, count(*) FROM birdstrikes WHERE flight_date >= '2000-05-01' AND flight_date < '2000-06-01' "
     "GROUP BY flight_date ORDER BY flight_date"),
    ("if", "SELECT count(speed_knots), avg(speed_knots) FROM birdstrikes WHERE phase IN ('Climb', 'Approach') AND speed_knots > 0"),
    # earthquakes
    ("iff", "SELECT count(*), min(mag), max(mag) FROM earthquakes WHERE mag < 0 OR mag >= 4"),
    ("tsf!", "SELECT id, time, mag FROM earthquakes WHERE mag >= 5 ORDER BY mag DESC, id"),
    ("tif!", "SELECT mag_type, count(*), avg(depth_km) FROM earthquakes GROUP BY mag_type ORDER BY mag_type NULLS LAST"),
    ("ts!", "SELECT id, time FROM earthquakes WHERE time >= '2018-02-03 00:00:00' AND time < '2018-02-03 06:00:00' ORDER BY time, id"),
    ("t!", "SELECT place FROM earthquakes WHERE place LIKE '%Alaska' AND mag > 3 ORDER BY place, id"),
    # weather, airports
    ("tinnf!", "SELECT weather, count(*), max(temp_max), min(temp_min), avg(wind) FROM weather GROUP BY weather ORDER BY weather"),
    ("n", "SELECT sum(precipitation) FROM weather", "SELECT round(sum(precipitation), 1) FROM weather"),
    ("tn!", "SELECT day, temp_max - temp_min FROM weather WHERE temp_max - temp_min > 17 ORDER BY day",
     "SELECT day, round(temp_max - temp_min, 1) FROM weather WHERE round(temp_max - temp_min, 1) > 17 ORDER BY day"),
    ("ti!", "SELECT state, count(*) AS n FROM airports GROUP BY state ORDER BY n DESC, state NULLS LAST LIMIT 10"),
    ("iti!", "SELECT count(*), a.state, min(length(a.name)) FROM airports a JOIN airports b ON a.city = b.city AND a.state = b.state "
     "AND a.iata < b.iata GROUP BY a.state ORDER BY a.state"),
    # packages and what they depend on
    ("iii", "SELECT count(*), sum(installed_kib), max(size_bytes) FROM packages"),
    ("tii!", "SELECT section, count(*), sum(size_bytes) FROM packages GROUP BY section ORDER BY sum(size_bytes) DESC, section"),
    ("ti!", "SELECT d.depends_on, count(*) AS n FROM depends d JOIN packages p ON p.package = d.depends_on WHERE d.kind = 'depends' "
     "GROUP BY d.depends_on ORDER BY n DESC, d.depends_on LIMIT 25"),
    ("ti!", "SELECT p.section, count(*) FROM depends d JOIN packages p ON p.package = d.package JOIN packages q "
     "ON q.package = d.depends_on WHERE p.section <> q.section GROUP BY p.section ORDER BY p.section"),
    ("ti!", "SELECT kind, count(*) FROM depends GROUP BY kind ORDER BY kind"),
    ("tt!", "SELECT package, version FROM packages WHERE package LIKE 'libpg-query%' OR package IN ('cmake', 'gcc', 'ninja-build') "
     "ORDER BY package"),
    ("i", "SELECT count(*) FROM depends WHERE op IS NULL AND version IS NOT NULL"),
    ("tti!", "SELECT p.package, p.description, p.installed_kib FROM packages p WHERE p.installed_kib > 1000000 "
     "ORDER BY p.installed_kib DESC, p.package"),
]


def test_real_data():
    if not os.path.isdir(DATA):
        skip("no real data at %s" % DATA)
    tables = TABLES
    if house.SLOW > 1:
        # Sanitizer builds take the smaller files; the questions that need the large ones stay out too.
        tables = [t for t in TABLES if t[0] not in ("cities", "packages", "depends")]
    names = [t[0] for t in tables]
    left_out = [t[0] for t in TABLES if t[0] not in names]
    questions = [q for q in QUESTIONS if not any(re.search(r"\b(FROM|JOIN|,) %s\b" % n, q[1]) for n in left_out)]
    check(len(questions) >= 25, "at least 25 questions are asked")
    with House(nodes=2, size="1g") as h:
        db = peer.open_sqlite()
        s = h.shell()
        for name, columns, key in tables:
            path = os.path.join(DATA, name + ".csv")
            s.ok(peer.create(name, columns, key))
            n = peer.load_sqlite(db, name, columns, path)
            t0 = time.monotonic()
            out = s.ok("COPY %s FROM '%s' WITH (FORMAT csv, HEADER)" % (name, path), timeout=300)
            print("  %s: %d rows in %.1f s" % (name, n, time.monotonic() - t0), flush=True)
            contains(out, "COPY %d" % n)
            same(s.value("SELECT count(*) FROM %s" % name, timeout=60), str(n))
        peer.ask_both(s, db, questions)
        s.close(0)


if __name__ == "__main__":
    house.main()
