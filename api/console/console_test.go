package console

import (
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gridhook/gridhook/api/wire"
)

// next marks the paths that the console does not serve.
var next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Next", r.URL.Path)
	w.WriteHeader(http.StatusTeapot)
})

func ask(t *testing.T, method, target string, header http.Header) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	WithConsole(next, "partner", wire.Enums()).ServeHTTP(w, r)
	answer := w.Result()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestConsole_Paths(t *testing.T) {
	base := baseOf(t)
	for _, c := range []struct {
		method, path string
		status       int
		contentType  string
		caches       string
	}{
		{"GET", "/console/", 200, "text/html; charset=utf-8", revalidate},
		{"HEAD", "/console/", 200, "text/html; charset=utf-8", revalidate},
		{"GET", "/console/?x=1", 200, "text/html; charset=utf-8", revalidate},
		{"GET", base + "main.js", 200, "text/javascript; charset=utf-8", immutable},
		{"GET", base + "lib/format.js", 200, "text/javascript; charset=utf-8", immutable},
		{"GET", base + "console.css", 200, "text/css; charset=utf-8", immutable},
		{"GET", base + "icon.svg", 200, "image/svg+xml", immutable},
		{"GET", base + "index.html", 404, "text/plain; charset=utf-8", "no-store"},
		{"GET", "/console/0000000000000000/main.js", 404, "text/plain; charset=utf-8", "no-store"},
		{"GET", "/console/../etc/passwd", 404, "text/plain; charset=utf-8", "no-store"},
		{"GET", base, 404, "text/plain; charset=utf-8", "no-store"},
		{"POST", "/console/", 405, "text/plain; charset=utf-8", "no-store"},
		{"GET", "/console", 301, "text/html; charset=utf-8", ""},
		{"GET", "/consoles", 418, "", ""},
		{"POST", "/v1/homes/home_1/price_signal", 418, "", ""},
		{"POST", "//v1/homes", 418, "", ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			answer, body := ask(t, c.method, c.path, nil)
			if answer.StatusCode != c.status || answer.Header.Get("Content-Type") != c.contentType || answer.Header.Get("Cache-Control") != c.caches {
				t.Errorf("%d, %q, %q", answer.StatusCode, answer.Header.Get("Content-Type"), answer.Header.Get("Cache-Control"))
			}
			if c.method == "HEAD" && body != "" {
				t.Errorf("the response to HEAD has a body of %d bytes", len(body))
			}
			if c.status == 418 && answer.Header.Get("X-Next") != c.path {
				t.Errorf("the next handler got the path %q", answer.Header.Get("X-Next"))
			}
		})
	}
}

func TestConsole_SecurityHeaders(t *testing.T) {
	for _, target := range []string{"/console/", "/console", "/console/nothing", baseOf(t) + "main.js"} {
		h, _ := ask(t, "GET", target, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": policy + "'none'", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := h.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
	}
	for _, word := range []string{"unsafe", "http", "data:", "*"} {
		if strings.Contains(policy, word) {
			t.Errorf("the policy has %q", word)
		}
	}
}

// TestConsole_Frames checks that only pages of the named origins may show the console in a
// frame.
func TestConsole_Frames(t *testing.T) {
	w := httptest.NewRecorder()
	WithConsole(next, "partner", wire.Enums(), "https://app.example.com", "https://b.example").ServeHTTP(w, httptest.NewRequest("GET", Root, nil))
	got := w.Header().Get("Content-Security-Policy")
	if !strings.HasSuffix(got, "; frame-ancestors https://app.example.com https://b.example") || w.Header().Get("X-Frame-Options") != "" {
		t.Errorf("policy %q, X-Frame-Options %q", got, w.Header().Get("X-Frame-Options"))
	}
}

func TestConsole_NotModified(t *testing.T) {
	for _, target := range []string{"/console/", baseOf(t) + "main.js"} {
		first, _ := ask(t, "GET", target, nil)
		etag := first.Header.Get("ETag")
		for given, status := range map[string]int{
			etag: 304, "W/" + etag: 304, `"other", ` + etag: 304, "*": 304, `"other"`: 200, "": 200,
		} {
			again, body := ask(t, "GET", target, http.Header{"If-None-Match": {given}})
			if again.StatusCode != status || (body == "") != (status == 304) {
				t.Errorf("%s with If-None-Match %s: %d with %d bytes", target, given, again.StatusCode, len(body))
			}
		}
	}
}

func TestConsole_AudienceAndVersion(t *testing.T) {
	assets := fstest.MapFS{
		"assets/index.html": {Data: []byte(`<html data-audience="{audience}"><script src="{base}main.js">`)},
		"assets/main.js":    {Data: []byte(`1`)},
	}
	one, err := load(assets, "operator", nil)
	if err != nil {
		t.Fatal(err)
	}
	if body := string(one[Root].body); !strings.Contains(body, `data-audience="operator"`) || strings.ContainsAny(body, "{}") {
		t.Errorf("the page is %s", body)
	}
	assets["assets/main.js"] = &fstest.MapFile{Data: []byte(`2`)}
	two, err := load(assets, "operator", nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(two))) || one[Root].etag == two[Root].etag {
		t.Error("a changed main.js has the same name")
	}
	assets["assets/main.ts"] = &fstest.MapFile{}
	if _, err := load(assets, "operator", nil); err == nil {
		t.Error("a file of unknown type was accepted")
	}
}

