# The shape generator refuses whatever its tables cannot carry: a published schema must never say more,
# or less, than the program checks.
load ../kit/common

setup() {
	GEN=${AGENT6_OUT:-$AGENT6_SRC/build/release}/host/shape_gen
	[[ -x $GEN ]] || skip "the build tool is not built"
}

refuses() { # SCHEMA REASON
	echo "$1" >"$SCRATCH/s.json"
	run "$GEN" x "$SCRATCH/s.json"
	echo "$output" | tail -n 1
	[[ $status -eq 1 && $output == *"$2"* ]]
}

@test "a keyword that is not supported" {
	refuses '{"type":"string","format":"date"}' 'the keyword `format`'
	refuses '{"type":"integer","multipleOf":2}' 'the keyword `multipleOf`'
	refuses '{"type":"object","additionalProperties":false,"patternProperties":{}}' 'patternProperties'
	refuses '{"type":"string","minimum":1}' 'the keyword `minimum`'
	refuses '{"anyOf":[{"type":"string"}]}' 'the keyword `anyOf`'
	refuses '{"type":"array","items":{"type":"string","contains":{}}}' '#/items: the keyword `contains`'
}

@test "a use that cannot be decided" {
	refuses '{"oneOf":[{"type":"string"},{"enum":["a"]}]}' 'oneOf needs branches'
	refuses '{"type":"object"}' 'additionalProperties'
	refuses '{"type":"object","additionalProperties":false,"required":["a"]}' 'required key'
	refuses '{"type":"object","additionalProperties":false,"allOf":[{"required":["a"]}]}' 'allOf'
	refuses '{"enum":[1,2]}' 'only strings'
	refuses '{"not":{"type":"string"}}' '`not`'
	refuses '{"type":["string","integer"]}' '`type`'
	refuses '{"type":["string","integer","null"]}' '`type`'
	refuses '{"type":["null"]}' '`type`'
	refuses '{"type":"array","items":{"type":"number"},"uniqueItems":true}' 'uniqueItems'
	refuses '{"type":"array","items":{"type":"string"},"$comment":"set"}' 'the only `$comment`'
	refuses '{"type":"array","items":{"type":"string"},"$comment":1}' 'the only `$comment`'
	refuses '{"type":"integer","$comment":"command"}' 'the only `$comment`'
}

@test "a pattern that would need backtracking, or more than ASCII" {
	refuses '{"type":"string","pattern":"^a*a$"}' 'backtracking'
	refuses '{"type":"string","pattern":"^[a-z]+[x0]$"}' 'backtracking'
	refuses '{"type":"string","pattern":"a"}' 'begin with ^'
	refuses '{"type":"string","pattern":"^(a|b)$"}' 'not supported'
	refuses '{"type":"string","pattern":"^[ä]$"}' 'ASCII'
	refuses '{"type":"string","pattern":"^.$"}' 'not supported'
	refuses '{"type":"string","pattern":"^\\d+$"}' 'the escape'
	refuses '{"type":"string","pattern":"^[^\\n]*$"}' 'the escape'
	refuses '{"type":"string","pattern":"^ä$"}' 'ASCII'
}

@test "a schema that is not there, or contains itself" {
	refuses '{"$ref":"#/$defs/a"}' 'nothing is called'
	refuses '{"$ref":"other.json"}' '$ref must be'
	refuses '{"$ref":"#/$defs/a","$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}' 'contains itself'
	refuses '{"a":1,"a":2}' 'duplicate'
}

@test "what is supported becomes a table" {
	echo '{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+$","default":"x"}},
		"additionalProperties":{"type":"object","properties":{"b":{"type":"integer","default":1}},
		"additionalProperties":false}}' >"$SCRATCH/s.json"
	run -0 "$GEN" x "$SCRATCH/s.json"
	[[ $output == *'#define x_shape x_0'* && $output == *'{\"*\":{\"b\":1},\"a\":\"x\"}'* ]]
}

@test "a key that defaults may give is required in the table, and its shape is that of every such value" {
	echo '{"type":"object","additionalProperties":false,"properties":{
		"a":{"type":"integer","$comment":"required after defaults"},
		"b":{"$ref":"#/$defs/n","$comment":"required after defaults"},
		"c":{"type":"integer"}},"$defs":{"n":{"type":"integer"}}}' >"$SCRATCH/s.json"
	run -0 "$GEN" x "$SCRATCH/s.json"
	[[ $output == *'{"a", &x_1, 1, 1},'*'{"b", &x_1, 1, 1},'*'{"c", &x_1, 0, 0},'* ]]
}

@test "subschemas that differ only in description and default share a table" {
	echo '{"type":"object","additionalProperties":false,"properties":{
		"a":{"type":"string","minLength":1,"default":"x","description":"One."},
		"b":{"type":"string","minLength":1,"description":"Two."},
		"c":{"type":"string","minLength":2,"description":"Two."}}}' >"$SCRATCH/s.json"
	run -0 "$GEN" x "$SCRATCH/s.json"
	[[ $(grep -c '^static const struct shape ' <<<"$output") -eq 3 ]]
}
