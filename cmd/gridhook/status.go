package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/events"
)

// statusReport is the status of a server and of an organization on it.
type statusReport struct {
	Server string `json:"server"`
	As     string `json:"as"`
	// Ready says whether the server accepts requests and delivers. NotReady is the reason
	// if not. Only the admin address returns them.
	Ready    *bool  `json:"ready,omitempty"`
	NotReady string `json:"notReady,omitempty"`
	// Organization and the following fields describe the named organization or the key's
	// organization.
	Organization string           `json:"organization,omitempty"`
	Suspended    bool             `json:"suspended,omitempty"`
	Endpoints    []endpointStatus `json:"endpoints,omitempty"`
	LastTrigger  *events.Progress `json:"lastTrigger,omitempty"`
}

// endpointStatus is the status of an endpoint.
type endpointStatus struct {
	ID      string `json:"id"`
	URL     string `json:"url"`
	Enabled bool   `json:"enabled"`
	Health  string `json:"health"`
}

func newStatusCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether a server is ready, and the state of an organization", Args: takes(),
		Long: `Show whether the server is ready. For an organization, also show the health of its
endpoints and the outcome of its last trigger of price signals. The exit code is 1 if
the server is not ready.`,
		Example: `  gridhook status
  gridhook status --org acme
  gridhook status --api-url https://gridhook.example.com`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.connect()
			if err != nil {
				return err
			}
			s := statusReport{Server: g.server(), As: "partner", Organization: g.org}
			if !g.isPartner() {
				s.As = "operator"
				if err := s.askReady(cmd.Context()); err != nil {
					return err
				}
			}
			if g.isPartner() || g.org != "" {
				if err := s.askOrganization(cmd.Context(), c); err != nil {
					return err
				}
			}
			if err := g.show(s, func(w io.Writer) { showStatus(w, s) }); err != nil {
				return err
			}
			if s.Ready != nil && !*s.Ready {
				return errors.New("the server is not ready")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&g.org, "org", "", "`organization` to show in addition (GRIDHOOK_ORG)")
	return g.talks(g.watchable(cmd))
}

// askReady queries the admin address. It needs no key.
func (s *statusReport) askReady(ctx context.Context) error {
	const wait = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(s.Server, "/")+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var said struct{ Status, Reason string }
	const most = 64 << 10
	if err := json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&said); err != nil {
		return fmt.Errorf("%s is not a Gridhook server: unexpected response: %w", s.Server, err)
	}
	ready := response.StatusCode == http.StatusOK
	if s.Ready = &ready; !ready {
		s.NotReady = cmp.Or(said.Reason, "status "+response.Status)
	}
	return nil
}

func (s *statusReport) askOrganization(ctx context.Context, c *client.Client) error {
	if s.As == "operator" { // a suspended partner's key is refused
		o, err := c.GetOrganization(ctx, s.Organization)
		if err != nil {
			return err
		}
		s.Suspended = o.Suspended
	}
	endpoints, err := client.All(ctx, c.Endpoints)
	if err != nil {
		return err
	}
	for i := range endpoints {
		e := &endpoints[i]
		s.Endpoints = append(s.Endpoints, endpointStatus{e.ID, e.URL, e.Enabled, or(health(e.Health))})
	}
	const most = 100 // after a change of prices, each changed OpenADR object has its own trigger
	newest, err := c.Triggers(ctx, most)
	if len(newest) > 0 {
		signals := func(p events.Progress) bool { return p.Notification == nil }
		last := &newest[max(0, slices.IndexFunc(newest, signals))]
		s.LastTrigger, s.Organization = last, last.OrganizationID
	}
	return err
}

func showStatus(w io.Writer, s statusReport) {
	row(w, "server", s.Server+", as "+s.As)
	if s.Ready != nil {
		row(w, "ready", map[bool]string{true: "yes", false: "no: " + s.NotReady}[*s.Ready])
	}
	if s.Organization != "" {
		row(w, "organization", s.Organization+map[bool]string{true: ", suspended"}[s.Suspended])
	}
	for _, e := range s.Endpoints {
		state := e.Health
		if !e.Enabled {
			state = "paused or disabled"
		}
		row(w, "endpoint", fmt.Sprintf("%s, %s: %s", e.ID, e.URL, state))
	}
	if len(s.Endpoints) == 0 && s.Organization != "" {
		row(w, "endpoint", "none: register one with gridhook endpoint create")
	}
	if p := s.LastTrigger; p != nil {
		row(w, "last trigger", fmt.Sprintf("%s, %s at %s: %s", p.TriggerID, p.Status, moment(p.CreatedAt), outcomeLine(*p)))
	}
}
