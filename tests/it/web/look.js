// What is wrong with the page that is shown: what could run or load something, and what of the page itself is broken or covered.
const faults = [];
const tell = (what, element) => faults.push(`${what}: ${element?.outerHTML?.slice(0, 160) ?? ""}`);
const active = new Set(("animate animatemotion animatetransform applet area audio base canvas dialog embed fencedframe foreignobject "
  + "frame frameset iframe image img marquee math object picture portal set source style template track use video").split(" "));
const addresses = new Set("action background cite data formaction href ping poster src srcdoc srcset xlink:href".split(" "));

if (typeof window.__pwned !== "undefined") faults.push(`something ran, or an element took its name: ${window.__pwned}`);
const ids = new Set();
for (const element of document.querySelectorAll("*")) {
  const name = element.localName.toLowerCase();
  // A picture of the memory is loaded from our own server; what is wrong with it is not shown.
  const isPicture = name === "img" && element.getAttribute("src")?.startsWith("/pictures/");
  if (active.has(name) && !isPicture) tell("an active element", element);
  if (name === "script" && new URL(element.src || "about:blank", location).origin !== location.origin) tell("a script", element);
  if (name === "link" && !(element.rel === "icon" || (element.rel === "stylesheet" && element.sheet))) tell("a link element", element);
  if (name === "meta" && element.httpEquiv) tell("a meta element", element);
  if (element.id && ids.has(element.id)) tell("an id twice", element);
  ids.add(element.id);
  for (const { name: attribute, value } of element.attributes) {
    if (attribute.startsWith("on") || attribute === "style") tell(`the attribute ${attribute}`, element);
    if (!addresses.has(attribute)) continue;
    const url = URL.canParse(value, location) ? new URL(value, location) : null;
    const isOwn = url?.origin === location.origin;
    const isFollowed = name === "a" && attribute === "href" && ["http:", "https:", "mailto:", "obsidian:"].includes(url?.protocol);
    if (!isOwn && !isFollowed && !(name === "link" && value === "data:,")) tell(`the address in ${attribute}`, element);
  }
}
if (new URL(document.baseURI).pathname !== location.pathname) faults.push(`another base: ${document.baseURI}`);

// Around a note are the same things as ever, where they can be reached.
const around = [...document.body.children].map((element) => element.localName).join(" ");
if (around !== "header main footer") faults.push(`the page has another shape: ${around}`);
scrollTo(0, 0);
const places = document.querySelectorAll("header.top nav a");
if (places.length === 0) faults.push("no navigation");
for (const place of places) {
  const box = place.getBoundingClientRect();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  if (hit !== place && !place.contains(hit)) tell(`the navigation is covered by ${hit?.outerHTML.slice(0, 80)}`, place);
}
if (document.documentElement.scrollWidth > innerWidth) {
  const wide = [...document.querySelectorAll("main *")].find((element) => element.getBoundingClientRect().right > innerWidth + 1);
  tell(`wider than the window (${document.documentElement.scrollWidth} > ${innerWidth})`, wide);
}
return faults;
