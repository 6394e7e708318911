package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait.
const patience = 60 * time.Second

// chromium is the browser to test with.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("GRIDHOOK_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless-shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium: install it, or name one in GRIDHOOK_CHROMIUM")
	return ""
}

// tab is a page in its own browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu sync.Mutex
	// complaints are the errors of the page.
	complaints []string
}

// newTab starts a browser in a time zone that differs from the homes' and from UTC.
func newTab(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.Flag("hide-scrollbars", true), chromedp.WindowSize(1280, 900))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root otherwise
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	helpers, err := os.ReadFile("testdata/page.js")
	if err != nil {
		t.Fatal(err)
	}
	command(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: string(helpers)})
	command(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "America/Denver"})
	t.Cleanup(p.end)
	return p
}

// end fails the test if the page had errors.
func (p *tab) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.complaints {
		p.t.Errorf("the browser reports: %s", c)
	}
	if p.t.Failed() {
		p.keep("failed")
	}
}

// listen collects the page's exceptions and violations of its policy. Error responses of
// the API are not errors of the page.
func (p *tab) listen(event any) {
	var complaint string
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		complaint = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			complaint += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Source != log.EntrySourceNetwork && e.Entry.Level == log.EntryLevelError {
			complaint = fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text)
		}
	}
	if complaint == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, complaint)
}

// run runs an action with the timeout.
func run[T any](p *tab, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// must runs an action that must succeed in time.
func must[T any](p *tab, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	value, err := run(p, action)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	return value
}

// command sends a command of the browser's protocol that must succeed.
func command[P, R any](p *tab, cmd cdp.Command[P, R], params P) R {
	p.t.Helper()
	return must(p, cmd.Method, func(ctx context.Context, t *chromedp.Target) (R, error) {
		return cdp.Call(ctx, t, cmd, params)
	})
}
