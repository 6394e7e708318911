package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/events/checkup"
)

// Examine checks everything that the settings refer to. err is the error of Load. Wrong
// settings prevent all other checks.
func Examine(ctx context.Context, loaded *config.Loaded, err error, monitors []string) Report {
	return here.examine(ctx, loaded, err, monitors)
}

func (m machine) examine(ctx context.Context, loaded *config.Loaded, err error, monitors []string) Report {
	r := Report{Status: OK}
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		for _, m := range wrong.Mistakes {
			where := m.Source
			if where == "not set" || where == "default" {
				where = m.Setting
			}
			r.problem("settings", "correct "+where, "%s %s", m.Setting, m.Message)
		}
		return r
	}
	cfg := loaded.Config
	r.settings(loaded)
	r.listeners(&cfg)
	r.certificates(&cfg, m, time.Now())
	r.dataFolder(&cfg, m)
	r.operatorKey(loaded, m)
	r.masterKey(&cfg, m)
	r.openFiles(&cfg, m)
	r.running(ctx, &cfg)
	if cfg.Role == config.Serve {
		r.compaction(&cfg)
		r.ok("nats", "embedded: no open port, and each write is synced to disk before its acknowledgement")
		return r
	}
	facts, err := checkup.Look(ctx, checkup.Options{
		URL: cfg.NATS.URL, NATS: app.NATSOptions(cfg.NATS), Streams: app.StreamOptions(cfg), Monitors: monitors,
	})
	if err != nil {
		r.problem("nats", "", "%v", err) // the error has the remedy
		return r
	}
	r.nats(&cfg, &facts)
	return r
}
