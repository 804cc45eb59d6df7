// What was answered, with search and a class.
import * as api from "/api.js";
import { element } from "/cards.js";

let asked = 0;

function line(ended) {
	const item = element("li", undefined, ended.class);
	const head = element("p");
	head.append(element("span", ended.class, "class"), document.createTextNode(" "), element("code", ended.command));
	const when = new Date(ended.decided).toLocaleString();
	const outcome = ended.reason === "expired" ? "expired" : ended.decision;
	item.append(head, element("p", `${outcome}, ${when}, ${ended.decided_by}${ended.note ? `: ${ended.note}` : ""}`, "small"));
	return item;
}

// What is shown, latest first, and whether there is more.
let rows = [];
let older = false;
let filter = "";

const wanted = () => [document.getElementById("search").value.trim(), document.getElementById("class").value];

function draw() {
	document.getElementById("history").replaceChildren(...rows.map(line));
	document.getElementById("no-history").hidden = rows.length > 0;
	document.getElementById("older").hidden = !older;
	document.getElementById("past-count").textContent = rows.length ? `${rows.length} shown` : "";
}

// The latest, in front of what was loaded before.
export async function refresh() {
	const own = ++asked;
	const [search, kind] = wanted();
	const list = await api.recent(search, kind);
	// A later request may have been answered first.
	if (own !== asked) return;
	const last = list.at(-1)?.audit_id;
	const at = filter === search + "\n" + kind ? rows.findIndex((known) => known.audit_id === last) : -1;
	if (at < 0) older = list.length === api.PAGE;
	rows = at < 0 ? list : [...list, ...rows.slice(at + 1)];
	filter = search + "\n" + kind;
	draw();
}

// The next page, behind the last that is shown.
export async function more() {
	const own = ++asked;
	const list = await api.recent(...wanted(), rows.at(-1)?.audit_id);
	if (own !== asked) return;
	const from = rows.length;
	rows = [...rows, ...list];
	older = list.length === api.PAGE;
	draw();
	// Whoever reads on by keyboard or ear is taken to the first new row.
	const first = document.getElementById("history").children[from];
	if (first) {
		first.tabIndex = -1;
		first.focus();
	}
}
