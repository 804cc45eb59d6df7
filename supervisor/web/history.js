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

export async function refresh() {
	const own = ++asked;
	const search = document.getElementById("search").value.trim();
	const list = await api.recent(search, document.getElementById("class").value);
	// A later request may have been answered first.
	if (own !== asked) return;
	document.getElementById("history").replaceChildren(...list.map(line));
	document.getElementById("no-history").hidden = list.length > 0;
}
