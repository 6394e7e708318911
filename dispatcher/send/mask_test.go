package send

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// shows reports the secrets of a destination in texts that are stored and shown.
func shows(t *testing.T, a Attempt, secrets ...string) {
	t.Helper()
	for _, text := range []string{a.Response, a.Reason(), a.Summary()} {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s is shown in %q", secret, text)
			}
		}
	}
}

// The stored response of a receiver that echoes its request has no secret of the request, in
// any encoding of the echo.
func TestSend_EchoMasked(t *testing.T) {
	password := base64.StdEncoding.EncodeToString([]byte("ada:pass word/1"))
	secrets := []string{"SECRETHDR1", `SECRET"HDR2`, `SECRET\"HDR2`, "SECRETQUERY1", "SECRET/QUERY2", "SECRET%2FQUERY2", "SECRETCOOKIE", "pass word/1", password, "SECRETUSER"}
	for name, echo := range map[string]func(w io.Writer, r *http.Request){
		"as sent": func(w io.Writer, r *http.Request) { text, _ := httputil.DumpRequest(r, true); _, _ = w.Write(text) },
		"as JSON": func(w io.Writer, r *http.Request) {
			_, basic, _ := r.BasicAuth()
			_ = json.NewEncoder(w).Encode(map[string]any{"headers": r.Header, "query": r.URL.Query(), "raw": r.URL.RawQuery, "password": basic})
		},
		"parts": func(w io.Writer, r *http.Request) {
			c, _ := r.Cookie("session")
			_, _ = fmt.Fprintln(w, "no such key:", strings.Fields(r.Header.Get("X-Token"))[1], c.Value, r.URL.Query()["token"])
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusInternalServerError)
				echo(w, r)
			}))
			defer s.Close()
			d := endpointAt(t, s.URL+"/hook?token=SECRETQUERY1&token=SECRET%2FQUERY2&v=1", time.Minute)
			d.URL.User = url.UserPassword("ada1", "SECRETUSER")
			d.Secrets = []string{"Bearer SECRETHDR1", "Basic " + password, `SECRET"HDR2`, "a=b; session=SECRETCOOKIE", "yes"}
			d.Header = http.Header{"X-Token": {d.Secrets[0]}, "Authorization": {d.Secrets[1]}, "X-Quoted": {d.Secrets[2]}, "Cookie": {d.Secrets[3]}, "X-Own": {"yes"}}
			a := post(t, newTestSender(t), d)
			shows(t, a, secrets...)
			if a.Status != 500 || !strings.Contains(a.Response, storage.Masked) || name == "as sent" && !strings.Contains(a.Response, "X-Own: yes") {
				t.Errorf("the response is %d %q", a.Status, a.Response)
			}
		})
	}
}

// A secret that begins before the limit of the stored response and ends after it is masked,
// up to three characters.
func TestSend_EchoCut(t *testing.T) {
	const secret = "SECRETHDR1"
	for cut := range len(secret) + 1 {
		body := strings.Repeat("x", KeptResponse-cut) + secret + " and more"
		address := sink(t, answering(fmt.Sprintf("HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n%s", len(body), body)))
		d := endpointAt(t, "http://"+address, time.Minute)
		d.Secrets = []string{secret}
		a := post(t, newTestSender(t), d)
		if shows(t, a, secret[:4]); a.Status != 500 || len(a.Response) > KeptResponse {
			t.Errorf("cut at %d: the response is %d with %d bytes", cut, a.Status, len(a.Response))
		}
	}
}

// A receiver that sends the bytes of the request back does not speak HTTP. The error quotes
// them.
func TestSend_EchoMalformed(t *testing.T) {
	address := sink(t, func(c net.Conn) {
		request := make([]byte, 1<<10)
		n, _ := c.Read(request)
		_, _ = c.Write(request[:n])
	})
	a := post(t, newTestSender(t), endpointAt(t, "http://"+address+"/hook?token=SECRETQUERY1", time.Minute))
	shows(t, a, "SECRETQUERY1")
	if a.ErrorClass() != events.ErrorResponse || !strings.Contains(a.Reason(), storage.Masked) {
		t.Errorf("the reason is %q", a.Reason())
	}
	if masked := (&Destination{TargetOptions: httpclient.TargetOptions{URL: &url.URL{RawQuery: "network"}}}).maskError(&a, fmt.Errorf("network: %w", errTimeout)); !errors.Is(masked, errTimeout) {
		t.Errorf("the masked error is %v", masked)
	}
}

// An access token and the credentials for it are masked, also those of the repeated request.
func TestSend_EchoToken(t *testing.T) {
	made := 0
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		made++
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":"ACCESS-TOKEN-%d","token_type":"Bearer"}`, made)
	}))
	defer authority.Close()
	for _, status := range []int{401, 500} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "wrong: "+r.Header.Get("Authorization")+" of CLIENT-SECRET at TENANT-KEY")
		}))
		defer s.Close()
		d := endpointAt(t, s.URL, time.Minute)
		d.Tokens = NewTokens(&storage.Authentication{TokenURL: authority.URL + "/?key=TENANT-KEY", ClientID: "gridhook"}, "CLIENT-SECRET")
		sender := newTestSender(t)
		for range 2 {
			a := post(t, sender, d)
			if shows(t, a, "ACCESS-TOKEN", "CLIENT-SECRET", "TENANT-KEY"); a.Status != status || a.Response == "" {
				t.Errorf("the response is %d %q", a.Status, a.Response)
			}
		}
	}
}
