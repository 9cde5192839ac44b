/*
 * zone.c -- names of time zones that PostgreSQL has and namdb has not: abbreviations, and names
 * without a slash.
 *
 * Generated once from pg_timezone_abbrevs and pg_timezone_names of a PostgreSQL 15; each name is
 * between blanks.
 */
#include <types/datetime.h>

#include <string.h>

/* clang-format off */
static const char names[] =
	" acdt acsst acst act acwst adt aedt aesst aest aft akdt akst almst almt amst "
	"amt anast anat arst art ast awsst awst azost azot azst azt bdst bdt bnt bort "
	"bot bra brst brt bst btt cadt cast cct cdt cest cet cetdst chadt chast chut "
	"ckt clst clt cot cst cst6cdt cuba cxt davt ddut easst east eat edt eest eet "
	"eetdst egst egt egypt eire est est5edt factory fet fjst fjt fkst fkt fnst fnt "
	"galt gamt gb gb-eire gest get gft gilt gmt+0 gmt-0 gmt0 greenwich gyt hkt "
	"hongkong hst iceland ict idt iot iran irkst irkt irt israel ist jamaica japan "
	"jayt jst kdt kgst kgt kost krast krat kst kwajalein lhdt lhst libya ligt lint "
	"lkt localtime magst magt mart mawt mdt mest mesz met metdst mez mht mmt mpt "
	"msd msk mst mst7mdt must mut mvt myt navajo ndt nft novst novt npt nst nut nz "
	"nz-chat nzdt nzst nzt omsst omst pdt pet petst pett pgt pht pkst pkt pmdt "
	"pmst poland pont portugal posixrules prc pst pst8pdt pwt pyst pyt ret roc rok "
	"sadt sast sct sgt singapore taht tft tjt tkt tmt tot trut turkey tvt uct "
	"ulast ulat universal ut uyst uyt uzst uzt vet vlast vlat volt vut w-su wadt "
	"wakt wast wat wdt wet wetdst wft wgst wgt xjt yakst yakt yapt yekst yekt ";
/* clang-format on */

enum { NAME_MAX = 31 };

static bool
is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

bool
cat_zone_is_posix(struct cat_str s)
{
	uint32_t k = 0, from;
	while (k < s.len && is_letter(s.p[k]))
		k++;
	if (k < 3 || k == s.len)
		return false;
	k += s.p[k] == '+' || s.p[k] == '-';
	for (from = k; k < s.len && s.p[k] >= '0' && s.p[k] <= '9';)
		k++;
	return k > from;
}

bool
cat_zone_is_name(struct cat_str s)
{
	char name[NAME_MAX + 3] = " ";
	if (s.len == 0 || !is_letter(s.p[0]))
		return false;
	const char *slash = memchr(s.p, '/', s.len);
	if (slash != NULL)
		return slash + 1 < s.p + s.len && is_letter(slash[1]);
	if (s.len > NAME_MAX)
		return false;
	for (uint32_t k = 0; k < s.len; k++)
		name[k + 1] = is_letter(s.p[k]) ? (char)(s.p[k] | 32) : s.p[k];
	name[s.len + 1] = ' ';
	return strstr(names, name) != NULL;
}
