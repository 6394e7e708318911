package openadr

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// MQTT is the listener for MQTT clients.
type MQTT struct {
	// Port returns the listener's port. Secure reports whether it requires TLS.
	Port   func() int
	Secure bool
	// Admit receives the functions that authenticate MQTT clients.
	Admit func(Admission)
}

// Admission authenticates MQTT clients.
type Admission struct {
	// Admit returns a client's organization, the prefixes of the topics that it may subscribe
	// to, and when its connection ends.
	Admit func(clientID, password string) (org string, prefixes []string, until time.Time, ok bool)
	// Live reports whether the key of an admitted client is still valid.
	Live func(clientID string) bool
}

// notifierRoutes returns the operations that list notifiers and the topics of MQTT.
func (s *server) notifierRoutes() []route {
	all := []route{{method: http.MethodGet, path: "notifiers", business: true, ven: true, run: s.notifiers}}
	for path, ven := range map[string]bool{
		"programs": true, "programs/{id}": true, "programs/{id}/events": true,
		"vens/{id}": true, "vens/{id}/events": true, "vens/{id}/programs": true, "vens/{id}/resources": true,
		"events": false, "reports": false, "subscriptions": false, "vens": false, "resources": false,
	} {
		all = append(all, route{method: http.MethodGet, path: "notifiers/mqtt/topics/" + path, business: true, ven: ven, run: func(r *request) (any, error) {
			return s.topics(path, r)
		}})
	}
	return all
}

// notifiers returns how clients can be notified.
func (s *server) notifiers(r *request) (any, error) {
	shown := map[string]any{"WEBHOOK": true}
	if s.MQTT != nil {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil { // the port is the scheme's
			host = strings.Trim(r.Host, "[]")
		}
		scheme := map[bool]string{true: "mqtts://", false: "mqtt://"}[s.MQTT.Secure]
		shown["MQTT"] = map[string]any{
			"URIS": []string{scheme + net.JoinHostPort(host, strconv.Itoa(s.MQTT.Port()))}, "serialization": "JSON",
			"authentication": map[string]string{"method": "OAUTH2_BEARER_TOKEN", "username": "{clientID}"},
		}
	}
	return shown, nil
}

var errNoMQTT = &rest.Problem{
	Status: http.StatusNotFound, Message: "This server has no MQTT notifier.", Recovery: "Subscribe with a callback: POST subscriptions.",
}

// topics returns the topics of a path. A path that ends with an object's identifier has no
// CREATE: the object exists.
func (s *server) topics(path string, r *request) (any, error) {
	if s.MQTT == nil {
		return nil, errNoMQTT
	}
	parent, rest, one := strings.Cut(path, "/"+parameter)
	if one {
		i := slices.IndexFunc(kinds(), func(k *kind) bool { return k.path == parent })
		if _, err := s.get(kinds()[i], r); err != nil {
			return nil, err
		}
	}
	prefix := events.PublicTopics(r.caller.OrganizationID)
	if r.caller.business {
		prefix = events.BusinessTopics(r.caller.OrganizationID)
	}
	if prefix += strings.Replace(path, parameter, r.id, 1); parent == "vens" && one {
		prefix = strings.TrimSuffix(events.VENTopics(r.caller.OrganizationID, r.id), "/") + rest
	}
	topics := map[string]string{"UPDATE": prefix + "/update", "DELETE": prefix + "/delete", "ALL": prefix + "/+"}
	if !one || rest != "" {
		topics["CREATE"] = prefix + "/create"
	}
	return map[string]any{"topics": topics}, nil
}

// admit authenticates an MQTT client by its identifier and either an access token or its
// secret. A connection ends with its token, and after an hour at most.
func (s *server) admit(clientID, password string) (org string, prefixes []string, until time.Time, ok bool) {
	now := s.Store.Now()
	key, until, err := s.openToken(password, now)
	if key == nil && err == nil {
		until = now.Add(tokenLife)
		key, err = s.REST.SecretKey(clientID, password, now)
	}
	if err != nil || key == nil || key.ID != clientID {
		return "", nil, until, false
	}
	switch org = key.OrganizationID; {
	case key.Allows(storage.ScopeBusiness):
		return org, []string{events.Topics(org)}, until, true
	case key.Allows(storage.ScopeVEN):
		return org, []string{events.PublicTopics(org), events.VENTopics(org, storage.VENID(key.ID))}, until, true
	}
	return "", nil, until, false
}

// live reports whether a key may still be used. An error of the store disconnects nobody.
func (s *server) live(clientID string) bool {
	key, err := s.REST.LiveKey(clientID, s.Store.Now())
	return key != nil || err != nil
}
