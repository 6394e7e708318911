package events

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// Operations that OpenADR subscribers are notified of.
const (
	OperationCreate = "CREATE"
	OperationUpdate = "UPDATE"
	OperationDelete = "DELETE"
)

// Change is a change of an OpenADR object. A trigger with a change walks the
// organization's subscriptions instead of its homes.
type Change struct {
	ObjectType storage.OpenADRType `json:"objectType"`
	Operation  string              `json:"operation"`
	ObjectID   string              `json:"objectId"`
	// ProgramID is the object's program, empty if it has none.
	ProgramID string `json:"programId,omitempty"`
	// ClientID is the client that owns the object, empty for programs and events.
	ClientID string   `json:"clientId,omitempty"`
	Targets  []string `json:"targets,omitempty"`
	// Fingerprint distinguishes contents of derived events.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Alert reports whether the object is the event of an alert.
	Alert bool `json:"alert,omitempty"`
	// Object is the object's JSON, without targets.
	Object json.RawMessage `json:"object"`
}

// NewChangeTrigger returns the trigger that notifies subscribers of a change at a
// revision. last is the object's previous such trigger.
func NewChangeTrigger(org string, c Change, revision uint64, subscriptions int, last Trigger, now time.Time) Trigger {
	start := now.Truncate(pricing.Interval)
	t := NewTrigger(org, pricing.Window{Start: start, End: start.Add(LongestRetry + pricing.Interval)}, now)
	t.Change, t.Revision, t.Homes = &c, revision, subscriptions
	t.ScheduleID, t.Follows = c.ObjectID, last.Sequence
	return t
}

// Subscriber is the client that owns a subscription.
type Subscriber struct {
	// Business reports whether the client may see every object.
	Business bool
	// Granted returns the targets granted to a client that is not a business client.
	Granted func() (map[string]bool, error)
}

// Wants returns the callbacks of a subscription to notify of the change, and the targets
// to show them. Errors: the errors of Granted.
func (c *Change) Wants(s *storage.OpenADRObject, client *Subscriber) (callbacks []int, shown []string, err error) {
	callbacks = s.Matches(c.ObjectType, c.Operation)
	elsewhere := s.Parent != "" && c.ProgramID != "" && s.Parent != c.ProgramID && c.ObjectType != storage.OpenADRProgram
	foreign := c.ClientID != "" && c.ClientID != s.ClientID && !client.Business
	switch {
	case len(callbacks) == 0, elsewhere, foreign:
		return nil, nil, nil
	case len(c.Targets) == 0, client.Business && len(s.Targets) == 0, c.ClientID != "" && !client.Business:
		return callbacks, c.Targets, nil
	}
	granted := setOf(c.Targets)
	if !client.Business {
		if granted, err = client.Granted(); err != nil {
			return nil, nil, err
		}
	}
	shown, ok := storage.Shown(c.Targets, s.Targets, granted)
	if !ok {
		return nil, nil, nil
	}
	return callbacks, shown, nil
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// AppendBody appends the notification in the form that the OpenADR document defines.
// shown are the targets that the subscriber may see.
func (c *Change) AppendBody(dst []byte, shown []string) []byte {
	dst = append(dst, `{"objectType":"`...)
	dst = append(dst, c.ObjectType...)
	dst = append(dst, `","operation":"`...)
	dst = append(dst, c.Operation...)
	dst = append(dst, `","object":`...)
	dst = append(dst, WithTargets(c.Object, shown)...)
	return append(dst, '}')
}

// WithTargets adds targets to an object's JSON. The object must not have targets yet.
func WithTargets(object []byte, targets []string) []byte {
	if len(targets) == 0 {
		return object
	}
	list, _ := json.Marshal(targets) // a []string always encodes
	out := slices.Concat(object[:len(object)-1], []byte(`,"targets":`), list)
	return append(out, '}')
}
