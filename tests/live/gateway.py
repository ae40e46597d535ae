"""A provider behind a company's gateway: says its port, keeps path and headers of each request, and ends every agent."""
import http.server
import json
import sys

ANSWER = json.dumps({
    "choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "finish_run", "arguments": "{\"text\": \"hi\"}"}}]},
        "finish_reason": "tool_calls"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5}}).encode()


class Gateway(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        with open(sys.argv[1], "a") as file:
            print(self.path, file=file)
            for name, value in self.headers.items():
                print(f"{name}: {value}", file=file)
        echo = self.headers.get("x-refuse")
        body = json.dumps({"error": {"message": f"no {echo} here, {self.path}"}}).encode() if echo else ANSWER
        self.send_response(400 if echo else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
print(server.server_address[1], flush=True)
server.serve_forever()
