// Cards of open questions. Everything an agent wrote becomes text, never markup.
import * as api from "/api.js";

const AT_ONCE = 100;
const cards = new Map();
let shown = AT_ONCE;
let questions = [];

// Text that reorders, hides or breaks what is around it is shown as its number.
const ODD = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
export const plain = (text) => String(text ?? "").replace(ODD, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

export function element(name, text, kind) {
	const made = document.createElement(name);
	if (text !== undefined) made.textContent = plain(text);
	if (kind) made.className = kind;
	return made;
}

function left(deadline) {
	const seconds = Math.max(0, Math.round((Date.parse(deadline) - Date.now()) / 1000));
	const minutes = Math.floor(seconds / 60);
	return { seconds, text: minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s` };
}

function row(list, name, text) {
	if (!text) return;
	list.append(element("dt", name), element("dd", text));
}

const ANSWERS = [
	["Approve once", "yes", { decision: "ApproveOnce" }, false],
	["Deny", "no", { decision: "Deny" }, false],
	["Ask later", "", { decision: "AskLater" }, false],
	["For this run", "", { decision: "ApproveForRun" }, true],
	["For 10 minutes", "", { decision: "ApproveFor", minutes: 10 }, true],
	["Always approve", "", { decision: "AlwaysApprove" }, true],
];

function card(question) {
	const box = element("article", undefined, `card ${question.class}`);
	box.dataset.id = question.audit_id;
	const title = element("h3");
	title.id = `title-${question.audit_id}`;
	title.append(element("span", question.class, "class"), document.createTextNode(` by ${plain(question.agent)}`));
	box.setAttribute("aria-labelledby", title.id);
	box.tabIndex = -1;
	const command = element("pre", question.command);
	command.id = `command-${question.audit_id}`;
	box.setAttribute("aria-describedby", command.id);
	const facts = element("dl");
	row(facts, "Why", (question.reasons ?? []).filter(Boolean).join("; "));
	row(facts, "Through", (question.ancestry ?? []).join(" → "));
	row(facts, "File", question.file);
	row(facts, "Folder", question.cwd);
	row(facts, "Run", question.run.slice(-8));
	row(facts, "Put off by", question.later);
	const times = element("dd", String(question.count));
	facts.append(element("dt", "Calls that wait"), times);
	const time = element("dd");
	facts.append(element("dt", "Time left"), time);
	const label = element("label", "Note for the agent ");
	const note = element("input");
	note.type = "text";
	note.maxLength = 1000;
	note.autocomplete = "off";
	label.append(note);
	const answers = element("div", undefined, "answers");
	answers.setAttribute("role", "group");
	answers.setAttribute("aria-label", "Answers");
	answers.setAttribute("aria-describedby", command.id);
	const told = element("p", "", "wrong");
	told.setAttribute("role", "alert");
	const rule = element("div", undefined, "rule");
	rule.hidden = true;
	rule.setAttribute("role", "group");
	rule.setAttribute("aria-label", "What would be remembered");
	for (const [text, kind, answer, remembers] of ANSWERS) {
		const button = element("button", text, kind);
		button.type = "button";
		button.dataset.decision = answer.decision;
		if (remembers && !question.always_rule) {
			button.disabled = true;
			button.title = "nothing about this command can be remembered";
		}
		const give = () => answered(question, { ...answer, note: note.value }, box, told);
		button.addEventListener("click", () => (remembers ? confirm(rule, text, question.always_rule, give, button) : give()));
		answers.append(button);
	}
	box.append(title, command, facts, label, answers, rule, told);
	return { box, time, times, question };
}

// What would be remembered is shown before it is.
function confirm(rule, text, shownRule, give, from) {
	const yes = element("button", "Save and approve", "yes");
	const no = element("button", "Back");
	for (const button of [yes, no]) button.type = "button";
	yes.dataset.confirm = "yes";
	yes.addEventListener("click", () => {
		rule.hidden = true;
		give();
	});
	no.addEventListener("click", () => {
		rule.hidden = true;
		from.focus();
	});
	rule.onkeydown = (event) => event.key === "Escape" && no.click();
	const both = element("div", undefined, "answers");
	both.append(yes, no);
	rule.replaceChildren(element("p", `${text}: this will be approved without asking`), element("pre", shownRule), both);
	rule.hidden = false;
	no.focus();
}

async function answered(question, answer, box, told) {
	told.textContent = "";
	// A button that is switched off loses the focus, and the card may be gone before the reply is here.
	const known = cards.get(question.audit_id);
	if (known) known.focused = box.contains(document.activeElement);
	const buttons = [...box.querySelectorAll("button")].filter((button) => !button.disabled);
	for (const button of buttons) button.disabled = true;
	try {
		await api.decide({ audit_id: question.audit_id, ...answer });
		if (answer.decision === "AskLater") box.parentElement.append(box);
		else remove(question.audit_id);
	} catch (error) {
		told.textContent = plain(error instanceof api.Gone ? "this session is over" : error.message);
		if ([404, 409, 410].includes(error.status)) setTimeout(() => remove(question.audit_id), 4000);
	}
	for (const button of buttons) button.disabled = false;
	if (known?.focused && box.isConnected) box.focus();
	if (known) known.focused = false;
}

// Whoever answers by keyboard goes on with the next card; to the card and not to a button, so that a key that is held or
// pressed twice answers nothing.
function remove(id) {
	const known = cards.get(id);
	if (!known) return;
	const focused = known.focused || known.box.contains(document.activeElement);
	const next = known.box.nextElementSibling ?? known.box.previousElementSibling;
	known.box.remove();
	cards.delete(id);
	questions = questions.filter((question) => question.audit_id !== id);
	if (focused) (next ?? document.getElementById("open")).focus();
	draw();
}

export function show(list) {
	// What was put off comes last.
	questions = [...list.filter((question) => !question.later), ...list.filter((question) => question.later)];
	const open = new Set(list.map((question) => question.audit_id));
	for (const id of [...cards.keys()]) if (!open.has(id)) remove(id);
	draw();
}

function draw() {
	const place = document.getElementById("cards");
	for (const question of questions.slice(0, shown)) {
		const known = cards.get(question.audit_id);
		if (known) {
			known.times.textContent = String(question.count);
			continue;
		}
		const made = card(question);
		cards.set(question.audit_id, made);
		place.append(made.box);
	}
	document.getElementById("count").textContent = questions.length ? `${questions.length} waiting` : "";
	document.getElementById("none").hidden = questions.length > 0;
	document.getElementById("more").hidden = questions.length <= shown;
	document.title = questions.length ? `(${questions.length}) stayexec` : "stayexec";
	tick();
}

export function more() {
	shown += AT_ONCE;
	draw();
}

export function tick() {
	for (const { time, question } of cards.values()) {
		const { seconds, text } = left(question.deadline);
		time.textContent = text;
		time.classList.toggle("late", seconds < 60);
	}
}
