package openadr_test

import (
	"net/http"
	"strings"
	"testing"
)

// plan returns the import line of a rate plan of acme with a price.
func plan(id, price string) string {
	return `{"resource":"ratePlan","organizationId":"acme","id":"` + id + `","tariff":` + strings.Replace(tariff, "0.25", price, 1) + `}`
}

// TestCallbacks_OfRatePlans: a rate plan that appears, changes and is removed is a program
// that is created, updated and deleted. Other organizations are not told.
func TestCallbacks_OfRatePlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe("ven1", "/programs", `"PROGRAM"`, allOperations, "")
	w.subscribe("foreign", "/foreign", `"PROGRAM"`, allOperations, "")
	w.imports(plan("late", "0.1"), plan("gone", "0.1"))
	if c := w.await("the new plan", at("/programs", "CREATE", "late")); c.Object["programName"] != "late" || c.ObjectType != "PROGRAM" {
		t.Errorf("the callback is %s", c.body)
	}
	w.await("the other new plan", at("/programs", "CREATE", "gone"))
	w.imports(plan("late", "0.2"))
	must(t, w.operator.DeletePlan(t.Context(), "acme", "gone"))
	c := w.await("the changed plan", at("/programs", "UPDATE", "late"))
	if read := w.want(http.StatusOK, "ven1", http.MethodGet, "programs/late", ""); read.field("modificationDateTime") != c.Object["modificationDateTime"] {
		t.Errorf("the program is read as %s, and the callback is %s", read.body, c.body)
	}
	if c := w.await("the removed plan", at("/programs", "DELETE", "gone")); c.Object["programName"] != "gone" {
		t.Errorf("the callback is %s", c.body)
	}
	if n := w.count(func(c *callback) bool { return c.path == "/foreign" }); n != 0 {
		t.Errorf("another organization had %d callbacks", n)
	}
}

// TestMQTT_RemovedPrograms: the retained events of a program go with the program, whether it
// is derived or written.
func TestMQTT_RemovedPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withMQTT)
	written := w.program("Written")
	w.want(http.StatusCreated, "bl", http.MethodPost, "events", `{"programID":"`+written+`"}`)
	w.imports(plan("late", "0.1"))
	for program, remove := range map[string]func(){
		"late":  func() { must(t, w.operator.DeletePlan(t.Context(), "acme", "late")) },
		written: func() { w.want(http.StatusOK, "bl", http.MethodDelete, "programs/"+written, "") },
	} {
		topic := "openadr3/acme/public/programs/" + program + "/events/+"
		waitFor(t, "a retained message", func() (struct{}, bool) { return struct{}{}, w.retains(topic) })
		remove()
		waitFor(t, "no retained message", func() (struct{}, bool) { return struct{}{}, !w.retains(topic) })
	}
}

// retains reports whether a client that comes now gets a retained message of a topic.
func (w *world) retains(topic string) bool {
	w.t.Helper()
	l, _ := w.connect(w.keys["ven2"], w.tokens["ven2"])
	if !l.subscribes(w.t, topic) {
		w.t.Fatalf("the VEN may not subscribe to %s", topic)
	}
	// The broker sends retained messages before its next response.
	if token := l.Unsubscribe(topic); !token.WaitTimeout(patience) || token.Error() != nil {
		w.t.Fatalf("unsubscribe from %s: %v", topic, token.Error())
	}
	l.Disconnect(0)
	select {
	case m := <-l.got:
		return m.Retained() && len(m.Payload()) > 0
	default:
		return false
	}
}
