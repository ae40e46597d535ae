#include "report/autorun_text.h"

#include "base/json.h"
#include "report/html.h"
#include "report/text.h"
#include "run/autorun.h"

enum { PATH_COLUMNS = 300 };

void autorun_text_file(const json_t *file, struct buf *out)
{
	text_clean(out, json_get_text(file, "path"), PATH_COLUMNS);
	buf_addf(out, ", %s: %s, %s", json_get_text(file, "change"), json_get_text(file, "who"),
		autorun_when_text(json_get_text(file, "when")));
}

void autorun_text_rest(const json_t *autorun, size_t shown, struct buf *out)
{
	size_t listed = json_array_size(json_object_get(autorun, "files"));
	json_int_t rest =
		json_get_int(autorun, "more") + (json_int_t)(listed > shown ? listed - shown : 0);
	if (rest)
		buf_addf(out, "and %jd more", (intmax_t)rest);
	if (json_is_true(json_object_get(autorun, "cut")))
		buf_addf(
			out, "%sthe workspace could not be looked at as a whole", rest ? "; " : "");
}

void autorun_html(const json_t *autorun, struct buf *out)
{
	const json_t *files = json_object_get(autorun, "files"), *file;
	size_t i;
	AUTO_BUF rest = BUF_INIT(256);
	if (!autorun) {
		buf_adds(out, "<p class=\"soft\">None that is known of.</p>\n");
		return;
	}
	buf_adds(out,
		"<p>Programs on the host run or obey these because of their names: look at them "
		"before you enter or open the directory, or merge the branch.</p>\n<ul>\n");
	json_array_foreach (files, i, file) {
		buf_adds(out, "<li><code>");
		html_text(out, json_get_text(file, "path"), PATH_COLUMNS);
		buf_addf(out, "</code> %s: ", json_get_text(file, "change"));
		html_text(out, json_get_text(file, "who"), 64);
		buf_addf(out, ", %s</li>\n", autorun_when_text(json_get_text(file, "when")));
	}
	autorun_text_rest(autorun, json_array_size(files), &rest);
	buf_addf(out, "</ul>\n%s%s%s", rest.len ? "<p class=\"warn\">" : "",
		rest.len ? rest.data : "", rest.len ? "</p>\n" : "");
}
