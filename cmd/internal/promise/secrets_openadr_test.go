package promise

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/openadr"
	"github.com/gridhook/gridhook/storage"
)

// subscribe has a business logic client subscribe to every subscription, with secrets in its
// callback. It returns after a notification of the client's own subscription, which fails.
func subscribe(t *testing.T, p *process, operatorKey string, hidden secrets) {
	t.Helper()
	query, token := "query-of-a-callback-0123456789", "bearer-token-of-a-callback-0123456789"
	hidden.add("callback's query", query)
	hidden.add("callback's bearer token", token)
	queries := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case queries <- r.URL.RawQuery:
		default: // a retry
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(receiver.Close)
	operator := &client.Client{BaseURL: p.admin, Key: strings.TrimSpace(operatorKey)}
	c, err := openadr.NewClient(t.Context(), operator, p.api, organization, storage.ScopeBusiness, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	do := func(method, path, body string) []byte {
		t.Helper()
		var answer json.RawMessage
		if err := c.Do(t.Context(), method, path, body, &answer); err != nil {
			t.Fatal(err)
		}
		hidden.find(t, method+" "+path, answer)
		return answer
	}
	body := `{"clientName":"%s","objectOperations":[{"objects":["SUBSCRIPTION"],"operations":["CREATE","UPDATE"],"callbackUrl":"` + receiver.URL + `/?%s","bearerToken":"%s"}]}`
	id := decode[struct{ ID string }](t, string(do(http.MethodPost, "subscriptions", fmt.Sprintf(body, "first", "sig="+query, token)))).ID
	do(http.MethodPut, "subscriptions/"+id, fmt.Sprintf(body, "second", "********", "********"))
	do(http.MethodGet, "subscriptions", "")
	select {
	case got := <-queries:
		if got != "sig="+query {
			t.Errorf("the callback has the query %q", got)
		}
	case <-time.After(patience):
		t.Error("no callback arrived")
	}
}