var (
	base       = regexp.MustCompile(`/console/[0-9a-f]{16}/`)
	imports    = regexp.MustCompile(`(?m)^(?:import|export)\b[^"\n]*\bfrom "([^"]+)"`)
	references = regexp.MustCompile(`(?:src|href)="([^"]+)"`)
)

func baseOf(t *testing.T) string {
	t.Helper()
	_, body := ask(t, "GET", "/console/", nil)
	found := base.FindString(body)
	if found == "" {
		t.Fatal("the page names no script or style")
	}
	return found
}

// The page and its modules name only files that the console serves, and every module is
// used. All together stay small.
func TestAssets_Complete(t *testing.T) {
	files, err := load(embedded, "partner", wire.Enums())
	if err != nil {
		t.Fatal(err)
	}
	reached := map[string]bool{}
	var visit func(at string)
	visit = func(at string) {
		f, ok := files[at]
		if !ok {
			t.Errorf("%s is named and not served", at)
			return
		}
		if reached[at] {
			return
		}
		reached[at] = true
		pattern := imports
		if at == Root {
			pattern = references
		}
		for _, m := range pattern.FindAllStringSubmatch(string(f.body), -1) {
			switch target := m[1]; {
			case strings.HasPrefix(target, "#"):
			case strings.HasPrefix(target, "."):
				visit(path.Join(path.Dir(at), target))
			default:
				visit(target)
			}
		}
	}
	visit(Root)
	size := 0
	for at, f := range files {
		if size += len(f.body); !reached[at] {
			t.Errorf("%s is served and not named", at)
		}
	}
	const most = 250_000
	if size > most {
		t.Errorf("the console has %d bytes, more than %d", size, most)
	}
}

// The page treats the API's responses as text, never as markup, code or style. It loads
// nothing from other servers.
func TestModules_Rules(t *testing.T) {
	banned := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|setAttribute\(["']style|https?://|localStorage\.setItem\([^)]*key`)
	// The name of SVG's elements is only an address.
	const namespace = "http://www.w3.org/2000/svg"
	err := fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(embedded, name)
		text := strings.ReplaceAll(string(body), namespace, "")
		// An example address in a text is no reference.
		text = strings.ReplaceAll(text, "https://example.com/", "")
		if found := banned.FindString(text); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		if lines := strings.Count(text, "\n"); lines > 450 {
			t.Errorf("%s has %d lines", name, lines)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEnums_Labels checks that the page has a label for each value that it shows.
func TestEnums_Labels(t *testing.T) {
	for file, names := range map[string][]string{
		"lib/outcomes.js": {"Outcome"}, "views/endpointform.js": {"EventType", "Signature", "DeliveryMode"},
		"views/savings.js": {"SavingsType"}, "views/health.js": {"HealthState", "BreakerState"},
	} {
		body, err := fs.ReadFile(embedded, "assets/"+file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if len(wire.Enums()[name]) == 0 {
				t.Errorf("there is no enumeration %s", name)
			}
			for _, value := range wire.Enums()[name] {
				if !regexp.MustCompile(`\b"?` + regexp.QuoteMeta(value) + `"?:`).Match(body) {
					t.Errorf("%s has no label for %s of %s", file, value, name)
				}
			}
		}
	}
}
