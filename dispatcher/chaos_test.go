package dispatcher

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/storagetest"
)

// step is an event some time after the previous step.
type step struct {
	After time.Duration
	What  string
	N     int    // the worker or home, or the number of passes of the point before
	Point string // the point at which a worker dies
}

// script lists the faults of two workers, their bus and their partner. The faults end
// with the script.
type script struct {
	Homes, Endpoints int
	Wide             bool
	Steps            []step
}

var deathPoints = []string{
	"before put slice", "after put slice", "before put retries", "after put retries", "before put receipt", "after put receipt",
	"before has receipt", "before reached", "before ack trigger", "before ack slice", "before ack retry",
	"before put task", "after put task", "before ack notice", "before ack task",
}

func drawScript(rt *rapid.T) script {
	s := script{Homes: rapid.IntRange(1, 4*events.SliceHomes).Draw(rt, "homes"), Endpoints: rapid.IntRange(1, 2).Draw(rt, "endpoints")}
	if s.Wide = rapid.Bool().Draw(rt, "wide"); s.Wide {
		s.Homes *= 2
	}
	what := rapid.SampledFrom([]string{
		"die", "die", "die", "kill", "stop", "trigger", "lose", "refuse", "fail", "break", "slow", "heal", "delete", "make again",
	})
	after := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 20 * time.Millisecond, 3 * time.Second, 11 * time.Second, time.Minute})
	for range rapid.IntRange(0, 12).Draw(rt, "steps") {
		st := step{After: after.Draw(rt, "after"), What: what.Draw(rt, "what"), N: rapid.IntRange(0, 7).Draw(rt, "n")}
		if st.What == "die" {
			st.Point = rapid.SampledFrom(deathPoints).Draw(rt, "point")
		}
		s.Steps = append(s.Steps, st)
	}
	return s
}

// complaints collects failures, so that rapid can shrink the script.
type complaints struct {
	testing.TB
	mu   sync.Mutex
	list []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

func (c *complaints) Error(args ...any) { c.Errorf("%s", fmt.Sprint(args...)) }

// chaos runs a script.
type chaos struct {
	*world
	script   script
	triggers []events.Trigger
	// existed holds the homes that existed at each trigger.
	existed []map[string]bool
	changed map[string]bool // homes that were recreated
	workers [2]*node
	kills   int // deaths of workers and of the queue
	// apart is the difference between the clocks of consecutive workers. starts is the
	// number of started workers.
	apart  time.Duration
	starts int

	mu   sync.Mutex
	mode string // how the partner responds
	dies map[string]int
}

// With any faults of workers, each home and endpoint of each trigger ends with exactly
// one outcome, under one webhook-id. The number of deaths limits the repeated
// deliveries. No request is sent after its deadline. Each endpoint is notified of each
// trigger's completion, under one webhook-id.
func TestWorker_Chaos(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		playing(t, rt, drawScript(rt), (*chaos).play)
	})
}

// playing runs a script in its own world and time.
func playing(t *testing.T, rt interface{ Fatalf(string, ...any) }, s script, play func(*chaos)) {
	c := &complaints{}
	synctest.Test(t, func(t *testing.T) {
		c.TB = t
		w := newWorld(c)
		defer w.end()
		play(&chaos{world: w, script: s, changed: map[string]bool{}, dies: map[string]int{}})
	})
	if len(c.list) > 0 {
		rt.Fatalf("%+v:\n%s", s, strings.Join(c.list[:min(5, len(c.list))], "\n"))
	}
}

func (c *chaos) play() {
	c.wide = c.script.Wide
	c.homes(c.script.Homes)
	for i := range c.script.Endpoints {
		c.endpoint(fmt.Sprint("ep", i), func(e *storage.WebhookEndpoint) { e.TimeoutSeconds, e.BatchSize = 1, 9*i })
	}
	c.partner.answers(c.answer)
	stop := c.perform(c.newNotifier().Run)
	<-time.After(time.Minute) // a ledger may show a completion before its notice
	c.revive()
	c.bus.await(c.bus.idleLocked)
	stop()
	c.check()
	c.checkNotices()
}

// perform starts two workers and the other parts, runs the script, and heals all faults.
// It returns when each trigger is completed.
func (c *chaos) perform(others ...func(context.Context) error) (stop func()) {
	c.start(0)
	c.start(1)
	bystander := &node{conn: &busConn{bus: c.bus, die: func() {}}}
	stop = c.running(append(others, c.newResumer(bystander).Run, c.follow)...)
	c.act(step{What: "trigger"})
	for _, s := range c.script.Steps {
		<-time.After(s.After)
		c.revive()
		c.act(s)
	}
	c.revive()
	c.set("")
	c.setDies("", 0)
	for i := range c.script.Endpoints {
		c.partner.refuses(fmt.Sprint("ep", i), false)
	}
	for _, t := range c.triggers {
		c.await(t)
		c.revive()
	}
	return stop
}

// await waits until a trigger is completed. It restarts workers that die meanwhile.
func (c *chaos) await(t events.Trigger) {
	for range 36 * 60 {
		if p, err := c.ledger.Progress(t.OrganizationID, t.ID); err == nil && p.Status == events.TriggerCompleted {
			return
		}
		<-time.After(time.Minute)
		c.revive()
	}
	p, _ := c.ledger.Progress(t.OrganizationID, t.ID)
	c.t.Errorf("after a day and a half, trigger %s is %+v", t.ID, p)
}

// start starts a worker. Its clock error has the opposite sign of the previous worker's.
func (c *chaos) start(i int) {
	off := c.apart / 2
	if c.starts++; c.starts%2 == 0 {
		off = -off
	}
	c.clock = func() time.Time { return time.Now().Add(off) }
	c.workers[i] = c.worker(c.diesAt)
}

