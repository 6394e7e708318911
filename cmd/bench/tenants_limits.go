package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
)

// greedyLimits are the limits that the greedy organization exceeds in each round.
var greedyLimits = []limit{
	{"max-unread", "limit max-unread"},
	{"rate-limit", "The API key has sent too many requests"},
	{"waiting-estimates", "savings estimates waiting, which is the limit"},
	{"feedback-rate", "This client address has sent too many requests"},
	{"max-waiting", "limit max-waiting"},
	{"max-endpoints", "limit max-endpoints"},
	{"max-channels", "limit max-channels"},
	{"max-keys", "limit max-keys"},
	{"max-schedules", "limit max-schedules"},
	{"max-idempotency-keys", "limit max-idempotency-keys"},
	{"max-state", "limit max-state"},
}

// operatorLimits are the limits of what only the operator creates for an organization.
var operatorLimits = []limit{
	{"max-homes", "limit max-homes"},
	{"max-sources", "limit max-sources"},
}

// limit is a limit of an organization: the name of its setting, if it has one, and a part of
// the text of its refusals.
type limit struct{ name, text string }

// limitOf returns the name of the limit that the text of a refusal is about, empty if there
// is none.
func limitOf(text string) string {
	for _, l := range slices.Concat(greedyLimits, operatorLimits) {
		if strings.Contains(text, l.text) {
			return l.name
		}
	}
	return ""
}

// refusals counts the refusals by limit, or by the error code if no limit is the reason.
type refusals struct {
	mu      sync.Mutex
	byLimit map[string]int
}

func (r *refusals) add(e *client.Error) {
	name := limitOf(e.Message)
	if name == "" {
		name = e.Code
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byLimit[name]++
}

// complete reports whether each of greedyLimits has a refusal.
func (r *refusals) complete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return missing(greedyLimits, r.byLimit) == nil
}

// missing returns an error that names the limits without a refusal.
func missing(limits []limit, refused map[string]int) error {
	var names []string
	for _, l := range limits {
		if refused[l.name] == 0 {
			names = append(names, l.name)
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("the greedy organization has not reached %s: the refusals are %v", strings.Join(names, ", "), refused)
}

// limitArgs are the server's flags for limits that the greedy organization reaches in
// seconds. The other limits have their defaults.
func limitArgs(homes int) []string {
	return []string{
		"--rate-limit", "100", "--rate-burst", "200", "--max-waiting", "100",
		"--max-homes", fmt.Sprint(homes), "--max-state", "2MiB", "--max-idempotency-keys", "100",
	}
}

// fill creates homes, endpoints, sources, schedules, channels, keys and devices of the greedy
// organization until a limit refuses each. It returns the texts of the keys. The sources
// fetch from url each minute, and fail.
func (m *tenantMeter) fill(ctx context.Context, url string) (keys []string, err error) {
	c := m.Operator.For(greedy)
	minute := 1
	for _, step := range []struct {
		limit  string
		create func() error
	}{
		{"max-homes", func() error {
			_, err := c.CreateHome(ctx, client.NewHome{OrganizationID: greedy, ID: "home_beyond", RatePlanID: "pge-e-elec"})
			return err
		}},
		{"max-endpoints", func() error { return register(ctx, m.Operator, greedy, url) }},
		{"max-sources", func() error {
			_, err := m.Operator.CreateSource(ctx, client.NewSource{
				OrganizationID: greedy, Adapter: "csv", URL: url, Parameters: map[string]string{"node": "n"}, EverySeconds: 60,
			})
			return err
		}},
		{"max-schedules", func() error {
			_, err := c.CreateSchedule(ctx, client.ScheduleFields{EveryMinutes: &minute})
			return err
		}},
		{"max-channels", func() error {
			_, err := client.Call[struct{}](ctx, c, "/v1/channels/create", map[string]string{"kind": "SLACK", "address": url})
			return err
		}},
		{"max-keys", func() error {
			key, err := m.Operator.CreateKey(ctx, client.NewKey{OrganizationID: greedy})
			if err == nil {
				keys = append(keys, key.Text)
			}
			return err
		}},
		{"max-state", func() error { return m.importDevices(ctx) }},
	} {
		if err := m.untilRefused(step.limit, step.create); err != nil {
			return nil, fmt.Errorf("fill the greedy organization up to %s: %w", step.limit, err)
		}
	}
	return keys, nil
}

// untilRefused repeats create until a limit refuses it. Errors: any other error of create.
func (m *tenantMeter) untilRefused(name string, create func() error) error {
	for {
		switch err := create(); {
		case err == nil:
		case limitOf(err.Error()) == name:
			m.refused[name]++
			return nil
		default:
			return err
		}
	}
}

// importDevices imports devices of the greedy organization, under identifiers that were
// not used before.
func (m *tenantMeter) importDevices(ctx context.Context) error {
	const together = 1000
	var lines strings.Builder
	for range together {
		m.devices++
		fmt.Fprintf(&lines, `{"resource":"hvacDevice","organizationId":%q,"deviceId":"dev_%07d","homeId":"home_%07d","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}`+"\n",
			greedy, m.devices, 1+m.devices%(m.homes-1))
	}
	return sandbox.Import(ctx, m.Operator, strings.NewReader(lines.String()))
}

// suspend suspends or resumes the greedy organization.
func (m *tenantMeter) suspend(ctx context.Context, suspended bool) error {
	_, err := m.Operator.UpdateOrganization(ctx, greedy, client.OrganizationFields{Suspended: &suspended})
	return err
}

// collect ends the greedy clients and adds their refusals.
func (m *tenantMeter) collect(asking *child) (map[string]int, error) {
	var refused map[string]int
	if err := asking.finish(&refused); err != nil {
		return nil, err
	}
	for name, n := range refused {
		m.refused[name] += n
	}
	return refused, missing(greedyLimits, refused)
}

// limitsReached returns the number of refusals by each limit.
func (m *tenantMeter) limitsReached() (map[string]int, error) {
	all := slices.Concat(greedyLimits, operatorLimits)
	reached := maps.Clone(m.refused)
	maps.DeleteFunc(reached, func(name string, _ int) bool {
		return !slices.ContainsFunc(all, func(l limit) bool { return l.name == name })
	})
	return reached, missing(all, m.refused)
}
