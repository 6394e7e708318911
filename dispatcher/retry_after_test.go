package dispatcher

import (
	"testing"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/target"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// A retry is postponed while its endpoint is down or has asked to wait, and if it may not wait
// for a slow endpoint, but not beyond its deadline. A notification, and a retry that may not
// wait, return less and less often. The jitter is a half of each delay.
func TestRetryAfter(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		n := w.worker()
		now := time.Now()
		const hold, none = 10 * time.Second, -1
		responds := func(*gate.Endpoint) {}
		fails := func(e *gate.Endpoint) { // until 7.5 s from now
			for e.OpenUntil(now).IsZero() {
				leave(t, e, gate.Report{Sent: true, Deliveries: 1})
			}
		}
		holds := func(e *gate.Endpoint) {
			leave(t, e, gate.Report{Sent: true, Responded: true, RetryAfter: hold, Deliveries: 1})
		}
		for name, c := range map[string]struct {
			endpoint       func(*gate.Endpoint)
			attempt, round int
			giveUp         time.Duration // 0 means an hour
			age            time.Duration
			change         bool
			refused        bool
			want           time.Duration // from now
		}{
			"responds":                              {endpoint: responds, attempt: 2, want: none},
			"responds to a notification":            {endpoint: responds, attempt: 2, change: true, want: none},
			"may not wait":                          {endpoint: responds, attempt: 1, refused: true, want: 5 * time.Second},
			"may not wait again":                    {endpoint: responds, attempt: 1, round: 2, refused: true, want: 20 * time.Second},
			"may not wait, after many failures":     {endpoint: responds, attempt: 9, refused: true, want: 30 * time.Second},
			"may not wait beyond its deadline":      {endpoint: responds, attempt: 2, refused: true, giveUp: 4 * time.Second, want: 4 * time.Second},
			"may not wait after its deadline":       {endpoint: responds, attempt: 2, refused: true, age: 2 * time.Hour, want: none},
			"fails":                                 {endpoint: fails, attempt: 4, want: 8500 * time.Millisecond},
			"fails, may not wait":                   {endpoint: fails, attempt: 2, refused: true, want: 10 * time.Second},
			"fails at a notification":               {endpoint: fails, attempt: 3, change: true, want: 20 * time.Second},
			"fails beyond a retry's deadline":       {endpoint: fails, attempt: 2, giveUp: 2 * time.Second, want: 2 * time.Second},
			"fails beyond a first attempt's limit":  {endpoint: fails, attempt: 1, giveUp: 2 * time.Second, want: 2 * time.Second},
			"fails after the deadline":              {endpoint: fails, attempt: 2, age: 2 * time.Hour, want: none},
			"asks to wait":                          {endpoint: holds, attempt: 2, want: 11 * time.Second},
			"asks to wait beyond a retry's limit":   {endpoint: holds, attempt: 2, giveUp: 2 * time.Second, want: 2 * time.Second},
			"asks to wait, before a first response": {endpoint: holds, attempt: 1, giveUp: 2 * time.Second, want: 11 * time.Second},
		} {
			if c.giveUp == 0 {
				c.giveUp = time.Hour
			}
			policy := storage.RetryPolicy{InitialSeconds: 10, Multiplier: 2, MaxSeconds: 60, GiveUpSeconds: c.giveUp.Seconds()}
			to := &target.Target{Gate: n.gate.NewEndpoint("org")}
			to.RetryPolicy = policy
			to.Gate.Configure(policy, 0, 1)
			c.endpoint(to.Gate)
			r := &events.Retry{Attempt: c.attempt, Round: c.round, Trigger: events.Trigger{OrganizationID: "org", CreatedAt: storage.Time{Time: now.Add(-c.age)}}}
			if c.change {
				r.Trigger.Change = &events.Change{}
			}
			got := n.retryAfter(r, to, c.refused)
			if after := got.Sub(now); got.IsZero() != (c.want == none) || !got.IsZero() && after != c.want {
				t.Errorf("%s: the retry is due %s from now, want %s", name, after, c.want)
			}
		}
	})
}

// leave makes a request to an endpoint and reports its end.
func leave(t *testing.T, e *gate.Endpoint, r gate.Report) {
	t.Helper()
	pass, err := e.Enter(t.Context(), func() int { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	pass.Leave(r)
}