// revive restarts dead workers.
func (c *chaos) revive() {
	for i, n := range c.workers {
		if n.conn.isDead() {
			c.restart(i)
		}
	}
}

// restart replaces a worker. It may have died before, or may die while it stops.
func (c *chaos) restart(i int) {
	n := c.workers[i]
	n.stop()
	if n.conn.isDead() {
		c.mu.Lock()
		c.kills++
		c.mu.Unlock()
	}
	c.start(i)
}

func (c *chaos) diesAt(at string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.dies[at]
	if !ok {
		return false
	}
	if c.dies[at] = n - 1; n > 0 {
		return false
	}
	delete(c.dies, at)
	return true
}

// setDies makes the next worker die at a point after n passes. An empty point stops
// this.
func (c *chaos) setDies(point string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if point == "" {
		clear(c.dies)
		return
	}
	c.dies[point] = n
}

func (c *chaos) set(mode string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = mode
}

func (c *chaos) act(s step) {
	i := s.N % 2
	home := homeID(s.N * c.script.Homes / 8)
	switch s.What {
	case "die":
		c.setDies(s.Point, s.N)
	case "kill":
		c.workers[i].conn.kill()
	case "stop":
		c.restart(i)
	case "trigger":
		there := map[string]bool{}
		_ = c.store.View(func(v storage.View) error {
			return v.Scan(storage.KindHome, "org", "", func(r storage.Record) bool {
				if !r.Deleted {
					there[r.ID] = true
				}
				return true
			})
		})
		c.existed = append(c.existed, there)
		c.triggers = append(c.triggers, c.trigger(2))
	case "lose":
		c.bus.lose()
		c.mu.Lock()
		c.kills++ // a slice in progress is put again
		c.mu.Unlock()
	case "refuse":
		c.partner.refuses(fmt.Sprint("ep", i), true)
	case "heal":
		c.set("")
		c.partner.refuses(fmt.Sprint("ep", i), false)
	case "delete":
		_ = c.store.Delete(c.t.Context(), storage.KindHome.Ref("org", home)) // it may not exist
	case "make again":
		c.changed[home] = true
		storagetest.Put(c.t, c.store, storagetest.Home("org", home, "plan"))
	default:
		c.set(s.What)
	}
}

// answer returns the partner's response in each mode.
func (c *chaos) answer(r *http.Request, a arrival) int {
	c.mu.Lock()
	mode := c.mode
	c.mu.Unlock()
	switch mode {
	case "fail":
		return http.StatusInternalServerError
	case "break": // the webhook arrives, and the response is lost
		return 0
	case "slow":
		select {
		case <-time.After(700 * time.Millisecond):
		case <-r.Context().Done():
			return 0
		}
	}
	return http.StatusOK
}

// checkNotices compares the triggers with the notices that the partner got.
func (c *chaos) checkNotices() {
	type sentNotice struct{ id, text string }
	notices := map[string]map[sentNotice]int{} // by trigger and host
	for _, a := range c.partner.got() {
		if a.kind != storage.EventTriggerCompleted || a.status != http.StatusOK {
			continue
		}
		_, rest, _ := strings.Cut(a.text, `"triggerId":"`)
		trigger, _, _ := strings.Cut(rest, `"`)
		place := trigger + " at " + a.host
		if notices[place] == nil {
			notices[place] = map[sentNotice]int{}
		}
		notices[place][sentNotice{a.id, a.text}]++
	}
	for i, tr := range c.triggers {
		for e := range c.script.Endpoints {
			got := notices[fmt.Sprintf("%s at ep%d", tr.ID, e)]
			for _, n := range got {
				if len(got) != 1 || n > 1+c.kills {
					c.t.Errorf("completion of trigger %d was notified %v with %d deaths", i, got, c.kills)
				}
			}
			if len(got) == 0 {
				c.t.Errorf("completion of trigger %d was not notified to ep%d", i, e)
			}
		}
	}
}

// check compares the ledger with the partner's arrivals.
func (c *chaos) check() {
	got := map[string]int{} // 200s by message
	for _, a := range c.partner.got() {
		if a.status == http.StatusOK {
			got[a.id]++
		}
	}
	c.partner.checkMessages(c.changed)
	for i, tr := range c.triggers {
		p, list := c.seen(tr)
		if twice := repeated(list); p.Status != events.TriggerCompleted || twice != "" {
			c.t.Errorf("trigger %d is %s, duplicate outcome of %q", i, p.Status, twice)
		}
		homes := map[string]int{}
		for _, d := range list {
			homes[d.HomeID]++
			n := got[events.MessageID(tr.ID, d.HomeID, d.EndpointID)]
			if d.Outcome == events.OutcomeDelivered && n == 0 || !d.Outcome.Final() {
				c.t.Errorf("trigger %d: %s at %s is %s, delivered %d times", i, d.HomeID, d.EndpointID, d.Outcome, n)
			}
			if n > 1+c.kills {
				c.t.Errorf("trigger %d: %s at %s delivered %d times with %d deaths", i, d.HomeID, d.EndpointID, n, c.kills)
			}
		}
		for home := range c.existed[i] {
			if n := homes[home]; n != c.script.Endpoints && n != 1 {
				c.t.Errorf("trigger %d: %s has %d outcomes", i, home, n)
			}
		}
		for _, a := range c.partner.got() {
			if strings.HasPrefix(a.id, "msg_") && a.id == events.MessageID(tr.ID, a.home, a.host) && !a.at.Before(tr.End.Time) {
				c.t.Errorf("trigger %d: %s arrived at %s, after its window", i, a.home, a.at)
			}
		}
	}
}
