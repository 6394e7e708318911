package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for a machine without time zones
)

// clockChange returns the last day before today with that many hours in the homes' time
// zone: 23 or 25 at a clock change.
func clockChange(t *testing.T, hours int) time.Time {
	t.Helper()
	at, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().In(at)
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, at)
	for range 366 {
		next := day
		day = day.AddDate(0, 0, -1)
		if next.Sub(day) == time.Duration(hours)*time.Hour {
			return day
		}
	}
	t.Fatalf("no day of %d hours within a year", hours)
	return day
}

// drawSignals finds a home and draws its signal: the next day, and the days of clock
// changes.
func (p *tab) drawSignals() {
	p.t.Helper()
	p.click("nav a", "Homes")
	p.until(`t.all("tbody").length === 50`)
	p.look("homes")
	p.enter("Search", "home_000")
	p.until(`t.all("tbody").length === 10`)
	p.click("td a", home(3))
	p.sees("h1", home(3))
	p.until(`t.all(".plot path.line.import").length === 1`)
	p.until(`document.querySelector(".plot").getAttribute("aria-valuemax") === "95"`)

	back := clockChange(p.t, 25)
	p.set("From local midnight in "+zone+" of", back.Format(time.DateOnly))
	p.until(`document.querySelector(".plot")?.getAttribute("aria-valuemax") === "99"`)
	p.shows(".notice", "the clocks go back 1 hour: it is 01:00 again. The window has 100 quarter hours.")
	p.shows(".plot .change text", "clocks go back 1 h")
	p.readsWithKeys(back)
	p.explains()
	p.look("home")
	p.click("summary", "The same as a table")
	p.until(`t.all("table.plain tbody tr").length === 100`)
	for _, row := range []string{", 01:00 – 01:15 PDT", ", 01:00 – 01:15 PST", ", 23:45 – 00:00 PST"} {
		p.shows("table.plain tbody th", back.Format("Mon 2 Jan")+row)
	}

	forward := clockChange(p.t, 23)
	p.set("From local midnight in "+zone+" of", forward.Format(time.DateOnly))
	p.until(`document.querySelector(".plot")?.getAttribute("aria-valuemax") === "91"`)
	p.shows(".notice", "the clocks go forward 1 hour: it is 03:00 at once.")
	p.set("for", "7")
	p.until(`document.querySelector(".plot")?.getAttribute("aria-valuemax") === "667"`)
	p.look("home-week")
	p.saves()
}

// saves estimates the home's savings, and sees its best day drawn.
func (p *tab) saves() {
	p.t.Helper()
	p.set("for", "1")
	p.until(`document.querySelector(".plot")?.getAttribute("aria-valuemax") === "91"`)
	p.click("button", "Estimate savings")
	p.sees("dt", "Saved")
	p.until(`t.all(".plot.day path.line.optimized").length === 2`)
	p.until(`document.querySelector(".plot.day").getAttribute("aria-label").includes("thermostat-3")`)
	p.look("savings")
}

// readsWithKeys moves the cursor over the hour that occurs twice.
func (p *tab) readsWithKeys(day time.Time) {
	p.t.Helper()
	ask[bool](p, `document.querySelector(".plot").focus() ?? true`)
	p.press(homeKey)
	date := day.Format("Mon 2 Jan")
	p.valueBegins(date + ", 00:00 – 00:15 PDT: Import $")
	p.press(rightKey, rightKey, rightKey, rightKey)
	p.valueBegins(date + ", 01:00 – 01:15 PDT")
	p.press(rightKey, rightKey, rightKey)
	p.valueBegins(date + ", 01:45 – 01:00 PDT")
	p.press(rightKey)
	p.valueBegins(date + ", 01:00 – 01:15 PST")
	p.press(endKey)
	p.valueBegins(date + ", 23:45 – 00:00 PST")
}

// valueBegins checks the beginning of the cursor's accessible text, and of the text on
// the page.
func (p *tab) valueBegins(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector(".plot").getAttribute("aria-valuetext").startsWith(%s)`, js(text)))
	moment, _, _ := strings.Cut(text, ": ")
	p.sees(".moment", moment)
}

// explains opens an interval in the evening with the keyboard, and another with the
// mouse.
func (p *tab) explains() {
	p.t.Helper()
	p.press(homeKey, pageUpKey, pageUpKey, pageUpKey, pageUpKey, enterKey)
	p.shows(".panel h3", "15:00 – 15:15 PST")
	p.shows(".panel", "What one more kWh drawn costs, by Pacific Gas & Electric")
	p.shows(".panel", "16%: part of it is a forecast, not in force yet, or depends on a fact that Gridhook does not know.")
	p.clickOn(`document.querySelector(".plot")`)
	p.until(`!t.text(".panel h3").includes("15:00 – 15:15 PST")`)
}
