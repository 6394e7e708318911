package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/mqtt"
)

// mqttListener returns the embedded server's listener for MQTT clients, nil without MQTT.
func (a *App) mqttListener() (m *embedded.MQTT, err error) {
	if a.MQTT == "" {
		return nil, nil
	}
	m = &embedded.MQTT{Listen: a.MQTT, Admit: func(user, password string) (prefixes []string, until time.Time, ok bool) {
		if admit := a.admission.Load(); admit != nil {
			return (*admit)(user, password)
		}
		return nil, until, false // the API is not ready
	}}
	if a.TLS != (config.KeyPair{}) {
		m.TLS, err = tlsConfig(a.TLS, a.Log)
	}
	return m, err
}

// announcer returns the function that publishes changes by MQTT, nil without MQTT.
func (a *App) announcer() func(context.Context, string, *events.Change) error {
	if a.MQTT == "" {
		return nil
	}
	o := mqtt.Options{Store: a.store, Dial: a.embedded.DialMQTT}
	o.User, o.Password = a.embedded.Credentials()
	p := mqtt.New(o)
	a.onStop("the MQTT publisher", p.Close)
	return p.Announce
}
