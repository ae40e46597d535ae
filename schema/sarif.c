/* Findings for programs that show them to people: SARIF 2.1.0 and GitHub's workflow commands. */
#include "base/json.h"
#include "base/utf8.h"
#include "schema/finding.h"
#include <string.h>

/* --- SARIF ------------------------------------------------------------------------------------ */

/* Returns a path as a URI reference (RFC 3986); relative stays relative. */
static json_t *uri_of(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/-._~";
	AUTO_BUF b = BUF_INIT(65536);
	buf_adds(&b, path[0] == '/' ? "file://" : "");
	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_addc(&b, *path);
		else
			buf_addf(&b, "%%%02X", (unsigned char)*path);
	}
	return json_string(b.failed ? "" : b.data);
}

static json_t *rule_json(const struct rule_info *rule_info)
{
	return json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s}}", "id", rule_info->id,
		"shortDescription", "text", rule_info->cause, "help", "text", rule_info->fix,
		"defaultConfiguration", "level", severity_name(rule_info->severity));
}

static json_t *location_json(const struct finding *it)
{
	json_t *place = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_of(it->file));
	if (it->pos.line)
		json_object_set_new(place, "region",
			json_pack("{s:i, s:i, s:i, s:i}", "startLine", (int)it->pos.line,
				"startColumn", (int)it->pos.column, "endLine",
				(int)it->pos.end_line, "endColumn", (int)it->pos.end_column));
	return json_pack("{s:o}", "physicalLocation", place);
}

static json_t *result_json(const struct finding *it, int rule_index)
{
	json_t *text =
		json_sprintf("%s%s%s", it->message, it->help ? "\n" : "", it->help ? it->help : "");
	json_t *result =
		json_pack("{s:s, s:i, s:s, s:{s:o}, s:[o]}", "ruleId", rule_info(it->rule)->id,
			"ruleIndex", rule_index, "level", severity_name(it->severity), "message",
			"text", text, "locations", location_json(it));
	if (it->state)
		json_object_set_new(result, "properties", json_pack("{s:s}", "state", it->state));
	return result;
}

void findings_sarif(const struct findings *findings, struct buf *out)
{
	json_auto_t *rules = json_array(), *results = json_array();
	int index[RULE_COUNT];
	memset(index, -1, sizeof(index));
	for (size_t i = 0; i < findings->count; i++) {
		enum rule rule = findings->items[i].rule;
		if (index[rule] < 0) {
			index[rule] = (int)json_array_size(rules);
			json_array_append_new(rules, rule_json(rule_info(rule)));
		}
		json_array_append_new(results, result_json(&findings->items[i], index[rule]));
	}
	json_auto_t *log = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:O}}, s:s, s:O}]}", "$schema",
		"https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
		"version", "2.1.0", "runs", "tool", "driver", "name", "agent6", "version",
		AGENT6_VERSION, "rules", rules, "columnKind", "unicodeCodePoints", "results",
		results);
	if (!log || json_write(out, log))
		out->failed = true;
	buf_addc(out, '\n');
}

/* --- GitHub ----------------------------------------------------------------------------------- */

/* Adds a text by docs.github.com, "Workflow commands": %, CR and LF are escaped, in properties also
 * `:` and `,`. */
static void add_escaped(struct buf *out, const char *text, bool property)
{
	for (size_t len = strlen(text), step; len; text += step, len -= step) {
		unsigned char c = (unsigned char)*text;
		step = utf8_step(text, len, NULL);
		step = step ? step : 1;
		if (c == '%' || c < 0x20 || c == 0x7f || (property && (c == ':' || c == ',')))
			buf_addf(out, "%%%02X", c);
		else
			utf8_escape(out, text, step, utf8_is_odd);
	}
}

void findings_github(const struct findings *findings, struct buf *out)
{
	static const char *const commands[] = {[SEVERITY_NOTE] = "notice",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error"};
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *it = &findings->items[i];
		buf_addf(out, "::%s file=", commands[it->severity]);
		add_escaped(out, it->file, true);
		if (it->pos.line)
			buf_addf(out, ",line=%u,endLine=%u,col=%u,endColumn=%u", it->pos.line,
				it->pos.end_line, it->pos.column, it->pos.end_column);
		buf_addf(out, ",title=%s::", rule_info(it->rule)->id);
		add_escaped(out, it->message, false);
		if (it->help) {
			buf_adds(out, "%0A");
			add_escaped(out, it->help, false);
		}
		buf_addc(out, '\n');
	}
}
