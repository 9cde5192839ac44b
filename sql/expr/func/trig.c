/* trig.c -- trigonometry: in radians, in degrees, hyperbolic. */
#include <sql/expr/functions.h>

#include <math.h>
#include <string.h>

/* ---- in radians, and hyperbolic ------------------------------------------------------ */

static bool
outside(struct sql_row *r)
{
	return cat_error(r->env->err, "22003", "input is out of range");
}

/* name(x) = VALUE, unless WRONG. */
#define FLOAT1(name, WRONG, VALUE)                                                                           \
	static bool name(struct sql_row *r)                                                                  \
	{                                                                                                    \
		double x = r->a[0].f;                                                                        \
		if (WRONG)                                                                                   \
			return outside(r);                                                                   \
		r->out.f = (VALUE);                                                                          \
		return true;                                                                                 \
	}
FLOAT1(f_sin, isinf(x), sin(x))
FLOAT1(f_cos, isinf(x), cos(x))
FLOAT1(f_tan, isinf(x), tan(x))
FLOAT1(f_atan, false, atan(x))
/* by PostgreSQL's constant, so that the last digit is its */
#define RADIANS_PER_DEGREE 0.0174532925199432957692
static bool
f_degrees(struct sql_row *r)
{
	r->out.f = r->a[0].f / RADIANS_PER_DEGREE;
	return !isinf(r->out.f) || isinf(r->a[0].f) ||
	       cat_error(r->env->err, "22003", "value out of range: overflow");
}

static bool
f_radians(struct sql_row *r)
{
	r->out.f = r->a[0].f * RADIANS_PER_DEGREE;
	return r->out.f != 0 || r->a[0].f == 0 ||
	       cat_error(r->env->err, "22003", "value out of range: underflow");
}

FLOAT1(f_asin, x<-1 || x> 1, asin(x))
FLOAT1(f_acos, x<-1 || x> 1, acos(x))
FLOAT1(f_sinh, false, sinh(x))
FLOAT1(f_cosh, false, cosh(x))
FLOAT1(f_tanh, false, tanh(x))
FLOAT1(f_asinh, false, asinh(x))
FLOAT1(f_acosh, x < 1, acosh(x))
FLOAT1(f_atanh, x<-1 || x> 1, atanh(x))
FLOAT1(f_cot, isinf(x), 1 / tan(x))

static bool
f_pi(struct sql_row *r)
{
	r->out.f = M_PI;
	return true;
}

static bool
f_atan2(struct sql_row *r)
{
	r->out.f = atan2(r->a[0].f, r->a[1].f);
	return true;
}

/* ---- trigonometry in degrees: exact where the answer is (sind(30) is 0.5) ------------------- */

static const double RAD = 0.0174532925199432957692;

/* What libm itself says of a few angles: dividing by it makes those angles come out exactly. */
static double
sin_small(double x) /* 0 to 30 */
{
	return sin(x * RAD) / sin(30.0 * RAD) / 2.0;
}

static double
cos_small(double x) /* 0 to 60 */
{
	return 1.0 - (1.0 - cos(x * RAD)) / (1.0 - cos(60.0 * RAD)) / 2.0;
}

static double
sin_quarter(double x)
{
	return x <= 30.0 ? sin_small(x) : cos_small(90.0 - x);
}

static double
cos_quarter(double x)
{
	return x <= 60.0 ? cos_small(x) : sin_small(90.0 - x);
}

static double
asin_quarter(double x)
{
	return x <= 0.5 ? asin(x) / asin(0.5) * 30.0 : 90.0 - acos(x) / acos(0.5) * 60.0;
}

static double
acos_quarter(double x)
{
	return x <= 0.5 ? 90.0 - asin(x) / asin(0.5) * 30.0 : acos(x) / acos(0.5) * 60.0;
}

/* An angle brought into the first quarter; the signs that sine and cosine have had there. */
struct angle {
	double x;
	int sin, cos;
};

