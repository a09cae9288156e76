// Returns the problems of the page, its ids and its links, given the ids that sections may have and the width of the
// screen. (A phone zooms out of a page that is too wide, and then reports a wider window.)
(async (names, width) => {
	const wrong = [], all = (selector) => [...document.querySelectorAll(selector)]
	const seen = (e) => e.checkVisibility()
	const folded = all("details:not([open])")
	for (const d of folded) d.open = true

	const root = document.documentElement
	if (root.scrollWidth > width) wrong.push("the page is wider than the screen: " + root.scrollWidth + " > " + width)
	for (const id of names) {
		const s = document.getElementById(id)
		if (s && s.tagName == "SECTION" && !s.querySelector("td, img.plot")) wrong.push("section " + id + " is empty")
	}

	// colors
	const color = (text) => {
		const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number)
		return { r, g, b, a }
	}
	const over = (top, below) => {
		const mix = (k) => top[k] * top.a + below[k] * (1 - top.a)
		return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 }
	}
	const grounds = new Map([[null, { r: 255, g: 255, b: 255, a: 1 }]])
	const ground = (e) => {
		if (!grounds.has(e)) {
			const c = color(getComputedStyle(e).backgroundColor)
			grounds.set(e, c.a == 1 ? c : over(c, ground(e.parentElement)))
		}
		return grounds.get(e)
	}
	const luminance = (c) => {
		const linear = (v) => v <= 0.04045 * 255 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4
		return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b)
	}
	const contrast = (a, b) => {
		const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y)
		return (high + 0.05) / (low + 0.05)
	}
	const faint = new Map()
	for (const e of all("body, body *")) {
		const box = e.getBoundingClientRect()
		const text = [...e.childNodes].filter((n) => n.nodeType == Node.TEXT_NODE).map((n) => n.data.trim()).join(" ").trim()
		if (!text || !seen(e) || box.width <= 1) continue
		const below = ground(e), ratio = contrast(over(color(getComputedStyle(e).color), below), below)
		const kind = e.tagName + "." + e.className
		if (ratio >= 4.5 || faint.has(kind)) continue
		faint.set(kind, `a text has a contrast of ${ratio.toFixed(1)}: ${text.slice(0, 40)}`)
	}
	wrong.push(...faint.values())

	// plots
	const plots = all("img.plot")
	for (const p of plots) {
		const box = p.getBoundingClientRect(), name = p.alt || "a plot"
		if (!p.alt) wrong.push("a plot has no alternative text")
		await p.decode().catch(() => {})
		if (!p.complete || p.naturalWidth == 0 || box.width < 1 || box.height < 1) {
			wrong.push(name + " is not drawn")
			continue
		}
		if (box.left < 0 || box.right > width + 0.5) wrong.push(`${name} goes past the screen: ${box.left} to ${box.right}`)
		const canvas = document.createElement("canvas"), pen = canvas.getContext("2d")
		canvas.width = canvas.height = 8
		pen.drawImage(p, 0, 0, 8, 8, 0, 0, 8, 8)
		const [r, g, b] = pen.getImageData(2, 2, 1, 1).data
		if (contrast({ r, g, b }, ground(document.body)) > 1.5) wrong.push(name + " is not in the colors of the page")
	}

	// landmarks
	const label = (e) => {
		const by = e.getAttribute("aria-labelledby")
		const texts = by?.split(" ").map((id) => document.getElementById(id)?.textContent ?? "")
		return (texts?.join(" ") ?? e.getAttribute("aria-label") ?? "").replace(/\s+/g, " ").trim()
	}
	const labels = new Set()
	for (const e of all("nav, section, aside, [role=region], [role=navigation]").filter(seen)) {
		const name = label(e), what = e.getAttribute("role") ?? e.tagName.toLowerCase()
		if (!name) wrong.push(`a ${what} has no name`)
		else if (labels.has(name)) wrong.push(`two landmarks have the name "${name}"`)
		labels.add(name)
	}
	if (all("main").length != 1) wrong.push("the page has " + all("main").length + " elements main")

	// headings
	let level = 0, first = 0
	for (const h of all("h1, h2, h3, h4, h5, h6").filter(seen)) {
		const next = Number(h.tagName[1])
		if (next > level + 1) wrong.push(`a heading of level ${next} follows one of level ${level}: ${h.textContent}`)
		if (next == 1) first++
		level = next
	}
	if (first != 1) wrong.push("the page has " + first + " headings of level 1")

	const ids = all("[id]").map((e) => e.id)
	for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) != i))) wrong.push("two elements have the id " + id)
	for (const d of folded) d.open = false
	return {
		wrong, ids, plots: plots.length,
		sections: names.filter((n) => document.getElementById(n)?.tagName == "SECTION"),
		links: all("a[href]").map((a) => a.getAttribute("href")),
	}
})
