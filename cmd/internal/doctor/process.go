package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gridhook/gridhook/config"
)

// running asks the process that these settings are of, if it runs.
func (r *Report) running(ctx context.Context, c *config.Config) {
	const check = "process"
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, why, err := askReady(ctx, c)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		r.ok(check, "none answers on %s: these are the settings of one that would be started", c.Admin)
	case err != nil:
		r.add(check, Unknown, "look at what listens there", "what is on %s could not be found out: %v", c.Admin, err)
	case status != http.StatusOK:
		r.problem(check, "see the runbook GridhookNotReady of the operator's guide", "the one on %s is not ready: %s", c.Admin, why)
	default:
		r.ok(check, "the one on %s is ready", c.Admin)
	}
}

// askReady is what the admin listener of these settings answers on /readyz. It is asked
// directly, whatever proxy the environment names.
func askReady(ctx context.Context, c *config.Config) (status int, why string, err error) {
	transport, scheme := &http.Transport{DisableKeepAlives: true}, "http://"
	if c.AdminTLS != (config.KeyPair{}) {
		scheme = "https://"
		if transport.TLSClientConfig, err = trusting(c.AdminTLS.Certificate); err != nil {
			return 0, "", err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+reachable(c.Admin)+"/readyz", nil)
	if err != nil {
		return 0, "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	const most = 300
	text, err := io.ReadAll(io.LimitReader(response.Body, most))
	return response.StatusCode, strings.TrimSpace(string(text)), err
}

// reachable is where to ask what listens on an address: of one for every interface, on
// this machine.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// trusting takes the one certificate in a file and no other: it is for the names that
// operators use, of which the address to listen on need not be one.
func trusting(file string) (*tls.Config, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, err
	}
	leaf, _ := pem.Decode(text)
	if leaf == nil {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return &tls.Config{
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection takes its place
		VerifyConnection: func(s tls.ConnectionState) error {
			if !bytes.Equal(s.PeerCertificates[0].Raw, leaf.Bytes) {
				return fmt.Errorf("it has another certificate than the one in %s", file)
			}
			return nil
		},
	}, nil
}
