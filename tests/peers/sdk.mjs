// The vendors' own clients against agent6-cassette: `node sdk.mjs PORT`. One line per check; the exit
// status is the number of failed ones. The cassette is sdk.jsonl, in this order.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(process.argv[3] + '/'));
const Anthropic = require('@anthropic-ai/sdk').default;
const OpenAI = require('openai').default;
const base = `http://127.0.0.1:${process.argv[2]}`;
let failed = 0;

function check(held, name, seen) {
	console.log(`${held ? 'ok' : 'not ok'} - ${name}${held ? '' : ': ' + JSON.stringify(seen)}`);
	failed += held ? 0 : 1;
}

async function refused(promise, words, name) {
	try {
		const got = await promise;
		check(false, name, got);
	} catch (error) {
		check(error.status === 400 && String(error.message).includes(words), name,
			[error.status, error.message]);
	}
}

// Two inputs are the same whatever the order of their members.
const same = (a, b) => JSON.stringify(Object.entries(a ?? {}).sort()) ===
	JSON.stringify(Object.entries(b).sort());
const grep = { pattern: 'a\u00e9 "x"\n', n: 3 };

async function anthropic() {
	const client = new Anthropic({ apiKey: 'k', baseURL: base, maxRetries: 2 });
	const tools = [{ name: 'grep', description: 'd',
		input_schema: { type: 'object', properties: { pattern: { type: 'string' } } } }];
	const head = { model: 'm', max_tokens: 500, tools };
	const first = { role: 'user', content: 'Look.' };

	const stream = client.messages.stream({ ...head, messages: [first] });
	const message = await stream.finalMessage();
	const call = message.content.find((b) => b.type === 'tool_use');
	check(same(call?.input, grep), 'anthropic: a streamed call', message);
	check(message.stop_reason === 'tool_use', 'anthropic: its stop reason', message.stop_reason);
	check(message.content[0].type === 'thinking', 'anthropic: thinking comes first', message.content);
	check(message.usage.input_tokens + message.usage.cache_read_input_tokens === 100,
		'anthropic: usage with cached tokens', message.usage);

	const answer = { role: 'user',
		content: [{ type: 'tool_result', tool_use_id: call.id, content: 'none' }] };
	const talk = [first, { role: 'assistant', content: message.content }, answer];
	const plain = await client.messages.create({ ...head, messages: talk });
	check(plain.content[0].text === 'Nothing found.', 'anthropic: an unstreamed answer', plain);
	check(plain.stop_reason === 'end_turn', 'anthropic: its stop reason', plain.stop_reason);

	const after = await client.messages.create({ ...head, messages: [first] });
	check(after.content[0].text === 'Late.', 'anthropic: a 529 is retried', after);

	const changed = structuredClone(message.content);
	changed[0].thinking += '!';
	await refused(client.messages.create({ ...head,
		messages: [first, { role: 'assistant', content: changed }, answer] }),
	'signature', 'anthropic: a changed thinking block is refused');
	await refused(client.messages.create({ ...head,
		messages: [first, { role: 'assistant', content: message.content }] }),
	'tool', 'anthropic: a call without its result is refused');
	await refused(client.messages.create({ ...head, messages: [{ role: 'user', content: '' }] }),
		'', 'anthropic: empty text is refused');
}

async function openai() {
	const client = new OpenAI({ apiKey: 'k', baseURL: base + '/v1', maxRetries: 2 });
	const tools = [{ type: 'function',
		function: { name: 'grep', parameters: { type: 'object', properties: {} } } }];
	const head = { model: 'm', tools };
	const first = { role: 'user', content: 'Look.' };

	const stream = client.chat.completions.stream({ ...head, messages: [first],
		stream_options: { include_usage: true } });
	const done = await stream.finalChatCompletion();
	const said = done.choices[0].message;
	check(same(JSON.parse(said.tool_calls?.[0].function.arguments ?? '{}'), grep),
		'openai: a streamed call', said);
	check(done.choices[0].finish_reason === 'tool_calls', 'openai: its finish reason', done);
	check(done.usage?.prompt_tokens === 100, 'openai: usage', done.usage);

	const call = { id: said.tool_calls[0].id, type: 'function', function: {
		name: 'grep', arguments: said.tool_calls[0].function.arguments } };
	const plain = await client.chat.completions.create({ ...head, messages: [first,
		{ role: 'assistant', content: null, tool_calls: [call] },
		{ role: 'tool', tool_call_id: call.id, content: 'none' }] });
	check(plain.choices[0].message.content === 'Nothing found.', 'openai: an unstreamed answer', plain);

	const after = await client.chat.completions.create({ ...head, messages: [first] });
	check(after.choices[0].message.content === 'Late.', 'openai: a 429 is retried', after);
	await refused(client.chat.completions.create({ ...head, messages: [first,
		{ role: 'assistant', content: null, tool_calls: [call] }] }),
	'tool', 'openai: a call without its result is refused');
}

await anthropic();
await openai();
process.exit(failed);
