// Verdicts of an independent JSON Schema validator.
//   node ajv_verdicts.mjs NODE_MODULES SCHEMA <LINES
// One JSON document a line in, `1` (valid) or `0` a line out. Strict mode refuses a schema with unknown
// keywords or useless combinations of them. Schemas beside it may be referred to by their $id.
import {createRequire} from 'node:module';
import {readFileSync, readdirSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';

const [modules, schemaFile] = process.argv.slice(2);
const require = createRequire(modules + '/');
const schema = JSON.parse(readFileSync(schemaFile, 'utf8'));
const draft4 = schema.$schema.includes('draft-04');
const Ajv = require(draft4 ? 'ajv-draft-04' : 'ajv/dist/2020').default;
const ajv = new Ajv({strict: !draft4, strictRequired: false, validateFormats: false, unicodeRegExp: !draft4});
for (const name of readdirSync(dirname(schemaFile)))
	if (!draft4 && name.endsWith('.schema.json') && name !== basename(schemaFile))
		ajv.addSchema(JSON.parse(readFileSync(join(dirname(schemaFile), name), 'utf8')));
const validate = ajv.compile(schema);
const lines = readFileSync(0, 'utf8').split('\n').filter(line => line);
process.stdout.write(lines.map(line => validate(JSON.parse(line)) ? '1\n' : '0\n').join(''));
if (process.env.AJV_SHOW && validate.errors) console.error(validate.errors);
