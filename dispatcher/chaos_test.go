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

// step is something that happens some time after the step before.
type step struct {
	After time.Duration
	What  string
	N     int    // which worker or home, or how often a point is passed first
	Point string // where a worker dies
}

// script is what happens to two workers, their bus and their partner. In the end
// all is well, and stays so.
type script struct {
	Homes, Endpoints int
	Steps            []step
}

var deathPoints = []string{
	"before put slice", "after put slice", "before put retries", "after put retries", "before put receipt", "after put receipt",
	"before has receipt", "before reached", "before ack trigger", "before ack slice", "before ack retry",
	"before put task", "after put task", "before ack notice", "before ack task",
}

func drawScript(rt *rapid.T) script {
	s := script{Homes: rapid.IntRange(1, 4*events.SliceHomes).Draw(rt, "homes"), Endpoints: rapid.IntRange(1, 2).Draw(rt, "endpoints")}
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

// complaints collects what is wrong, for the script to be made smaller.
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

// chaos plays a script.
type chaos struct {
	*world
	script   script
	triggers []events.Trigger
	// existed are the homes that there were at each trigger.
	existed []map[string]bool
	changed map[string]bool // homes that were made again
	workers [2]*node
	kills   int // deaths, of workers and of the queue
	// apart is how far apart the clocks of workers are of which one started after
	// the other, and starts how many were started.
	apart  time.Duration
	starts int

	mu   sync.Mutex
	mode string // how the partner answers
	dies map[string]int
}

// Whatever happens to workers, each home and endpoint of each trigger ends with
// exactly one outcome, under one webhook-id; what is delivered again is bounded by
// the deaths, and nothing is sent after its time. Each endpoint is told of each
// trigger's end, under one webhook-id too.
func TestChaos(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		playing(t, rt, drawScript(rt), (*chaos).play)
	})
}

// playing plays a script in a world and a time of its own.
func playing(t *testing.T, rt *rapid.T, s script, play func(*chaos)) {
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
	c.homes(c.script.Homes)
	for i := range c.script.Endpoints {
		c.endpoint(fmt.Sprint("ep", i), func(e *storage.WebhookEndpoint) { e.TimeoutSeconds, e.BatchSize = 1, 9*i })
	}
	c.partner.answers(c.answer)
	stop := c.perform(c.newNotifier().Run)
	<-time.After(time.Minute) // a ledger may show an end that nobody has been told of
	c.revive()
	c.bus.await(c.bus.idleLocked)
	stop()
	c.check()
	c.checkTold()
}

// perform has two workers and whoever else runs, acts the script, and heals everything
// until each trigger has its last outcome.
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

// await waits until a trigger has its last outcome, and looks after the workers
// meanwhile: one that had still to die may do so.
func (c *chaos) await(t events.Trigger) {
	for range 36 * 60 {
		if p, err := c.ledger.Progress(t.OrganizationID, t.ID); err == nil && p.Status == events.TriggerCompleted {
			return
		}
		<-time.After(time.Minute)
		c.revive()
	}
	p, _ := c.ledger.Progress(t.OrganizationID, t.ID)
	c.t.Errorf("after a day and a half %s is %+v", t.ID, p)
}

// start starts a worker, whose clock is wrong the other way round than the last one's.
func (c *chaos) start(i int) {
	off := c.apart / 2
	if c.starts++; c.starts%2 == 0 {
		off = -off
	}
	c.clock = func() time.Time { return time.Now().Add(off) }
	c.workers[i] = c.worker(c.diesAt)
}

// revive starts the workers anew that have died.
func (c *chaos) revive() {
	for i, n := range c.workers {
		if n.conn.isDead() {
			n.stop()
			c.start(i)
			c.mu.Lock()
			c.kills++
			c.mu.Unlock()
		}
	}
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

// setDies has whichever worker comes to a point, after n others, die there; ""
// ends all of that.
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
		c.workers[i].stop()
		c.start(i)
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
		c.kills++ // what a worker holds of it is put again
		c.mu.Unlock()
	case "refuse":
		c.partner.refuses(fmt.Sprint("ep", i), true)
	case "heal":
		c.set("")
		c.partner.refuses(fmt.Sprint("ep", i), false)
	case "delete":
		_ = c.store.Delete(c.t.Context(), storage.HomeRef("org", home)) // it may be gone
	case "make again":
		c.changed[home] = true
		storagetest.Put(c.t, c.store, storagetest.Home("org", home, "plan"))
	default:
		c.set(s.What)
	}
}

// answer is how the partner answers in each mode.
func (c *chaos) answer(r *http.Request, a arrival) int {
	c.mu.Lock()
	mode := c.mode
	c.mu.Unlock()
	switch mode {
	case "fail":
		return http.StatusInternalServerError
	case "break": // it has it, and its answer is lost
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

// checkTold compares the triggers with the ends that the partner was told of.
func (c *chaos) checkTold() {
	type telling struct{ id, text string }
	told := map[string]map[telling]int{} // by trigger and host
	for _, a := range c.partner.got() {
		if a.kind != storage.EventTriggerCompleted || a.status != http.StatusOK {
			continue
		}
		_, rest, _ := strings.Cut(a.text, `"triggerId":"`)
		trigger, _, _ := strings.Cut(rest, `"`)
		place := trigger + " at " + a.host
		if told[place] == nil {
			told[place] = map[telling]int{}
		}
		told[place][telling{a.id, a.text}]++
	}
	for i, tr := range c.triggers {
		for e := range c.script.Endpoints {
			got := told[fmt.Sprintf("%s at ep%d", tr.ID, e)]
			for _, n := range got {
				if len(got) != 1 || n > 1+c.kills {
					c.t.Errorf("the end of trigger %d was told %v with %d deaths", i, got, c.kills)
				}
			}
			if len(got) == 0 {
				c.t.Errorf("the end of trigger %d was not told to ep%d", i, e)
			}
		}
	}
}

// check compares what the ledger says with what the partner got.
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
			c.t.Errorf("trigger %d is %s, and %q has two outcomes", i, p.Status, twice)
		}
		homes := map[string]int{}
		for _, d := range list {
			homes[d.HomeID]++
			n := got[events.MessageID(tr.ID, d.HomeID, d.EndpointID)]
			if d.Outcome == events.OutcomeDelivered && n == 0 || !d.Outcome.Final() {
				c.t.Errorf("trigger %d: %s at %s is %s, and was delivered %d times", i, d.HomeID, d.EndpointID, d.Outcome, n)
			}
			if n > 1+c.kills {
				c.t.Errorf("trigger %d: %s at %s was delivered %d times with %d deaths", i, d.HomeID, d.EndpointID, n, c.kills)
			}
		}
		for home := range c.existed[i] {
			if n := homes[home]; n != c.script.Endpoints && n != 1 {
				c.t.Errorf("trigger %d: %s has %d outcomes", i, home, n)
			}
		}
		for _, a := range c.partner.got() {
			if strings.HasPrefix(a.id, "msg_") && a.id == events.MessageID(tr.ID, a.home, a.host) && !a.at.Before(tr.End.Time) {
				c.t.Errorf("trigger %d: %s came at %s, after its window", i, a.home, a.at)
			}
		}
	}
}
