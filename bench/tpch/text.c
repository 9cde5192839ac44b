/* text.c -- TPC-H's dice, lists of words (§4.2.2.13) and sentences (§4.2.2.14). */
#include "tpch.h"

#include <base/hash.h>

#include <string.h>

/* ---- dice ---------------------------------------------------------------------------- */

#define STEP UINT64_C(0x9e3779b97f4a7c15)

static uint64_t
next(struct tpch_dice *d)
{
	d->state += STEP;
	return nam_mix(d->state);
}

struct tpch_dice
tpch_dice_of(uint64_t seed, uint64_t stream, uint64_t number)
{
	return (struct tpch_dice){ nam_mix(nam_mix(seed * STEP + stream) + number * STEP) };
}

int64_t
tpch_roll(struct tpch_dice *d, int64_t low, int64_t high)
{
	return low + (int64_t)(((unsigned __int128)next(d) * (uint64_t)(high - low + 1)) >> 64);
}

/* ---- lists --------------------------------------------------------------------------- */

#define LIST(name, ...)                                                                                      \
	static const char *const name##_words[] = { __VA_ARGS__ };                                           \
	const struct tpch_list name = { name##_words, sizeof name##_words / sizeof *name##_words }

LIST(tpch_colors, "almond", "antique", "aquamarine", "azure", "beige", "bisque", "black", "blanched", "blue",
    "blush", "brown", "burlywood", "burnished", "chartreuse", "chiffon", "chocolate", "coral", "cornflower",
    "cornsilk", "cream", "cyan", "dark", "deep", "dim", "dodger", "drab", "firebrick", "floral", "forest",
    "frosted", "gainsboro", "ghost", "goldenrod", "green", "grey", "honeydew", "hot", "indian", "ivory",
    "khaki", "lace", "lavender", "lawn", "lemon", "light", "lime", "linen", "magenta", "maroon", "medium",
    "metallic", "midnight", "mint", "misty", "moccasin", "navajo", "navy", "olive", "orange", "orchid",
    "pale", "papaya", "peach", "peru", "pink", "plum", "powder", "puff", "purple", "red", "rose", "rosy",
    "royal", "saddle", "salmon", "sandy", "seashell", "sienna", "sky", "slate", "smoke", "snow", "spring",
    "steel", "tan", "thistle", "tomato", "turquoise", "violet", "wheat", "white", "yellow");
LIST(tpch_instructions, "DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN");
LIST(tpch_modes, "REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB");
LIST(tpch_segments, "AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD");
LIST(tpch_priorities, "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW");
LIST(tpch_regions, "AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST");
LIST(tpch_nations, "ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY",
    "INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU",
    "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA", "UNITED KINGDOM", "UNITED STATES");
const uint8_t tpch_region_of[] = { 0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3,
	1 };

static const char *const sizes[] = { "SM", "LG", "MED", "JUMBO", "WRAP" },
			 *const boxes[] = { "CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM" },
			 *const kinds[] = { "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO" },
			 *const finishes[] = { "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED" },
			 *const metals[] = { "TIN", "NICKEL", "BRASS", "STEEL", "COPPER" };
const struct tpch_list tpch_containers[2] = { { sizes, 5 }, { boxes, 8 } };
const struct tpch_list tpch_types[3] = { { kinds, 6 }, { finishes, 5 }, { metals, 5 } };

const char *
tpch_word(struct tpch_dice *d, const struct tpch_list *l)
{
	return l->word[tpch_roll(d, 0, l->n - 1)];
}

/* ---- sentences ----------------------------------------------------------------------- */

/*
 * Words of one kind. The specification lists them; how often each comes is that of the council's
 * own generator.
 */
struct choice {
	const char *text;
	uint8_t weight;
};

static const struct choice nouns[] = { { "packages", 40 }, { "requests", 40 }, { "accounts", 40 },
	{ "deposits", 40 }, { "foxes", 20 }, { "ideas", 20 }, { "theodolites", 20 }, { "pinto beans", 20 },
	{ "instructions", 20 }, { "dependencies", 10 }, { "excuses", 10 }, { "platelets", 10 },
	{ "asymptotes", 10 }, { "courts", 5 }, { "dolphins", 5 }, { "multipliers", 1 }, { "sauternes", 1 },
	{ "warthogs", 1 }, { "frets", 1 }, { "dinos", 1 }, { "attainments", 1 }, { "somas", 1 },
	{ "Tiresias", 1 }, { "patterns", 1 }, { "forges", 1 }, { "braids", 1 }, { "frays", 1 },
	{ "warhorses", 1 }, { "dugouts", 1 }, { "notornis", 1 }, { "epitaphs", 1 }, { "pearls", 1 },
	{ "tithes", 1 }, { "waters", 1 }, { "orbits", 1 }, { "gifts", 1 }, { "sheaves", 1 }, { "depths", 1 },
	{ "sentiments", 1 }, { "decoys", 1 }, { "realms", 1 }, { "pains", 1 }, { "grouches", 1 },
	{ "escapades", 1 }, { "hockey players", 1 }, { NULL, 0 } };
static const struct choice verbs[] = { { "sleep", 20 }, { "wake", 20 }, { "are", 20 }, { "cajole", 20 },
	{ "haggle", 20 }, { "nag", 10 }, { "use", 10 }, { "boost", 10 }, { "affix", 5 }, { "detect", 5 },
	{ "integrate", 5 }, { "maintain", 1 }, { "nod", 1 }, { "was", 1 }, { "lose", 1 }, { "sublate", 1 },
	{ "solve", 1 }, { "thrash", 1 }, { "promise", 1 }, { "engage", 1 }, { "hinder", 1 }, { "print", 1 },
	{ "x-ray", 1 }, { "breach", 1 }, { "eat", 1 }, { "grow", 1 }, { "impress", 1 }, { "mold", 1 },
	{ "poach", 1 }, { "serve", 1 }, { "run", 1 }, { "dazzle", 1 }, { "snooze", 1 }, { "doze", 1 },
	{ "unwind", 1 }, { "kindle", 1 }, { "play", 1 }, { "hang", 1 }, { "believe", 1 }, { "doubt", 1 },
	{ NULL, 0 } };
static const struct choice adjectives[] = { { "special", 20 }, { "pending", 20 }, { "unusual", 20 },
	{ "express", 20 }, { "furious", 1 }, { "sly", 1 }, { "careful", 1 }, { "blithe", 1 }, { "quick", 1 },
	{ "fluffy", 1 }, { "slow", 1 }, { "quiet", 1 }, { "ruthless", 1 }, { "thin", 1 }, { "close", 1 },
	{ "dogged", 1 }, { "daring", 1 }, { "brave", 1 }, { "stealthy", 1 }, { "permanent", 1 },
	{ "enticing", 1 }, { "idle", 1 }, { "busy", 1 }, { "regular", 50 }, { "final", 40 }, { "ironic", 40 },
	{ "even", 30 }, { "bold", 20 }, { "silent", 10 }, { NULL, 0 } };
static const struct choice adverbs[] = { { "sometimes", 1 }, { "always", 1 }, { "never", 1 },
	{ "furiously", 50 }, { "slyly", 50 }, { "carefully", 50 }, { "blithely", 40 }, { "quickly", 30 },
	{ "fluffily", 20 }, { "slowly", 1 }, { "quietly", 1 }, { "ruthlessly", 1 }, { "thinly", 1 },
	{ "closely", 1 }, { "doggedly", 1 }, { "daringly", 1 }, { "bravely", 1 }, { "stealthily", 1 },
	{ "permanently", 1 }, { "enticingly", 1 }, { "idly", 1 }, { "busily", 1 }, { "regularly", 1 },
	{ "finally", 1 }, { "ironically", 1 }, { "evenly", 1 }, { "boldly", 1 }, { "silently", 1 },
	{ NULL, 0 } };
static const struct choice prepositions[] = { { "about", 50 }, { "above", 50 }, { "according to", 50 },
	{ "across", 50 }, { "after", 50 }, { "against", 40 }, { "along", 40 }, { "alongside of", 30 },
	{ "among", 30 }, { "around", 20 }, { "at", 10 }, { "atop", 1 }, { "before", 1 }, { "behind", 1 },
	{ "beneath", 1 }, { "beside", 1 }, { "besides", 1 }, { "between", 1 }, { "beyond", 1 }, { "by", 1 },
	{ "despite", 1 }, { "during", 1 }, { "except", 1 }, { "for", 1 }, { "from", 1 }, { "in place of", 1 },
	{ "inside", 1 }, { "instead of", 1 }, { "into", 1 }, { "near", 1 }, { "of", 1 }, { "on", 1 },
	{ "outside", 1 }, { "over", 1 }, { "past", 1 }, { "since", 1 }, { "through", 1 }, { "throughout", 1 },
	{ "to", 1 }, { "toward", 1 }, { "under", 1 }, { "until", 1 }, { "up", 1 }, { "upon", 1 },
	{ "without", 1 }, { "with", 1 }, { "within", 1 }, { NULL, 0 } };
static const struct choice auxiliaries[] = { { "do", 1 }, { "may", 1 }, { "might", 1 }, { "shall", 1 },
	{ "will", 1 }, { "would", 1 }, { "can", 1 }, { "could", 1 }, { "should", 1 }, { "ought to", 1 },
	{ "must", 1 }, { "will have to", 1 }, { "shall have to", 1 }, { "could have to", 1 },
	{ "should have to", 1 }, { "must have to", 1 }, { "need to", 1 }, { "try to", 1 }, { NULL, 0 } };
static const struct choice terminators[] = { { ".", 50 }, { ";", 1 }, { ":", 1 }, { "?", 1 }, { "!", 1 },
	{ "--", 1 }, { NULL, 0 } };

/* A letter is a phrase or a word; a comma stands as it is, with no space before it. */
static const struct choice sentence[] = { { "N V T", 3 }, { "N V P T", 3 }, { "N V N T", 3 },
	{ "N P V N T", 1 }, { "N P V P T", 1 }, { NULL, 0 } };
static const struct choice noun_phrase[] = { { "n", 10 }, { "j n", 20 }, { "j, j n", 10 }, { "d j n", 50 },
	{ NULL, 0 } };
static const struct choice verb_phrase[] = { { "v", 30 }, { "x v", 1 }, { "v d", 40 }, { "x v d", 1 },
	{ NULL, 0 } };

/* A kind of words with a table by its dice, so that a word takes one look. */
enum { SUM_MAX = 1024 };
struct kind {
	char letter;
	const struct choice *list;
	unsigned sum;
	uint8_t of[SUM_MAX];
};
enum { KINDS = 10 };

static void
prepare(struct kind *k)
{
	static const struct {
		char letter;
		const struct choice *list;
	} all[KINDS] = { { 'n', nouns }, { 'v', verbs }, { 'j', adjectives }, { 'd', adverbs },
		{ 'p', prepositions }, { 'x', auxiliaries }, { 'T', terminators }, { 'S', sentence },
		{ 'N', noun_phrase }, { 'V', verb_phrase } };
	for (unsigned i = 0; i < KINDS; i++) {
		k[i].letter = all[i].letter;
		k[i].list = all[i].list;
		k[i].sum = 0;
		for (unsigned w = 0; all[i].list[w].text != NULL; w++)
			for (unsigned n = all[i].list[w].weight; n > 0; n--)
				k[i].of[k[i].sum++] = (uint8_t)w;
	}
}

struct pen {
	struct tpch_dice dice;
	const struct kind *kind;
	char *at, *end;
};

static void
write_bytes(struct pen *p, const char *s, size_t n)
{
	size_t room = (size_t)(p->end - p->at);
	n = n < room ? n : room;
	memcpy(p->at, s, n);
	p->at += n;
}

static const struct kind *
kind_of(const struct pen *p, char letter)
{
	unsigned i = 0;
	while (i < KINDS && p->kind[i].letter != letter)
		i++;
	return i < KINDS ? &p->kind[i] : NULL;
}

/* A word of that kind, or a phrase, whose parts are written in turn. */
static void
write_kind(struct pen *p, char letter)
{
	if (letter == 'P') {
		write_kind(p, 'p');
		write_bytes(p, " the ", 5);
		write_kind(p, 'N');
		return;
	}
	const struct kind *k = kind_of(p, letter);
	const char *text = k->list[k->of[tpch_roll(&p->dice, 0, k->sum - 1)]].text;
	if (strchr("SNV", letter) == NULL) {
		write_bytes(p, text, strlen(text));
		return;
	}
	for (; *text; text++)
		if (*text == ' ' && text[1] == 'T')
			continue; /* the end of a sentence stands close */
		else if (*text == ' ' || *text == ',')
			write_bytes(p, text, 1);
		else
			write_kind(p, *text);
}

void
tpch_sentences(uint64_t seed, char *pool, size_t len)
{
	static const uint64_t stream = 1000;
	struct kind kind[KINDS];
	prepare(kind);
	struct pen p = { tpch_dice_of(seed, stream, 0), kind, pool, pool + len };
	while (p.at < p.end) {
		write_kind(&p, 'S');
		write_bytes(&p, " ", 1);
	}
}
