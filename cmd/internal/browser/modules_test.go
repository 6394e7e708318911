package browser

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/gridhook/gridhook/api/console"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// TestModules_Node runs the tests of the console's modules that need no server.
func TestModules_Node(t *testing.T) {
	p := newTab(t)
	source, err := blackbox.Source()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/console/", http.StripPrefix("/console", http.FileServer(http.Dir(filepath.Join(source, "api/console/assets")))))
	mux.HandleFunc("/console/lib/enums.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(console.EnumsModule(wire.Enums()))
	})
	mux.Handle("/modules/", http.StripPrefix("/modules", http.FileServer(http.Dir("testdata/modules"))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	for _, file := range []string{"format_test.js", "chart_test.js", "history_test.js", "copies_test.js", "views_test.js"} {
		t.Run(file, func(t *testing.T) {
			p.open(server.URL + "/modules/")
			result := ask[struct {
				Ran    int
				Failed []string
			}](p, `Promise.all([import("/modules/`+file+`"), import("/modules/harness.js")]).then(([, harness]) => harness.outcome())`)
			if result.Ran == 0 {
				t.Error("no test ran")
			}
			for _, f := range result.Failed {
				t.Error(f)
			}
		})
	}
}