static struct angle
reduce(double x)
{
	struct angle a = { fmod(x, 360.0), 1, 1 };
	if (a.x < 0) {
		a.x = -a.x;
		a.sin = -1;
	}
	if (a.x > 180.0) {
		a.x = 360.0 - a.x;
		a.sin = -a.sin;
	}
	if (a.x > 90.0) {
		a.x = 180.0 - a.x;
		a.cos = -1;
	}
	return a;
}

static bool
k_sind(struct sql_row *r)
{
	if (isinf(r->a[0].f))
		return outside(r);
	struct angle a = reduce(r->a[0].f);
	r->out.f = a.sin * sin_quarter(a.x);
	return true;
}

static bool
k_cosd(struct sql_row *r)
{
	if (isinf(r->a[0].f))
		return outside(r);
	struct angle a = reduce(r->a[0].f);
	r->out.f = a.cos * cos_quarter(a.x);
	return true;
}

static bool
tan_or_cot(struct sql_row *r, bool cot)
{
	if (isinf(r->a[0].f))
		return outside(r);
	struct angle a = reduce(r->a[0].f);
	double one = sin_quarter(45.0) / cos_quarter(45.0), s = sin_quarter(a.x), c = cos_quarter(a.x);
	r->out.f = a.sin * a.cos * (cot ? c / s / (1.0 / one) : s / c / one);
	if (r->out.f == 0)
		r->out.f = 0; /* not -0 */
	return true;
}

static bool
k_tand(struct sql_row *r)
{
	return tan_or_cot(r, false);
}

static bool
k_cotd(struct sql_row *r)
{
	return tan_or_cot(r, true);
}

static bool
k_asind(struct sql_row *r)
{
	double x = r->a[0].f;
	if (x < -1 || x > 1)
		return outside(r);
	r->out.f = x >= 0 ? asin_quarter(x) : isnan(x) ? x : -asin_quarter(-x);
	return true;
}

static bool
k_acosd(struct sql_row *r)
{
	double x = r->a[0].f;
	if (x < -1 || x > 1)
		return outside(r);
	r->out.f = x >= 0 ? acos_quarter(x) : isnan(x) ? x : 90.0 + asin_quarter(-x);
	return true;
}

static bool
k_atand(struct sql_row *r)
{
	r->out.f = atan(r->a[0].f) / atan(1.0) * 45.0;
	return true;
}

static bool
k_atan2d(struct sql_row *r)
{
	r->out.f = atan2(r->a[0].f, r->a[1].f) / atan(1.0) * 45.0;
	return true;
}

#define F1(name, f)                                                                                          \
	{                                                                                                    \
		name, 0, 1, { CAT_FLOAT8 }, CAT_FLOAT8, NULL, f                                              \
	}
#define F(name, flags, n, ret, f, ...)                                                                       \
	{                                                                                                    \
		name, flags, n, { __VA_ARGS__ }, ret, NULL, f                                                \
	}

const struct sql_fn sql_fns_trig[] = {
	F1("sin", f_sin),
	F1("cos", f_cos),
	F1("tan", f_tan),
	F1("atan", f_atan),
	F1("degrees", f_degrees),
	F1("radians", f_radians),
	F1("asin", f_asin),
	F1("acos", f_acos),
	F1("sinh", f_sinh),
	F1("cosh", f_cosh),
	F1("tanh", f_tanh),
	F1("asinh", f_asinh),
	F1("acosh", f_acosh),
	F1("atanh", f_atanh),
	F1("cot", f_cot),
	F1("sind", k_sind),
	F1("cosd", k_cosd),
	F1("tand", k_tand),
	F1("cotd", k_cotd),
	F1("asind", k_asind),
	F1("acosd", k_acosd),
	F1("atand", k_atand),
	F("atan2", 0, 2, CAT_FLOAT8, f_atan2, CAT_FLOAT8, CAT_FLOAT8),
	F("atan2d", 0, 2, CAT_FLOAT8, k_atan2d, CAT_FLOAT8, CAT_FLOAT8),
	{ "pi", 0, 0, { 0 }, CAT_FLOAT8, NULL, f_pi },
	{ 0 },
};
