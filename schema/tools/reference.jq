# A published schema as a page for people: every key with what it takes, its default and what it is
# for. Run by `make docs`: jq -r --arg page machine -f schema/tools/reference.jq schema/machine.schema.json

# Shapes with a table of their own, and how its heading begins.
def sections: {agent: "`kind: agent`", tool: "`kind: tool`", wait: "`kind: wait`", branch: "`kind: branch`",
	terminal: "`kind: terminal`", notify: "`notify` of a state", overlay: "`config`"};

def resolve($root): if has("$ref") then
		($root["$defs"][."$ref" | ltrimstr("#/$defs/")] + del(."$ref")) | resolve($root)
	else . end;

def cell: gsub("\\|"; "\\|");

# What has a row of its own under "Values".
def values: {type: "a type", template: "a template", identifier: "a name"};

def takes: ((.enum // []) | map(tostring) | join(", ")) as $enum
	| (.enum[0] // "" | tostring) as $first
	| (if .title and $enum != "" and (.title | contains($first) | not) then "\(.title): \($enum)" else .title end)
	// (if $enum != "" then $enum else null end)
	// (if has("const") then .const | tostring else null end)
	// {string: "a text", integer: "an integer", number: "a number", boolean: "true or false",
		array: "a list", object: "a map"}[.type // "" | if type == "array" then .[0] else . end]
	// "any value";

def default($required): if ."$comment" == "required after defaults" then "required, here or in `defaults`"
	elif $required then "required" elif has("default") then "`\(.default | tojson)`" else "" end;

def row($key; $required): "| `\($key)` | \(takes | cell) | \(default($required) | cell) | \(.description // "" | cell) |";

# The object behind a value that may be written short, or the value itself.
def whole: . as $short | if .properties then . else [.oneOf[]? | select(.properties)][0] // $short end;

def nameless: (.title // .description) == null and .type == "object";

def rows($root; $prefix):
	(.required // []) as $required
	| (.properties // {} | to_entries[] | {key, required: (.key as $k | $required | index($k) != null), value}),
	  (if (.additionalProperties | type) == "object" and .additionalProperties.not == null
	   then {key: (if $prefix == "schemas.NAME." then "FIELD" else "NAME" end), required: false, value: .additionalProperties} else empty end)
	| select(.key != "kind")
	| .key as $key | .required as $needed | .value
	| (."$ref" // "" | ltrimstr("#/$defs/")) as $name
	| (if values[$name] then {title: values[$name], description} else resolve($root) end) as $value
	| select($value.not == null)
	| ($value | select(nameless | not) | row($prefix + $key; $needed)),
	  (if sections[$name] or ([$value.oneOf[]? | select(has("required") | not)] | length) > 2 then empty
	   else $value | whole | resolve($root)
		| (if .items.properties then .items | rows($root; $prefix + $key + "[].") else rows($root; $prefix + $key + ".") end)
	   end);

def table($root): "| key | takes | default | |\n|---|---|---|---|", (resolve($root) | whole | rows($root; ""));

def intro: {
	machine: "# The machine file, key by key\n\nEvery key that a `machine.yaml` may hold; any other is an error with a suggestion. [Writing a\nmachine](writing-a-machine.md) begins from nothing, `agent6 machine check` says where each key stands wrong.",
	config: "# Configuration, key by key\n\nEvery setting of `config.yaml`. `agent6 config show` prints what is in force and which file set it,\n`agent6 config set KEY VALUE` changes one; [operating.md](operating.md) says which files there are. Where there is no\ndefault, `null` takes back what an earlier file has set."
}[$page];

. as $root
| intro,
  "\nThis page is generated from `schema/\($page).schema.json` by `make docs`; do not edit it. `NAME` stands\nfor a name of your choice, `[]` for an item of a list.\n",
  table($root),
  (sections | to_entries[] | select($root["$defs"][.key])
	| "\n## \(.value)\n\n\($root["$defs"][.key].description // "")\n", ($root["$defs"][.key] | table($root))),
  (if $page == "machine" then
	"\n## Values\n\n| | |\n|---|---|",
	(values | to_entries[] | $root["$defs"][.key] as $shape
		| "| \(.value) | \($shape.description // $shape.title | cell) |")
   else empty end)
