package app

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/embedded"
	"github.com/gridhook/gridhook/events/mqtt"
	"github.com/gridhook/gridhook/storage"
)

// clientsShare is the share of max-connections that an organization's MQTT clients may have, as a
// divisor.
const clientsShare = 4

// mqttListener returns the embedded server's listener for MQTT clients, nil without MQTT.
func (a *App) mqttListener() (m *embedded.MQTT, err error) {
	if a.MQTT == "" {
		return nil, nil
	}
	limit := rest.NewConnectionLimit(rest.Deps{
		Log:        a.Log.With("listener", "mqtt"),
		Registerer: prometheus.WrapRegistererWith(prometheus.Labels{"listener": "mqtt"}, a.Registry),
	}, requestOptions(&a.Config))
	m = &embedded.MQTT{Listen: a.MQTT, Take: limit.Take, MaxClients: max(1, a.Limits.MaxConnections/clientsShare)}
	m.Admit = func(user, password string) (to embedded.Admission, ok bool) {
		if admit := a.admission.Load(); admit != nil {
			to.Organization, to.Prefixes, to.Until, ok = admit.Admit(user, password)
		}
		return to, ok // false before the API is ready
	}
	m.Live = func(user string) bool { return a.admission.Load().Live(user) } // admitted before
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
	p := mqtt.Publisher{
		Bus: a.conn, Store: a.store, Log: a.Log,
		Dial: a.embedded.DialMQTT, Credentials: a.embedded.Credentials, Erase: a.embedded.EraseMQTT, MakeRoom: a.embedded.MakeMQTTRoom,
	}
	a.run("the MQTT publisher", p.Run)
	return nil
}

// mqttErasingLog is a log of record that erases an organization's MQTT messages, too.
type mqttErasingLog struct {
	storage.Log
	server *embedded.Server
}

// Erase implements storage.Log.
func (l mqttErasingLog) Erase(ctx context.Context, org string) (map[storage.Kind]int, error) {
	if err := l.server.EraseMQTT(org); err != nil {
		return nil, fmt.Errorf("%w: erase MQTT messages: %w", storage.ErrUnavailable, err)
	}
	return l.Log.Erase(ctx, org)
}
