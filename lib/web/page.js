/*
 * The script of the page: it takes what the server has drawn anew and puts it into its place. Without it the page is as it
 * was when it was loaded, and its forms work.
 */
"use strict";
const events = document.body.dataset.events;
const link = document.getElementById("link");
const announce = document.getElementById("announce");
const waiting = new Map();

function busy(place) {
  const active = document.activeElement;
  if (!place.contains(active)) return false;
  return active.matches("input:not([type=hidden]), textarea");
}

function put(id, html) {
  const place = document.getElementById(id);
  if (place === null) return;
  if (busy(place)) {
    waiting.set(id, html);
    return;
  }
  waiting.delete(id);
  const open = new Map([...place.querySelectorAll("details")].map((one, index) => [one.id || "n" + index, one.open]));
  const scrolls = [...place.querySelectorAll("pre, ul, ol")].map((one) => one.scrollTop);
  const active = place.contains(document.activeElement)
    ? [...place.querySelectorAll("a, button, summary, pre")].indexOf(document.activeElement)
    : -1;
  place.innerHTML = html;
  [...place.querySelectorAll("details")].forEach((one, index) => {
    const was = open.get(one.id || "n" + index);
    if (was !== undefined) one.open = was;
  });
  [...place.querySelectorAll("pre, ul, ol")].forEach((one, index) => {
    if (scrolls[index]) one.scrollTop = scrolls[index];
  });
  if (active >= 0) place.querySelectorAll("a, button, summary, pre")[active]?.focus({ preventScroll: true });
}

function say(text) {
  if (announce.textContent !== text) announce.textContent = text;
}

document.addEventListener("focusout", () =>
  setTimeout(() => {
    for (const [id, html] of waiting) put(id, html);
  }, 0));

if (events) {
  const source = new EventSource(events);
  source.addEventListener("patch", (event) => {
    const { regions, announcement, title } = JSON.parse(event.data);
    for (const [id, html] of Object.entries(regions)) put(id, html);
    if (announcement) say(announcement);
    if (title) document.title = title;
  });
  source.addEventListener("open", () => {
    link.textContent = "live";
    link.className = "link good";
  });
  source.addEventListener("error", () => {
    link.textContent = "not connected";
    link.className = "link bad";
  });
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".action")) return;
  event.preventDefault();
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  let text = "The server did not answer";
  try {
    const response = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { accept: "application/json" },
    });
    const reply = await response.json();
    text = reply.message;
    if (reply.status === "taken") {
      form.reset();
      form.closest("details")?.removeAttribute("open");
    }
  } catch { /* said below */ }
  for (const button of buttons) button.disabled = false;
  const notice = document.getElementById("notice");
  notice.textContent = text;
  notice.hidden = false;
  say(text);
});

function elapsed(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  if (s < 60) return s + "s";
  if (s < 3600) return Math.floor(s / 60) + "m " + two(s % 60) + "s";
  return Math.floor(s / 3600) + "h " + two(Math.floor(s / 60) % 60) + "m";
}

setInterval(() => {
  if (document.hidden) return;
  for (const one of document.querySelectorAll("[data-since]")) {
    const text = elapsed(Date.now() - Number(one.dataset.since));
    if (one.textContent !== text) one.textContent = text;
  }
}, 1000);
