package sources

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/pricing/market"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/redact"
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
	return fetchQuery(t, a, answer, feed.Query{Secret: secret})
}

// fetchQuery fetches from a server. The URL of the query is below the server's.
func fetchQuery(t *testing.T, a *feed.Adapter, answer http.HandlerFunc, q feed.Query) (*fetcher, error) {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	q.URL, q.Location = server.URL+q.URL, time.UTC
	f := &fetcher{client: server.Client(), adapter: a, query: &q, now: storagetest.Start}
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

// silent is a client whose server never responds.
type silent struct{}

func (silent) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestFetch_Timeout has a server that never responds.
func TestFetch_Timeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetcher{client: silent{}, adapter: paged(1), query: &feed.Query{URL: "http://source"}}
		began := time.Now()
		if err := f.run(t.Context()); err == nil || err.Error() != "no complete response within 1m0s" || time.Since(began) != fetchTimeout {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
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

// TestFetch_QueryHidden has a server that repeats the key in the source's address as it is
// written and as it is decoded. The error shows the rest of the response.
func TestFetch_QueryHidden(t *testing.T) {
	adapter, _ := feed.ByName("json")
	for query, keys := range map[string][]string{
		"s3cretkey12345":             {"s3cretkey12345"},
		"a=1;key=s3cretkey12345":     {"s3cretkey12345"},
		"key=s3cret;key12345":        {"s3cret", "key12345"},
		"key=abc;def":                {"abc;def"},
		"key=s3cret%2fkey12345":      {"s3cret/key12345", "s3cret%2fkey12345", "s3cret%2Fkey12345"},
		"key=s3cret%zzkey12345":      {"s3cret%zzkey12345"},
		"key=ab+cd/ef==":             {"ab+cd/ef==", "ab cd/ef==", "ab%2Bcd%2Fef%3D%3D"},
		"key=k3ys":                   {"k3ys"},
		"zone=N&key=s3%22cretkey123": {`s3"cretkey123`},
	} {
		for _, key := range append(keys, query) {
			_, err := fetchQuery(t, &adapter, text("denied: <"+key+">"), feed.Query{URL: "/?" + query})
			if err == nil || !strings.Contains(err.Error(), `"denied: <********`) || strings.Contains(err.Error(), key) {
				t.Errorf("?%s: the error after %q is %v", query, key, err)
			}
		}
	}
}

// TestFetch_QueryCut has a server that repeats the key in the source's address where the
// error cuts the response.
func TestFetch_QueryCut(t *testing.T) {
	const key = `Pa"ssword1234`
	adapter, _ := feed.ByName("json")
	for name, filler := range map[string]string{"characters": strings.Repeat("x", 80), "white space": "x" + strings.Repeat(" ", 198) + "x"} {
		for long := range len(key) {
			_, err := fetchQuery(t, &adapter, text(filler[long:]+key+" y"), feed.Query{URL: "/?key=" + url.QueryEscape(key)})
			if err == nil || !strings.Contains(err.Error(), `begins with "x`) || strings.Contains(err.Error(), "xP") {
				t.Errorf("%s, cut after %d characters of the key: %v", name, long, err)
			}
		}
	}
}

// TestFetch_QueryOrdinary has bad responses that contain the values in the source's address.
// The error is about the response.
func TestFetch_QueryOrdinary(t *testing.T) {
	adapter, _ := feed.ByName("csv")
	const node = "TH_NP15_GEN-APND"
	for query, want := range map[string]string{
		"node=" + node: `row 1: priceusdmwh: "abc" is not a number`, "column=price_usd_mwh": `row 1: priceusdmwh: "abc" is not a number`,
		"node=TH_NP15_GEN%2DAPND&v=1": `row 1: priceusdmwh: "abc" is not a number`,
	} {
		body := "start,node,price_usd_mwh\n2026-07-01T00:00:00Z," + node + ",abc\n"
		_, err := fetchQuery(t, &adapter, text(body), feed.Query{URL: "/?" + query, Parameters: map[string]string{"node": node}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("?%s: the error is %v, want %s", query, err, want)
		}
	}
	_, err := fetchQuery(t, &adapter, text("start,node,price_usd_mwh\n2026-07-01T00:00:00Z,OTHER,30\n"), feed.Query{URL: "/?node=" + node, Parameters: map[string]string{"node": node}})
	if err == nil || !strings.Contains(err.Error(), "prices of "+node) || !strings.Contains(err.Error(), "prices of OTHER") {
		t.Errorf("the error about another node is %v", err)
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
		if got := redact.New(withParts([]string{tt.secret})...).Mask(tt.text); got != tt.want {
			t.Errorf("%q without %q: %q, want %q", tt.text, tt.secret, got, tt.want)
		}
	}
}

// TestSecretsOf_Query counts the values of an address that may be keys as secrets.
func TestSecretsOf_Query(t *testing.T) {
	q := &feed.Query{URL: "https://prices.example/?zone=NP15&sig=opaque%2Fkey&sig=another-key", Secret: "abc", Parameters: map[string]string{"node": "NP15"}}
	if got := redact.New(withParts(secretsOf(q))...).Mask("abc opaque/key opaque%2Fkey another-key NP15"); got != "******** ******** ******** ******** NP15" {
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
