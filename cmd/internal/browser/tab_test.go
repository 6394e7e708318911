package browser

import (
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// js quotes a text for JavaScript.
func js(text string) string {
	quoted, _ := json.Marshal(text) // a string always encodes
	return string(quoted)
}

// open loads an address and waits for the page.
func (p *tab) open(url string) {
	p.t.Helper()
	must(p, "open "+url, chromedp.Navigate(url))
	p.until("globalThis.t && document.readyState === 'complete'")
}

// ask evaluates an expression; a promise is awaited.
func ask[T any](p *tab, expression string) T {
	p.t.Helper()
	return must(p, "evaluate "+expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until a condition holds on the page. On failure it shows the page.
func (p *tab) until(condition string) {
	p.t.Helper()
	if _, err := run(p, chromedp.Evaluate[bool]("t.until(() => "+condition+")", chromedp.EvalAwaitPromise)); err != nil {
		p.t.Fatalf("timeout while waiting for %s: %v\n%s", condition, err, p.state())
	}
}

// state returns the page's current content, if it is available.
func (p *tab) state() string {
	body, _ := run(p, chromedp.Evaluate[string]("document.body.innerText"))
	return "The page shows:\n" + body
}

// sees waits until an element of a selector shows a text. "abc…" matches a prefix.
func (p *tab) sees(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("t.all(%s, %s).length > 0", js(selector), js(text)))
}

// shows waits until the elements of a selector contain a text.
func (p *tab) shows(selector, text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("t.text(%s).includes(%s)", js(selector), js(text)))
}

// has reports whether such an element exists now.
func (p *tab) has(selector, text string) bool {
	p.t.Helper()
	return ask[bool](p, fmt.Sprintf("t.all(%s, %s).length > 0", js(selector), js(text)))
}

// click clicks an element with the mouse once nothing covers it.
func (p *tab) click(selector, text string) {
	p.t.Helper()
	p.clickOn(fmt.Sprintf("t.all(%s, %s)[0]", js(selector), js(text)))
}

func (p *tab) clickOn(element string) {
	p.t.Helper()
	for range 5 {
		at, err := run(p, chromedp.Evaluate[struct{ X, Y float64 }]("t.spot(() => "+element+")", chromedp.EvalAwaitPromise))
		if err != nil {
			over, _ := run(p, chromedp.Evaluate[string]("t.over("+element+")"))
			p.t.Fatalf("%s cannot be clicked, because of %s: %v\n%s", element, over, err, p.state())
		}
		must(p, "click "+element, chromedp.MouseClickXY(at.X, at.Y))
		if ask[bool](p, "globalThis.t?.hit() ?? true") { // without t the click has changed the page
			return
		}
	}
	p.t.Fatalf("%s keeps moving away from the mouse", element)
}

// enter types a text into a labeled field and replaces its content.
func (p *tab) enter(label, text string) {
	p.t.Helper()
	field := fmt.Sprintf("t.field(%s)", js(label))
	p.clickOn(field)
	ask[bool](p, field+".select() ?? true")
	command(p, input.InsertText, input.InsertTextParams{Text: text})
}

// set sets a field without typing, such as a date or a choice.
func (p *tab) set(label, value string) {
	p.t.Helper()
	p.until(fmt.Sprintf("t.field(%s)", js(label)))
	ask[string](p, fmt.Sprintf(`(f => { f.value = %s; f.dispatchEvent(new Event("change", {bubbles: true})); return f.value })(t.field(%s))`, js(value), js(label)))
}

// press presses a key, such as kb.Tab.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		must(p, "press a key", chromedp.KeyEvent(key))
	}
}

// focused returns the tag and the text of the focused element.
func (p *tab) focused() string {
	p.t.Helper()
	return ask[string](p, `((e) => e.tagName.toLowerCase() + " " + (e.getAttribute("aria-label") ?? e.textContent).trim())(document.activeElement)`)
}

// The keys that the tests press.
var tabKey, enterKey, escapeKey, rightKey, homeKey, endKey, pageUpKey = kb.Tab, kb.Enter, kb.Escape, kb.ArrowRight, kb.Home, kb.End, kb.PageUp
