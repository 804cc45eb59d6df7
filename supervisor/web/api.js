// Requests. The session's key lies in this origin's storage; its other half is a cookie that no script can read.
const STORED = "stayexec-key";

export class Gone extends Error {}

export class Refused extends Error {
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

const key = () => localStorage.getItem(STORED) ?? "";

async function send(method, path, body, more = {}) {
	const headers = { "x-stayexec-key": key() };
	if (body !== undefined) headers["content-type"] = "application/json";
	const response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", ...more });
	if (response.status === 401 || response.status === 429) throw new Gone();
	if (!response.ok) {
		const told = await response.json().catch(() => ({}));
		throw new Refused(response.status, told.error?.message ?? `status ${response.status}`);
	}
	return response;
}

// The code of the link is used once, and taken out of the address at once.
export async function enter() {
	const code = new URLSearchParams(location.hash.slice(1)).get("code");
	if (!code) return;
	history.replaceState(null, "", location.pathname);
	const response = await send("POST", "/session", { code });
	localStorage.setItem(STORED, (await response.json()).key);
}

export const pending = async () => (await send("GET", "/rpc/stayexec.approval_list_pending")).json();

export const decide = async (answer) => (await send("POST", "/rpc/stayexec.approval_decide", answer)).json();

export const PAGE = 100;

// A page of ended questions: the latest, or those before the one with this id.
export async function recent(search, kind, before) {
	const query = new URLSearchParams({ limit: String(PAGE) });
	if (before) query.set("before", before);
	if (search) query.set("search", search);
	if (kind) query.set("class", kind);
	return (await send("GET", `/rpc/stayexec.approval_list_recent_decisions?${query}`)).json();
}

// Calls `changed` for every event until the stream ends. fetch and not EventSource: only fetch sends a header.
export async function events(changed, signal) {
	const response = await send("GET", "/events", undefined, { signal });
	const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";
	for (;;) {
		const { value, done } = await reader.read();
		if (done) return;
		const parts = (rest + value).split("\n\n");
		rest = parts.pop();
		if (parts.some((part) => part.includes("event: changed"))) changed();
	}
}
