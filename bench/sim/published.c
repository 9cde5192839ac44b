/* published.c -- prints figures that others have published, each with the hardware it was measured
 * on. */
#include "published.h"

void
bench_published(FILE *to, const struct bench_published *list, bool json)
{
	const char *comma = "";
	if (json)
		fprintf(to, "\"published\": [");
	else
		fprintf(
		    to, "\nPublished, each on its own hardware (no figure above was measured on such):\n");
	for (; list->system != NULL; list++, comma = ", ")
		if (json)
			fprintf(to, "%s{\"system\": \"%s\", \"figure\": \"%s\", \"hardware\": \"%s\"}", comma,
			    list->system, list->figure, list->hardware);
		else
			fprintf(to, "  %-10s %-56s %s\n", list->system, list->figure, list->hardware);
	if (json)
		fprintf(to, "]");
}
