// The page: enters, then follows the supervisor's events for as long as it is open.
import * as api from "/api.js";
import * as cards from "/cards.js";
import * as past from "/history.js";

const SHORTEST = 500;
const LONGEST = 5000;

const state = document.getElementById("state");
const notice = document.getElementById("notice");
let running = false;
let again = false;

const say = (text) => (state.textContent = text);

function over(yes) {
	notice.hidden = !yes;
	notice.textContent = yes ? "This session is over, or the supervisor was started anew. Run `stayexec web` and open the link that it prints." : "";
}

// One refresh at a time; what changed meanwhile is fetched once more.
async function refresh() {
	if (running) {
		again = true;
		return;
	}
	running = true;
	try {
		do {
			again = false;
			cards.show(await api.pending());
			await past.refresh();
		} while (again);
	} finally {
		running = false;
	}
}

const quietly = (work) => work().catch((error) => over(error instanceof api.Gone));

async function follow() {
	let wait = SHORTEST;
	for (;;) {
		const stop = new AbortController();
		try {
			await api.events(() => {
				say("live");
				over(false);
				wait = SHORTEST;
				quietly(refresh);
			}, stop.signal);
			say("connecting…");
		} catch (error) {
			over(error instanceof api.Gone);
			say(error instanceof api.Gone ? "not connected" : "connecting…");
		}
		stop.abort();
		await new Promise((resolve) => setTimeout(resolve, wait));
		wait = Math.min(wait * 2, LONGEST);
	}
}

document.getElementById("more").addEventListener("click", cards.more);
document.getElementById("older").addEventListener("click", () => quietly(past.more));
let typing;
document.getElementById("search").addEventListener("input", () => {
	clearTimeout(typing);
	typing = setTimeout(() => quietly(past.refresh), 200);
});
document.getElementById("class").addEventListener("change", () => quietly(past.refresh));
addEventListener("hashchange", () => quietly(api.enter));
setInterval(cards.tick, 1000);
await quietly(api.enter);
follow();
