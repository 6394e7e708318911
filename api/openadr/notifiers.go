package openadr

import (
	"net/http"

	"github.com/gridhook/gridhook/api/rest"
)

// notifierRoutes returns the operations that list notifiers. Gridhook supports callbacks
// only. The paths of MQTT topics report that.
func (s *server) notifierRoutes() []route {
	all := []route{{method: http.MethodGet, path: "notifiers", business: true, ven: true, run: func(*request) (any, error) {
		return map[string]bool{"WEBHOOK": true}, nil
	}}}
	const topics = "notifiers/mqtt/topics/"
	for path, ven := range map[string]bool{
		"programs": true, "programs/{id}": true, "programs/{id}/events": true,
		"vens/{id}": true, "vens/{id}/events": true, "vens/{id}/programs": true, "vens/{id}/resources": true,
		"events": false, "reports": false, "subscriptions": false, "vens": false, "resources": false,
	} {
		all = append(all, route{method: http.MethodGet, path: topics + path, business: true, ven: ven, run: func(*request) (any, error) {
			return nil, errNoMQTT
		}})
	}
	return all
}

var errNoMQTT = &rest.Problem{
	Status: http.StatusNotFound, Message: "This server has no MQTT notifier.", Recovery: "Subscribe with a callback: POST subscriptions.",
}
