package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Every view must be legible in each of these looks.
var (
	widths = []int64{1280, 390}
	themes = []string{"light", "dark"}
)

// look checks the page in every look, and saves a picture of each.
func (p *tab) look(name string) {
	p.t.Helper()
	for _, width := range widths {
		for _, theme := range themes {
			p.appear(width, theme)
			as := fmt.Sprintf("%s-%d-%s", name, width, theme)
			p.legible(as)
			p.named(as)
			p.keep(as)
		}
	}
	p.appear(widths[0], themes[0])
}

// appear sets the page's width and theme, and waits until it is drawn.
func (p *tab) appear(width int64, theme string) {
	p.t.Helper()
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
	p.until(fmt.Sprintf("innerWidth === %d", width))
	p.until(`[...document.querySelectorAll(".plot")].every((e) => e.firstElementChild?.getBoundingClientRect().width === Math.round(e.getBoundingClientRect().width))`)
}

// legible checks the contrast and size of texts, and that nothing is wider than the page.
func (p *tab) legible(as string) {
	p.t.Helper()
	check, err := os.ReadFile("testdata/legible.js")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, w := range ask[[]string](p, string(check)) {
		p.t.Errorf("%s: %s", as, w)
	}
}

// spoken are the roles whose elements must have an accessible name.
var spoken = []string{
	"button", "link", "textbox", "searchbox", "combobox", "checkbox", "spinbutton", "slider", "progressbar", "image", "dialog", "table", "region", "navigation", "form", "Date",
}

// named checks that every control and landmark has a name.
func (p *tab) named(as string) {
	p.t.Helper()
	for _, n := range command(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if !n.Ignored && slices.Contains(spoken, text(n.Role)) && text(n.Name) == "" {
			p.t.Errorf("%s: a %s has no name", as, text(n.Role))
		}
	}
}

func text(v *accessibility.Value) string {
	if v == nil || len(v.Value) < 2 {
		return ""
	}
	return string(v.Value[1 : len(v.Value)-1])
}

// keep saves a picture of the whole page in the folder GRIDHOOK_SCREENSHOTS, if it is
// set.
func (p *tab) keep(name string) {
	dir := os.Getenv("GRIDHOOK_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := run(p, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Errorf("no picture %s: %v", name, err)
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		p.t.Error(err)
	}
}
