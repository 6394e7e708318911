package app

import (
	"context"
	"time"

	"github.com/gridhook/gridhook/config"
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

// startMQTT starts the publisher of changes, if MQTT is on.
func (a *App) startMQTT(context.Context) error {
	if a.MQTT == "" {
		return nil
	}
	o := mqtt.Options{Bus: a.conn, Store: a.store, Log: a.Log, Now: time.Now, Dial: a.embedded.DialMQTT}
	o.User, o.Password = a.embedded.Credentials()
	a.run("the MQTT publisher", mqtt.New(o).Run)
	return nil
}
