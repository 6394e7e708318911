package storage

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// OpenADRType is the objectType of an OpenADR object.
type OpenADRType string

// The object types of OpenADR 3.1.
const (
	OpenADRProgram      OpenADRType = "PROGRAM"
	OpenADREvent        OpenADRType = "EVENT"
	OpenADRReport       OpenADRType = "REPORT"
	OpenADRSubscription OpenADRType = "SUBSCRIPTION"
	OpenADRVEN          OpenADRType = "VEN"
	OpenADRResource     OpenADRType = "RESOURCE"
)

// OpenADRTypes returns all object types.
func OpenADRTypes() []OpenADRType {
	return []OpenADRType{OpenADRProgram, OpenADREvent, OpenADRReport, OpenADRSubscription, OpenADRVEN, OpenADRResource}
}

// openADRKinds maps each object type to its kind.
var openADRKinds = map[OpenADRType]Kind{
	OpenADRProgram: KindOpenADRProgram, OpenADREvent: KindOpenADREvent, OpenADRReport: KindOpenADRReport,
	OpenADRSubscription: KindOpenADRSubscription, OpenADRVEN: KindOpenADRVEN, OpenADRResource: KindOpenADRResource,
}

// Kind returns the kind of the type's objects.
func (t OpenADRType) Kind() Kind { return openADRKinds[t] }

// OpenADRObject is an object that an OpenADR client created: a program, an event, a
// report, a subscription, a VEN or a resource.
type OpenADRObject struct {
	ID   string      `json:"id"`
	Type OpenADRType `json:"type"`
	// ClientID is the client that owns the object: the identifier of its API key.
	// Programs and events belong to no client.
	ClientID string `json:"clientId,omitempty"`
	// Parent is the program of an event or a subscription, the event of a report, or the
	// VEN of a resource.
	Parent string `json:"parent,omitempty"`
	// Program is the program of a report's event.
	Program string `json:"program,omitempty"`
	// Name is the name that clients search for: programName, venName, resourceName or
	// clientName.
	Name    string   `json:"name,omitempty"`
	Targets []string `json:"targets,omitempty"`
	// Body is the object as its client wrote it, without secrets.
	Body json.RawMessage `json:"body"`
	// Callbacks lists the callbacks of a subscription.
	Callbacks []Callback `json:"callbacks,omitempty"`
	// Disabled is set if the service has disabled the subscription.
	Disabled *Disabled `json:"disabled,omitempty"`
	// Removed says that the object was deleted and that subscribers are still to be
	// notified.
	Removed bool `json:"removed,omitempty"`
	Base
}

// Callback is a destination of a subscription's notifications. The query of URL is masked:
// see package vault.
type Callback struct {
	URL string `json:"url"`
	// SealedURL is the whole URL, empty if the URL has no query.
	SealedURL  string        `json:"sealedUrl,omitempty"`
	Objects    []OpenADRType `json:"objects"`
	Operations []string      `json:"operations"`
	// Sealed is the bearer token, empty if there is none: see package vault.
	Sealed string `json:"sealed,omitempty"`
}

// OpenADRRef names an OpenADR object.
func OpenADRRef(t OpenADRType, org, id string) Ref { return t.Kind().Ref(org, id) }

// Ref names the object.
func (o *OpenADRObject) Ref() Ref { return OpenADRRef(o.Type, o.OrganizationID, o.ID) }

// Check adds every wrong field. The decoder of Body checks the body against the
// OpenADR definition.
func (o *OpenADRObject) Check(p *Problems) {
	for i := range o.Callbacks {
		checkURL(p, index("objectOperations", i)+".callbackUrl", o.Callbacks[i].URL)
	}
}

// Matches returns the callbacks that subscribe to an operation on objects of a type.
func (o *OpenADRObject) Matches(of OpenADRType, operation string) (callbacks []int) {
	for n := range o.Callbacks {
		c := &o.Callbacks[n]
		if slices.Contains(c.Objects, of) && slices.Contains(c.Operations, operation) {
			callbacks = append(callbacks, n)
		}
	}
	return callbacks
}

// JSON returns the object as clients see it, without its targets.
func (o *OpenADRObject) JSON() []byte {
	metadata := struct {
		ID       string      `json:"id"`
		Created  Time        `json:"createdDateTime"`
		Modified Time        `json:"modificationDateTime"`
		Type     OpenADRType `json:"objectType"`
		ClientID string      `json:"clientID,omitempty"`
	}{o.ID, o.CreatedAt, o.UpdatedAt, o.Type, o.ClientID}
	head, _ := json.Marshal(metadata) // texts and times always encode
	if len(o.Body) <= len("{}") {
		return head
	}
	body := []byte(o.Body)
	for i := range o.Callbacks { // earlier builds stored queries in the clear
		clear, _ := json.Marshal(o.Callbacks[i].URL)
		masked, _ := json.Marshal(MaskURL(o.Callbacks[i].URL))
		body = bytes.ReplaceAll(body, clear, masked)
	}
	return slices.Concat(head[:len(head)-1], []byte{','}, body[1:])
}

// ProgramID returns the program of an object, empty if it has none.
func (o *OpenADRObject) ProgramID() string {
	switch o.Type {
	case OpenADRProgram:
		return o.ID
	case OpenADREvent, OpenADRSubscription:
		return o.Parent
	}
	return o.Program
}

// New reports whether the object is unchanged since its creation.
func (o *OpenADRObject) New() bool { return o.CreatedAt.Equal(o.UpdatedAt.Time) }

// Granted returns the targets that a client may see: the targets of its VEN and of the
// VEN's resources.
func Granted(v View, org, clientID string) (map[string]bool, error) {
	granted := map[string]bool{}
	ven, _, err := Read[OpenADRObject](v, OpenADRRef(OpenADRVEN, org, VENID(clientID)))
	if err != nil || ven.Removed {
		return granted, IgnoreNotFound(err)
	}
	add := func(o *OpenADRObject) {
		for _, t := range o.Targets {
			granted[t] = true
		}
	}
	add(&ven)
	err = v.Scan(KindOpenADRResource, org, ven.ID, func(r Record) bool {
		if !strings.HasPrefix(r.ID, ven.ID+"_") {
			return false
		}
		if o, err := Decode[OpenADRObject](r); err == nil && !o.Removed { // a damaged resource grants nothing
			add(&o)
		}
		return true
	})
	return granted, err
}

// VENID returns the identifier of a client's VEN. A client has one VEN.
func VENID(clientID string) string { return "ven_" + Hash(clientID, 12) }

// NewResourceID returns a new identifier for a resource, with its VEN's identifier as
// prefix.
func NewResourceID(venID string, now time.Time) string { return NewID(venID+"_", now) }

// Shown returns the targets of an object that a client may see: they must be requested
// and granted. ok is false if the object has targets but the client may see none.
func Shown(targets, requested []string, granted map[string]bool) (shown []string, ok bool) {
	for _, t := range targets {
		if granted[t] && slices.Contains(requested, t) {
			shown = append(shown, t)
		}
	}
	return shown, len(targets) == 0 || len(shown) > 0
}
