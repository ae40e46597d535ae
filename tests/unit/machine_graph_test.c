/* Pictures: whatever a label holds stays a label. */
#include "machine/graph.h"
#include "tests/kit/machine.h"
#include "tests/kit/tap.h"

static const char yaml[] = "machine: m\nversion: 1\ninitial: look\nbudget: {max_transitions: 9}\n"
			   "vars:\n  code:\n    s: {type: str, default: ''}\n"
			   "states:\n"
			   "  end: {kind: terminal, status: failed, reason: r}\n"
			   "  look:\n"
			   "    kind: tool\n    command: [ls]\n    timeout_secs: 1\n"
			   "    on: {ok: choose, nonzero: end, timeout: end}\n"
			   "  choose:\n"
			   "    kind: branch\n"
			   "    when:\n"
			   "      - {if: \"s == '\\\"]; n0 --> evil[x]' or s == "
			   "\\\"<b>`\\\\\\\\|#\\\"\", goto: look}\n"
			   "      - {if: \"s ==\\n 'a\\e[31m\\u202e&lt;'\", goto: choose}\n"
			   "      - {else: true, goto: rest}\n"
			   "  rest: {kind: wait, on: {signal: end}}\n";

static void draw(const struct machine *machine, int (*graph)(const struct machine *, struct buf *),
	const char *want)
{
	AUTO_BUF out;
	buf_init(&out, 1 << 20);
	is(graph(machine, &out), 0, "it is drawn");
	is_str(out.data, want, "as expected");
	AUTO_BUF tiny;
	buf_init(&tiny, 20);
	is(graph(machine, &tiny), -1, "a full buffer is reported");
}

int main(void)
{
	struct fixture f;
	fixture_init(&f, yaml);
	for (size_t i = 0; i < f.findings.count; i++)
		diag("%u: %s", f.findings.items[i].pos.line, f.findings.items[i].message);
	if (!ok(f.m != NULL, "the machine loads"))
		return tap_done();
	draw(f.m, graph_mermaid,
		"flowchart TD\n"
		"    start((\" \")) --> n1\n"
		"    n0[[\"end: failed\"]]\n"
		"    n1[\"look\"]\n"
		"    n2{\"choose\"}\n"
		"    n3{{\"rest\"}}\n"
		"    n1 -->|\"ok\"| n2\n"
		"    n1 -.->|\"timeout, nonzero\"| n0\n"
		"    n2 -->|\"s #61;#61; #39;#34;#93;#59; n0 --#62; evil#91;x#93;#39; or s "
		"#61;#61; #34;#60;b#62;#96;#92;#92;#124;#35;#34;\"| n1\n"
		"    n2 -->|\"s #61;#61;  #39;a�#91;31m�#38;lt#59;#39;\"| n2\n"
		"    n2 -->|\"else\"| n3\n"
		"    n3 -->|\"signal\"| n0\n");
	draw(f.m, graph_dot,
		"digraph \"m\" {\n"
		"\tgraph [pad=0.2, nodesep=0.4, ranksep=0.5];\n"
		"\tnode [shape=box, style=filled, fontname=\"sans-serif\", fontsize=12];\n"
		"\tedge [fontname=\"sans-serif\", fontsize=10, color=\"#56616d\", arrowsize=0.7];\n"
		"\tstart [shape=point];\n"
		"\tstart -> n1;\n"
		"\tn0 [label=\"end: failed\", style=\"filled,rounded\", peripheries=2, "
		"color=\"#b3261e\", "
		"fillcolor=\"#fbe9e7\"];\n"
		"\tn1 [label=\"look\", color=\"#0a7550\", fillcolor=\"#e4f3ec\"];\n"
		"\tn2 [label=\"choose\", shape=diamond, color=\"#2f6fb0\", "
		"fillcolor=\"#e6f0fa\"];\n"
		"\tn3 [label=\"rest\", shape=hexagon, color=\"#7a8896\", fillcolor=\"#eef1f3\"];\n"
		"\tn1 -> n2 [label=\" ok \", weight=8];\n"
		"\tn1 -> n0 [label=\" timeout, nonzero \", weight=0, style=dashed, "
		"color=\"#9aa5b0\"];\n"
		"\tn2 -> n1 [label=\" s == '\\\"]; n0 --> evil[x]' or s == "
		"\\\"<b>`\\\\\\\\|#\\\" \", weight=8];\n"
		"\tn2 -> n2 [label=\" s ==  'a�[31m�&amp;lt;' \", weight=8];\n"
		"\tn2 -> n3 [label=\" else \", weight=8];\n"
		"\tn3 -> n0 [label=\" signal \", weight=8];\n"
		"}\n");
	draw(f.m, graph_text,
		"m: 4 states\n"
		"\n"
		"▶ look  (tool)\n"
		"│   timeout, nonzero ── ↓ end\n"
		"▼ ok\n"
		"● choose  (branch)\n"
		"│   s == '\"]; n0 --> evil[x]' or s == \"<b>`\\\\|#\" ── ↑ look\n"
		"│   s ==  'a�[31m�&lt;' ─────────────────────────── ↺ choose\n"
		"▼ else\n"
		"● rest  (wait)\n"
		"▼ signal\n"
		"● end  (end: failed)\n"
		"\n");
	draw(f.m, graph_ascii,
		"m: 4 states\n"
		"\n"
		"> look  (tool)\n"
		"|   timeout, nonzero -- v end\n"
		"v ok\n"
		"* choose  (branch)\n"
		"|   s == '\"]; n0 --> evil[x]' or s == \"<b>`\\\\|#\" -- ^ look\n"
		"|   s ==  'a�[31m�&lt;' --------------------------- @ choose\n"
		"v else\n"
		"* rest  (wait)\n"
		"v signal\n"
		"* end  (end: failed)\n"
		"\n");
	fixture_done(&f);
	return tap_done();
}
