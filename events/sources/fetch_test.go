package sources

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// paged is an adapter whose responses have pages, with its secret in the URL.
func paged(pages int) *feed.Adapter {
	at := func(q *feed.Query, page int) feed.Request {
		return feed.Request{URL: fmt.Sprintf("%s/%d?key=%s", q.URL, page, url.QueryEscape(q.Secret))}
	}
	return &feed.Adapter{
		Requests: func(q *feed.Query) ([]feed.Request, error) { return []feed.Request{at(q, 0)}, nil },
		Read: func(q *feed.Query, r *feed.Response) (d feed.Data, err error) {
			page := 0
			if _, err := fmt.Sscan(string(r.Body), &page); err != nil {
				panic(string(r.Body))
			}
			d.Prices = []feed.Prices{{Node: "N", Points: []market.Point{{Start: storagetest.Start, Price: float64(page)}}}}
			if page+1 < pages {
				d.Next = []feed.Request{at(q, page+1)}
			}
			return d, nil
		},
	}
}

// page responds with the number in the path.
func page(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.Path[1:])) }

func fetch(t *testing.T, a *feed.Adapter, answer http.HandlerFunc, secret string) (*fetcher, error) {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	f := &fetcher{client: server.Client(), adapter: a, query: &feed.Query{URL: server.URL, Secret: secret}, now: storagetest.Start}
	return f, f.run(t.Context())
}

func TestFetch_Pages(t *testing.T) {
	f, err := fetch(t, paged(3), page, "")
	if err != nil || len(f.Prices) != 3 || f.requests != 3 || f.validators.Request != "" {
		t.Errorf("%+v, %v", f.fetched, err)
	}
	if f, err := fetch(t, paged(1000), page, ""); err == nil || f.requests != maxRequests {
		t.Errorf("%d requests, %v", f.requests, err)
	}
}

// TestFetch_Panic has an adapter that fails on the server's response.
func TestFetch_Panic(t *testing.T) {
	if _, err := fetch(t, paged(1), text("broken"), ""); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v", err)
	}
}

// TestFetch_SecretHidden checks the errors of a source whose secret is in its URL.
func TestFetch_SecretHidden(t *testing.T) {
	const secret = "s3cret/+ &x"
	echo := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("bad key " + r.URL.Query().Get("key")))
	}
	move := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+url.PathEscape(secret)+"?"+r.URL.RawQuery, http.StatusFound)
	}
	die := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, answer := range map[string]http.HandlerFunc{"echo": echo, "redirect": move, "dies": die, "status": status(http.StatusForbidden)} {
		_, err := fetch(t, paged(1), answer, secret)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), "s3cret"} {
			if strings.Contains(err.Error(), form) {
				t.Errorf("%s: the error %q shows the secret", name, err)
			}
		}
	}
}

// TestFetch_SecretCut has a server that repeats the secret where the error cuts the response.
func TestFetch_SecretCut(t *testing.T) {
	const secret = "ada:pa\"ssword1234"
	adapter, _ := feed.ByName("json")
	for _, cut := range []int{80, 200} {
		for long := range len(secret) {
			_, err := fetch(t, &adapter, text(strings.Repeat("x", cut-long)+secret+" y"), secret)
			if err == nil || long > 0 && !strings.Contains(err.Error(), "xxx") || strings.Contains(err.Error(), "xa") || strings.Contains(err.Error(), "pa") {
				t.Errorf("cut after %d characters of the secret: %v", long, err)
			}
		}
	}
}

// TestRun_SecretHidden has data with the secret that cannot be stored. Neither the log of
// the source nor a check shows the secret.
func TestRun_SecretHidden(t *testing.T) {
	const secret = "s3cret-key"
	w := newWorld(t)
	s := w.add(func(s *storage.Source) {
		s.Secret, s.Parameters = secret, map[string]string{"node": secret}
	})
	w.answer = text(hours(60_000))
	state := w.run(s)
	checked, err := w.Check(t.Context(), s)
	must(t, err)
	for _, run := range []storage.SourceRun{state.Runs[0], checked.SourceRun} {
		if run.Outcome != storage.SourceFailed || !strings.Contains(run.Error, storage.Masked) || strings.Contains(run.Error, secret) {
			t.Errorf("the run is %+v", run)
		}
	}
}

func TestMask_Parts(t *testing.T) {
	for _, tt := range []struct{ text, secret, want string }{
		{"bad key abc", "", "bad key abc"},
		{"bad key abc", "abc", "bad key ********"},
		{"user ada and p%40ss word of abc", "ada:p@ss:abcd", "user ada and ******** word of abc"},
		{"Basic YWRhOnBAc3M6YWJjZA==.", "ada:p@ss:abcd", "Basic ********."},
		{"YWRhOnBAc3M of user:w:ord", "ada:p@ss:abcd", "******** of user:w:ord"},
		{"user:w:ord", "user:w:ord:key1", "********"},
		{`the "pa\"ss\\word" and "pa\u0026ss\/word"`, `pa"ss\word`, `the "********" and "pa\u0026ss\/word"`},
		{`the "pa\u0026ss\/word"`, `pa&ss/word`, `the "********"`},
		{`<p>pa&amp;ss</p>`, `pa&ss`, `<p>********</p>`},
	} {
		if got := mask(tt.text, tt.secret); got != tt.want {
			t.Errorf("%q without %q: %q, want %q", tt.text, tt.secret, got, tt.want)
		}
	}
}

// TestSecretsOf_Query counts the values of an address that may be keys as secrets.
func TestSecretsOf_Query(t *testing.T) {
	q := &feed.Query{URL: "https://prices.example/?zone=NP15&sig=opaque%2Fkey&sig=another-key", Secret: "abc"}
	if got := mask("abc opaque/key opaque%2Fkey another-key NP15", secretsOf(q)...); got != "******** ******** ******** ******** NP15" {
		t.Errorf("got %s", got)
	}
	if got := secretsOf(&feed.Query{URL: "https://prices.example/"}); len(got) != 0 {
		t.Errorf("secrets of an open source: %q", got)
	}
}

func TestSpan_Days(t *testing.T) {
	l, err := time.LoadLocation("America/Los_Angeles")
	must(t, err)
	now := time.Date(2026, time.July, 1, 3, 0, 0, 0, time.UTC) // still June there
	for name, tt := range map[string]struct {
		end  time.Time
		from string
	}{
		"new":              {time.Time{}, "2026-06-16"},
		"tomorrow known":   {now.Add(30 * time.Hour), "2026-06-29"},
		"until today":      {time.Date(2026, time.June, 30, 7, 0, 0, 0, time.UTC), "2026-06-29"},
		"until last night": {time.Date(2026, time.June, 30, 6, 0, 0, 0, time.UTC), "2026-06-28"},
		"long ago":         {now.AddDate(0, -3, 0), "2026-05-30"},
	} {
		from, to := span(now, tt.end, l)
		if got := from.Format("2006-01-02"); got != tt.from || from.Hour() != 0 || to.Format(time.DateOnly) != "2026-07-02" {
			t.Errorf("%s: from %v to %v, want %s", name, from, to, tt.from)
		}
	}
}

func TestRetryAfter_Forms(t *testing.T) {
	now := storagetest.Start
	for text, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "120": 2 * time.Minute, "99999999999": 24 * time.Hour,
		now.Add(time.Hour).Format(http.TimeFormat): time.Hour, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got := retryAfter(text, now); got.Round(time.Second) != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
