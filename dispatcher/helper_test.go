package dispatcher

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/gridhook/gridhook/dispatcher/webhook"
)

// quiet discards the log of test servers.
var quiet = log.New(io.Discard, "", 0)

var testSecret = webhook.SecretPrefix + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s", 24)))

// verify checks a signature like a partner, with the standard webhooks library.
func verify(t testing.TB, secret, id, timestamp, signature string, body []byte) error {
	t.Helper()
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return hook.VerifyIgnoringTimestamp(body, http.Header{
		"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature},
	})
}

// tokenServer is a token endpoint that issues numbered tokens.
type tokenServer struct {
	mu     sync.Mutex
	asked  int
	answer func(n int, w http.ResponseWriter) // its response instead of a token, if not nil
}

func (a *tokenServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	a.asked++
	n, answer := a.asked, a.answer
	a.mu.Unlock()
	if answer != nil {
		answer(n, w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, n)
}

func (a *tokenServer) times() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}
