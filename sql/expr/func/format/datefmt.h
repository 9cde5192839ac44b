/* datefmt.h -- a template for dates, cut into its fields and the texts between them. Inside of
 * sql. */
#ifndef NAM_SQL_DATEFMT_H
#define NAM_SQL_DATEFMT_H

#include <sql/expr/functions.h>

enum field {
	F_AD,
	F_AM,
	F_CC,
	F_DAY,
	F_DDD,
	F_DD,
	F_DY,
	F_D,
	F_FF1,
	F_FF2,
	F_FF3,
	F_FF4,
	F_FF5,
	F_FF6,
	F_FX,
	F_HH24,
	F_HH12,
	F_IDDD,
	F_ID,
	F_IW,
	F_IYYY,
	F_IYY,
	F_IY,
	F_I,
	F_J,
	F_MI,
	F_MM,
	F_MONTH,
	F_MON,
	F_MS,
	F_OF,
	F_Q,
	F_RM,
	F_SSSS,
	F_SS,
	F_TZH,
	F_TZM,
	F_TZ,
	F_US,
	F_WW,
	F_W,
	F_Y_YYY,
	F_YYYY,
	F_YYY,
	F_YY,
	F_Y
};
enum style { UPPER, TITLE, LOWER, DOTS, LOWER_DOTS };
enum calendar { ANY_CALENDAR, GREGORIAN, ISO_WEEKS };

struct sql_datefmt_word {
	const char *name;
	uint8_t len, field, style, calendar;
	bool digits; /* its text is a number */
};

/* One step of a template: a field, or a character. */
struct sql_datefmt_step {
	const struct sql_datefmt_word *word; /* NULL = text */
	const char *p;                       /* text: its bytes */
	uint8_t len;
	bool fill;  /* FM */
	bool local; /* TM: a name as long as it is */
	char th;    /* 'T' TH, 't' th, 0 */
	bool separator, space;
};

/* One more than *n is there, of zeros. NULL = no memory. */
struct sql_datefmt_step *sql_datefmt_steps(const struct sql_env *env, struct cat_str f, unsigned *n);

extern const char *const sql_month_names[12], *const sql_day_names[7];
extern const char *const sql_roman_months[12]; /* December first */

/* Days since 2000-01-01 of the Monday that an ISO year begins with. */
int64_t sql_iso_year_start(int64_t year);

static inline bool
sql_datefmt_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool
sql_datefmt_separator(char c)
{
	return c > 0x20 && c < 0x7f && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
	       !(c >= '0' && c <= '9');
}

#endif
