// What an editor shows for a file that names its schema, asked of the language server of its kind.
//   node editor.mjs NODE_MODULES FILE.yaml|FILE.toml
// Prints `diagnostic LINE: MESSAGE` for each finding; or, where FILE holds the mark `<?>`,
// `complete LABEL` for each key or value that is offered there.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [modules, file] = process.argv.slice(2);
const yaml = file.endsWith('.yaml');
const uri = pathToFileURL(resolve(file)).href;
const marked = readFileSync(file, 'utf8');
const at = marked.indexOf('<?>');
const text = marked.replace('<?>', '');
const answers = new Map();
let last = 0;
let diagnosed;
const diagnostics = new Promise(done => { diagnosed = done; });

// taplo publishes an empty list for each stage of reading a file, and names its schema when it is through.
function published(found) {
	if (yaml || found.length)
		diagnosed(found);
}

// The server's own questions are answered with no settings at all: the file names its schema.
function receive(message) {
	if (message.method === 'workspace/configuration')
		send({ id: message.id, result: message.params.items.map(() => ({})) });
	else if (message.method && message.id !== undefined)
		send({ id: message.id, result: null });
	else if (message.method === 'textDocument/publishDiagnostics' && message.params.uri === uri)
		published(message.params.diagnostics);
	else if (message.method === 'taplo/didChangeSchemaAssociation')
		diagnosed([]);
	else if (answers.has(message.id))
		answers.get(message.id)(message.result);
}

// yaml-language-server: the base protocol of LSP over pipes.
function yamlServer() {
	const server = spawn(process.execPath, [join(modules, 'yaml-language-server/bin/yaml-language-server'), '--stdio'],
		{ stdio: ['pipe', 'pipe', 'inherit'] });
	let input = Buffer.alloc(0);
	server.stdout.on('data', chunk => {
		input = Buffer.concat([input, chunk]);
		for (let head; (head = input.indexOf('\r\n\r\n')) >= 0;) {
			const end = head + 4 + Number(/Content-Length: (\d+)/i.exec(input.subarray(0, head))[1]);
			if (input.length < end)
				return;
			const body = input.subarray(head + 4, end);
			input = input.subarray(end);
			receive(JSON.parse(body));
		}
	});
	return message => {
		const body = JSON.stringify(message);
		server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
	};
}

// taplo: the same messages, to a WebAssembly module that is given its environment by hand.
async function taplo() {
	const { TaploLsp } = createRequire(pathToFileURL(modules + '/'))('@taplo/lsp');
	const drop = async bytes => bytes.length;
	const lsp = await TaploLsp.initialize({
		now: () => new Date(0), envVar: () => undefined, envVars: () => [], stdErrAtty: () => false,
		stdin: async () => new Uint8Array(), stdout: drop, stderr: drop,
		glob: () => [resolve(file)],
		readFile: async path => readFileSync(path), writeFile: async () => {},
		urlToFilePath: url => url.startsWith('file:') ? fileURLToPath(url) : '', isAbsolute, cwd: () => process.cwd(),
		findConfigFile: () => undefined,
	}, { onMessage: message => setImmediate(receive, message) });
	return message => lsp.send(message);
}

const post = yaml ? yamlServer() : await taplo();
function send(message) {
	post({ jsonrpc: '2.0', ...message });
}
function request(method, params) {
	send({ id: ++last, method, params });
	return new Promise(done => answers.set(last, done));
}

// A server that says nothing must not leave the test waiting.
setTimeout(() => process.exit(3), 60000).unref();
const folder = { uri: pathToFileURL(dirname(resolve(file))).href, name: 'folder' };
await request('initialize', { processId: process.pid, rootUri: folder.uri, workspaceFolders: [folder],
	capabilities: {} });
send({ method: 'initialized', params: {} });
send({ method: 'textDocument/didOpen',
	params: { textDocument: { uri, languageId: yaml ? 'yaml' : 'toml', version: 1, text } } });
const found = await diagnostics;
if (at < 0) {
	for (const { range, message } of found)
		console.log(`diagnostic ${range.start.line + 1}: ${message}`);
} else {
	const before = text.slice(0, at).split('\n');
	const position = { line: before.length - 1, character: before.at(-1).length };
	const offers = await request('textDocument/completion', { textDocument: { uri }, position });
	for (const { label } of offers?.items ?? offers ?? [])
		console.log(`complete ${label}`);
}
process.exit(0);
