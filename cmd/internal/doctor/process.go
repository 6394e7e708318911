package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
)

// running queries the process with these settings, if it runs.
func (r *Report) running(ctx context.Context, c *config.Config) {
	const check = "process"
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const maxBytes = 4 << 10
	status, text, err := ask(ctx, c, "/readyz", maxBytes)
	var health struct{ Status, Reason string }
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		r.ok(check, "not running on %s: these are the settings of a process to start", c.Admin)
		if used, process, _ := app.InUse(c.Data); used { // dataFolder reports errors
			r.problem("data folder", "stop that process, or name another folder with --data", "%s is in use by another gridhook%s", c.Data, process)
		}
		r.addresses(ctx, c)
	case err != nil:
		r.add(check, Unknown, "check which process listens there", "query of the process on %s failed: %v", c.Admin, err)
	case json.Unmarshal([]byte(text), &health) != nil || health.Status == "":
		r.problem(check, "stop the other program, or set another admin address", "the program that listens on %s is not Gridhook", c.Admin)
	case status != http.StatusOK:
		r.problem(check, "see the runbook GridhookNotReady of the operator's guide", "the process on %s is not ready: %s", c.Admin, health.Reason)
	default:
		r.ok(check, "the process on %s is ready", c.Admin)
		if used, _, err := app.InUse(c.Data); !used && err == nil {
			r.warn("data folder", "name the folder of the process with --data", "the process on %s does not use %s", c.Admin, c.Data)
		}
		if c.Role == config.Serve { // for other roles the doctor asks NATS
			r.askDeadLetters(ctx, c)
		}
	}
}

// addresses checks whether a process with these settings could listen. The process does
// not run, so another program holds an address in use. This user may lack the permission
// for a port that the service has.
func (r *Report) addresses(ctx context.Context, c *config.Config) {
	check := func(setting, address string) {
		if err := app.CheckAddress(ctx, address); err != nil && !errors.Is(err, fs.ErrPermission) {
			r.problem("addresses", "correct --"+setting, "%v", err)
		}
	}
	check("admin", c.Admin)
	if c.Role != config.Worker {
		check("http", c.HTTP)
	}
	if c.Role == config.Serve && c.MQTT != "" {
		check("mqtt", c.MQTT)
	}
}

var deadLettersLine = regexp.MustCompile(`(?m)^gridhook_dead_letters (\S+)$`)

// askDeadLetters queries the running process for its dead letters.
func (r *Report) askDeadLetters(ctx context.Context, c *config.Config) {
	const maxBytes = 4 << 20
	_, metrics, err := ask(ctx, c, "/metrics", maxBytes)
	line := deadLettersLine.FindStringSubmatch(metrics)
	switch {
	case err != nil:
		r.add("dead letters", Unknown, "check /metrics", "query of the process on %s failed: %v", c.Admin, err)
	case line == nil:
		r.add("dead letters", Unknown, "check /metrics", "the process on %s does not report them", c.Admin)
	default:
		if n, err := strconv.ParseFloat(line[1], 64); err == nil {
			r.judgeDeadLetters(uint64(n))
		}
	}
}

// judgeDeadLetters judges the number of messages that could not be processed.
func (r *Report) judgeDeadLetters(n uint64) {
	const check = "dead letters"
	if n == 0 {
		r.ok(check, "none")
		return
	}
	r.warn(check, "see the runbook GridhookDeadLetters of the operator's guide", "%s could not be processed", counted(int(n), "message", "messages")) //nolint:gosec // a thousand at most
}

// ask returns the admin listener's response on a path, up to maxBytes bytes. It connects
// directly and ignores the environment's proxy.
func ask(ctx context.Context, c *config.Config, path string, maxBytes int64) (status int, text string, err error) {
	transport, scheme := &http.Transport{DisableKeepAlives: true}, "http://"
	if c.AdminTLS != (config.KeyPair{}) {
		scheme = "https://"
		if transport.TLSClientConfig, err = trusting(c.AdminTLS.Certificate); err != nil {
			return 0, "", err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+reachable(c.Admin)+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBytes))
	return response.StatusCode, strings.TrimSpace(string(body)), err
}

// reachable returns the address to connect to for a listening address. For all interfaces
// it returns the loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// trusting accepts only the certificate in a file. It ignores the name, because the
// certificate need not name the listening address.
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
				return fmt.Errorf("its certificate differs from the certificate in %s", file)
			}
			return nil
		},
	}, nil
}
